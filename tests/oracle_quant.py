"""The affine map written a second time, in `decimal` and by search, and what the tests of the chapter share.

Nothing here imports `mechanisms`: a code is found by trying every code there is, not by rounding a quotient.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st

SEEDED = settings(max_examples=80, derandomize=True, database=None)
SMALL = st.integers(-400, 400).map(lambda n: Fraction(n, 40))
VECTORS = st.lists(SMALL, min_size=1, max_size=9)


def decimal_round(numerator: int, halves_up: bool | None) -> int:
    """numerator/2 rounded by Python's decimal module: half to even for None, half up or half away else."""
    x = Decimal(numerator) / 2
    if halves_up is None:
        return int(x.to_integral_value(ROUND_HALF_EVEN))
    if halves_up:  # towards plus infinity: half up for positive, half down for negative numbers
        return int(x.to_integral_value(ROUND_HALF_UP if x >= 0 else ROUND_HALF_DOWN))
    return int(x.to_integral_value(ROUND_HALF_UP))


def nearest_levels(x: Fraction, levels: Sequence[Fraction]) -> set[Fraction]:
    """The levels that lie closest: two of them on a tie."""
    least = min(abs(x - y) for y in levels)
    return {y for y in levels if abs(x - y) == least}


def symmetric_levels(values: Sequence[Fraction], bits: int) -> list[Fraction]:
    """Every number that a max-abs grid can restore."""
    top, peak = 2 ** (bits - 1) - 1, max(abs(v) for v in values)
    return [peak * k / top for k in range(-top, top + 1)]
