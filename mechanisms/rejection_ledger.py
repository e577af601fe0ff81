"""The probability ledger of one speculative-sampling position.

Teaches: where each bit of probability goes when a draft from q is checked against a target p, and why the output law
is p. Leaves out: several positions (`rejection_round`), broken variants (`rejection_rules`), cost. Does not know where
p and q come from; they are exact rationals.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.distribution import Pair, blend
from mechanisms.expression import entropy_term, largest, total
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

TOPIC = "rejection_ledger"
_MODULE = f"mechanisms.{TOPIC}"


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


TARGET = given(_id("target_probability"), "p", "chosen")
DRAFT = given(_id("draft_probability"), "q", "chosen")
p, q = TARGET.sym, DRAFT.sym
ACCEPT = Quantity(_id("acceptance_probability"), "a", "leviathan2022 §2.3", sp.Min(1, p / q), defined=q > 0)
DIRECT = Quantity(_id("direct_mass"), "d", "leviathan2022 §A.1", sp.Min(p, q))
REJECTED = Quantity(_id("rejected_mass"), "x", "leviathan2022 §A.1", q - DIRECT.sym)
CORRECTION = Quantity(_id("correction_mass"), "r", "leviathan2022 §A.1", sp.Max(0, p - q))
FINAL = Quantity(_id("final_mass"), "P", "leviathan2022 §A.1", sp.Add(DIRECT.sym, CORRECTION.sym, evaluate=False))
RESIDUAL = Quantity(
    _id("residual"),
    "p'",
    "leviathan2022 §2.3",
    CORRECTION.sym / total(CORRECTION.sym),
    defined=total(CORRECTION.sym) > 0,
)
LEDGER = (TARGET, DRAFT, ACCEPT, DIRECT, REJECTED, CORRECTION, FINAL, RESIDUAL)

RATE = Quantity(_id("acceptance_rate"), r"\alpha", "leviathan2022 §3.2", total(DIRECT.sym), index="")
REJECT = Quantity(_id("rejection_probability"), "R", "leviathan2022 §3.2", 1 - total(sp.Min(p, q)), index="")
REJECT_AGAIN = Quantity(_id("correction_total"), r"R'", "leviathan2022 §A.1", total(CORRECTION.sym), index="")
ERROR = Quantity(_id("largest_error"), r"\Delta", "derived", largest(sp.Abs(FINAL.sym - p)), index="")
KL = Quantity(
    _id("kl_divergence"), r"\mathrm{KL}", "derived", total(entropy_term(p, q)), unit="nat", index="", kind="float"
)
PINSKER = Quantity(_id("pinsker_bound"), "B", "derived", sp.sqrt(KL.sym / 2, evaluate=False), index="", kind="float")
SUMMARY = (RATE, REJECT, REJECT_AGAIN, ERROR, KL, PINSKER)

LENGTH_RATE = Quantity(_id("acceptance_rate"), r"\alpha", "leviathan2022 §3.2", None, index="")
_alpha = LENGTH_RATE.sym
ONE = Quantity(_id("one_token"), r"\Pr(N{=}1)", "leviathan2022 §3.1", 1 - _alpha, index="")
TWO = Quantity(_id("two_tokens"), r"\Pr(N{=}2)", "leviathan2022 §3.1", _alpha * (1 - _alpha), index="")
THREE = Quantity(_id("three_tokens"), r"\Pr(N{=}3)", "leviathan2022 §3.1", _alpha**2, index="")
TOKENS = Quantity(
    _id("tokens_per_round"), r"\tau", "leviathan2022 Eq. 1", 1 + _alpha + _alpha**2, unit="token", index=""
)
LENGTH = (LENGTH_RATE, ONE, TWO, THREE, TOKENS)


def ledger(pair: Pair) -> Table:
    """Where the probability of each token goes: accepted as drafted, or added by the correction.

    a = min(1, p/q), d = min(p, q), x = q − d, r = max(0, p − q), P = d + r, p' = r / Σr.
    pair: exact p, q, (rows,) each. Undefined cells are None: a where q = 0 (never drafted), p' where p = q.

    >>> t = ledger(Pair(("A", "B"), (Fraction(2, 5), Fraction(3, 5)), (Fraction(7, 10), Fraction(3, 10))))
    >>> t.value(0, "acceptance_probability"), t.value(1, "residual")
    (Fraction(4, 7), Fraction(1, 1))

    Source: leviathan2022, §2.3 and appendix A.1; chen2023, Algorithm 2.
    """
    rows = {TARGET.name: pair.p, DRAFT.name: pair.q}
    return tabulate(_id("ledger"), LEDGER, pair.labels, rows, function=f"{_MODULE}.ledger")


def summary(pair: Pair, name: str = "") -> Table:
    """Totals of the ledger in one row: α, the rejection probability both ways, the largest |P − p|, KL and its bound.

    >>> pair = Pair(("A", "B"), (Fraction(2, 5), Fraction(3, 5)), (Fraction(7, 10), Fraction(3, 10)))
    >>> summary(pair).value(0, "acceptance_rate")
    Fraction(7, 10)

    Source: leviathan2022, §3.2 and appendix A.1; Pinsker's inequality for the bound √(KL/2) ≥ R.
    """
    return totals(ledger(pair), name)


def totals(table: Table, name: str = "") -> Table:
    """`summary` of a ledger that is there already. Source: as there."""
    return tabulate(_id("summary"), SUMMARY, (name,), {}, function=f"{_MODULE}.summary", over=table)


def blends(pair: Pair, steps: int) -> tuple[Pair, ...]:
    """The pair with its draft moved towards the target in `steps` equal steps, both ends included.

    1 − α falls in a straight line along the way, because TV is linear in q on such a segment. Source: derived.
    """
    return tuple(blend(pair, Fraction(i, steps)) for i in range(steps + 1))


def two_draft_length(rate: Fraction, name: str = "") -> Table:
    """Law of the number of tokens of a round with two drafts and the same acceptance rate at both positions.

    P(1) = 1 − α, P(2) = α(1 − α), P(3) = α², τ = 1 + α + α². rate: α in [0, 1].

    >>> two_draft_length(Fraction(1, 2)).value(0, "tokens_per_round")
    Fraction(7, 4)

    Source: leviathan2022, §3.1, Eq. 1 with γ = 2.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate={rate}: must lie in [0, 1]")
    return tabulate(
        _id("two_draft_length"), LENGTH, (name,), {LENGTH_RATE.name: (rate,)}, function=f"{_MODULE}.two_draft_length"
    )
