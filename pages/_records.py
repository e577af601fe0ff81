"""Measured numbers as tables: records of `gpu_demos/results` in the columns and rows that a chapter wants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gpu_demos.record import Record, find, load
from mechanisms.expression import real
from mechanisms.quantity import Quantity
from mechanisms.table import Cell, Table

RESULTS = Path(__file__).parents[1] / "gpu_demos/results"


@dataclass(frozen=True, slots=True)
class Column:
    """A quantity of the chapter, and the record that fills it: its id without the topic, and conditions beyond those of
    the row. spread: show how far the repetitions lie apart instead of the value."""

    name: str
    tex: str
    record: str
    at: Mapping[str, str]
    unit: str = "1"
    spread: bool = False


@lru_cache(maxsize=16)
def read(name: str) -> tuple[Record, ...]:
    """The records of one file."""
    return load(RESULTS / f"{name}.json")


def measured_by(file: str) -> str:
    """The command whose records a file holds: the topic of their ids. What was run on several machines has several
    files."""
    return read(file)[0].id.partition(".")[0]


def table(name: str, file: str, columns: Sequence[Column], rows: Mapping[str, Mapping[str, str]]) -> Table:
    """The table `name`, `<topic>.<table>`. rows: words in front of a row -> its conditions; a number that was not
    measured there is undefined."""
    topic = name.partition(".")[0]
    cells = [[_cell(file, column, at) for at in rows.values()] for column in columns]
    quantities = [
        Quantity(f"{topic}.{c.name}", c.tex, f"record {file}", unit=c.unit, index="", kind="measured") for c in columns
    ]
    function = f"gpu_demos.measure.{measured_by(file)}"
    return Table(name, tuple(quantities), tuple(rows), tuple(map(tuple, cells)), function)


def printed(file: str, name: str, **at: str) -> str:
    """The value of one record as a table shows it. LookupError where there is none."""
    record = find(read(file), f"{measured_by(file)}.{name}", **at)
    return rounded(record.value, record.spread.value)


def _cell(file: str, column: Column, at: Mapping[str, str]) -> Cell:
    wanted = {**at, **column.at}
    id = f"{measured_by(file)}.{column.record}"
    found = [r for r in read(file) if r.id == id and wanted.items() <= r.at.items()]
    if not found:
        return None
    record = find(found, id, **wanted)
    return real(rounded(record.spread.value if column.spread else record.value, record.spread.value))


def rounded(value: float, spread: float) -> str:
    """`value` to the second significant digit of its spread, as a decimal; without one a count as it is, and else to
    four significant digits.

    >>> rounded(39.8123, 0.412), rounded(1234.5, 56.0), rounded(0.123456, 0.0), rounded(20.0, 0.0)
    ('39.81', '1234', '0.1235', '20')
    """
    if not spread and float(value).is_integer():
        return str(int(value))
    leading = spread or abs(value)
    places = (1 if spread else 3) - math.floor(math.log10(leading))
    return f"{round(value, places):.{max(0, places)}f}"
