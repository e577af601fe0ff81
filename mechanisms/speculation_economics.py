"""What a round of speculation yields, what it costs, and the speed-up that follows.

Teaches: tokens per round at a constant acceptance rate, the time of a round in units of one plain step, and why the
best draft length is finite. Leaves out: rates that fall with the position (`economics_decay`), batches
(`economics_ridge`). Does not know what a step costs in milliseconds (`economics_price`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.economics_nodes import geometric
from mechanisms.expression import largest
from mechanisms.quantity import Quantity, as_fraction, given
from mechanisms.table import Table, tabulate

TOPIC = "speculation_economics"
_MODULE = f"mechanisms.{TOPIC}"
MOST_DRAFTS = 12
RATES = tuple(Fraction(i, 20) for i in range(21))
COSTS = tuple(Fraction(x) for x in ("0", "0.02", "0.05", "0.1", "0.11", "0.2"))


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


LENGTH = given(_id("draft_length"), r"\gamma", "chosen", index="", counts=True)
RATE = given(_id("acceptance_rate"), r"\alpha", "chosen", index="")
COST = given(_id("draft_cost"), "c", "chosen", index="", unit="step")
VERIFY = given(_id("verification_cost"), "V", "chosen", index=r"\gamma", unit="step")
TOKENS = Quantity(
    _id("tokens_per_round"), r"\tau", "leviathan2022 Eq. 1", geometric(RATE.sym, LENGTH.sym), unit="token",
    index=r"\gamma",
)  # fmt: skip
ACCEPTED = Quantity(
    _id("accepted_tokens"), "L", "leviathan2022 §3.1", TOKENS.sym - 1, unit="token", index=r"\gamma"
)  # fmt: skip
TIME = Quantity(
    _id("round_time"), "t", "leviathan2022 §3.3", LENGTH.sym * COST.sym + VERIFY.sym, unit="step", index=r"\gamma"
)  # fmt: skip
SPEED = Quantity(
    _id("speedup"), "S", "leviathan2022 Theorem 3.8", TOKENS.sym / TIME.sym, unit="×", index=r"\gamma"
)  # fmt: skip
BARE = Quantity(
    _id("speedup_without_bonus"), "S'", "derived", ACCEPTED.sym / TIME.sym, unit="×", index=r"\gamma"
)  # fmt: skip
CURVE = (LENGTH, RATE, COST, VERIFY, TOKENS, ACCEPTED, TIME, SPEED, BARE)

BEST = Quantity(_id("best_draft_length"), r"\gamma^{*}", "derived", index="", counts=True)
BEST_SPEED = Quantity(_id("best_speedup"), "S^{*}", "derived", largest(SPEED.sym), unit="×", index="")
BEST_BARE = Quantity(_id("best_without_bonus"), "S'^{*}", "derived", largest(BARE.sym), unit="×", index="")


@dataclass(frozen=True, slots=True)
class Verification:
    """Cost of verifying γ drafts and the position before them, in plain steps: `cost(γ)`, cost(0) = 1."""

    id: str
    cost: Callable[[int], Fraction]


def _tiers(drafts: int) -> Fraction:
    """A server that only has graphs for multiples of four positions."""
    return 1 + Fraction(drafts // 4, 2)


VERIFICATIONS = (
    Verification("constant", lambda g: Fraction(1)),
    Verification("slope", lambda g: 1 + Fraction(g, 50)),
    Verification("tiers", _tiers),
    Verification("square", lambda g: 1 + Fraction(3 * g + g * g, 10)),
)


def costs_of(curve: str, drafts: int = MOST_DRAFTS) -> tuple[Fraction, ...]:
    """Verification costs for 0 … `drafts` drafts of one of the curves.

    constant 1; slope 1 + 0.02γ; tiers 1 + ½⌊γ/4⌋; square 1 + 0.3γ + 0.1γ².

    >>> [str(x) for x in costs_of("square", 4)]
    ['1', '7/5', '2', '14/5', '19/5']

    Source: derived (own curves; the second and the fourth continue two curves of the source document).
    """
    found = {v.id: v for v in VERIFICATIONS}
    if curve not in found:
        raise ValueError(f"curve={curve!r}: must be one of {tuple(found)}")
    return tuple(found[curve].cost(g) for g in range(drafts + 1))


def check(name: str, value: Fraction, low: int = 0, high: int | None = None) -> None:
    """ValueError where a value lies outside [low, high]."""
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name}={value}: must lie in [{low}, {'∞' if high is None else high}]")


def speed_curve(rate: Fraction, cost: Fraction, verification: Sequence[Fraction]) -> Table:
    """One row per draft length γ = 0, 1, …: tokens, time, speed-up with and without the bonus token.

    τ = Σ αⁱ (i = 0 … γ) = (1 − α^(γ+1))/(1 − α), t = γc + V(γ), S = τ/t, S' = (τ − 1)/t.
    rate: α in [0, 1]; cost: c ≥ 0, one draft step in plain steps; verification: V(0), V(1), … > 0, in plain steps.

    >>> t = speed_curve(Fraction(4, 5), Fraction(1, 10), costs_of("constant"))
    >>> t.value(4, "speedup"), t.value(4, "speedup_without_bonus")
    (Fraction(2101, 875), Fraction(1476, 875))

    Source: leviathan2022, Eq. 1 and Theorem 3.8 with V = 1.
    """
    check("rate", rate, 0, 1)
    check("cost", cost)
    if not verification or min(verification) <= 0:
        raise ValueError(f"verification={[str(v) for v in verification]}: needs values above 0, and at least one")
    rows = range(len(verification))
    values = {
        LENGTH.name: [Fraction(g) for g in rows], RATE.name: [rate for _ in rows], COST.name: [cost for _ in rows],
        VERIFY.name: list(verification),
    }  # fmt: skip
    names = tuple(str(g) for g in rows)
    return tabulate(_id("speed_curve"), CURVE, names, values, function=f"{_MODULE}.speed_curve")


def best_row(table: Table, name: str = "speedup") -> int:
    """The shortest draft that no other one beats."""
    column = [as_fraction(x) for x in table.column(name) if x is not None]
    return column.index(max(column))


def best(table: Table) -> Table:
    """Best draft length of a `speed_curve` and the speed-up there.

    >>> best(speed_curve(Fraction(3, 5), Fraction("0.11"), costs_of("constant"))).value(0, "best_draft_length")
    Fraction(3, 1)

    Source: derived, by comparing all rows.
    """
    columns = (BEST, BEST_SPEED, BEST_BARE)
    values = {BEST.name: (Fraction(best_row(table)),)}
    return tabulate(_id("best"), columns, ("",), values, function=f"{_MODULE}.best", over=table)
