"""Formats on one tensor: stored bits against error, code points on a line, error by region, NF4 against grids."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechanisms.formats_bits import LAYOUTS, effective_bits
from mechanisms.formats_compare import FORMATS, bell, through
from mechanisms.formats_floats import E2M1, E4M3, E5M2, decoded
from mechanisms.formats_nf4 import CODE
from mechanisms.formats_overflow import overflow
from mechanisms.formats_regions import float_regions, integer_region
from mechanisms.quant_blocks import block_errors
from mechanisms.quant_stack import stacked
from mechanisms.quantity import short_text
from mechanisms.table import Table
from pages import _payload
from pages._budget_state import OVERFLOWS, SHAPES, TOPIC, choose, get, note, show
from pages._parts import Block
from pages._words import t

COLUMNS = [
    "effective_bits", "root_mean_squared_error", "relative_error", "largest_error", "rounded_to_zero",
    "mean_squared_error", "mean_square", "stored_bits", "values",
]  # fmt: skip
CASTS = ("cast_input", "cast_result", "beyond_limit", "overflow_limit", "largest_number", "last_step")
BITS_FIRST = ("effective_bits", "compression_ratio", "metadata_per_value", "metadata_of_total")
FLOATS = {form.id: form for form in (E2M1, E4M3, E5M2)}
INT4_TOP = 7
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def tensor_choice(block: Block, words: str) -> None:
    choose(block, "tensor", ("outlier", "plain"), words)


@lru_cache(maxsize=4)
def totals(tensor: str) -> tuple[Table, ...]:
    values = bell() if tensor == "outlier" else bell(outlier=None)
    return tuple(through(values, form)[1] for form in FORMATS)


def format_table(block: Block, words: str) -> None:
    names = [t(f"{TOPIC}.format_{f.id}") for f in FORMATS]
    show(block, stacked(totals(get("tensor")), names, COLUMNS), "formats", words, head="row_format")


def bits_table(block: Block, words: str) -> None:
    found = [effective_bits(x) for x in LAYOUTS]
    names = [t(f"{TOPIC}.layout_{x.id}") for x in LAYOUTS]
    columns = [q.name for q in found[0].columns]
    order = [*BITS_FIRST, *(n for n in columns if n not in BITS_FIRST)]
    show(block, stacked(found, names, columns), "effective_bits", words, head="row_format", order=order)


def shape_choice(block: Block, words: str) -> None:
    choose(block, "shape", SHAPES, words)


def _points(shape: str) -> list[Fraction]:
    if shape == "int4":
        return [Fraction(i) for i in range(-INT4_TOP, INT4_TOP + 1)]
    if shape == "nf4":
        return list(CODE)
    return sorted({v for v in decoded(FLOATS[shape]) if isinstance(v, Fraction)})


def _power(name: str) -> str:
    """`2^-6` with a raised exponent."""
    base, exponent = name.split("^")
    return base + exponent.translate(RAISED)


@lru_cache(maxsize=8)
def _line(shape: str) -> list[dict[str, Any]]:
    points = _points(shape)
    top = points[-1]
    views = []
    for window in (top, top / 4):
        grid = [round(50 + 47 * float(y / window), 2) for y in points if abs(y) <= window]
        views.append({"lanes": [{"grid": grid, "points": []}], "ends": [short_text(-window), "0", short_text(window)]})
    return views


def points_line(block: Block, words: str) -> None:
    views = [{"title": t(f"{TOPIC}.points_{v}"), "alt": t(f"{TOPIC}.points_{v}_alt")} for v in ("all", "zoom")]
    legend = [["level", t(f"{TOPIC}.points_level")]]
    data = {
        "views": views, "legend": legend, "frames": [_line(s) for s in SHAPES], "topic": f"{TOPIC}.shape",
        "note": words, "points": False,
    }  # fmt: skip
    block.part("numberline", data, key=f"{TOPIC}.points")


def region_table(block: Block, words: str) -> None:
    shape = get("shape")
    if shape == "nf4":
        note(block, t(f"{TOPIC}.regions_nf4"), "regions_nf4")
        return
    found = integer_region(Fraction(1), INT4_TOP) if shape == "int4" else float_regions(FLOATS[shape])
    named = tuple(t(f"{TOPIC}.region_{r}") if r in ("subnormal", "integer") else _power(r) for r in found.rows)
    show(block, replace(found, rows=named), "regions", words, head="row_region")


def overflow_choice(block: Block, words: str) -> None:
    choose(block, "overflow", OVERFLOWS, words, notes=True)


@lru_cache(maxsize=1)
def _casts() -> tuple[Table, _payload.Printed]:
    found = [overflow(saturate=name == "saturate") for name in OVERFLOWS]
    return found[0], _payload.printed(found, CASTS)


def cast_table(block: Block, words: str) -> None:
    first, frames = _casts()
    rows = tuple(f"{f.upper()}, {t(f'{TOPIC}.cast_{p}')}" for f, p in map(str.split, first.rows))
    roles = {"cast_input": "target", "cast_result": "output"}
    show(block, replace(first, rows=rows), "cast", words, head="row_format", topic=f"{TOPIC}.overflow", roles=roles,
         order=CASTS, frames=frames)  # fmt: skip


def block_table(block: Block, words: str) -> None:
    found = block_errors()
    show(block, replace(found, rows=tuple(t(f"{TOPIC}.block_{r}") for r in found.rows)), "blocks", words,
         head="row_grid")  # fmt: skip
