"""What a small float makes of numbers beyond its largest one.

Teaches: that overflow starts half a step above the largest number, and that what happens then is a choice: saturate,
or become infinity (E5M2) or NaN (E4M3). Leaves out: scaling, which is how overflow is avoided (`formats_compare`).
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.error_budget import TOPIC
from mechanisms.expression import REAL
from mechanisms.formats_floats import FORMATS, MiniFloat, decode, encode
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

INPUT = given(f"{TOPIC}.cast_input", "x", "chosen")
LARGEST = Quantity(f"{TOPIC}.largest_number", "L", "ocp2023")
STEP = Quantity(f"{TOPIC}.last_step", r"\Delta", "derived")
LIMIT = Quantity(f"{TOPIC}.overflow_limit", "T", "derived", LARGEST.sym + STEP.sym / 2)
EXCESS = Quantity(f"{TOPIC}.beyond_limit", "g", "derived", sp.Add(sp.Abs(signed(INPUT)), -LIMIT.sym, evaluate=False))
CAST = Quantity(f"{TOPIC}.cast_result", "y", "ocp2023")
COLUMNS = (INPUT, LARGEST, STEP, LIMIT, EXCESS, CAST)
PLACES = ("tie", "above", "far")


def overflow(*, saturate: bool) -> Table:
    """Each format at the tie above its largest number, just beyond it, and far below zero.

    T = L + Δ/2 is where overflow starts; the tie itself goes to the even code, which is L in E4M3 and the next, missing
    one in E5M2 and E2M1. y is None for NaN.

    >>> [str(x) for x in overflow(saturate=True).column("cast_result")[:3]]
    ['448', '448', '-448']
    >>> overflow(saturate=False).column("cast_result")[1] is None
    True

    Source: ocp2023, §5.3 and §6.3.
    """
    rows, columns = list[str](), {q.name: list[Cell]() for q in (INPUT, LARGEST, STEP, CAST)}
    for form in FORMATS:
        top, step = form.largest, form.largest - _below(form)
        tie = top + step / 2
        for place, x in zip(PLACES, (tie, tie + step / 16, -2 * top), strict=True):
            rows.append(f"{form.id} {place}")
            cells = (x, top, step, _value(form, encode(form, x, saturate=saturate)))
            for column, cell in zip(columns.values(), cells, strict=True):
                column.append(cell)
    return tabulate(f"{TOPIC}.overflow", COLUMNS, rows, columns, function="mechanisms.formats_overflow.overflow")


def _below(form: MiniFloat) -> Fraction:
    """The largest number but one."""
    value = decode(form, form.largest_code - 1)
    assert isinstance(value, Fraction)
    return value


def _value(form: MiniFloat, code: int) -> Cell:
    found = decode(form, code)
    return found if isinstance(found, Fraction) else {"inf": REAL.inf, "-inf": -REAL.inf, "nan": None}[found]
