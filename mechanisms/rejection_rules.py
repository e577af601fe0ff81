"""What happens to the output law when one part of rejection sampling is wrong.

Teaches: every verification rule is three choices: from which law a draft is really *sampled*, with which probability
it is *accepted*, and from which law a *correction* is drawn after a rejection. The output law follows from them, so
each broken rule can be shown exactly. Leaves out: several positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np
import sympy as sp

from mechanisms.distribution import Pair
from mechanisms.expression import share, total
from mechanisms.quantity import Quantity, given
from mechanisms.rejection_ledger import DRAFT, TARGET, TOPIC, p, q
from mechanisms.table import Cell, Table, tabulate

_FUNCTION = "mechanisms.rejection_rules.output_law"
Given = Mapping[str, tuple[Cell, ...]]


def _quantity(name: str, tex: str, expression: sp.Basic | None = None, **more: Any) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, **more)


FAVOURITE = Quantity(f"{TOPIC}.is_favourite", "f", "derived", counts=True)
KEPT = Quantity(f"{TOPIC}.kept_by_filter", "k", "derived", counts=True)
SIZE = given(f"{TOPIC}.class_size", "m", "chosen", counts=True)
HALF = Quantity(f"{TOPIC}.half_ratio", "h", "ieee754 binary16")
_s, _a, _c = (sp.Symbol(n, nonnegative=True) for n in ("sampled_probability", "counted_acceptance", "corrected_with"))
DIRECT = _quantity("accepted_mass", "d", share(_s, _a))
ADDED = _quantity("added_mass", "r", share(1 - total(DIRECT.sym), _c))
LAW = _quantity("output_law", "P", sp.Add(DIRECT.sym, ADDED.sym, evaluate=False))
GAP = _quantity("difference", r"\delta", LAW.sym - p)
ACCEPTED = _quantity("accepted_share", r"\alpha", total(DIRECT.sym), index="")
DISTANCE = _quantity("distance", r"\mathrm{TV}", total(sp.Abs(LAW.sym - p)) / 2, index="")

_RATIO = sp.Min(1, p / q)
_RESIDUAL = sp.Max(0, p - q) / total(sp.Max(0, p - q))


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: expressions over p, q and its own given columns. `extra(pair, keep)` fills those columns, `rows` cuts a
    class of equal tokens where the rule treats them unlike; `correctable` is when the correction's law exists."""

    id: str
    sampled: sp.Basic
    accepted: sp.Basic
    corrected: sp.Basic
    givens: tuple[Quantity, ...] = ()
    extra: Callable[[Pair, int], Given] = lambda pair, keep: {}
    rows: Callable[[Pair, int], Pair] = lambda pair, keep: pair
    correctable: sp.Basic | None = None

    def columns(self, pair: Pair) -> tuple[Quantity, ...]:
        """The columns of this rule's table; without classes of equal tokens every size is 1 and is not written."""
        return _columns(self, set(pair.multiplicity) == {1})


@cache
def _columns(rule: Rule, plain: bool) -> tuple[Quantity, ...]:
    put = {SIZE.sym: sp.S.One} if plain else {}
    sampled, accepted, corrected = (x.xreplace(put) for x in (rule.sampled, rule.accepted, rule.corrected))
    needs = total(sp.Max(0, p - q)) > 0 if corrected == _RESIDUAL else rule.correctable
    needs = None if needs is None else needs.xreplace(put)
    return (
        TARGET, DRAFT, *(g for g in rule.givens if not (plain and g == SIZE)),
        _quantity("sampled_probability", "s", sampled),
        _quantity("counted_acceptance", "a", accepted, defined=q > 0 if accepted == _RATIO else None),
        _quantity("corrected_with", "c", corrected, defined=needs),
        DIRECT, ADDED, LAW, GAP,
    )  # fmt: skip


def _favourite(which: Literal["p", "q"]) -> Callable[[Pair, int], Given]:
    def fill(pair: Pair, keep: int) -> Given:
        row = pair.favourite(which)
        if pair.multiplicity[row] != 1:
            raise ValueError(f"{pair.tokens[row]!r} stands for {pair.multiplicity[row]} tokens: no single favourite")
        return {FAVOURITE.name: tuple(Fraction(int(i == row)) for i in range(len(pair.p)))}

    return fill


def _kept(pair: Pair, keep: int) -> Given:
    """1 for the rows that a filter to the `keep` most likely draft tokens leaves; `_cut` has made them whole."""
    return {KEPT.name: tuple(Fraction(n, m) for n, m in zip(_survivors(pair, keep), pair.multiplicity, strict=True))}


