"""Rows of several one-row tables under each other, so that they can be compared.

A formula that sums over other rows is dropped, because those rows differ from row to row; the table that each row
comes from derives it. Formulas within a row stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mechanisms.expression import REDUCERS
from mechanisms.quantity import Quantity
from mechanisms.table import Table


def stacked(tables: Sequence[Table], rows: Sequence[str], columns: Sequence[str], id: str = "") -> Table:
    """One row per table, in the named columns. tables: at least one, with equal columns.

    >>> from mechanisms.quant_lab import lab_summary
    >>> stacked([lab_summary(4), lab_summary(8)], ["4", "8"], ["root_mean_squared_error"]).rows
    ('4', '8')
    """
    if not tables or len(tables) != len(rows):
        raise ValueError(f"tables={len(tables)}, rows={len(rows)}: need as many, and at least one")
    named = {q.name: q for q in tables[0].columns}
    shown = tuple(_alone(named[n], set(columns)) for n in columns)
    cells = tuple(tuple(t.value(0, n) for t in tables) for n in columns)
    return Table(id or tables[0].id, shown, tuple(rows), cells, tables[0].function)


def _alone(quantity: Quantity, shown: set[str]) -> Quantity:
    """Indexed by its row; without its formula where that needs other rows or a column that is not shown."""
    formula = quantity.expression
    if formula is not None and (formula.has(*REDUCERS) or not {str(s) for s in formula.free_symbols} <= shown):
        formula = None
    return replace(quantity, expression=formula, defined=quantity.defined if formula is not None else None)
