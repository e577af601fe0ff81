"""What a quantized vector costs, in one row: errors, codes used, values lost, bits with and without metadata.

Teaches: that the raw ratio 16/b is not the ratio of what is stored. Leaves out: padding, unquantized layers and
workspace (`quant_bytes` has the first two), and what any of this does to a task.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from mechanisms.error_budget import BITS, ERROR, TOPIC, Scheme, b, x
from mechanisms.expression import largest, total
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.quant_summary"
FULL_BITS = 16  # of the format that the ratios compare with


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


NEW_CODE = Quantity(_id("new_code"), r"\mathrm{new}", "derived", counts=True)  # 1 at the first value with its code
COUNT = given(_id("values"), "n", "chosen", index="", counts=True)
GROUPS = Quantity(_id("groups"), "G", "derived", index="", counts=True)
METADATA = given(_id("metadata_bits"), r"b_{\mathrm{meta}}", "chosen", unit="bit", index="", counts=True)
e, n = signed(ERROR.name), COUNT.sym
MSE = Quantity(_id("mean_squared_error"), r"\mathrm{MSE}", "derived", total(e**2) / n, index="")
RMSE = Quantity(
    _id("root_mean_squared_error"), r"\mathrm{RMSE}", "derived", sp.sqrt(MSE.sym, evaluate=False), index="",
    kind="float",
)  # fmt: skip
BIAS = Quantity(_id("mean_error"), r"\bar e", "derived", total(e) / n, index="")
LARGEST = Quantity(_id("largest_error"), r"e_{\max}", "derived", largest(sp.Abs(e)), index="")
CODES = Quantity(_id("codes_used"), "K", "derived", total(NEW_CODE.sym), index="", counts=True)
LOST = Quantity(
    _id("rounded_to_zero"), "Z", "derived", total(is_zero(signed("restored")) * (1 - is_zero(x))), index="", counts=True
)
RAW = Quantity(_id("raw_ratio"), r"r_{\mathrm{raw}}", "derived", FULL_BITS / b, unit="×", index="")
EFFECTIVE = Quantity(
    _id("effective_bits"), r"b_{\mathrm{eff}}", "derived", b + METADATA.sym * GROUPS.sym / n, unit="bit", index=""
)
RATIO = Quantity(_id("ratio_with_metadata"), "r", "derived", FULL_BITS / EFFECTIVE.sym, unit="×", index="")
ERRORS = (COUNT, MSE, RMSE, BIAS, LARGEST, CODES, LOST)
COST = (GROUPS, BITS, METADATA, RAW, EFFECTIVE, RATIO)


def _over(table: Table, rows: Sequence[int]) -> Table:
    """The chosen rows, with a mark at the first value of each code."""
    if not rows:
        raise ValueError("rows=[]: a mean needs at least one row")
    cells = [tuple(column[r] for r in rows) for column in table.cells]
    codes = [table.value(r, "code") for r in rows]
    new = tuple(Fraction(code not in codes[:i]) for i, code in enumerate(codes))
    names = tuple(table.rows[r] for r in rows)
    return Table(table.id, (*table.columns, NEW_CODE), names, (*cells, new), table.function)


def errors(table: Table, *, rows: Sequence[int] | None = None, name: str = "") -> Table:
    """Errors of some rows of a table of `quantize` (all by default), without the bits, which belong to the whole.

    MSE = Σe²/n, RMSE = √MSE, ē = Σe/n, e_max = max|e|; K counts codes, Z values that became 0. rows: at least one.

    >>> from mechanisms.error_budget import quantize
    >>> table = quantize([Fraction(1), Fraction(1, 20)], Scheme(bits=3))
    >>> errors(table, rows=[1]).value(0, "rounded_to_zero")
    Fraction(1, 1)

    Source: derived.
    """
    over = _over(table, range(len(table.rows)) if rows is None else rows)
    count = {COUNT.name: (Fraction(len(over.rows)),)}
    return tabulate(_id("errors"), ERRORS, (name,), count, function=f"{_MODULE}.errors", over=over)


def summary(table: Table, scheme: Scheme, name: str = "") -> Table:
    """Errors and bits of a table of `quantize`: b_eff = b + b_meta·G/n, r = 16/b_eff.

    table: what `quantize` made with the same scheme.

    >>> from mechanisms.error_budget import quantize
    >>> v = [Fraction(t) for t in ("-1", "-0.37", "0.04", "0.29", "0.83")]
    >>> row = summary(quantize(v, Scheme(bits=4)), Scheme(bits=4))
    >>> row.value(0, "mean_squared_error"), row.value(0, "effective_bits")
    (Fraction(81, 70000), Fraction(36, 5))

    Source: derived.
    """
    over = _over(table, range(len(table.rows)))
    row: dict[str, tuple[Cell, ...]] = {
        COUNT.name: (Fraction(len(over.rows)),),
        GROUPS.name: (Fraction(len(scheme.sizes(len(over.rows)))),),
        BITS.name: (Fraction(scheme.bits),),
        METADATA.name: (Fraction(scheme.metadata_bits),),
    }
    return tabulate(_id("summary"), (*ERRORS, *COST), (name,), row, function=f"{_MODULE}.summary", over=over)
