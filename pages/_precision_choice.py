"""Draft length at two times of a target pass, where chains break, and the listing's law."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mechanisms.precision_break import CASES, breaks, cube
from mechanisms.precision_choice import best, choices
from mechanisms.quantity import short_text
from mechanisms.rejection_bias import greedy_bias, greedy_law
from mechanisms.rejection_presets import PRESETS
from mechanisms.table import Table
from pages import _assets, _payload
from pages._parts import Block
from pages._plots import bar
from pages._precision_latency import order_of
from pages._precision_state import (
    PAIRS,
    POSITION,
    RATES,
    STEPS,
    TOPIC,
    audit,
    choose,
    note,
    show,
    slide,
    together,
)
from pages._words import language, t

_SHOWN = ("tokens", "speedup_short", "best_short", "speedup_long", "best_long")


def rate_range(block: Block, words: str) -> None:
    slide(block, "rate", [f"{short_text(100 * x)} %" for x in RATES], words)


def step_range(block: Block, words: str) -> None:
    slide(block, "step", [f"{short_text(x)} ms" for x in STEPS], words)
    together(block, "rate", "step", (len(RATES), len(STEPS)), POSITION)


@lru_cache(maxsize=1)
def frames() -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    """Every acceptance, and for each every draft step."""
    found = [choices(a, x) for a in RATES for x in STEPS]
    tops = [best(x) for x in found]
    return found[0], _payload.printed(found, order_of(found[0], _SHOWN)), tops[0], _payload.printed(tops)


def choice_table(block: Block, words: str) -> None:
    first, cells, *_ = frames()
    order = order_of(first, _SHOWN)
    best_of = {f"speedup_{w}": (f"best_{w}", ("other", "best")) for w in ("short", "long")}
    marks = audit((), computed=best_of, hide=order[len(_SHOWN) :])
    roles = {"speedup_short": "target", "speedup_long": "draft"}
    show(block, first, "choices", words, head="row_length", order=order, topic=POSITION, frames=cells, audit=marks,
         roles=roles)  # fmt: skip


def best_strip(block: Block, words: str) -> None:
    *_, first, cells = frames()
    note(block, words, "best_head")
    show(block, first, "best", words, layout="strip", over=f"{TOPIC}.choices", topic=POSITION, frames=cells)


def _plot(block: Block, name: str, table: str, traces: list[dict[str, Any]], words: str) -> None:
    data = {
        "table": f"{TOPIC}.{table}", "traces": traces, "note": words, "alt": t(f"{TOPIC}.{name}_alt"),
        "plotly": _assets.PLOTLY_URL, "axis": t(f"{TOPIC}.{name}_axis"), "height": 280,
    }  # fmt: skip
    block.part("plot", data, key=f"{TOPIC}.{name}")


def choice_plot(block: Block, words: str) -> None:
    traces = [
        bar("speedup_short", "a", "target", t(f"{TOPIC}.bar_short")),
        bar("speedup_long", "b", "draft", t(f"{TOPIC}.bar_long")),
    ]
    _plot(block, "choice_plot", "choices", traces, words)


def chain_choice(block: Block, words: str) -> None:
    choose(block, "chain", tuple(CASES), words)


_LAW = ("prefix_survival", "break_probability", "break_so_far")


def break_table(block: Block, words: str) -> None:
    found = [breaks(rate) for rate in CASES.values()]
    order = order_of(found[0], _LAW)
    show(block, found[0], "breaks", words, head="row_accepted", topic=f"{TOPIC}.chain", order=order,
         frames=_payload.printed(found, order), roles={"break_probability": "rejected"},
         audit=audit((), hide=order[len(_LAW) :]))  # fmt: skip


def break_plot(block: Block, words: str) -> None:
    traces = [bar("break_probability", "p", "rejected", t(f"{TOPIC}.bar_break"))]
    _plot(block, "break_plot", "breaks", traces, words)


def cube_table(block: Block, words: str) -> None:
    marks = audit(
        ("cube_printed", "rate"), {"cube_printed": ("rate_cubed",)}, fixed={"cube_printed": ("contradicted",) * 2}
    )  # fmt: skip
    show(block, cube(), "cube", words, head="row_rate", audit=marks)


def pair_choice(block: Block, words: str) -> None:
    labels = [t(f"rejection_ledger.preset_{p}") for p in PAIRS]
    choose(block, "pair", PAIRS, words, labels=labels, notes=True)


@lru_cache(maxsize=1)
def laws() -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    """The listing's law and its three numbers for every pair: all have three tokens, so one formula serves."""
    found = [greedy_law(PRESETS[p]) for p in PAIRS]
    sums = [greedy_bias(PRESETS[p]) for p in PAIRS]
    return found[0], _payload.printed(found), sums[0], _payload.printed(sums)


def listing_tables(block: Block, words: str) -> None:
    law, laws_cells, bias, bias_cells = laws()
    data = _payload.table(
        law, id=f"{TOPIC}.listing_law", lang=language(), caption=words, topic=f"{TOPIC}.pair", frames=laws_cells,
        roles={"target_probability": "target", "draft_probability": "draft", "output_law": "output"},
    )  # fmt: skip
    strip = _payload.table(
        bias, id=f"{TOPIC}.listing", lang=language(), caption=t(f"{TOPIC}.listing_strip"), topic=f"{TOPIC}.pair",
        frames=bias_cells, layout="strip", over=f"{TOPIC}.listing_law",
    )  # fmt: skip
    marks = audit((), hide=("is_favourite", "difference"))
    block.part("audited", {**data, "audit": marks}, key=f"{TOPIC}.listing_law")
    note(block, t(f"{TOPIC}.listing_strip"), "listing_head")
    block.part("table", strip, key=f"{TOPIC}.listing")
