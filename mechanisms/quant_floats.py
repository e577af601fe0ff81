"""The symmetric map in Python floats, and where floats fail although the exact map does not.

Teaches: that a vector of ordinary numbers may still have no usable scale or no usable error in floating point. Each
failure is a `FloatProblem`, not an exception. Leaves out: formats narrower than Python's binary64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf, isnan, sqrt
from sys import float_info
from typing import Literal

Code = Literal[
    "empty", "not_a_number", "infinite", "scale_underflow", "scale_subnormal", "square_overflow", "square_underflow"
]

CASES: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("empty", ()),
    ("zeros", (0.0, 0.0)),
    ("nan", (1.0, float("nan"))),
    ("underflow", (5e-324,)),
    ("subnormal", (3e-322, 1e-322)),
    ("overflow", (1e300, 3e299)),
    ("vanish", (1e-200, 3e-201)),
)  # what a reader may type, one failure each


@dataclass(frozen=True, slots=True)
class FloatProblem:
    """What went wrong; `place` is the index of the value, None for the whole vector."""

    code: Code
    place: int | None = None


@dataclass(frozen=True, slots=True)
class FloatMap:
    """Codes and restored values (empty where there is no scale), the RMSE (None where it has none), and problems."""

    scale: float
    codes: tuple[int, ...]
    restored: tuple[float, ...]
    rmse: float | None
    problems: tuple[FloatProblem, ...]


def float_map(values: Sequence[float], bits: int) -> FloatMap:
    """Quantize floats with s = max|x| / (2^(b−1) − 1), half to even, and say what floating point spoils.

    `empty`, `not_a_number`, `infinite`: no scale exists. `scale_underflow`: values are not all 0, yet s is.
    `scale_subnormal`: s has lost digits, so that codes may be wrong or beyond the grid and clipped. `square_overflow`:
    a squared error is infinite. `square_underflow`: squared errors vanish, so that the RMSE is too small, even 0. Zeros
    alone have scale 0 and no problem. bits: at least 2.

    >>> float_map([5e-324], 4).problems
    (FloatProblem(code='scale_underflow', place=None),)
    >>> float_map([1e300, 3e299], 4).problems
    (FloatProblem(code='square_overflow', place=1),)

    Source: derived; binary64 as in ieee754.
    """
    if bits < 2:
        raise ValueError(f"bits={bits}: must be at least 2")
    if found := _unusable(values):
        return FloatMap(0.0, (), (), None, found)
    limit = 2 ** (bits - 1) - 1
    peak = max(abs(v) for v in values)
    scale = peak / limit
    if not peak:
        return FloatMap(0.0, (0,) * len(values), (0.0,) * len(values), 0.0, ())
    if not scale:
        return FloatMap(0.0, (), (), None, (FloatProblem("scale_underflow"),))
    codes = tuple(max(-limit, min(limit, round(v / scale))) for v in values)
    restored = tuple(code * scale for code in codes)
    problems = [FloatProblem("scale_subnormal")] if scale < float_info.min else []
    rmse, more = _rmse([a - b for a, b in zip(restored, values, strict=True)])
    return FloatMap(scale, codes, restored, rmse, (*problems, *more))


def _unusable(values: Sequence[float]) -> tuple[FloatProblem, ...]:
    if not values:
        return (FloatProblem("empty"),)
    return tuple(
        FloatProblem("not_a_number" if isnan(v) else "infinite", i)
        for i, v in enumerate(values)
        if isnan(v) or isinf(v)
    )


def _rmse(errors: Sequence[float]) -> tuple[float | None, tuple[FloatProblem, ...]]:
    """Root of the mean square as written in the textbook: squares first. `e * e` gives inf where `e ** 2` raises."""
    squares = [e * e for e in errors]
    if inf in squares:
        return None, tuple(FloatProblem("square_overflow", i) for i, s in enumerate(squares) if isinf(s))
    lost = tuple(
        FloatProblem("square_underflow", i)
        for i, (e, s) in enumerate(zip(errors, squares, strict=True))
        if e and s < float_info.min
    )
    total = sum(squares)
    return (None, (FloatProblem("square_overflow"),)) if isinf(total) else (sqrt(total / len(squares)), lost)