def _survivors(pair: Pair, keep: int) -> list[int]:
    """How many tokens of each row the filter keeps; the first row wins a tie."""
    kept = [0] * len(pair.q)
    for i in sorted(range(len(pair.q)), key=lambda i: (-pair.q[i] / pair.multiplicity[i], i)):
        kept[i] = min(keep, pair.multiplicity[i])
        keep -= kept[i]
    return kept


def _cut(pair: Pair, keep: int) -> Pair:
    """The pair with the class that the filter cuts through split in two, kept tokens first."""
    rows: list[tuple[str, Fraction, Fraction, int]] = []
    columns = zip(pair.tokens, pair.p, pair.q, pair.multiplicity, _survivors(pair, keep), strict=True)
    for token, a, b, m, n in columns:
        rows += [(token, a * size / m, b * size / m, size) for size in ([n, m - n] if 0 < n < m else [m])]
    tokens, p_rows, q_rows, sizes = zip(*rows, strict=True)
    return Pair(tokens, p_rows, q_rows, sizes)


def _sizes(pair: Pair, keep: int) -> Given:
    return {SIZE.name: tuple(Fraction(m) for m in pair.multiplicity)}


def half_ratio(target: Fraction, draft: Fraction) -> Fraction | None:
    """p/(q + 1e-8) as IEEE binary16 computes it, step by step, capped at 1; None for 0/0, which never accepts.

    1e-8 lies below half the smallest binary16 number (2⁻²⁴ ≈ 5.96e-8), so it becomes 0 and guards nothing.

    >>> half_ratio(Fraction(1, 3), Fraction(2, 3)), half_ratio(Fraction(0), Fraction(1, 10**8))
    (Fraction(1, 2), None)

    Source: ieee754, binary16; rounding is half to even.
    """
    with np.errstate(all="ignore"):  # the point is what the format does with 0/0 and x/0
        ratio = np.float16(float(target)) / (np.float16(float(draft)) + np.float16(1e-8))
    if np.isnan(ratio):
        return None
    return Fraction(1) if ratio >= 1 else Fraction(float(ratio))


def _half(pair: Pair, keep: int) -> Given:
    ratios = [half_ratio(a / m, b / m) for a, b, m in zip(pair.p, pair.q, pair.multiplicity, strict=True)]
    # a comparison with NaN is false: such a draft is always rejected
    return {HALF.name: tuple(Fraction(0) if r is None else r for r in ratios)}


_f, _k, _h, _m = FAVOURITE.sym, KEPT.sym, HALF.sym, SIZE.sym
RULES: tuple[Rule, ...] = (
    Rule("exact", q, _RATIO, _RESIDUAL),
    Rule("argmax_draft", _f, _RATIO, _RESIDUAL, (FAVOURITE,), _favourite("q")),
    Rule("no_residual", q, _RATIO, p),
    Rule("filtered_draft", _k * q / total(_k * q), _RATIO, _RESIDUAL, (KEPT,), _kept, _cut),
    Rule(
        "equality",
        q,
        p / _m,
        p * (1 - q / _m) / (1 - total(p * q / _m)),
        (SIZE,),
        _sizes,
        correctable=total(p * q / _m) < 1,
    ),
    Rule("half_precision", q, _h, _RESIDUAL, (HALF,), _half),
    Rule("accept_all", q, sp.S.One, _RESIDUAL),
    Rule("target_argmax", q, _f, _f, (FAVOURITE,), _favourite("p")),
)
RULE_IDS = tuple(rule.id for rule in RULES)


def rule(id: str) -> Rule:
    return RULES[RULE_IDS.index(id)]


def output_law(pair: Pair, rule: Rule, *, keep: int = 2) -> Table:
    """The law that a rule really produces, token by token: P = s·a + (1 − Σ s·a)·c.

    pair: exact p, q, (rows,). keep: how many draft tokens the filter of `filtered_draft` leaves, at least 1.
    P is undefined where a rejection can happen although the residual does not exist.

    >>> from mechanisms.rejection_presets import PRESETS
    >>> output_law(PRESETS["identical"], RULES[1]).column("output_law")
    (Fraction(1, 1), Fraction(0, 1), Fraction(0, 1))

    Source: leviathan2022 §2.3 for the exact rule; the others are derived from the same three choices.
    """
    if keep < 1:
        raise ValueError(f"keep={keep}: must be at least 1")
    pair = rule.rows(pair, keep)
    given_columns = {TARGET.name: pair.p, DRAFT.name: pair.q, **rule.extra(pair, keep)}
    return tabulate(f"{TOPIC}.output_law", rule.columns(pair), pair.labels, given_columns, function=_FUNCTION)


def verdict(law: Table) -> Table:
    """Share of drafts accepted and distance ½Σ|P − p| of the output law from p, in one row. Source: derived."""
    return tabulate(
        f"{TOPIC}.verdict", (ACCEPTED, DISTANCE), ("",), {}, function="mechanisms.rejection_rules.verdict", over=law
    )
