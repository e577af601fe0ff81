"""State of the verification-budget chapter: chain, costs, batch and example, each a preset or the reader's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import streamlit as st

from mechanisms import dspark_input as typed
from mechanisms.dspark import MOST_POSITIONS, Chain
from mechanisms.dspark_input import Batch, Costs, InvalidFields
from mechanisms.dspark_presets import (
    CHAINS,
    CURVES,
    DRAFT_TIME,
    EXAMPLES,
    FIXED_TIME,
    GRID_CHAINS,
    REQUESTS,
    VERIFY,
    Example,
)  # fmt: skip
from mechanisms.dspark_selection import POLICIES
from mechanisms.quantity import short_text
from pages import _state
from pages._controls import Chapter
from pages._parts import Block
from pages._words import t

TOPIC = "dspark"
OWN = "own"
DRAG = f"{TOPIC}.drag"  # which frame of the dragged position all tables of the chain show
COARSE_FROM = 9  # positions from which the slider moves in tenths, so that not too many frames are sent
DRAWS = ("1000", "10000", "100000")
LOOKS = ("exact", "more", "less", "later")
LONGEST = 4  # the longest length of the first guess
STEPS_SHOWN = 20  # admissions of the largest batch


def _texts(rows: Sequence[Sequence[Fraction | None]]) -> str:
    return "_".join("~".join(typed.UNDEFINED if x is None else str(x) for x in row) for row in rows)


def _fields(text: str, *names: str) -> dict[str, str]:
    parts = text[:4000].replace("~", " ").split("_")
    if len(parts) != len(names):
        raise ValueError(f"must be {len(names)} lists")
    return dict(zip(names, parts, strict=True))


def _read_costs(text: str) -> Costs:
    return typed.read_costs(_fields(text, "a", "b", "draft", "fixed"))


def _read_batch(text: str) -> Batch:
    names = (*typed.REQUEST_FIELDS[: text.count("_")], "sps")
    return typed.read_batch(_fields(text, *names))


def _read_example(text: str) -> Example:
    return typed.read_example(_fields(text, "p", "q", "second", "sps"))


def _own(name: str, read: Callable[[str], Any], rows: Callable[[Any], Sequence[Any]]) -> _state.Control:
    def write(value: Any) -> str:
        return "" if value is None else _texts(rows(value))

    return _state.Control(name, None, lambda text: (read(text), False), write)


CONTROLS = (
    _state.choice("chain", (*CHAINS, OWN), "printed"),
    _own("own", lambda text: typed.read_chain(text.replace("~", " ")), lambda chain: [chain]),
    _state.integer("pos", 1, MOST_POSITIONS, 1),
    _state.integer("drag", -1, 21, -1),
    _own("costs", _read_costs, lambda c: [c.a, c.b, [c.draft], [c.fixed]]),
    _state.choice("curve", (*CURVES, OWN), "smooth"),
    _own("batch", _read_batch, lambda b: [*b.requests, b.curve]),
    _state.integer("step", 0, STEPS_SHOWN, 0),
    _state.choice("example", (*EXAMPLES, OWN), "small"),
    _own("case", _read_example, lambda x: [x.p, x.q, x.second, x.sps]),
    _state.choice("policy", POLICIES, "hindsight"),
    _state.choice("draws", DRAWS, "10000"),
    _state.integer("seed", 0, 2**31 - 1, 1),
    _state.choice("grid", GRID_CHAINS, "tenths"),
    _state.guess("guess1", LONGEST),
    _state.choice("guess2", ("", *LOOKS), ""),
)
CHAPTER = Chapter(TOPIC, CONTROLS, head="row_position")
get, put, opened = CHAPTER.get, CHAPTER.put, CHAPTER.opened
choose, show, note = CHAPTER.choose, CHAPTER.show, CHAPTER.note


def base_chain() -> Chain:
    """What the reader chose, before one position is dragged."""
    own: Chain | None = get("own")
    return own if get("chain") == OWN and own is not None else CHAINS.get(get("chain"), CHAINS["printed"])


def dragged() -> int:
    """The position under the slider, counted from 0; −1 where nothing can be dragged."""
    chain = base_chain()
    return -1 if None in chain or not chain else min(get("pos"), len(chain)) - 1


@lru_cache(maxsize=64)
def stops(chain: Chain, at: int) -> tuple[Fraction, ...]:
    """Where the slider stops: a grid, and the value that is there already."""
    parts = 20 if len(chain) < COARSE_FROM else 10
    found = {Fraction(i, parts) for i in range(parts + 1)} | {c for c in chain[at : at + 1] if c is not None}
    return tuple(sorted(found))


@lru_cache(maxsize=64)
def chains(chain: Chain, at: int) -> tuple[Chain, ...]:
    """The chain for each stop of the slider."""
    return (chain,) if at < 0 else tuple((*chain[:at], c, *chain[at + 1 :]) for c in stops(chain, at))


def frame_now() -> int:
    """The slider's stop: as dragged, or at the value that the chain has."""
    chain, at = base_chain(), dragged()
    if at < 0:
        return 0
    found = stops(chain, at)
    own = chain[at]
    assert own is not None
    return min(get("drag"), len(found) - 1) if get("drag") >= 0 else found.index(own)


