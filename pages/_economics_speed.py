"""The speed-up curve: two sliders that move in the browser alone, a fold for the costs, a chart and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import streamlit as st

from mechanisms.speculation_economics import MOST_DRAFTS, RATES, best, costs_of, speed_curve
from mechanisms.table import Table
from pages import _payload, _records
from pages._economics_state import (
    COST_IDS,
    CURVES,
    MEASURED,
    OWN,
    TOPIC,
    draft_key,
    get,
    note,
    own_list,
    pills,
    put,
    show,
    slide,
    together,
)
from pages._parts import Block
from pages._words import t

POSITION = f"{TOPIC}.position"
MEASURED_WIDTHS = range(1, 7)
ORDER = (
    "speedup", "speedup_without_bonus", "tokens_per_round", "accepted_tokens", "round_time", "verification_cost",
    "draft_length", "acceptance_rate", "draft_cost",
)  # fmt: skip
Costs = tuple[Fraction, ...]


def verification() -> Costs:
    own: Costs | None = get("own_curve")
    if get("curve") == OWN and own is not None:
        return own
    if get("curve") in MEASURED:
        return measured(*MEASURED[get("curve")])
    return costs_of(get("curve") if get("curve") != OWN else CURVES[0])


@lru_cache(maxsize=len(MEASURED))
def measured(precision: str, linear: str) -> Costs:
    """Times of passes over one position and more, over the time of the first: as far as every width was measured."""
    at = {"precision": precision, "linear": linear, "batch": "1"}
    times = [Fraction(_records.printed("verify_cost", "pass_time", width=str(w), **at)) for w in MEASURED_WIDTHS]
    return tuple(time / times[0] for time in times)


@lru_cache(maxsize=32)
def curves(cost: Fraction, verify: Costs) -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    """The curve and its best draft length for every acceptance rate of the slider."""
    found = [speed_curve(rate, cost, verify) for rate in RATES]
    bests = [best(x) for x in found]
    return found[0], _payload.printed(found, ORDER), bests[0], _payload.printed(bests)


def _now() -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    return curves(Fraction(get("cost")), verification())


def rate_range(block: Block, words: str) -> None:
    slide(block, "rate", [f"{float(r):.2f}" for r in RATES], words)


def gamma_range(block: Block, words: str) -> None:
    rows = len(verification())
    slide(block, "gamma", [str(g) for g in range(min(rows, MOST_DRAFTS + 1))], words)
    together(block, "rate", "gamma", (len(RATES), rows), POSITION)


def settings(block: Block, words: str) -> None:
    """What a draft step and a verification cost, in a fold."""

    def pick(event: Any) -> None:
        name, value = (event.get("name"), event.get("value")) if isinstance(event, dict) else (None, None)
        if name == "cost" and value in COST_IDS:
            put(cost=value)
        elif name == "curve" and value in CURVES:
            st.session_state.pop(draft_key("curve"), None)
            put(curve=value, **({"own_curve": verification()} if value == OWN else {}))

    choices = [
        {**pills("cost", COST_IDS, t(f"{TOPIC}.cost"), labels=COST_IDS), "name": "cost"},
        {**pills("curve", CURVES, t(f"{TOPIC}.curve"), notes=True), "name": "curve"},
    ]
    data = {"title": words, "choices": choices, "open": True}
    block.part("settings", data, key=f"{TOPIC}.settings", value=pick)


def own_curve(block: Block, words: str) -> None:
    if get("curve") == OWN:
        own_list(block, "curve", "costs", words, verification)


def now_strip(block: Block, words: str) -> None:
    first, frames, *_ = _now()
    single = [[row] for frame in frames for row in frame]
    one = replace(first, rows=("",), cells=tuple(c[:1] for c in first.cells))
    note(block, words, "now_head")
    show(block, one, "now", words, layout="strip", topic=POSITION, frames=single, order=ORDER)


def best_strip(block: Block, words: str) -> None:
    *_, first, frames = _now()
    note(block, words, "best_head")
    show(block, first, "best", words, layout="strip", topic=f"{TOPIC}.rate", frames=frames, over=f"{TOPIC}.speed_curve")


def speed_plot(block: Block, words: str) -> None:
    lines(
        block, "speed_plot", "speed_curve", ("speedup", "speedup_without_bonus"), words,
        best=(f"{TOPIC}.best", "best_draft_length"), at=f"{TOPIC}.gamma", level=1,
    )  # fmt: skip


def lines(
    block: Block, name: str, table: str, columns: Sequence[str], words: str, *, best: tuple[str, str] | None = None,
    at: str = "", level: float | None = None,
) -> None:  # fmt: skip
    """A line chart over the rows of a table, which is its text twin. best: the cell that names the marked row; at: the
    topic of the slider whose row is marked; level: a value to compare with."""
    series = [
        {"column": c, "label": t(f"{TOPIC}_quantities.{c}"), "role": r}
        for c, r in zip(columns, ("target", "draft", "rejected"), strict=False)
    ]
    data = {
        "table": f"{TOPIC}.{table}", "series": series, "note": words, "alt": t(f"{TOPIC}.{name}_alt"),
        "axis": t(f"{TOPIC}.{name}_axis"), "best": list(best) if best else None, "at": at, "level": level,
        "words": {"best": t(f"{TOPIC}.mark_best"), "at": t(f"{TOPIC}.mark_now"), "level": t(f"{TOPIC}.mark_level")},
    }  # fmt: skip
    block.part("chart", data, key=f"{TOPIC}.{name}")


def curve_table(block: Block, words: str) -> None:
    first, frames, *_ = _now()
    show(block, first, "speed_curve", words, head="row_drafts", topic=f"{TOPIC}.rate", frames=frames, order=ORDER)
