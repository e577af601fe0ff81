"""State of the drafter chapter: which block is drafted, how strong the head is, and what is calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from mechanisms.drafter_order import LOCKS, TEMPERATURES
from mechanisms.drafter_published import PUBLISHED
from mechanisms.drafter_rounds import PLACES, TEMPERS
from mechanisms.drafter_toy import ANCHORS, STRENGTHS, VOCABULARY
from mechanisms.drafter_walk import DRAWS
from mechanisms.quantity import short_text
from pages import _payload, _state
from pages._parts import Block
from pages._words import language, t

TOPIC = "dspark_drafter"
HEADS = ("off", "on")
COUNTS = ("200", "1000", "5000")
GUESSES = ("never", "same", "differ", "can")
LAST_STEP = 6

CONTROLS = (
    _state.choice("anchor", ANCHORS, "to"),
    _state.choice("draw", DRAWS, "first"),
    _state.choice("head", HEADS, "on"),
    _state.integer("step", 0, LAST_STEP, 0),
    _state.choice("place", ("1", "2"), "1"),
    _state.integer("strength", 0, len(STRENGTHS) - 1, 4),
    _state.choice("previous", VOCABULARY, "New"),
    _state.choice("lock", LOCKS, "second"),
    _state.integer("heat", 0, len(TEMPERATURES) - 1, 3),
    _state.choice("temper", TEMPERS, "over"),
    _state.choice("rounds", COUNTS, "1000"),
    _state.integer("seed", 0, 9999, 1),
    _state.integer("position", 1, PLACES, 2),
    _state.choice("published", (str(p) for p in PUBLISHED), "1"),
    _state.guess("guess1", 100),
    _state.choice("guess2", ("", *GUESSES), ""),
)


def get(name: str) -> Any:
    return _state.get(TOPIC, name)


def put(**values: Any) -> None:
    _state.put(TOPIC, CONTROLS, **values)


def opened(name: str) -> bool:
    """Whether a guess is committed, or a teacher's link (`&unlock=1`) opens every answer."""
    return get(name) not in ("", -1) or st.query_params.get("unlock") == "1"


def position(value: Any, most: int) -> int:
    """A slider position sent by a browser, held within its range."""
    return min(most, max(0, int(value))) if isinstance(value, int | float) and value == value else 0


def choose(block: Block, name: str, options: Sequence[str], words: str, labels: Sequence[str] = ()) -> None:
    """A row of pills; its labels are `<topic>.<name>_<option>` in the interface texts where none are given."""
    named = labels or [t(f"{TOPIC}.{name}_{o}") for o in options]
    made = [{"id": o, "label": label} for o, label in zip(options, named, strict=True)]
    data = {"label": words, "options": made, "value": get(name), "topic": f"{TOPIC}.{name}"}
    block.part("choice", data, key=f"{TOPIC}.{name}", value=lambda v: put(**{name: v}) if v in options else None)


def slide(block: Block, name: str, texts: Sequence[str], words: str, *, first: int = 0) -> None:
    """A slider over `texts`; `first` is the value of its leftmost position."""
    data = {
        "label": t(f"{TOPIC}.{name}"), "help": words, "texts": list(texts), "value": get(name) - first,
        "topic": f"{TOPIC}.{name}",
    }  # fmt: skip
    most = len(texts) - 1
    block.part("range", data, key=f"{TOPIC}.{name}", value=lambda v: put(**{name: first + position(v, most)}))


def show(block: Block, table: Any, name: str, words: str = "", *, head: str = "", **more: Any) -> None:
    """A table or strip under the topic's id; `head` names its first column where rows are not tokens."""
    data = _payload.table(table, id=f"{TOPIC}.{name}", lang=language(), caption=words, **more)
    named = {"head": t(f"{TOPIC}.{head}")} if head else {}
    block.part("table", {**data, **named}, key=f"{TOPIC}.{name}")


def heading(block: Block, text: str, key: str) -> None:
    block.prose(f'<p class="wiki-help">{text}</p>', key=f"{TOPIC}.{key}")


def strength_texts() -> list[str]:
    return [short_text(s) for s in STRENGTHS]
