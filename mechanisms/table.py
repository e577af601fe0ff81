"""Tables whose cells derive themselves.

Teaches: a table as ordered quantities over named rows; each cell can say formula, formula with its own numbers,
exact value, decimal, unit and source. Leaves out: how a cell looks on a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechanisms.expression import Largest, Product, Total, Value, compile_rows, real
from mechanisms.formula_tex import write_tex
from mechanisms.quantity import (
    Kind,
    Quantity,
    exact_text,
    number_tex,
    print_text,
    short_text,
)

Cell = Value | None
Put = Callable[[str, int | None], str]  # how to write a symbol, inside a sum with its row
_REDUCE: dict[Any, Callable[[list[Any]], Any]] = {Total: sum, Product: math.prod, Largest: max}


@dataclass(frozen=True, slots=True)
class Derivation:
    """Everything a reader may ask of one number. `exact` is None for irrational and for undefined values."""

    quantity: str
    general: str
    substituted: str
    exact: str | None
    decimal: str | None
    unit: str
    kind: Kind
    source: str
    function: str
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """`cells[c][r]`: column c, row r; None where the quantity is undefined. `over` holds the columns that sums run
    over; `long` is how many rows they run over where those are too many to keep or to write out."""

    id: str
    columns: tuple[Quantity, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    function: str
    over: Table | None = None
    long: int = 0

    def column(self, name: str) -> tuple[Cell, ...]:
        """Values of one column; KeyError names what exists."""
        for quantity, cells in zip(self.columns, self.cells, strict=True):
            if quantity.name == name:
                return cells
        raise KeyError(f"{self.id} has no column {name!r}: {[q.name for q in self.columns]}")

    def value(self, row: int, name: str) -> Cell:
        return self.column(name)[row]

    def to_frame(self) -> Any:
        """The exact values as a pandas DataFrame, rows indexed by name."""
        import pandas as pd  # here and only here: the mechanisms themselves work without pandas

        return pd.DataFrame(
            {q.name: list(c) for q, c in zip(self.columns, self.cells, strict=True)}, index=list(self.rows)
        )

    def explain(self, row: int, name: str) -> Derivation:
        """How the cell came about, with its own numbers put in."""
        place = [q.name for q in self.columns].index(name)
        quantity, value = self.columns[place], self.cells[place][row]

        def put(symbol: str, r: int | None) -> str:
            cell = self._lookup(symbol, row if r is None else r, inside=r is not None)
            return r"\text{undefined}" if cell is None else number_tex(short_text(cell))

        return Derivation(
            quantity=quantity.id,
            general=general_tex(quantity, self),
            substituted=substituted_tex(quantity, self, self.rows[row], put, value),
            exact=exact_text(value) if isinstance(value, Fraction) else None,
            decimal=None if value is None else print_text(quantity, value),
            unit=quantity.unit,
            kind=quantity.kind,
            source=quantity.source,
            function=self.function,
            condition=condition_tex(quantity, self),
        )

    def _lookup(self, symbol: str, row: int, *, inside: bool) -> Cell:
        holder = self.over if inside and self.over is not None else self
        return holder.column(symbol)[row]

    @property
    def terms(self) -> int:
        """How many rows a sum of this table runs over."""
        return len((self.over or self).rows)

    @property
    def letter(self) -> str:
        """The letter by which the rows that sums run over are counted."""
        return next((q.index for q in (self.over or self).columns if q.index), "v")

    @property
    def known(self) -> dict[str, Quantity]:
        """Every quantity that an expression of this table may use, in reading order."""
        return {q.name: q for table in (self.over, self) if table for q in table.columns}

    def write(self, expression: Any, put: Put | None = None) -> str:
        """LaTeX of an expression over this table's quantities: with symbols, or with what `put` says."""
        known, letter = self.known, self.letter
        if put is None or self.long:
            limit = 0 if put is None else self.long
            return write_tex(expression, lambda s, _: known[s].tex(), list(known), limit=limit, letter=letter)
        return write_tex(expression, put, list(known), self.terms)


