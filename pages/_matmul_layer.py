"""A whole layer in integers beside the float product, with one activation channel under a slider."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mechanisms.integer_matmul_layer import run_layer
from mechanisms.integer_matmul_report import SIZES, demo_layer, error_table, layer_table, work_table
from pages import _assets, _payload
from pages._matmul_state import TOPIC, note, slide
from pages._parts import Block
from pages._plots import bar
from pages._words import language, t

Json = dict[str, Any]
ROLES = {
    "float_output": "target", "integer_output": "draft", "output_gap": "rejected", "code_output": "output",
}  # fmt: skip
ERRORS = (
    "integer_gap", "output_size", "code_error", "relative_code_error", "total_error", "relative_total_error",
)  # fmt: skip


def size_range(block: Block, words: str) -> None:
    slide(block, "size", [f"× {n}" for n in SIZES], words)


@lru_cache(maxsize=1)
def _runs() -> tuple[Any, ...]:
    return tuple(run_layer(*demo_layer(n)) for n in SIZES)


@lru_cache(maxsize=8)
def _tables(lang: str) -> tuple[Json, Json, Json]:
    """Rows of the layer and its errors for every size of the channel; the work, which does not depend on it."""
    rows, errors = [layer_table(r) for r in _runs()], [error_table(r) for r in _runs()]
    topic = f"{TOPIC}.size"
    return (
        _payload.table(
            rows[0], id=f"{TOPIC}.layer", lang=lang, topic=topic, roles=ROLES, frames=_payload.printed(rows)
        ),
        _payload.table(
            errors[0], id=f"{TOPIC}.error", lang=lang, topic=topic, layout="strip", order=ERRORS,
            frames=_payload.printed(errors, ERRORS),
        ),
        _payload.table(work_table(_runs()[0]), id=f"{TOPIC}.work", lang=lang, layout="strip"),
    )  # fmt: skip


def _captioned(data: Json, words: str) -> Json:
    return {**data, "caption": words, "plain": _payload.plain_text(words)}


def layer_rows(block: Block, words: str) -> None:
    data = {**_captioned(_tables(language())[0], words), "head": t(f"{TOPIC}.head_output")}
    block.part("table", data, key=f"{TOPIC}.layer")


def error_strip(block: Block, words: str) -> None:
    block.part("table", _captioned(_tables(language())[1], words), key=f"{TOPIC}.error")


def work_strip(block: Block, words: str) -> None:
    note(block, words, "work_help")
    block.part("table", _captioned(_tables(language())[2], words), key=f"{TOPIC}.work")


def layer_plot(block: Block, words: str) -> None:
    traces = [
        bar("float_output", "y", "target", t(f"{TOPIC}.bar_float")),
        bar("integer_output", "i", "draft", t(f"{TOPIC}.bar_integer")),
        bar("code_output", "c", "output", t(f"{TOPIC}.bar_code")),
    ]
    data = {
        "table": f"{TOPIC}.layer", "traces": traces, "note": words, "alt": t(f"{TOPIC}.layer_alt"),
        "plotly": _assets.PLOTLY_URL, "axis": t(f"{TOPIC}.axis_output"),
    }  # fmt: skip
    block.part("plot", data, key=f"{TOPIC}.layer_plot")
