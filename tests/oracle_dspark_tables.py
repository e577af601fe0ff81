"""Every table of the verification-budget chapter on presets and edge cases, and a reader of its formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from mechanisms.dspark import Chain, cap_table, law_table, substitution_table, summary_table, survival_table
from mechanisms.dspark_batch import (
    allocation_table,
    alone_best,
    path_table,
    single_table,
    sum_table,
)
from mechanisms.dspark_cost import cost_table
from mechanisms.dspark_presets import CHAINS, CURVES, DRAFT_TIME, EXAMPLES, FIXED_TIME, REQUESTS, VERIFY, Example
from mechanisms.dspark_recompute import count_rounds, count_table, counted_caps, mean_table
from mechanisms.dspark_scheduler import admissions
from mechanisms.dspark_selection import POLICIES, distance, first_output, rates
from mechanisms.dspark_simulation import draw
from mechanisms.dspark_versions import VERSIONS, version_table
from mechanisms.rejection_counts import counts_table, fit_table
from mechanisms.table import Table
from tests.oracle_quant_tex import value as quant_value

_SUM = re.compile(r"\\sum_\{i=0\}\^\{(\d+)\} \\left\((.*)\\right\)\^\{i\}")
THREE = Example(("x", "y", "z"), *([Fraction(n, 10) for n in row] for row in ((5, 5, 0), (1, 2, 7), (3, 10, 0))),
                (Fraction(1), Fraction(1, 3), Fraction(2, 5)))  # fmt: skip


def chain_tables(chain: Chain) -> Iterator[Table]:
    yield from (survival_table(chain), summary_table(chain), substitution_table(chain), law_table(chain))
    yield cap_table(chain)
    for curve in VERIFY.values():
        yield cost_table(chain, curve, draft=DRAFT_TIME, fixed=FIXED_TIME)


def batch_tables(curve: str) -> Iterator[Table]:
    speeds = CURVES[curve]
    yield path_table(admissions(REQUESTS, speeds), speeds)
    yield from (allocation_table(REQUESTS, speeds), alone_best(REQUESTS, speeds), sum_table(REQUESTS, speeds))
    yield from (single_table(c, speeds) for c in REQUESTS)


def selection_tables(example: Example) -> Iterator[Table]:
    yield rates(example)
    for policy in POLICIES:
        law = first_output(example, policy)
        yield from (law, distance(law))
        found = draw(example, policy, 400, seed=3)
        yield from (counts_table(found), fit_table(found))


def counted_tables() -> Iterator[Table]:
    chain = [Fraction(1, 2), Fraction(3, 10)]
    *_, (_, counts) = count_rounds(chain)
    found = count_table(chain, counts)
    yield from (found, mean_table(found), counted_caps(chain, counts))


def version_tables() -> Iterator[Table]:
    yield from (version_table(v) for v in VERSIONS)


TABLES: dict[str, Callable[[], Iterator[Table]]] = {
    **{f"chain-{name}": partial(chain_tables, chain) for name, chain in CHAINS.items()},
    **{f"batch-{name}": partial(batch_tables, name) for name in CURVES},
    **{f"selection-{name}": partial(selection_tables, x) for name, x in {**EXAMPLES, "three": THREE}.items()},
    "counted": counted_tables,
    "versions": version_tables,
}


def value(line: str) -> Any:
    """Right side of a substituted line; sums of powers are added up first.

    A weight of 0 needs no law, so undefined counts as 0 (`cell` would be undefined with any other weight); the largest
    of a single number gets company that is never larger.
    """

    def add(found: re.Match[str]) -> str:
        a = quant_value(f"a = {found[2]}")
        total = sum(Fraction(a) ** i for i in range(int(found[1]) + 1))
        return rf"\frac{{{total.numerator}}}{{{total.denominator}}}"

    line = line.replace(r"\cdot \text{undefined}", r"\cdot 0").replace(r"\max\left(", r"\max\left(-1000000,\; ")
    return quant_value(_SUM.sub(add, line))