def general_tex(quantity: Quantity, table: Table) -> str:
    """`a(v) = \\min(1, p(v)/q(v))`."""
    if quantity.expression is None:
        return quantity.tex()
    return f"{quantity.tex()} = {table.write(quantity.expression)}"


def substituted_tex(quantity: Quantity, table: Table, row: str, put: Put, value: Cell) -> str:
    """The same formula with numbers; `put(symbol, row)` writes a number or, for a template, a slot."""
    head = quantity.tex(row)
    if quantity.expression is None:
        return head if value is None else f"{head} = {number_tex(short_text(value))}"
    return f"{head} = {table.write(quantity.expression, put)}"


def condition_tex(quantity: Quantity, table: Table) -> str | None:
    if quantity.defined is None:
        return None
    return table.write(quantity.defined)


def tabulate(
    id: str,
    columns: Sequence[Quantity],
    rows: Sequence[str],
    given: Mapping[str, Sequence[Cell]],
    *,
    function: str,
    over: Table | None = None,
    long: int = 0,
) -> Table:
    """Fill a table from its given columns, left to right.

    given: name -> one value per row, for each column without an expression; a column with one takes it too, where its
    value was computed elsewhere. `over`: a table whose columns the sums
    run over; without it they run over this one. Raises ValueError where a given column is missing or too short.
    """
    done: dict[str, tuple[Cell, ...]] = {}
    sums = done if over is None else {q.name: c for q, c in zip(over.columns, over.cells, strict=True)}
    for quantity in columns:
        if quantity.expression is None or quantity.name in given:
            cells = tuple(given.get(quantity.name, ()))
            if len(cells) != len(rows):
                raise ValueError(f"given[{quantity.name!r}] has {len(cells)} values: {len(rows)} rows need {len(rows)}")
            done[quantity.name] = cells
        else:
            done[quantity.name] = _fill(quantity, len(rows), done, sums)
    return Table(id, tuple(columns), tuple(rows), tuple(done[q.name] for q in columns), function, over, long)


def _fill(
    quantity: Quantity, n: int, columns: Mapping[str, tuple[Cell, ...]], sums: Mapping[str, tuple[Cell, ...]]
) -> tuple[Cell, ...]:
    assert quantity.expression is not None
    defined = (
        [True] * n if quantity.defined is None else _column(quantity.defined, [True] * n, columns, sums, exact=True)
    )
    return tuple(_column(quantity.expression, defined, columns, sums, exact=quantity.kind != "float"))


def _column(
    expression: Any,
    wanted: Sequence[Any],
    columns: Mapping[str, tuple[Cell, ...]],
    sums: Mapping[str, tuple[Cell, ...]],
    *,
    exact: bool,
) -> list[Any]:
    if not any(wanted):
        return [None] * len(wanted)
    compiled = compile_rows(expression, exact)
    reduced: dict[str, Any] = {}
    for i, (kind, names, function) in enumerate(compiled.reducers):
        terms = [
            None if None in row else function(*row) for row in zip(*(_cast(sums[n], exact) for n in names), strict=True)
        ]
        reduced[f"_r{i}"] = None if None in terms else _REDUCE[kind](terms)
    rows = [[reduced[n]] * len(wanted) if n in reduced else _cast(columns[n], exact) for n in compiled.row_names]
    needed = [i for i, n in enumerate(compiled.row_names) if n not in compiled.spared]
    function = compiled.function
    out: list[Any] = []
    for r, want in enumerate(wanted):
        values = [column[r] for column in rows]
        blank = not want or any(values[i] is None for i in needed)
        out.append(None if blank else _as_value(function(*values)))
    return out


def _as_value(x: Any) -> Any:
    return Fraction(x) if isinstance(x, int) and not isinstance(x, bool) else x


def _cast(column: Sequence[Any], exact: bool) -> Sequence[Any]:
    return column if exact else [real(v) if isinstance(v, Fraction) else v for v in column]
