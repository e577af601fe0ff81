"""Acceptance is the overlap of two laws, not the agreement of their favourites; what temperature does to it.

Teaches: α = 1 − TV, Pinsker's lower bound on it, and that a draft may share the favourite and still be refused half of
the time. Leaves out: sequences; one position is looked at.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.distribution import Pair
from mechanisms.economics_nodes import power
from mechanisms.expression import entropy_term, total
from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import TOPIC
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.economics_overlap"
TOKENS = ("A", "B", "C", "D")
TARGET_LAW = tuple(Fraction(x) for x in ("0.4", "0.3", "0.2", "0.1"))
TAILS = ("alike", "reversed")
SHAPES = tuple(Fraction(i, 100) for i in range(34, 100, 2))  # share of the favourite; it stays the favourite in all
PAIRS: dict[str, Pair] = {
    "same_favourite": Pair(("A", "B", "C"), tuple(map(Fraction, ("0.5", "0.3", "0.2"))),
                           tuple(map(Fraction, ("0.8", "0.1", "0.1")))),
    "other_favourite": Pair(("A", "B", "C"), tuple(map(Fraction, ("0.46", "0.44", "0.1"))),
                            tuple(map(Fraction, ("0.44", "0.46", "0.1")))),
}  # fmt: skip
RIVALS = tuple(  # two drafts for one target: the first shares its favourite, the second does not
    Pair(("A", "B", "C"), tuple(map(Fraction, ("0.46", "0.44", "0.1"))), tuple(map(Fraction, q)))
    for q in (("0.9", "0.05", "0.05"), ("0.44", "0.46", "0.1"))
)
TEMPERATURES = tuple(Fraction(i, 10) for i in range(1, 21))


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


TARGET = given(_id("target_probability"), "p", "chosen")
DRAFT = given(_id("draft_probability"), "q", "chosen")
p, q = TARGET.sym, DRAFT.sym
SHARED = Quantity(_id("shared_mass"), "d", "leviathan2022 §3.2", sp.Min(p, q))
GAP = Quantity(_id("absolute_gap"), "g", "derived", sp.Abs(p - q))
RATE = Quantity(_id("acceptance_rate"), r"\alpha", "leviathan2022 §3.2", total(SHARED.sym), index="")
ONE_MINUS = Quantity(
    _id("one_minus_distance"), r"1-\mathrm{TV}", "leviathan2022 §3.2", 1 - total(GAP.sym) / 2, index=""
)
AGREE = Quantity(_id("favourite_agrees"), "f", "derived", counts=True, index="")
EQUAL = Quantity(_id("equality_rate"), "e", "derived", total(p * q), index="")
KL = Quantity(
    _id("kl_divergence"), r"\mathrm{KL}", "derived", total(entropy_term(p, q)), unit="nat", index="", kind="float"
)  # fmt: skip
FLOOR = Quantity(
    _id("pinsker_floor"), "b", "derived", sp.Max(0, 1 - sp.sqrt(KL.sym / 2, evaluate=False)), index="", kind="float",
)  # fmt: skip
OVERLAP, SUMMARY = (TARGET, DRAFT, SHARED, GAP), (RATE, ONE_MINUS, AGREE, EQUAL, KL, FLOOR)

HEAT = given(_id("temperature"), "T", "chosen", index="")
SHARPNESS = Quantity(_id("sharpness"), r"\beta", "derived", 1 / HEAT.sym, index="")
_hot_p, _hot_q = (power(x, SHARPNESS.sym) for x in (p, q))
HOT_TARGET = Quantity(_id("heated_target"), "p_T", "derived", _hot_p / total(_hot_p), kind="float")
HOT_DRAFT = Quantity(_id("heated_draft"), "q_T", "derived", _hot_q / total(_hot_q), kind="float")
HOT_SHARED = Quantity(
    _id("heated_shared"), "d_T", "leviathan2022 §3.2", sp.Min(HOT_TARGET.sym, HOT_DRAFT.sym), kind="float"
)  # fmt: skip
HOT_RATE = Quantity(
    _id("heated_acceptance"), r"\alpha_T", "leviathan2022 §3.2", total(HOT_SHARED.sym), index="", kind="float"
)  # fmt: skip
HEATED = (HEAT, SHARPNESS, TARGET, DRAFT, HOT_TARGET, HOT_DRAFT, HOT_SHARED)


def shaped(share: Fraction, tail: str = "alike") -> Pair:
    """The fixed target and a draft whose favourite A has `share`; the rest is spread like the target's or reversed.

    share: above 1/3, so that A stays the favourite; tail: "alike" or "reversed".

    >>> shaped(Fraction(2, 5)).q == TARGET_LAW
    True
    """
    if not Fraction(1, 3) < share < 1:
        raise ValueError(f"share={share}: must lie strictly between 1/3 and 1")
    if tail not in TAILS:
        raise ValueError(f"tail={tail!r}: must be one of {TAILS}")
    rest = TARGET_LAW[1:] if tail == "alike" else TARGET_LAW[:0:-1]
    return Pair(TOKENS, TARGET_LAW, (share, *((1 - share) * x / sum(rest) for x in rest)))


def overlap(pair: Pair) -> Table:
    """Token by token, what both laws have: d = min(p, q), g = |p − q|.

    >>> str(overlap(shaped(Fraction(9, 10))).value(0, "shared_mass"))
    '2/5'

    Source: leviathan2022, §3.2.
    """
    values = {TARGET.name: pair.p, DRAFT.name: pair.q}
    return tabulate(_id("overlap"), OVERLAP, pair.labels, values, function=f"{_MODULE}.overlap")


def overlap_summary(table: Table) -> Table:
    """Totals of an `overlap`: α = Σ min(p, q) = 1 − TV, agreement of favourites, Σ pq, KL, and 1 − √(KL/2) ≤ α.

    >>> str(overlap_summary(overlap(shaped(Fraction(9, 10)))).value(0, "acceptance_rate"))
    '1/2'

    Source: leviathan2022, §3.2; Pinsker's inequality.
    """
    laws = [[x for x in table.column(n) if isinstance(x, Fraction)] for n in (TARGET.name, DRAFT.name)]
    agrees = Fraction(int(laws[0].index(max(laws[0])) == laws[1].index(max(laws[1]))))
    function = f"{_MODULE}.overlap_summary"
    return tabulate(_id("overlap_summary"), SUMMARY, ("",), {AGREE.name: (agrees,)}, function=function, over=table)


def heated(pair: Pair, temperature: Fraction) -> Table:
    """Both laws at a temperature: p_T ∝ p^(1/T), and likewise q.

    temperature: T > 0; at T → 0 each law becomes its favourite alone.

    >>> str(heated(PAIRS["same_favourite"], Fraction(1)).value(0, "heated_shared"))[:3]
    '0.5'

    Source: derived.
    """
    if temperature <= 0:
        raise ValueError(f"temperature={temperature}: must be above 0")
    values = {HEAT.name: [temperature] * len(pair.p), TARGET.name: pair.p, DRAFT.name: pair.q}
    return tabulate(_id("heated"), HEATED, pair.labels, values, function=f"{_MODULE}.heated")


def heated_rate(table: Table) -> Table:
    """Acceptance rate at that temperature: α_T = Σ min(p_T, q_T). Source: leviathan2022, §3.2."""
    heat = {HEAT.name: (table.value(0, HEAT.name),)}
    columns = (HEAT, HOT_RATE)
    return tabulate(_id("heated_rate"), columns, ("",), heat, function=f"{_MODULE}.heated_rate", over=table)
