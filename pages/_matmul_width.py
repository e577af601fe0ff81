"""How wide the accumulator must be: first overflow, worst case for a number of terms, and a sum that wraps."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from mechanisms.integer_matmul_accumulator import Added, CodeType, accumulate, overflow_table
from mechanisms.integer_matmul_running import running_table, worst_case_table
from mechanisms.quantity import decimal_text
from pages import _payload
from pages._controls import player_words, position
from pages._matmul_state import SEQUENCES, TERMS, TOPIC, TYPES, choose, get, put, show, slide
from pages._parts import Block
from pages._words import language, t

Json = dict[str, Any]
# codes of the activations, of the weights, and the width of the register; each has as many terms as the others
SEQUENCE_CODES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "worst": ((-128,) * 6, (-128,) * 6, 16),
    "back": ((127,) * 6, (127, 127, 127, -128, -128, -128), 16),
    "wide": ((-128,) * 6, (-128,) * 6, 32),
    "unsigned": ((255,) * 6, (127, 127, 127, 127, 127, 127), 16),
}


def _types() -> tuple[CodeType, CodeType]:
    x, w = get("types").split("_")
    return cast(CodeType, x), cast(CodeType, w)


def types_choice(block: Block, words: str) -> None:
    choose(block, "types", TYPES, words, labels=[n.replace("_", " × ") for n in TYPES])


def overflow_rows(block: Block, words: str) -> None:
    table = overflow_table(*_types())
    order = ["accumulator_bits", "first_overflow"]
    order += [q.name for q in table.columns if q.name not in order]
    show(block, table, "overflow", words, head="head_accumulator", order=order)


def terms_range(block: Block, words: str) -> None:
    slide(block, "terms", [f"{k:,}" for k in TERMS], words)


@lru_cache(maxsize=32)
def _worst(x: CodeType, w: CodeType, lang: str, caption: str) -> Json:
    frames = [worst_case_table(x, w, k) for k in TERMS]
    order = ["terms", "range_used", "worst_sum_above", "largest_sum", "worst_sum_below", "smallest_sum_size"]
    order += [q.name for q in frames[0].columns if q.name not in order]
    return _payload.table(
        frames[0], id=f"{TOPIC}.worst", lang=lang, caption=caption, topic=f"{TOPIC}.terms", order=order,
        roles={"range_used": "output"}, frames=_payload.printed(frames, order),
    )  # fmt: skip


def worst_rows(block: Block, words: str) -> None:
    data = {**_worst(*_types(), language(), words), "head": t(f"{TOPIC}.head_accumulator")}
    block.part("table", data, key=f"{TOPIC}.worst")


def sequence_choice(block: Block, words: str) -> None:
    choose(block, "sequence", SEQUENCES, words, notes=True)


def _cell(text: str, state: str) -> Json:
    return {"text": text, "state": f"sum-{state}", "title": t(f"{TOPIC}.state_{state}")}


def _number(value: int) -> str:
    return decimal_text(value, 0)


def _kind(event: Added) -> str:
    """What this addition did to the register: a second wrap, the other way, brings it back to the sum."""
    right = event.true == event.held
    if event.wrapped:
        return "back" if right else "wrap"
    return "right" if right else "still_wrong"


def _frame(name: str, events: tuple[Added, ...], done: int) -> Json:
    """The picture after `done` additions: products, the sum as it is, and what the register holds."""
    q_x, q_w, bits = SEQUENCE_CODES[name]
    products = [
        _cell(_number(a * b), "waiting" if k > done else "adding" if k == done else "added")
        for k, (a, b) in enumerate(zip(q_x, q_w, strict=True), 1)
    ]
    event = events[done - 1] if done else None
    true, held = (event.true, event.held) if event else (0, 0)
    lanes = (("products", products), ("true", [_cell(_number(true), "true")]),
             ("held", [_cell(_number(held), "held" if true == held else "wrong")]))  # fmt: skip
    kind = "start" if event is None else _kind(event)
    caption = t(
        f"{TOPIC}.event_{kind}", term=done, product=_number(event.product if event else 0), true=_number(true),
        held=_number(held), bits=bits,
    )  # fmt: skip
    shown = [{"label": t(f"{TOPIC}.lane_{lane}", bits=bits), "cells": cells} for lane, cells in lanes]
    return {"event": kind, "caption": caption, "lanes": shown}


@lru_cache(maxsize=8)
def player_data(lang: str) -> Json:
    variants = []
    for name in SEQUENCES:
        q_x, q_w, bits = SEQUENCE_CODES[name]
        events = accumulate([a * b for a, b in zip(q_x, q_w, strict=True)], bits)
        variants.append([_frame(name, events, done) for done in range(len(events) + 1)])
    return {"variants": variants, "topic": f"{TOPIC}.sequence", "words": player_words()}


def player(block: Block, words: str) -> None:
    data = {**player_data(language()), "step": get("step"), "alt": words}
    block.part("player", data, key=f"{TOPIC}.player", step=lambda v: put(step=position(v, 20)))


@lru_cache(maxsize=8)
def _running(lang: str, caption: str) -> Json:
    frames = [running_table(*SEQUENCE_CODES[name]) for name in SEQUENCES]
    return _payload.table(
        frames[0], id=f"{TOPIC}.running", lang=lang, caption=caption, topic=f"{TOPIC}.sequence",
        roles={"running_sum": "target", "register_content": "output"}, frames=_payload.printed(frames),
    )  # fmt: skip


def running_rows(block: Block, words: str) -> None:
    data = {**_running(language(), words), "head": t(f"{TOPIC}.head_term")}
    block.part("table", data, key=f"{TOPIC}.running")
