"""Measured tables as a page has to show them, read from the files of records by code that shares nothing with it."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import lru_cache
from typing import Any

from mechanisms.expression import real
from mechanisms.quantity import Quantity
from mechanisms.table import Table
from pages._measured import TABLES
from tests.browser import ROOT


@lru_cache(maxsize=16)
def entries(file: str) -> list[dict[str, Any]]:
    """Every record of a file, as JSON has it."""
    return json.loads((ROOT / f"gpu_demos/results/{file}.json").read_text("utf-8"))["records"]


def entry(file: str, name: str, **at: str) -> dict[str, Any] | None:
    """The one record of this name under these conditions."""
    topic = {"verify_cost_avx512": "verify_cost", "speed_copying": "speed"}.get(file, file)  # commands that ran twice
    found = [
        e for e in entries(file) if e["id"] == f"{topic}.{name}" and all(e["at"].get(k) == v for k, v in at.items())
    ]
    assert len(found) <= 1, (name, at)
    return found[0] if found else None


def printed(found: dict[str, Any] | None, *, spread: bool = False) -> str:
    """The value, or its spread, to the second digit of the spread; a count as it is, four digits of what is sure."""
    if found is None:
        return ""
    value, half = Decimal(str(found["value"])), Decimal(str(found["spread"]["value"]))
    if not half:
        if value == value.to_integral_value():
            return str(int(value))
        return format(value.quantize(Decimal(1).scaleb(value.adjusted() - 3)), "f")
    unit = Decimal(1).scaleb(half.adjusted() - 1)
    return format((half if spread else value).quantize(unit), "f")


def measured(name: str) -> Table:
    """The table `<topic>.<name>` with the columns and rows that its page names; `tests/test_measured_tables.py` holds
    these against records that are named there by hand."""
    shown, topic = TABLES[name], name.partition(".")[0]
    cells = []
    for column in shown.columns:
        texts = [printed(entry(shown.file, column.record, **at, **column.at), spread=column.spread)
                 for at in shown.rows.values()]  # fmt: skip
        cells.append(tuple(real(text) if text else None for text in texts))
    quantities = tuple(Quantity(f"{topic}.{c.name}", "x", "derived", kind="measured") for c in shown.columns)
    return Table(name, quantities, tuple(shown.rows), tuple(cells), "")


def of_topic(topic: str) -> dict[str, Table]:
    """Name on the page -> table."""
    return {name.partition(".")[2]: measured(name) for name in TABLES if name.startswith(f"{topic}.")}