def chain_now() -> Chain:
    return chains(base_chain(), dragged())[frame_now()]


def costs_now() -> Costs:
    own: Costs | None = get("costs")
    return Costs(VERIFY["A"], VERIFY["B"], DRAFT_TIME, FIXED_TIME) if own is None else own


def batch_now() -> Batch:
    own: Batch | None = get("batch")
    if get("curve") == OWN and own is not None:
        return own
    return Batch(REQUESTS, CURVES.get(get("curve"), CURVES["smooth"]))


def example_now() -> Example:
    own: Example | None = get("case")
    return own if get("example") == OWN and own is not None else EXAMPLES.get(get("example"), EXAMPLES["small"])


def plain(values: Sequence[Fraction | None]) -> str:
    """Numbers as one types them."""
    return ", ".join(typed.UNDEFINED if v is None else short_text(v) for v in values)


def form(block: Block, name: str, rows: Mapping[str, str], words: str, *, read: Callable[[Mapping[str, str]], Any],
         take: Callable[[Any], None], own: bool) -> None:  # fmt: skip
    """Fields as text in a fold. What cannot be used stays as typed beside the reasons, and the last result stays."""
    draft, count = f"{TOPIC}._{name}_draft", f"{TOPIC}._{name}_tries"

    def edit(event: Any) -> None:
        st.session_state[count] = st.session_state.get(count, 0) + 1
        sent = event.get("texts") if isinstance(event, Mapping) else None
        if not isinstance(sent, Mapping):
            return
        texts = {field: str(sent.get(field) or "")[: typed.MOST_TEXT + 1] for field in rows}
        try:
            take(read(texts))
            st.session_state.pop(draft, None)
        except InvalidFields as error:
            st.session_state[draft] = (texts, error.problems)

    texts, problems = st.session_state.get(draft, (rows, ()))
    fields = [
        {
            "name": field, "label": t(f"{TOPIC}.{name}_field_{field}"), "text": texts.get(field, ""),
            "problems": [problem_text(p) for p in problems if p.field == field],
        }
        for field in rows
    ]  # fmt: skip
    data = {
        "title": t(f"{TOPIC}.{name}_title"), "help": words, "fields": fields, "open": bool(problems) or own,
        "tries": st.session_state.get(count, 0), "kept": t(f"{TOPIC}.kept") if problems else "",
        "words": {"use": t(f"{TOPIC}.use"), "working": t("words.working")},
    }  # fmt: skip
    block.part("form", data, key=f"{TOPIC}.{name}_form", edit=edit)


def forget(name: str) -> None:
    """Drop what was typed and could not be used: another preset was chosen."""
    st.session_state.pop(f"{TOPIC}._{name}_draft", None)


def problem_text(problem: typed.Problem) -> str:
    where = t(f"{TOPIC}.problem_at", place=problem.place) if problem.place else ""
    return where + t(f"{TOPIC}.problem_{problem.code}", detail=problem.detail, limit=problem.limit)
