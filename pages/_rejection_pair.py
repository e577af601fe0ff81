"""The pair of distributions that the ledger chapter works on: presets, the reader's own, and the blend towards p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

import streamlit as st

from mechanisms import distribution, rejection_rules
from mechanisms.distribution import InvalidInput, Pair, Problem
from mechanisms.quantity import short_text
from mechanisms.rejection_ledger import blends
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_round import round_events
from pages import _state
from pages._controls import Chapter
from pages._parts import Block
from pages._words import t

TOPIC = "rejection_ledger"
STEPS = 25  # positions of the blend slider, 4 % each: all of them are computed for each new pair
TICKS = 100  # positions of a uniform, 0.00 … 0.99
OWN = "own"
DRAWS = ("1000", "10000", "100000", "1000000", "10000000")


def write_own(pair: Pair | None) -> str:
    if pair is None:
        return ""
    columns = (
        [quote(x, safe="").replace("~", "%7E") for x in pair.tokens],
        map(short_text, pair.p),
        map(short_text, pair.q),
    )
    return "~".join(",".join(c) for c in columns)


def read_own(text: str) -> tuple[Pair, bool]:
    parts = text.split("~")
    if len(parts) != 3 or len(text) > 20_000:
        raise ValueError("own: must be names~p~q")
    names, p, q = (part.split(",") for part in parts)
    return distribution.read_pair([unquote(n) for n in names], p, q), False


FATES: tuple[int | None, ...] = (1, 2, 3, 4, None)  # the first rejected draft of the verification round
LAST_STEP = max(len(round_events(first_rejected=f)) for f in FATES) - 1
CONTROLS = (
    _state.choice("pair", PRESETS, "zero_in_draft"),
    _state.Control("own", None, read_own, write_own),
    _state.integer("blend", 0, STEPS, 0),
    _state.choice("reject", ("1", "2", "3", "4", "none"), "3"),
    _state.integer("step", 0, LAST_STEP, 0),
    *(_state.tick(n, TICKS, v) for n, v in (("u1", 40), ("u2", 75), ("u3", 20), ("w1", 35), ("w2", 65))),
    _state.choice("rule", rejection_rules.RULE_IDS[1:], "argmax_draft"),
    _state.integer("keep", 1, distribution.MAX_TOKENS, 2),
    _state.choice("draws", DRAWS, "10000"),
    _state.integer("seed", 0, 2**31 - 1, 1),
    _state.choice("guess1", ("", "law", "bug", "nothing", "zero"), ""),
    _state.guess("guess2", 100),
)
CHAPTER = Chapter(TOPIC, CONTROLS)
get, put = CHAPTER.get, CHAPTER.put
choose, slide, show, note = CHAPTER.choose, CHAPTER.slide, CHAPTER.show, CHAPTER.note


def base_pair() -> Pair:
    """What the reader chose, before the blend: an own pair where there is one, else the preset."""
    own: Pair | None = get("own")
    return PRESETS[get("pair")] if own is None else own


@lru_cache(maxsize=64)
def frames(pair: Pair) -> tuple[Pair, ...]:
    return blends(pair, STEPS)


def merged(pair: Pair) -> Pair:
    """A class of equal tokens becomes one token of its own name, as an own pair has no classes."""
    return Pair(pair.labels, pair.p, pair.q)


def pair_now() -> Pair:
    return frames(base_pair())[get("blend")]


def blend_texts() -> list[str]:
    return [f"{100 * i // STEPS} %" for i in range(STEPS + 1)]


def tick_texts() -> list[str]:
    return [f"{i / TICKS:.2f}" for i in range(TICKS)]


def preset_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        if value in PRESETS:
            st.session_state.pop(_DRAFT, None)
            put(pair=value, own=None, blend=0)
        elif value == OWN and get("own") is None:
            _accept(merged(base_pair()))

    chosen = get("pair") if get("own") is None else OWN
    choose(block, "pair", (*PRESETS, OWN), words, stem="preset", notes=True, value=chosen, pick=pick)


def blend_range(block: Block, words: str) -> None:
    slide(block, "blend", blend_texts(), words)


_DRAFT = f"{TOPIC}._draft"  # fields as typed, kept while they cannot be used
MOST_ROWS = 40


def _texts(event: Any, name: str) -> list[str]:
    found = event.get(name) if isinstance(event, Mapping) else None
    return [str(x)[:200] for x in found][:MOST_ROWS] if isinstance(found, list) else []


def _accept(pair: Pair) -> None:
    st.session_state.pop(_DRAFT, None)
    put(own=pair, blend=0)


def _edit(event: Any) -> None:
    """New fields from the editor: usable ones become the pair, others stay as typed beside what is wrong with them."""
    names, p, q = (_texts(event, n) for n in ("tokens", "p", "q"))
    count = event.get("count") if isinstance(event, Mapping) else None
    if isinstance(count, int) and count > distribution.MAX_TOKENS:
        column: distribution.Column = "q" if event.get("column") == "q" else "p"
        _refuse(names, p, q, [Problem("too_many", column, None, str(count))])
        return
    try:
        _accept(distribution.read_pair(names, p, q))
    except InvalidInput as error:
        _refuse(names, p, q, error.problems)


def _refuse(names: list[str], p: list[str], q: list[str], problems: Sequence[Problem]) -> None:
    st.session_state[_DRAFT] = (names, p, q, tuple(problems))


def _normalise(event: Any) -> None:
    """Divide one column by its sum, because the reader asked for it."""
    column = event.get("column") if isinstance(event, Mapping) else None
    fields = {n: _texts(event, n) for n in ("tokens", "p", "q")}
    if column not in ("p", "q"):
        return
    numbers = [distribution.read_number(x) for x in fields[column]]
    exact = [n for n in numbers if isinstance(n, Fraction)]
    if len(exact) == len(numbers) and sum(exact):
        fields[column] = [str(n) for n in distribution.normalised(exact)]
    _edit(fields)


def problem_text(problem: Problem, limit: int) -> str:
    """What is wrong; where no field of its own shows the place, the column is named."""
    whole = problem.row is None and problem.code != "lengths_differ"  # which speaks of both
    place = t("problems.in_column", column=t(f"editor.{problem.column}")) if whole else ""
    return place + t(f"problems.{problem.code}", detail=problem.detail, limit=limit)


def problem_data(problems: Sequence[Problem], limit: int) -> list[dict[str, Any]]:
    return [{"code": p.code, "column": p.column, "row": p.row, "text": problem_text(p, limit)} for p in problems]


def editor(block: Block, words: str) -> None:
    pair = base_pair()
    fields = (list(pair.labels), [short_text(x) for x in pair.p], [short_text(x) for x in pair.q], ())
    names, p, q, problems = st.session_state.get(_DRAFT, fields)
    labels = {w: t(f"editor.{w}") for w in ("token", "p", "q", "remove", "add", "normalise", "kept", "hint")}
    data = {
        "tokens": names, "p": p, "q": q, "problems": problem_data(problems, distribution.MAX_TOKENS),
        "kept": bool(problems), "most": distribution.MAX_TOKENS,
        "words": {**labels, "caption": words},
    }  # fmt: skip
    block.part("editor", data, key=f"{TOPIC}.editor", edit=_edit, normalise=_normalise)
