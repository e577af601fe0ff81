"""Speculation written a second time: outcomes counted one by one, and LaTeX of this chapter read back as numbers.

The enumerations import nothing of `mechanisms`; only the list of tables at the end does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import settings

from mechanisms import economics_conventions as conventions
from mechanisms import economics_decay as decay
from mechanisms import economics_metrics as metrics
from mechanisms import economics_overlap as overlap
from mechanisms import economics_price as price
from mechanisms import economics_published as published
from mechanisms import economics_tree as tree
from mechanisms import economics_tree_tables as drawn
from mechanisms.economics_markov import two_step_totals, two_steps
from mechanisms.economics_ridge import batches, ridge_limits
from mechanisms.hardware import DEVICES
from mechanisms.rejection_presets import PRESETS
from mechanisms.speculation_economics import COSTS, RATES, VERIFICATIONS, best, costs_of, speed_curve
from mechanisms.table import Table
from tests.oracle_quant_tex import group, python

SEEDED = settings(max_examples=20, derandomize=True, database=None)
Law = Sequence[Fraction]
ONE, ZERO = Fraction(1), Fraction(0)


def mean_accepted(rates: Sequence[Fraction]) -> Fraction:
    """Expected number of drafts in front of the first rejection, over all 2^n fates of the drafts."""
    mean = ZERO
    for fates in itertools.product((True, False), repeat=len(rates)):
        chance = ONE
        for kept, rate in zip(fates, rates, strict=True):
            chance *= rate if kept else 1 - rate
        mean += chance * (fates.index(False) if False in fates else len(fates))
    return mean


def emitted(p: Law, q: Law, tries: int) -> list[Fraction]:
    """Law of the token that leaves a node with `tries` candidates drawn without replacement, by recursion."""
    if tries == 0 or not any(q):
        return list(p)
    out = [ZERO] * len(p)
    lack = [max(ZERO, a - b) for a, b in zip(p, q, strict=True)]
    for x, chance in enumerate(q):
        if not chance:
            continue
        keep = min(ONE, p[x] / chance)
        out[x] += chance * keep
        if keep < 1:
            left = [ZERO if v == x else b for v, b in enumerate(q)]
            scaled = [b / sum(left) for b in left] if any(left) else left
            for v, share in enumerate(emitted([a / sum(lack) for a in lack], scaled, tries - 1)):
                out[v] += chance * (1 - keep) * share
    return out


def refused(p: Law, q: Law, tries: int) -> Fraction:
    """Chance that all candidates of a node are rejected."""
    if tries == 0 or not any(q):
        return ONE
    lack = [max(ZERO, a - b) for a, b in zip(p, q, strict=True)]
    all_of_them = ZERO
    for x, chance in enumerate(q):
        if chance and p[x] < chance:
            left = [ZERO if v == x else b for v, b in enumerate(q)]
            scaled = [b / sum(left) for b in left] if any(left) else left
            all_of_them += (chance - p[x]) * refused([a / sum(lack) for a in lack], scaled, tries - 1)
    return all_of_them


def number(line: str) -> Any:
    """What stands behind the equals sign of a substituted line, evaluated; geometric sums term by term."""
    text = line.split(" = ", 1)[1]
    end = r"\right)^{i}"
    while r"\sum_{i=0}^" in text:
        at = text.rindex(r"\sum_{i=0}^")
        top = group(text, at + len(r"\sum_{i=0}^"))
        last = text.index(end, top)
        limit = text[at + len(r"\sum_{i=0}^{") : top - 1]
        inside = text[top:last].strip().removeprefix(r"\left(")
        text = text[:at] + rf"geo\left({inside},\; {limit}\right)" + text[last + len(end) :]
    code = python(text).replace(r"\,\ln", "*log")
    scope = {"Fraction": Fraction, "floor": math.floor, "root": math.sqrt, "log": math.log,
             "geo": lambda a, n: sum((a**i for i in range(int(n) + 1)), ZERO)}  # fmt: skip
    return eval(code, scope)


def _speeds() -> Iterator[Table]:
    for rate in RATES[::10]:
        for cost in COSTS[::3]:
            for curve in VERIFICATIONS:
                table = speed_curve(rate, cost, costs_of(curve.id, 4))
                yield from (table, best(table))


def _conventions() -> Iterator[Table]:
    for e in conventions.EXAMPLES:
        yield from (conventions.reconcile(e.rate, e.gamma, e.cost), conventions.bonus_split(e.rate, e.gamma, e.cost))


def _prices() -> Iterator[Table]:
    for draft in (0, 3, 10):
        yield from (price.price(draft=Fraction(draft)), price.break_even(draft=Fraction(draft)))
    yield from (published.leviathan_table_1(), published.leviathan_table_4())


def _chains() -> Iterator[Table]:
    for preset in decay.CHAINS:
        for which in decay.PLUGS:
            table = decay.chain(preset.rates, which)
            yield from (table, decay.chain_totals(table))
    for lengths in (*metrics.TRACES.values(), (0, 0, 0)):
        yield from (metrics.positions(lengths), metrics.metrics(lengths))


def _overlaps() -> Iterator[Table]:
    for tail in overlap.TAILS:
        for share in overlap.SHAPES[::11]:
            table = overlap.overlap(overlap.shaped(share, tail))
            yield from (table, overlap.overlap_summary(table))
    for pair in overlap.PAIRS.values():
        for heat in overlap.TEMPERATURES[::9]:
            hot = overlap.heated(pair, heat)
            yield from (hot, overlap.heated_rate(hot))


def _limits() -> Iterator[Table]:
    for of in DEVICES[:2]:
        yield from (ridge_limits(of), *(batches(of, gamma) for gamma in (0, 1, 4, 12)))
    for coupling in (ZERO, Fraction(1, 3), ONE):
        yield from (two_steps(coupling), two_step_totals(two_steps(coupling)))


def _trees() -> Iterator[Table]:
    text = tree.turned(PRESETS["argmax_agrees_tv_large"])
    for rule in tree.RULES:
        for widths in ((1, 1), (2, 1), (3, 2)):
            yield from (
                drawn.tree_root(text, widths[0], rule), drawn.tree_levels(text, widths, rule),
                drawn.tree_summary(text, widths, rule),
            )  # fmt: skip
            rng = np.random.default_rng(3)
            yield drawn.tree_walk(text, drawn.draw_tree(text, widths, rng), rng, rule)[0]


TABLES: dict[str, Callable[[], Iterator[Table]]] = {
    "speeds": _speeds, "conventions": _conventions, "prices": _prices, "chains": _chains, "overlaps": _overlaps,
    "limits": _limits, "trees": _trees,
}  # fmt: skip
