"""From the integer sum back to a code: an exact rational multiplier, and the one that integer hardware uses.

Teaches: that the three scales fold into one number M = s_x s_w / s_y, how M becomes a 31-bit integer and a shift, and
which rounding rule decides ties. Rule here: add half of the last place and shift right, that is ties towards plus
infinity, in one rounding. gemmlowp's older reference rounds twice (a doubling high multiply, then a shift), and can
differ by one at near-ties. The two forms of M differ there, too: 79.5 goes up, 79.5 less a 2^−31st part goes down.
Leaves out: activation functions beyond the clip to the code range.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import sympy as sp

from mechanisms.integer_matmul import TOPIC
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Table, tabulate

MANTISSA_BITS = 31  # an int32 multiplier in [2^30, 2^31)
_FUNCTION = "mechanisms.integer_matmul_requantize.requantize_table"


def _one(name: str, tex: str, source: str, expression: Any = None, **more: Any) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, index="", **more)


SUM = given(f"{TOPIC}.accumulated", "A", "chosen", index="", counts=True)
X_SCALE = given(f"{TOPIC}.activation_scale", "s_x", "chosen", index="")
W_SCALE = given(f"{TOPIC}.weight_scale", "s_w", "chosen", index="")
Y_SCALE = given(f"{TOPIC}.output_scale", "s_y", "chosen", index="")
Y_ZERO = given(f"{TOPIC}.output_zero_point", "z_y", "chosen", index="", counts=True)
LOW = given(f"{TOPIC}.lowest_code", r"q_{\min}", "chosen", index="", counts=True)
HIGH = given(f"{TOPIC}.highest_code", r"q_{\max}", "chosen", index="", counts=True)
_a, _zy, _low, _high = (signed(q) for q in (SUM, Y_ZERO, LOW, HIGH))
REAL_OUTPUT = _one("real_output", "y", "jacob2018 Eq. 3", X_SCALE.sym * W_SCALE.sym * _a)
MULTIPLIER = _one("multiplier", "M", "jacob2018 Eq. 5", X_SCALE.sym * W_SCALE.sym / Y_SCALE.sym)
MANTISSA = _one("mantissa", "M_0", "jacob2018 Eq. 6", counts=True)
SHIFT = _one("shift", "n", "jacob2018 Eq. 6", unit="bit", counts=True)
_half = sp.Rational(1, 2)
EXACT_CODE = _one(
    "exact_code", "q_y", "jacob2018 Eq. 7",
    sp.Min(_high, sp.Max(_low, _zy + sp.floor(MULTIPLIER.sym * _a + _half))), counts=True,
)  # fmt: skip
FIXED_CODE = _one(
    "fixed_point_code", r"\hat q_y", "jacob2018 §2.2",
    sp.Min(_high, sp.Max(_low, _zy + sp.floor(MANTISSA.sym * _a / 2 ** signed(SHIFT) + _half))), counts=True,
)  # fmt: skip
MULTIPLIER_ERROR = _one(
    "multiplier_error", r"\varepsilon", "derived", MANTISSA.sym / 2 ** signed(SHIFT) / MULTIPLIER.sym - 1
)
BACK = _one("reconstructed", r"\hat y", "jacob2018 Eq. 1", Y_SCALE.sym * (signed(FIXED_CODE) - _zy))
COLUMNS = (
    SUM, X_SCALE, W_SCALE, Y_SCALE, Y_ZERO, LOW, HIGH, REAL_OUTPUT, MULTIPLIER,
    MANTISSA, SHIFT, MULTIPLIER_ERROR, EXACT_CODE, FIXED_CODE, BACK,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """M ≈ mantissa / 2^shift with an int32 mantissa in [2^30, 2^31)."""

    mantissa: int
    shift: int


def fixed_point(multiplier: Fraction) -> FixedPoint:
    """The nearest 31-bit mantissa and its shift; the relative error is at most 2^−31. multiplier: > 0.

    >>> fixed_point(Fraction(3, 4))
    FixedPoint(mantissa=1610612736, shift=31)

    Source: jacob2018, Eq. 6. There M lies in (0, 1), so that n ≥ 0; here any positive M is taken and n may be negative.
    """
    if multiplier <= 0:
        raise ValueError(f"multiplier={multiplier}: must be positive")
    shift = MANTISSA_BITS - _exponent(multiplier)
    mantissa = round(multiplier * Fraction(2) ** shift)
    if mantissa == 1 << MANTISSA_BITS:  # rounded up to the next power of two
        return FixedPoint(mantissa >> 1, shift - 1)
    return FixedPoint(mantissa, shift)


def _exponent(x: Fraction) -> int:
    """The e with 2^(e−1) ≤ x < 2^e."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e + 1 if x >= Fraction(2) ** e else e


def requantize(accumulated: int, fixed: FixedPoint, *, zero_point: int, low: int, high: int) -> int:
    """q_y = clip(z_y + ⌊A M₀ / 2ⁿ + 1/2⌋) with integers only: a 64-bit product, an added half, an arithmetic shift.

    >>> requantize(795, fixed_point(Fraction(1, 10)), zero_point=3, low=-128, high=127)
    82

    Source: jacob2018, §2.2; rounding rule as in the module's docstring.
    """
    product = accumulated * fixed.mantissa
    shifted = (product + (1 << (fixed.shift - 1))) >> fixed.shift if fixed.shift > 0 else product << -fixed.shift
    return min(high, max(low, zero_point + shifted))


def requantize_exact(accumulated: int, multiplier: Fraction, *, zero_point: int, low: int, high: int) -> int:
    """The same with the rational multiplier: clip(z_y + ⌊A M + 1/2⌋). Source: jacob2018, Eq. 7."""
    return min(high, max(low, zero_point + floor(accumulated * multiplier + Fraction(1, 2))))


def requantize_table(
    accumulated: int, *, x_scale: Fraction, w_scale: Fraction, y_scale: Fraction, zero_point: int = 0,
    low: int = -128, high: int = 127, name: str = "",
) -> Table:  # fmt: skip
    """Multiplier, its fixed-point form, the code both ways and the value it stands for, in one row.

    Scales are positive rationals. Raises ValueError otherwise, and for low > high.

    >>> t = requantize_table(795, x_scale=Fraction(1, 50), w_scale=Fraction(1, 20), y_scale=Fraction(1, 100))
    >>> t.value(0, "multiplier"), t.value(0, "exact_code"), t.value(0, "fixed_point_code")
    (Fraction(1, 10), Fraction(80, 1), Fraction(79, 1))

    Source: jacob2018, Eq. 3 to 7.
    """
    for label, scale in (("x_scale", x_scale), ("w_scale", w_scale), ("y_scale", y_scale)):
        if scale <= 0:
            raise ValueError(f"{label}={scale}: must be positive")
    if low > high:
        raise ValueError(f"low={low}, high={high}: low must not exceed high")
    fixed = fixed_point(x_scale * w_scale / y_scale)
    values = {
        SUM: accumulated, X_SCALE: x_scale, W_SCALE: w_scale, Y_SCALE: y_scale, Y_ZERO: zero_point,
        LOW: low, HIGH: high, MANTISSA: fixed.mantissa, SHIFT: fixed.shift,
    }  # fmt: skip
    row = {quantity.name: (Fraction(value),) for quantity, value in values.items()}
    return tabulate(f"{TOPIC}.requantize", COLUMNS, (name,), row, function=_FUNCTION)
