"""Another number of drafts: does any K make the printed tokens come out of the printed rates?

Teaches: that a mean outside the range of its formula is not rescued by a parameter. Leaves out: rates that differ from
run to run (`draft_precision.upper_bound` bounds those).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import sympy as sp

from mechanisms.draft_precision import (
    DRAFTS,
    NAMES,
    NEEDED,
    RATE_HALF,
    TABLE,
    TOKENS_HALF,
    TOKENS_PRINTED,
    K,
    derived,
    expected_tokens,
    id_of,
    needed_rate,
    overlap,
    printed_cells,
    tokens_of,
)
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

Scenario = Literal["code", "chat"]

RATE = Quantity(id_of("rate"), r"\alpha", TABLE, index="d", kind="quoted")
RATE_UNIT = given(id_of("rate_half"), r"h_\alpha", "chosen", index="")
TOKENS_UNIT = given(id_of("tokens_half"), "h_N", "chosen", unit="token", index="")
_a, _h = RATE.sym, RATE_UNIT.sym
TOKENS = tokens_of("tokens", "E", expected_tokens(_a, K.sym))
LOW = tokens_of("tokens_low", "E^-", expected_tokens(_a - _h, K.sym))
HIGH = tokens_of("tokens_high", "E^+", expected_tokens(_a + _h, K.sym))
GAP = tokens_of("gap", "g", TOKENS_PRINTED.sym - TOKENS.sym, "derived")
EXTRA = derived(
    "needed_points", r"\Delta\alpha", sp.Mul(100, NEEDED.sym - _a, evaluate=False), unit="point", kind="float"
)
REACHED = derived(
    "tokens_reached", "r", overlap(LOW.sym, HIGH.sym, TOKENS_PRINTED.sym, TOKENS_UNIT.sym), counts=True
)  # fmt: skip
LIMIT = tokens_of("limit", r"E_\infty", 1 / (1 - _a))
BY_WINDOW = (TOKENS_PRINTED, RATE, K, RATE_UNIT, TOKENS_UNIT, TOKENS, LOW, HIGH, GAP, NEEDED, EXTRA, LIMIT, REACHED)


def by_window(window: int, scenario: Scenario) -> Table:
    """What the formula gives for another number of drafts, and the rate that the printed tokens would need.

    window: K ≥ 1. `reached` is 1 where both agree within the rounding of rate and tokens; E_∞ = 1/(1 − α).

    >>> by_window(6, "code").column("tokens_reached")
    (Fraction(0, 1), Fraction(0, 1), Fraction(0, 1))

    Source: leviathan2022, Eq. 1.
    """
    if scenario not in ("code", "chat"):
        raise ValueError(f"scenario={scenario!r}: must be 'code' or 'chat'")
    n = len(DRAFTS)
    cells: dict[str, tuple[Cell, ...]] = {
        TOKENS_PRINTED.name: printed_cells()[TOKENS_PRINTED.name],
        RATE.name: tuple(Fraction(getattr(d, scenario)) / 100 for d in DRAFTS),
        K.name: (Fraction(window),) * n,
        RATE_UNIT.name: (RATE_HALF,) * n,
        TOKENS_UNIT.name: (TOKENS_HALF,) * n,
        NEEDED.name: tuple(needed_rate(Fraction(d.tokens), window) for d in DRAFTS),
    }
    return tabulate(id_of("by_window"), BY_WINDOW, NAMES, cells, function="mechanisms.precision_window.by_window")
