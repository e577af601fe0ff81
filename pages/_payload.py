"""Tables and derivations as the browser gets them: words once per column, numbers as text, formulas with slots."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from lessons import store
from lessons.render import mathml
from mechanisms.quantity import Kind, Quantity, exact_text, print_text, short_text
from mechanisms.table import Cell, Derivation, Table, condition_tex, general_tex, substituted_tex
from pages._links import provenance

KINDS: tuple[Kind, ...] = ("given", "exact", "float", "simulated", "measured", "quoted", "contradicted")
WORDS = (
    "row",
    "copy",
    "copied",
    "close",
    "how",
    "formula",
    "substituted",
    "condition",
    "value",
    "exact",
    "decimal",
    "source",
    "function",
)


def cell_text(quantity: Quantity, value: Cell) -> str | None:
    """`decimal|exact|short`; None where the quantity is undefined. The exact part is empty for irrational numbers."""
    if value is None:
        return None
    exact = exact_text(value) if isinstance(value, Fraction) else ""
    return f"{print_text(quantity, value)}|{exact}|{short_text(value)}"


def label(quantity: Quantity, lang: str) -> str:
    topic, name = quantity.id.split(".")
    return store.ui(f"{topic}_quantities.{name}", lang)


def undefined(quantity: Quantity, lang: str) -> str:
    """What stands in a cell without a value: a word of its own where there is one, else `undefined`."""
    topic, name = quantity.id.split(".")
    try:
        return store.ui(f"{topic}_undefined.{name}", lang)
    except KeyError:
        return store.ui("words.undefined", lang)


def how(quantity: Quantity, lang: str) -> str:
    """In words, how a number comes about that has no formula of its own; empty for all others."""
    topic, name = quantity.id.split(".")
    try:
        return store.ui(f"{topic}_how.{name}", lang) if quantity.expression is None else ""
    except KeyError:
        return ""


def unit(quantity: Quantity, lang: str) -> str:
    return "" if quantity.unit == "1" else store.ui(f"units.{quantity.unit}", lang)


@lru_cache(maxsize=16)
def words(lang: str) -> dict[str, Any]:
    """What every table and derivation says; the shell hands it to the browser once."""
    kinds = {k: (store.ui(f"kinds.{k}", lang), store.ui(f"kinds_explained.{k}", lang)) for k in KINDS}
    return {w: store.ui(f"words.{w}", lang) for w in WORDS} | {"kinds": kinds}


@lru_cache(maxsize=1024)
def _column(quantity: Quantity, shape: Table, lang: str, role: str) -> dict[str, Any]:
    """A column's words and formulas; `shape` is its table without numbers, so that equal tables share the entry."""

    def slot(symbol: str, row: int | None) -> str:
        return rf"\text{{⟦{symbol}⟧}}" if row is None else rf"\text{{⟦{symbol}#{row}⟧}}"

    if quantity.expression is None:
        template = rf"{quantity.tex('⟦row⟧')} = {slot(quantity.name, None)}"
    else:
        template = substituted_tex(quantity, shape, "⟦row⟧", slot, None)
    condition = condition_tex(quantity, shape)
    return {
        "id": quantity.id, "name": quantity.name, "label": label(quantity, lang), "plain": label(quantity, lang),
        "symbol": mathml(quantity.tex()), "tex": quantity.tex(), "role": role, "kind": quantity.kind,
        "unit": unit(quantity, lang), "general": mathml(general_tex(quantity, shape), display=True),
        "template": mathml(template, display=True), "condition": mathml(condition) if condition else None,
        "undefined": undefined(quantity, lang), "how": how(quantity, lang), "source": provenance(quantity.source, lang),
    }  # fmt: skip


def shape_of(table: Table) -> Table:
    """The table without its numbers and names."""
    blank = tuple(str(i) for i in range(len(table.rows)))
    over = None if table.over is None else shape_of(table.over)
    return replace(table, rows=blank, cells=(), over=over)


Printed = list[list[list[str | None]]]  # frame, row, column


def printed(frames: Sequence[Table], order: Sequence[str] | None = None) -> Printed:
    """The numbers of a table for each position of a control, in the order of its shown columns."""
    columns = frames[0].columns
    places = [columns.index(q) for q in _shown(frames[0], order)]
    return [[[cell_text(columns[c], f.cells[c][r]) for c in places] for r in range(len(f.rows))] for f in frames]


def _shown(first: Table, order: Sequence[str] | None) -> list[Quantity]:
    named = {q.name: q for q in first.columns}
    return list(first.columns) if order is None else [named[n] for n in order]


def table(
    first: Table, *, id: str, lang: str, caption: str = "", roles: dict[str, str] | None = None, topic: str = "",
    over: str = "", layout: str = "table", order: Sequence[str] | None = None, frames: Printed | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Data of the table component. topic: the control that its frames follow; frames: its numbers for each position,
    where there is more than one; over: id of the table that sums run over, where it is not this one; order: names of
    all columns as they are shown, where that is not the order in which they are computed.
    """
    shape = shape_of(first)
    return {
        "id": id, "caption": caption, "plain": plain_text(caption), "topic": topic, "over": over, "layout": layout,
        "columns": [_column(q, shape, lang, (roles or {}).get(q.name, "plain")) for q in _shown(first, order)],
        "rows": list(first.rows), "frames": printed([first], order) if frames is None else frames,
        "function": first.function,
    }  # fmt: skip


def plain_text(markup: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


def derivation(table: Table, row: int, name: str, lang: str) -> dict[str, Any]:
    """One number's derivation, complete: for numbers that stand alone in prose."""
    found: Derivation = table.explain(row, name)
    quantity = next(q for q in table.columns if q.name == name)
    return {
        "quantity": found.quantity, "title": html.escape(label(quantity, lang)), "kind": found.kind,
        "how": how(quantity, lang), "general": mathml(found.general, display=True),
        "substituted": mathml(found.substituted, display=True),
        "condition": mathml(found.condition) if found.condition else None,
        "exact": found.exact, "decimal": found.decimal, "unit": unit(quantity, lang),
        "source": provenance(found.source, lang), "fn": found.function,
    }  # fmt: skip
