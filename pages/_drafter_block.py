"""The block as a step player, and the two tables of the step that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechanisms.drafter_toy import ANCHORS, BLOCK, CLASHES, LOOKUP, VOCABULARY, corrected, marginal
from mechanisms.drafter_walk import DRAWS, Event, walk
from mechanisms.dspark_drafter import bias_table, law_table, size_table
from mechanisms.quantity import decimal_text, short_text
from mechanisms.table import Table
from pages import _payload
from pages._controls import player_words
from pages._drafter_state import HEADS, LAST_STEP, TOPIC, choose, get, put, show
from pages._parts import Block
from pages._words import language, t

Json = dict[str, Any]
STEPS = f"{TOPIC}.block_step"  # head off or on, and the step that the player shows
STRENGTH = dict(zip(HEADS, (Fraction(0), Fraction(1)), strict=True))
ROLES = {"marginal": "target", "draft_probability": "draft"}


def anchor_choice(block: Block, words: str) -> None:
    choose(block, "anchor", ANCHORS, words, labels=ANCHORS)


def draw_choice(block: Block, words: str) -> None:
    labels = [" · ".join(short_text(u) for u in uniforms) for uniforms in DRAWS.values()]
    choose(block, "draw", list(DRAWS), words, labels=labels)


def head_choice(block: Block, words: str) -> None:
    choose(block, "head", HEADS, words)


def _cell(text: str, state: str, name: str) -> Json:
    return {"text": text, "state": state, "title": t(f"{TOPIC}.cell_{name}")}


def _tokens(tokens: Sequence[str], fresh: bool) -> list[Json]:
    """Drafted tokens, the newest framed; one that makes no city with the token before it is struck out."""
    cells = []
    for i, token in enumerate(tokens):
        if i > 0 and (tokens[i - 1], token) in CLASHES:
            cells.append(_cell(token, "rejected", "clash"))
        else:
            newest = fresh and i == len(tokens) - 1
            cells.append(_cell(token, "col-now" if newest else "drafted", "drafted"))
    return cells + [_cell("·", "col-free", "waiting")] * (BLOCK - len(tokens))


def _row(anchor: str, place: int, event: Event) -> Json:
    """The likeliest token of a row, once the pass has been made."""
    if event.kind == "input":
        return _cell("·", "col-free", "waiting")
    law = marginal(anchor, place)
    best = VOCABULARY[law.index(max(law))]
    now = place == event.position
    return _cell(best, "col-now" if now else "col-done", "row_now" if now else "row")


def _lanes(anchor: str, event: Event) -> list[Json]:
    inputs = [_cell(anchor, "confirmed", "anchor")] + [_cell(t(f"{TOPIC}.mask"), "pending", "mask")] * (BLOCK - 1)
    rows = [_row(anchor, k, event) for k in range(1, BLOCK + 1)]
    fresh = event.kind == "draw"
    lanes = (
        ("inputs", inputs), ("rows", rows), ("parallel", _tokens(event.parallel, fresh)),
        ("drafted", _tokens(event.drafted, fresh)),
    )  # fmt: skip
    return [{"label": t(f"{TOPIC}.lane_{name}"), "cells": cells} for name, cells in lanes]


def _caption(anchor: str, event: Event, strength: Fraction) -> str:
    if event.kind == "draw" and event.uniform is not None:
        token = event.drafted[-1]
        law = corrected(anchor, event.position, event.previous or anchor, strength)
        return t(
            f"{TOPIC}.event_draw", position=event.position, u=short_text(event.uniform), token=token,
            q=decimal_text(law[VOCABULARY.index(token)], 3),
        )  # fmt: skip
    if event.kind == "lookup" and event.previous is not None:
        one, two = (short_text(Fraction(x)) for x in LOOKUP[event.previous])
        name = "lookup" if strength else "skip"
        return t(f"{TOPIC}.event_{name}", position=event.position, token=event.previous, one=one, two=two)
    return t(f"{TOPIC}.event_{event.kind}", anchor=anchor, masks=BLOCK - 1, rows=BLOCK)


@lru_cache(maxsize=32)
def _data(anchor: str, draw: str, lang: str) -> tuple[list[list[Json]], list[Table], list[Table]]:
    """Player, bias rows and laws, for the head off and on and every step."""
    pictures, biases, laws = list[list[Json]](), list[Table](), list[Table]()
    for strength in STRENGTH.values():
        events = walk(anchor, strength, DRAWS[draw])
        pictures.append([
            {"event": e.kind, "caption": _caption(anchor, e, strength), "lanes": _lanes(anchor, e)} for e in events
        ])  # fmt: skip
        for event in events:
            place = max(1, event.position)
            previous = event.previous if place > 1 else None
            biases.append(bias_table(previous))
            laws.append(law_table(anchor, place, previous, strength))
    return pictures, biases, laws


def _now() -> tuple[list[list[Json]], list[Table], list[Table]]:
    return _data(get("anchor"), get("draw"), language())


def player(block: Block, words: str) -> None:
    data = {
        "variants": _now()[0], "topic": f"{TOPIC}.head", "words": player_words(),
        "step": get("step"), "alt": words, "steps": STEPS,
    }  # fmt: skip

    def save(value: Any) -> None:
        if isinstance(value, int) and 0 <= value <= LAST_STEP:
            put(step=value)

    block.part("stepper", data, key=f"{TOPIC}.player", step=save)


def bias_rows(block: Block, words: str) -> None:
    frames = _now()[1]
    show(block, frames[0], "bias_row", words, topic=STEPS, frames=_payload.printed(frames))


def law_rows(block: Block, words: str) -> None:
    frames = _now()[2]
    show(block, frames[0], "law", words, topic=STEPS, roles=ROLES, frames=_payload.printed(frames))


def sizes(block: Block, words: str) -> None:
    found = size_table()
    names = tuple(t(f"{TOPIC}.size_{n}") for n in found.rows)
    renamed = Table(found.id, found.columns, names, found.cells, found.function)
    show(block, renamed, "sizes", words, head="head_size")
