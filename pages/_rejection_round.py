"""The verification round as a step player, and its cache table."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mechanisms.rejection_round import Event, cache_table, round_events
from pages import _payload
from pages._controls import player_words, position
from pages._parts import Block
from pages._rejection_pair import FATES, LAST_STEP, TOPIC, choose, get, put
from pages._words import language, t

NAMES = ("1", "2", "3", "4", "none")
Json = dict[str, Any]


def reject_choice(block: Block, words: str) -> None:
    choose(block, "reject", NAMES, words, labels=[*NAMES[:-1], t(f"{TOPIC}.reject_none")])


def _cell(text: str, state: str) -> Json:
    return {"text": text, "state": state, "title": t(f"states.{state}")}


def _lanes(event: Event, prefix: int) -> list[Json]:
    """Three tapes: confirmed text, drafts, cached positions of the target."""
    tape = event.tape
    kept = tape.confirmed - prefix - (1 if tape.last else 0)
    text = [_cell(str(i + 1), "confirmed") for i in range(prefix - (0 if tape.last else 1))]
    if not tape.last:
        text.append(_cell(str(prefix), "pending"))
    text += [_cell(f"d{i + 1}", "accepted") for i in range(max(0, kept))]
    if tape.last:
        text.append(_cell("c" if tape.last == "correction" else "b", tape.last))
    drafts = [_cell(f"d{i + 1}", fate) for i, fate in enumerate(tape.drafts)]
    names = [str(i + 1) for i in range(prefix)] + [f"d{i + 1}" for i in range(len(tape.drafts))]
    fresh = event.kind in ("verify", "accept", "reject", "bonus")
    cached = [_cell(names[i], "processed" if fresh and i >= prefix - 1 else "cached") for i in range(tape.cached)]
    if event.kind in ("rollback", "correction"):
        cached += [_cell(n, "dropped") for n in names[tape.cached :]]
    lanes = (("text", text), ("drafts", drafts), ("cache", cached))
    return [{"label": t(f"{TOPIC}.lane_{name}"), "cells": cells} for name, cells in lanes]


@lru_cache(maxsize=8)
def player_data(lang: str) -> Json:
    variants = []
    for first in FATES:
        events = round_events(first_rejected=first)
        prefix = events[0].tape.confirmed
        variants.append([
            {"event": e.kind, "caption": _caption(e), "lanes": _lanes(e, prefix)} for e in events
        ])  # fmt: skip
    return {"variants": variants, "topic": f"{TOPIC}.reject", "words": player_words()}


def _caption(event: Event) -> str:
    tape = event.tape
    return t(
        f"{TOPIC}.event_{event.kind}", position=event.position, cached=tape.cached, confirmed=tape.confirmed,
        drafts=len(tape.drafts), processed=len(tape.drafts) + 1,
    )  # fmt: skip


def player(block: Block, words: str) -> None:
    data = {**player_data(language()), "step": get("step"), "alt": words}
    block.part("player", data, key=f"{TOPIC}.round", step=lambda v: put(step=position(v, LAST_STEP)))


@lru_cache(maxsize=8)
def _cache_frames(lang: str, caption: str) -> Json:
    frames = [cache_table(first_rejected=p) for p in FATES]
    return _payload.table(
        frames[0], id=f"{TOPIC}.cache", lang=lang, topic=f"{TOPIC}.reject", layout="strip", caption=caption,
        frames=_payload.printed(frames),
    )  # fmt: skip


def cache_strip(block: Block, words: str) -> None:
    block.part("table", _cache_frames(language(), words), key=f"{TOPIC}.cache")
