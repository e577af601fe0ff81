"""One trace of rounds, and every number that is called acceptance.

Teaches: per proposed, per verified, per position and survival are different quotients of the same counts; the accepted
length comes with and without the target's own token. Leaves out: averages over requests (a mean of ratios is not the
ratio of sums).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.economics_nodes import geometric
from mechanisms.expression import total
from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import TOPIC
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.economics_metrics"
MOST_ROUNDS = 60
TRACES: dict[str, tuple[int, ...]] = {  # ten rounds of four drafts; eighteen drafts are accepted in each
    "falling": (4, 1, 0, 2, 3, 1, 0, 4, 2, 1),
    "all_or_nothing": (4, 0, 4, 0, 0, 4, 0, 4, 0, 2),
    "even": (2, 2, 1, 2, 2, 2, 1, 2, 2, 2),
}
DRAFTS = 4
ROUND_MS = Fraction(25)


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


PROPOSED = Quantity(_id("times_proposed"), "n", "derived", counts=True, index="j")
REACHED = Quantity(_id("times_verified"), "v", "derived", counts=True, index="j")
ACCEPTED = Quantity(_id("times_accepted"), "a", "derived", counts=True, index="j")
CONDITIONAL = Quantity(
    _id("conditional_acceptance"), "c", "derived", ACCEPTED.sym / REACHED.sym, index="j", defined=REACHED.sym > 0
)  # fmt: skip
SURVIVAL = Quantity(_id("prefix_survival"), "S", "derived", ACCEPTED.sym / PROPOSED.sym, index="j")
POSITIONS = (PROPOSED, REACHED, ACCEPTED, CONDITIONAL, SURVIVAL)

ROUNDS = given(_id("rounds"), "R", "chosen", counts=True, index="")
LENGTH = given(_id("draft_length"), r"\gamma", "chosen", counts=True, index="")
MS = given(_id("round_ms"), "t", "chosen", unit="ms", index="")
PER_PROPOSED = Quantity(
    _id("accepted_per_proposed"), "u", "derived", total(ACCEPTED.sym) / total(PROPOSED.sym), index=""
)  # fmt: skip
PER_VERIFIED = Quantity(
    _id("accepted_per_verified"), "w", "derived", total(ACCEPTED.sym) / total(REACHED.sym), index=""
)  # fmt: skip
MEAN = Quantity(_id("accepted_tokens"), "L", "derived", total(ACCEPTED.sym) / ROUNDS.sym, unit="token", index="")
TOKENS = Quantity(_id("tokens_per_round"), r"\tau", "derived", MEAN.sym + 1, unit="token", index="")
USED = Quantity(_id("share_of_longest"), "f", "derived", TOKENS.sym / (LENGTH.sym + 1), index="")
RATE = Quantity(_id("tokens_per_second"), "r", "derived", 1000 * TOKENS.sym / MS.sym, unit="token/s", index="")
PLUG_PROPOSED = Quantity(
    _id("plugged_proposed"), "K_u", "leviathan2022 Eq. 1", geometric(PER_PROPOSED.sym, LENGTH.sym), unit="token",
    index="",
)  # fmt: skip
PLUG_VERIFIED = Quantity(
    _id("plugged_verified"), "K_w", "leviathan2022 Eq. 1", geometric(PER_VERIFIED.sym, LENGTH.sym), unit="token",
    index="",
)  # fmt: skip
METRICS = (
    ROUNDS, LENGTH, MS, PER_PROPOSED, PER_VERIFIED, MEAN, TOKENS, USED, RATE, PLUG_PROPOSED, PLUG_VERIFIED
)  # fmt: skip


def positions(lengths: Sequence[int], gamma: int = DRAFTS) -> Table:
    """Counts by draft position: how often proposed, verified and accepted, with both quotients.

    c = a/v (given that all before passed), S = a/n (survival). lengths: accepted drafts of each round, each in
    0 … gamma; gamma: drafts of a round, 1 … 12.

    >>> t = positions(TRACES["falling"])
    >>> [str(x) for x in t.column("conditional_acceptance")]
    ['4/5', '5/8', '3/5', '2/3']

    Source: derived.
    """
    if not 1 <= gamma <= 12:
        raise ValueError(f"gamma={gamma}: must lie in 1 … 12")
    if not 1 <= len(lengths) <= MOST_ROUNDS:
        raise ValueError(f"lengths={len(lengths)} rounds: must be 1 … {MOST_ROUNDS}")
    if wrong := [n for n in lengths if not 0 <= n <= gamma]:
        raise ValueError(f"lengths={wrong}: each must lie in 0 … {gamma}")
    places = range(1, gamma + 1)
    values = {
        PROPOSED.name: [Fraction(len(lengths)) for _ in places],
        REACHED.name: [Fraction(sum(n >= j - 1 for n in lengths)) for j in places],
        ACCEPTED.name: [Fraction(sum(n >= j for n in lengths)) for j in places],
    }
    names = tuple(str(j) for j in places)
    return tabulate(_id("positions"), POSITIONS, names, values, function=f"{_MODULE}.positions")


def metrics(lengths: Sequence[int], gamma: int = DRAFTS, round_ms: Fraction = ROUND_MS) -> Table:
    """Every public figure of one trace, and what the closed form makes of two of them.

    u = Σa/Σn, w = Σa/Σv, L = Σa/R, τ = L + 1, f = τ/(γ + 1), r = 1000 τ/t. round_ms: milliseconds of a round, > 0.

    >>> t = metrics(TRACES["falling"])
    >>> str(t.value(0, "accepted_per_proposed")), str(t.value(0, "tokens_per_round"))
    ('9/20', '14/5')

    Source: derived.
    """
    if round_ms <= 0:
        raise ValueError(f"round_ms={round_ms}: must be above 0")
    values = {ROUNDS.name: (Fraction(len(lengths)),), LENGTH.name: (Fraction(gamma),), MS.name: (round_ms,)}
    over = positions(lengths, gamma)
    return tabulate(_id("metrics"), METRICS, ("",), values, function=f"{_MODULE}.metrics", over=over)
