"""Charts that are drawn from a table on the same page, with that table as their text twin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pages import _assets
from pages._parts import Block
from pages._words import t

Trace = dict[str, Any]


def bar(column: str, group: str, role: str, label: str, base: str = "", **more: Any) -> Trace:
    """Bars of one column. group: which bar of a token it belongs to; base: the column that it stands on; role: its
    colour and mark; `outline` draws a frame only, `quiet` keeps it out of the legend, `low`, `high` add intervals."""
    return {"column": column, "group": group, "role": role, "label": label, "base": base, **more}


def plot(block: Block, table: str, traces: Sequence[Trace], *, note: str, alt: str, key: str) -> None:
    """note: how to read it, as HTML; alt: what a screen reader says."""
    data = {
        "table": table, "traces": list(traces), "note": note, "alt": alt, "plotly": _assets.PLOTLY_URL,
        "axis": t("words.probability"),
    }  # fmt: skip
    block.part("plot", data, key=key)
