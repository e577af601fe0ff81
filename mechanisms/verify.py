"""Recompute every table that has a reference file and compare it cell by cell: `python -m mechanisms.verify`.

The reference files (tests/reference/, see its README) were computed by other code. A cell is one CSV field; fields that
only describe a row in words are not counted. Exit status 1 where a cell differs or a reference file is missing.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mechanisms.verify_calibration import TABLES as CALIBRATION
from mechanisms.verify_draft import TABLES as DRAFT
from mechanisms.verify_drafter import TABLES as DRAFTER
from mechanisms.verify_dspark import TABLES as DSPARK
from mechanisms.verify_economics import TABLES as ECONOMICS
from mechanisms.verify_mtp import TABLES as MTP
from mechanisms.verify_quant import TABLES as QUANT
from mechanisms.verify_rejection import TABLES as REJECTION

REFERENCE = Path(__file__).resolve().parent.parent / "tests" / "reference"
Row = Mapping[str, str]
TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    **REJECTION, **QUANT, **CALIBRATION, **ECONOMICS, **DRAFT, **MTP, **DSPARK, **DRAFTER,
}  # fmt: skip
PROSE = {"lesson"}  # a sentence about a preset, not a number


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of one table; `differences` name row, column, wanted and found."""

    name: str
    cells: int
    differences: tuple[str, ...]


def compare(name: str, rows: Iterator[Row], path: Path) -> Result:
    """Our rows against the file's, field by field, as text: both sides print the same way."""
    with path.open(encoding="utf-8", newline="") as file:
        wanted = list(csv.DictReader(file))
    found = list(rows)
    differences = [] if len(found) == len(wanted) else [f"rows: {len(wanted)} wanted, {len(found)} found"]
    cells = 0
    for i, (want, have) in enumerate(zip(wanted, found, strict=False)):
        for column in want.keys() - PROSE:
            cells += 1
            if have.get(column) != want[column]:
                differences.append(f"row {i + 1} {column}: {want[column]!r} wanted, {have.get(column)!r} found")
    return Result(name, cells, tuple(sorted(differences)))


def verify(folder: Path = REFERENCE) -> Iterator[Result]:
    """One result per table. Raises FileNotFoundError for a missing reference, ValueError for one not covered."""
    if unknown := {path.stem for path in folder.glob("*.csv")} - TABLES.keys():
        raise ValueError(f"reference files without a table: {sorted(unknown)}")
    for name, rows in TABLES.items():
        yield compare(name, rows(), folder / f"{name}.csv")


def main() -> int:
    results = []
    for result in verify():
        results.append(result)
        print(f"{result.name} {result.cells} {len(result.differences)}")
        for line in result.differences[:5]:
            print(f"    {line}")
    mismatches = sum(len(r.differences) for r in results)
    print(f"{len(results)} tables, {sum(r.cells for r in results)} cells, {mismatches} mismatches")
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
