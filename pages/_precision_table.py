"""The article's table with verdicts, another number of drafts, and a row of the reader's own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import streamlit as st

from mechanisms.draft_precision import NAMES, matrix
from mechanisms.precision_own import FIELDS, InvalidRow, Own, Problem, own_table, read_own
from mechanisms.precision_window import Scenario, by_window
from mechanisms.table import Table
from pages import _payload
from pages._parts import Block
from pages._precision_latency import strip_of
from pages._precision_state import (
    LENGTHS,
    SCENARIOS,
    TOPIC,
    audit,
    choose,
    get,
    note,
    own_texts,
    put,
    show,
    slide,
)
from pages._words import t

PRINTED = (
    "tokens_printed", "code_printed", "chat_printed", "step_printed", "speedup_printed", "memory_printed",
)  # fmt: skip
VERDICTS = {
    "memory_printed": "underivable", "step_printed": "quoted", "code_printed": "quoted", "chat_printed": "quoted",
    "tokens_printed": "contradicted", "speedup_printed": "underivable",
}  # fmt: skip
BENEATH = ("tokens_code", "tokens_chat", "tokens_mean")
HELPERS = (
    "draft_length", "code_rate", "chat_rate", "mean_rate", "tokens_at_mean_rate", "draft_total", "excess_over_code",
    "needed_rate", "upper_bound",
)  # fmt: skip
ORDER = (PRINTED[0], *BENEATH, *PRINTED[1:], *HELPERS)
BOUNDS = ("tokens_printed", "excess_over_code", "needed_rate", "upper_bound", "tokens_at_mean_rate")


def audit_table(block: Block, words: str) -> None:
    n = len(NAMES)
    marks = audit(
        PRINTED, {"tokens_printed": BENEATH}, fixed={c: (v,) * n for c, v in VERDICTS.items()}, hide=HELPERS
    )  # fmt: skip
    show(block, matrix(), "audit", words, order=ORDER, audit=marks)


def bounds_table(block: Block, words: str) -> None:
    """How far the printed tokens lie outside, and what would be needed."""
    order = (*BOUNDS, *(n for n in ORDER if n not in BOUNDS))
    marks = audit(("tokens_printed",), hide=order[len(BOUNDS) :])
    show(block, matrix(), "bounds", words, order=order, audit=marks)


def legend(block: Block, words: str) -> None:
    """What the verdicts mean, each beside its mark."""
    tags = ("quoted", "underivable", "contradicted")
    items = "".join(
        f'<dt><span class="wiki-tag" data-tag="{tag}">{t(f"{TOPIC}.tag_{tag}")}</span></dt>'
        f"<dd>{t(f'{TOPIC}.tag_{tag}_means')}</dd>"
        for tag in tags
    )
    block.prose(f'{words}<dl class="wiki-legend">{items}</dl>', key=f"{TOPIC}.legend")


WINDOW_ORDER = (
    "tokens_printed", "tokens", "tokens_reached", "gap", "rate", "needed_rate", "needed_points", "tokens_low",
    "tokens_high", "draft_length", "rate_half", "tokens_half",
)  # fmt: skip
WINDOW_HELPERS = ("tokens_low", "tokens_high", "draft_length", "rate_half", "tokens_half")


@lru_cache(maxsize=4)
def windows(scenario: Scenario) -> tuple[Table, _payload.Printed]:
    """The table for every draft length of the slider. The limit of endless drafts is left out: a guess asks for it."""
    found = [by_window(k, scenario) for k in LENGTHS]
    return found[LENGTHS.index(5)], _payload.printed(found, WINDOW_ORDER)


def length_range(block: Block, words: str) -> None:
    slide(block, "length", [str(k) for k in LENGTHS], words, first=LENGTHS[0])


def scenario_choice(block: Block, words: str) -> None:
    choose(block, "scenario", SCENARIOS, words)


def window_table(block: Block, words: str) -> None:
    first, frames = windows(get("scenario"))
    marks = audit(
        ("tokens_printed", "rate"), {"tokens_printed": ("tokens",)},
        computed={"tokens_printed": ("tokens_reached", ("contradicted", "agrees"))}, hide=WINDOW_HELPERS,
    )  # fmt: skip
    show(block, first, "window", words, order=WINDOW_ORDER, topic=f"{TOPIC}.length", frames=frames, audit=marks)


EXAMPLE = read_own({"rate": "76.9", "length": "5", "tokens": "3.74", "step": "4.2", "speedup": "2.52"})
_DRAFT = f"{TOPIC}._draft"  # fields as typed and what is wrong with them, kept while they cannot be used
_TRIES = f"{TOPIC}._tries"


def _problem(problem: Problem) -> str:
    return t(f"{TOPIC}.problem_{problem.code}", detail=problem.detail, limits=t(f"{TOPIC}.limits_{problem.field}"))


def _edit(event: Any) -> None:
    """A usable row becomes part of the link; another one stays as typed, and the last good result stays below."""
    st.session_state[_TRIES] = st.session_state.get(_TRIES, 0) + 1
    if not isinstance(event, dict):
        return
    texts = {f: str(event.get(f) or "")[:200] for f in FIELDS}
    try:
        own = read_own(texts)
    except InvalidRow as error:
        st.session_state[_DRAFT] = (texts, {p.field: _problem(p) for p in error.problems})
        return
    st.session_state.pop(_DRAFT, None)
    put(own=None if own == EXAMPLE else own)


def own_fields(block: Block, words: str) -> None:
    own: Own = get("own") or EXAMPLE
    texts, problems = st.session_state.get(_DRAFT, (own_texts(own), {}))
    note(block, words, "own_help")
    fields = [{"id": f, "label": t(f"{TOPIC}.own_{f}"), "text": texts[f]} for f in FIELDS]
    data = {
        "fields": fields, "problems": problems, "tries": st.session_state.get(_TRIES, 0),
        "words": {w: t(f"{TOPIC}.own_{w}") for w in ("use", "kept", "hint")},
    }  # fmt: skip
    block.part("fields", data, key=f"{TOPIC}.own", edit=_edit)


_OWN = ("tokens", "gap", "needed_rate", "own_target", "said_target")


def own_strip(block: Block, words: str) -> None:
    note(block, words, "own_head")
    found = own_table(get("own") or EXAMPLE)
    show(block, found, "own_row", words, layout="strip", **strip_of(found, _OWN))
