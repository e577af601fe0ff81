"""Which vector the widget works on: preset, drawn with a seed, or the reader's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from mechanisms import quant_vector
from mechanisms.error_budget import quantize
from mechanisms.quant_summary import summary
from mechanisms.quant_vector import InvalidVector, Problem
from mechanisms.quantity import short_text
from mechanisms.table import Table
from pages._budget_state import (
    BITS,
    GROWTH,
    POSITION,
    TOPIC,
    VECTORS,
    base_values,
    choose,
    get,
    last_texts,
    note,
    put,
    scheme,
    show,
    slide,
    together,
)
from pages._parts import Block
from pages._words import t

_DRAFT = f"{TOPIC}._draft"  # (text as typed, None where only the browser has it; problems), while it cannot be used
_LONG = f"{TOPIC}._long"  # a list too long for the table: totals only
_TRIES = f"{TOPIC}._tries"
_KEPT = 20_000  # letters of a text that is kept here although it cannot be used


def vector_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        st.session_state.pop(_DRAFT, None)
        own = base_values() if value == "own" and get("own") is None else get("own")
        put(vector=value, own=own, last=0)

    choose(block, "vector", VECTORS, words, notes=True, pick=pick)
    if get("vector") in quant_vector.GENERATED:
        again = {"label": t(f"{TOPIC}.again", seed=get("seed"))}
        block.part("action", again, key=f"{TOPIC}.again", go=lambda _: put(seed=(get("seed") + 1) % 10000))


def _refuse(text: str | None, problems: Sequence[Problem]) -> None:
    st.session_state[_DRAFT] = (text, tuple(problems))


def _edit(event: Any) -> None:
    """A usable list becomes the vector; another one stays as typed, and the last good result stays on the page."""
    st.session_state[_TRIES] = st.session_state.get(_TRIES, 0) + 1
    if not isinstance(event, Mapping):
        return
    text, count = str(event.get("text") or "")[:200_000], event.get("count")
    if isinstance(count, int) and count > quant_vector.MOST:
        _refuse(None, [Problem("too_many", None, f"{count:,}")])
        return
    try:
        values = quant_vector.read_vector(text)
    except InvalidVector as error:
        _refuse(text if len(text) <= _KEPT else None, error.problems)
        return
    st.session_state.pop(_DRAFT, None)
    if len(values) > quant_vector.MOST_SHOWN:
        st.session_state[_LONG] = values
    else:
        st.session_state.pop(_LONG, None)
        put(own=values, vector="own", last=0)


def _problem(problem: Problem) -> str:
    place = "" if problem.place is None else problem.place + 1
    return t(f"{TOPIC}.problem_{problem.code}", detail=problem.detail, place=place, limit=f"{quant_vector.MOST:,}")


def editor(block: Block, words: str) -> None:
    """The numbers as text in a fold; lists too long for a table get their totals below it."""
    now = ", ".join(short_text(v).replace("−", "-") for v in base_values())
    text, problems = st.session_state.get(_DRAFT, (now, ()))
    labels = {"label": t(f"{TOPIC}.own_label"), "use": t(f"{TOPIC}.own_use"), "working": t("words.working")}
    kept = [t(f"{TOPIC}.own_kept")] if problems else []
    long = st.session_state.get(_LONG)
    data = {
        "title": t(f"{TOPIC}.own_title"), "help": words, "text": text, "most": quant_vector.MOST, "words": labels,
        "problems": [_problem(p) for p in problems] + kept, "tries": st.session_state.get(_TRIES, 0),
        "open": bool(problems) or long is not None or get("vector") == "own",
    }  # fmt: skip
    block.part("vector", data, key=f"{TOPIC}.editor", edit=_edit)
    if long is not None:
        used = scheme(get("bits"))
        note(block, t(f"{TOPIC}.long_totals", count=f"{len(long):,}", bits=get("bits")), "long_head")
        # the rows that its sums run over are too many to write out
        found = summary(quantize(long, used), used)
        show(block, _without_rows(found), "long", t(f"{TOPIC}.own_title"), layout="strip")


def _without_rows(found: Table) -> Table:
    assert found.over is not None
    over = replace(found.over, rows=(), cells=tuple(() for _ in found.over.columns))
    return replace(found, over=over, long=len(found.over.rows))


def bits_range(block: Block, words: str) -> None:
    slide(block, "bits", [str(b) for b in BITS], words, first=BITS[0])


def last_range(block: Block, words: str) -> None:
    slide(block, "last", last_texts(base_values()), words)
    together(block, "bits", "last", (len(BITS), len(GROWTH)), POSITION)
