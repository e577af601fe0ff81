"""Does a substituted line of the drafter's tables denote its cell? LaTeX is turned into Python and evaluated."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mechanisms.quantity import Quantity, as_fraction
from mechanisms.table import Table
from tests.oracle_quant_tex import python


def value(line: str) -> Any:
    """Right side of `symbol = expression`, evaluated; powers of rationals stay rational where they are."""
    text = python(line.split(" = ", 1)[1].replace(r"\log_2", "logtwo"))
    scope: dict[str, Any] = {"Fraction": Fraction, "logtwo": math.log2}
    return eval(text, scope)


def agrees(table: Table, row: int, quantity: Quantity) -> bool:
    """Exactly, or to 1e-5 where a number that was put in is itself rounded."""
    cell, told = table.value(row, quantity.name), table.explain(row, quantity.name)
    if cell is None:
        return told.decimal is None
    if told.exact is not None and Fraction(told.exact.replace("−", "-")) != cell:
        return False
    found = value(told.substituted)
    if isinstance(cell, Fraction) and not isinstance(found, float):
        return bool(found == cell)
    return math.isclose(float(found), float(as_fraction(cell)), rel_tol=1e-5, abs_tol=1e-6)
