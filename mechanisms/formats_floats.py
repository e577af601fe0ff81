"""Small floating-point formats, exact: every code point, and encoding with round half to even.

Teaches: that a float spends its codes near zero, that overflow has no single answer (the largest number or NaN or
infinity, see `encode`), and how large the error is in each binade. Leaves out: arithmetic in these formats.
Negative zero is a code, but as a rational it is 0; encoding 0 gives the positive one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from mechanisms.error_budget import TOPIC
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.formats_floats"
Special = Literal["nan", "inf", "-inf"]
SPECIALS: tuple[Special, ...] = ("nan", "inf", "-inf")


@dataclass(frozen=True, slots=True)
class MiniFloat:
    """A sign bit, an exponent field and a fraction field. specials: `ieee` has infinities and NaN in the topmost
    exponent, `nan` gives up only the topmost code of each sign, `none` has neither."""

    id: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    specials: Literal["ieee", "nan", "none"]
    source: str

    @property
    def codes(self) -> int:
        return 2 ** (1 + self.exponent_bits + self.fraction_bits)

    @property
    def largest_code(self) -> int:
        """The positive code of the largest finite number."""
        top = self.codes // 2 - 1
        return top - {"ieee": 2**self.fraction_bits, "nan": 1, "none": 0}[self.specials]

    @property
    def largest(self) -> Fraction:
        value = decode(self, self.largest_code)
        assert isinstance(value, Fraction)
        return value


E4M3 = MiniFloat("e4m3", 4, 3, 7, "nan", "micikevicius2022")
E5M2 = MiniFloat("e5m2", 5, 2, 15, "ieee", "micikevicius2022")
E2M1 = MiniFloat("e2m1", 2, 1, 1, "none", "ocp2023")
FORMATS = (E4M3, E5M2, E2M1)


def _field(name: str, tex: str, index: str = "v") -> Quantity:
    return given(f"{TOPIC}.{name}", tex, "chosen", index=index, counts=True)


SIGN, EXPONENT, FRACTION = _field("sign_field", "S"), _field("exponent_field", "E"), _field("fraction_field", "M")
BIAS, WIDTH = _field("exponent_bias", r"\beta", ""), _field("fraction_bits", "m", "")
POINT = Quantity(
    f"{TOPIC}.code_point", "y", "ocp2023",
    (1 - 2 * SIGN.sym) * 2 ** (sp.Max(1, EXPONENT.sym) - BIAS.sym)
    * (sp.Min(1, EXPONENT.sym) + FRACTION.sym / 2**WIDTH.sym),
)  # fmt: skip
POINTS = (SIGN, EXPONENT, FRACTION, BIAS, WIDTH, POINT)


def _fields(form: MiniFloat, code: int) -> tuple[int, int, int]:
    if not 0 <= code < form.codes:
        raise ValueError(f"code={code}: must be 0 … {form.codes - 1}")
    magnitude, m = code % (form.codes // 2), form.fraction_bits
    return int(code >= form.codes // 2), magnitude >> m, magnitude & (2**m - 1)


def _special(form: MiniFloat, code: int) -> Special | None:
    if code % (form.codes // 2) <= form.largest_code:
        return None
    negative, _, fraction = _fields(form, code)
    return "nan" if form.specials == "nan" or fraction else "-inf" if negative else "inf"


def code_points(form: MiniFloat) -> Table:
    """Every code of a format with its fields and value; None for NaN and infinities.

    y = (1 − 2S)·2^(max(1, E) − β)·(min(1, E) + M/2^m): the hidden bit is 0 and the exponent that of E = 1 where E = 0.

    >>> code_points(E2M1).column("code_point")[:8] == tuple(map(Fraction, ("0", "1/2", "1", "3/2", "2", "3", "4", "6")))
    True

    Source: ocp2023, §5.3 (E4M3, E5M2, E2M1); micikevicius2022, §3.
    """
    rows = [_fields(form, code) for code in range(form.codes)]
    columns: dict[str, tuple[Cell, ...]] = {
        q.name: tuple(Fraction(row[i]) for row in rows) for i, q in enumerate((SIGN, EXPONENT, FRACTION))
    }
    columns |= {BIAS.name: (Fraction(form.bias),) * len(rows), WIDTH.name: (Fraction(form.fraction_bits),) * len(rows)}
    names = tuple(f"{code:0{(form.codes.bit_length() + 2) // 4}x}" for code in range(form.codes))
    table = tabulate(f"{TOPIC}.code_points", POINTS, names, columns, function=f"{_MODULE}.code_points")
    columns[POINT.name] = tuple(
        None if _special(form, code) else value for code, value in enumerate(table.column(POINT.name))
    )
    return tabulate(f"{TOPIC}.code_points", POINTS, names, columns, function=f"{_MODULE}.code_points")


@cache
def decoded(form: MiniFloat) -> tuple[Fraction | Special, ...]:
    """Value of every code, from `code_points`. Source: as there."""
    points = code_points(form).column(POINT.name)
    found: list[Fraction | Special] = []
    for code, value in enumerate(points):
        special = _special(form, code)
        if special is None:
            assert isinstance(value, Fraction)
            found.append(value)
        else:
            found.append(special)
    return tuple(found)


def decode(form: MiniFloat, code: int) -> Fraction | Special:
    """Value of one code. Source: as `code_points`.

    >>> decode(E4M3, 0x7E), decode(E5M2, 0x7C)
    (Fraction(448, 1), 'inf')
    """
    _fields(form, code)
    return decoded(form)[code]


def encode(form: MiniFloat, x: Fraction | Special, *, saturate: bool = True) -> int:
    """Code of the nearest number, a tie to the even code.

    saturate: what rounds beyond the largest number becomes the largest number, infinities too; otherwise it becomes
    NaN in E4M3 and infinity in E5M2. E2M1 has neither, so it always saturates, and NaN is a ValueError there.

    >>> decode(E4M3, encode(E4M3, Fraction(17))), decode(E4M3, encode(E4M3, Fraction(465), saturate=False))
    (Fraction(16, 1), 'nan')

    Source: ocp2023, §5.3 and §6.3 for both answers to overflow.
    """
    negative = form.codes // 2 * (x == "-inf" or (isinstance(x, Fraction) and x < 0))
    if x == "nan":
        if form.specials == "none":
            raise ValueError(f"x={x!r}: {form.id} has no NaN")
        return form.codes // 2 - 1
    if isinstance(x, str):
        return negative + (form.largest_code if _saturates(form, saturate) else form.largest_code + 1)
    size, m = abs(x), form.fraction_bits
    exponent = max(floor_log2(size), 1 - form.bias) if size else 1 - form.bias
    steps = round(size / Fraction(2) ** (exponent - m))
    magnitude = steps + ((exponent + form.bias - 1) << m)
    if magnitude <= form.largest_code:
        return negative + magnitude
    return negative + (form.largest_code if _saturates(form, saturate) else form.largest_code + 1)


def _saturates(form: MiniFloat, saturate: bool) -> bool:
    return saturate or form.specials == "none"


def floor_log2(x: Fraction) -> int:
    """The exponent e with 2^e ≤ x < 2^(e+1)."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def round_array(form: MiniFloat, x: NDArray[np.float64], *, saturate: bool = True) -> NDArray[np.float64]:
    """The same rounding on an array, by a search among the midpoints between neighbouring numbers. x: (…,).

    >>> round_array(E2M1, np.array([0.25, 0.75, -5.0, 1e9])).tolist()
    [0.0, 1.0, -4.0, 6.0]

    Source: as `encode`.
    """
    numbers = np.array([float(v) for v in decoded(form)[: form.largest_code + 1]])
    beyond = 2 * numbers[-1] - numbers[-2]  # where the next number would lie: overflow starts halfway to it
    middles = (numbers + np.append(numbers[1:], beyond)) / 2
    size = np.abs(x)
    place = np.searchsorted(middles, size)
    tie = (place < len(middles)) & (middles[np.minimum(place, len(middles) - 1)] == size) & (place % 2 == 1)
    place = place + tie
    spill = numbers[-1] if _saturates(form, saturate) else np.inf if form.specials == "ieee" else np.nan
    out = np.copysign(np.where(place < len(numbers), numbers[np.minimum(place, len(numbers) - 1)], spill), x)
    return np.where(np.isnan(x), np.nan, out)
