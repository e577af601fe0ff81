"""The widget's results: range, totals, number line and table, for every position of both sliders at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.quant_nodes import RULES
from mechanisms.quant_summary import summary
from mechanisms.quant_vector import cut, levels
from mechanisms.quantity import as_fraction, short_text
from mechanisms.table import Table
from pages import _payload
from pages._budget_state import (
    BITS,
    CHAPTER,
    CLIPS,
    GROUPS,
    POSITION,
    TOPIC,
    Values,
    base_values,
    get,
    grown,
    note,
    put,
    scheme,
    show,
)
from pages._parts import Block
from pages._words import t

SETTINGS: dict[str, Sequence[str]] = {
    "grid": ("symmetric", "asymmetric"), "clip": CLIPS, "group": GROUPS, "rule": RULES,
}  # fmt: skip
ORDER = (
    "root_mean_squared_error", "mean_squared_error", "largest_error", "mean_error", "codes_used", "rounded_to_zero",
    "raw_ratio", "ratio_with_metadata", "effective_bits", "bits", "metadata_bits", "groups", "values",
)  # fmt: skip
_ROLES = {"value": "target", "restored": "rejected"}
_WIDTH = 94  # percent of the picture that its window fills
EDGE = Fraction(53, 50)  # of the window: where the picture ends; what lies beyond is not drawn as a level


@dataclass(frozen=True, slots=True)
class Frames:
    """The first table of each kind, and the numbers of all positions: bits outside, last value inside."""

    range: Table
    ranges: _payload.Printed
    total: Table
    totals: _payload.Printed
    map: Table
    maps: _payload.Printed
    line: list[list[dict[str, Any]]]


@lru_cache(maxsize=32)
def frames(values: Values, schemes: tuple[Scheme, ...]) -> Frames:
    cases = [(v, s) for s in schemes for v in grown(values)]
    totals = [summary(quantize(v, s), s) for v, s in cases]
    maps = [x.over for x in totals if x.over is not None]
    found = [ranges(v, s)[0] for v, s in cases]
    line = [_views(v, s, m) for (v, s), m in zip(cases, maps, strict=True)]
    printed = _payload.printed
    return Frames(found[0], printed(found), totals[0], printed(totals, ORDER), maps[0], printed(maps), line)


def _place(x: Fraction, window: Fraction) -> float:
    return round(50 + _WIDTH / 2 * float(max(-EDGE, min(EDGE, x / window))), 2)


def _views(values: Values, used: Scheme, done: Table) -> list[dict[str, Any]]:
    """The whole line, and a window that just holds every value but the last."""
    grids = levels(values, used)
    restored = [as_fraction(x) for x in done.column("restored") if x is not None]
    views = []
    for reach in (max(map(abs, values)), max(map(abs, values[:-1]), default=Fraction(0))):
        window = reach or Fraction(1)
        lanes = []
        for rows, grid in zip(cut(len(values), used), grids, strict=True):
            inside = [r for r in rows if abs(values[r]) <= window]
            lanes.append({
                "grid": [_place(y, window) for y in grid if abs(y) <= window * EDGE],
                "points": [
                    [_place(values[r], window), _place(restored[r], window), abs(restored[r]) <= window * EDGE]
                    for r in inside
                ],
            })  # fmt: skip
        ends = [short_text(-window), "0", short_text(window)]
        views.append({"lanes": lanes, "ends": ends})
    return views


def _now() -> Frames:
    return frames(base_values(), tuple(scheme(b) for b in BITS))


def settings(block: Block, words: str) -> None:
    """Four choices in a fold: what few readers change first."""
    choices = [
        {"name": name, **CHAPTER.pills(name, options, t(f"{TOPIC}.{name}"), labels=CLIPS if name == "clip" else ())}
        for name, options in SETTINGS.items()
    ]

    def change(event: Any) -> None:
        if isinstance(event, dict) and event.get("value") in SETTINGS.get(str(event.get("name")), ()):
            put(**{event["name"]: event["value"]})

    changed = any(get(name) != options[0] for name, options in SETTINGS.items())
    data = {"title": words, "open": changed, "choices": choices}
    block.part("settings", data, key=f"{TOPIC}.settings", value=change)


def range_strip(block: Block, words: str) -> None:
    if get("group") != "all" and len(cut(len(base_values()), scheme(BITS[0]))) > 1:
        note(block, t(f"{TOPIC}.range_groups"), "range_groups")
        return
    show(block, _now().range, "range", words, layout="strip", topic=POSITION, over=f"{TOPIC}.map", frames=_now().ranges)


def summary_strip(block: Block, words: str) -> None:
    now = _now()
    show(block, now.total, "summary", words, layout="strip", topic=POSITION, over=f"{TOPIC}.map", order=ORDER,
         frames=now.totals)  # fmt: skip


def line(block: Block, words: str) -> None:
    views = [{"title": t(f"{TOPIC}.line_{v}"), "alt": t(f"{TOPIC}.line_{v}_alt")} for v in ("all", "zoom")]
    legend = [[m, t(f"{TOPIC}.line_{m}")] for m in ("value", "level", "restored")]
    data = {"views": views, "legend": legend, "frames": _now().line, "topic": POSITION, "note": words}
    block.part("numberline", data, key=f"{TOPIC}.line")


def map_table(block: Block, words: str) -> None:
    show(block, _now().map, "map", words, topic=POSITION, roles=_ROLES, frames=_now().maps)
