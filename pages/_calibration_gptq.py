"""GPTQ column by column on a small layer: a player of the steps, and the table of the step that it shows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mechanisms.calibration_gptq import Event, plan, start, step
from mechanisms.calibration_grid import Grid, fit
from mechanisms.calibration_layer import DOMAINS, Floats, synthetic_inputs, synthetic_layer
from mechanisms.calibration_report import column_table
from mechanisms.calibration_statistics import calibrate
from mechanisms.quantity import decimal_text
from mechanisms.values.calibration import VECTORS
from pages import _payload
from pages._calibration_state import DEMO_OUTPUTS, DEMO_WIDTH, ORDERS, TOPIC, choose, get, put
from pages._controls import player_words
from pages._parts import Block
from pages._words import language, t

Json = dict[str, Any]
STEPS = f"{TOPIC}.gptq_step"  # which order and which of its steps the player shows
SHOWN = (
    "current_weight", "code", "rounded_weight", "column_error", "pivot", "inverse_entry", "push", "corrected_weight",
)  # fmt: skip
ROLES = {"current_weight": "target", "rounded_weight": "output", "push": "corrected", "corrected_weight": "accepted"}
Moment = tuple[Event, Floats, Floats, Floats]  # the step, weights before it, codes and values after it


@lru_cache(maxsize=16)
def moments(bits: int, act_order: bool) -> tuple[Moment, ...]:
    """All steps on the small layer, one scale per output; codes are counted from the zero point."""
    weights = synthetic_layer(out=DEMO_OUTPUTS, width=DEMO_WIDTH).wide
    seen = calibrate(synthetic_inputs(DOMAINS[0], VECTORS, width=DEMO_WIDTH))
    grid = Grid(bits, granularity="channel")
    fixed = plan(seen.hessian, grid, fit(weights, grid), act_order=act_order)
    state, found = start(weights), list[Moment]()
    for _ in range(DEMO_WIDTH):
        after, event = step(state, fixed)
        codes = after.codes.astype(np.float64) - grid.middle
        found.append((event, state.weights, codes, after.weights))
        state = after
    return tuple(found)


def order_choice(block: Block, words: str) -> None:
    choose(block, "order", ORDERS, words, notes=True)


def output_choice(block: Block, words: str) -> None:
    names = [str(i) for i in range(1, DEMO_OUTPUTS + 1)]
    choose(block, "output", names, words, labels=[f"y{n}" for n in names])


def _cell(text: str, state: str) -> Json:
    return {"text": text, "state": f"col-{state}", "title": t(f"{TOPIC}.state_{state}")}


def _picture(moment: Moment, output: int) -> Json:
    """One step: codes of the settled columns, and the sign of what each free one receives."""
    event, _, codes, _ = moment
    pushed = dict(zip(event.free, event.pushed[output], strict=True))
    above, below = list[Json](), list[Json]()
    for j in range(DEMO_WIDTH):
        state = "now" if j == event.column else "free" if j in pushed else "done"
        above.append(_cell("·" if state == "free" else decimal_text(int(codes[output, j]), 0), state))
        sign = "" if j not in pushed else "+" if pushed[j] > 0 else "−" if pushed[j] < 0 else "0"
        below.append(_cell(sign or "·", "up" if sign == "+" else "down" if sign == "−" else "done"))
    caption = t(
        f"{TOPIC}.event_{'last' if not event.free else 'column'}", column=event.column + 1, free=len(event.free)
    )
    lanes = [{"label": t(f"{TOPIC}.lane_{n}"), "cells": cells} for n, cells in (("codes", above), ("push", below))]
    return {"event": "column" if event.free else "last", "caption": caption, "lanes": lanes}


@lru_cache(maxsize=32)
def _data(bits: int, output: int, lang: str) -> tuple[list[list[Json]], Json]:
    every = [moments(bits, order == "act_order") for order in ORDERS]
    pictures = [[_picture(m, output) for m in steps] for steps in every]
    frames = [column_table(*moment, output) for steps in every for moment in steps]
    table = _payload.table(
        frames[0], id=f"{TOPIC}.column", lang=lang, topic=STEPS, order=SHOWN, roles=ROLES,
        frames=_payload.printed(frames, SHOWN),
    )  # fmt: skip
    return pictures, table


def _now() -> tuple[list[list[Json]], Json]:
    return _data(int(get("bits")), get("output") - 1, language())


def player(block: Block, words: str) -> None:
    data = {
        "variants": _now()[0], "topic": f"{TOPIC}.order", "words": player_words(),
        "step": get("step"), "alt": words, "steps": STEPS,
    }  # fmt: skip

    def save(value: Any) -> None:
        if isinstance(value, int) and 0 <= value < DEMO_WIDTH:
            put(step=value)

    block.part("stepper", data, key=f"{TOPIC}.player", step=save)


def column_rows(block: Block, words: str) -> None:
    data = {**_now()[1], "caption": words, "plain": _payload.plain_text(words), "head": t(f"{TOPIC}.head_column")}
    block.part("table", data, key=f"{TOPIC}.column")
