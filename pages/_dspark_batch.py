"""A batch on one curve: greedy admission step by step, all allocations, and each request on its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from mechanisms.dspark_batch import (
    MOST_ALLOCATIONS,
    allocation_table,
    alone_best,
    count_allocations,
    outcome_table,
    path_table,
    single_table,
    sum_table,
)  # fmt: skip
from mechanisms.dspark_input import REQUEST_FIELDS, Batch, read_batch
from mechanisms.dspark_presets import CURVES
from mechanisms.dspark_scheduler import Admission, admissions, early_stop, path_best
from mechanisms.quantity import decimal_text, short_text
from pages._controls import player_words
from pages._dspark_state import OWN, STEPS_SHOWN, TOPIC, batch_now, choose, forget, form, get, note, plain, put, show
from pages._parts import Block
from pages._words import language, t

Json = dict[str, Any]
STEPS = f"{TOPIC}.path_step"  # which admission the player shows
NAMES = ("first", "previous", "next", "last", "play", "pause", "scrub", "speed", "transport")


@lru_cache(maxsize=32)
def _path(batch: Batch) -> tuple[Admission, ...]:
    return admissions(batch.requests, batch.curve)


def curve_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        forget("batch")
        own = batch_now() if value == OWN and get("batch") is None else get("batch")
        put(curve=value, batch=own, step=0)

    choose(block, "curve", (*CURVES, OWN), words, notes=True, pick=pick)


def editor(block: Block, words: str) -> None:
    batch = batch_now()
    rows: Mapping[str, str] = {
        **{r: plain(batch.requests[i]) if i < len(batch.requests) else "" for i, r in enumerate(REQUEST_FIELDS)},
        "sps": plain(batch.curve),
    }  # fmt: skip
    form(block, "batch", rows, words, read=read_batch, take=lambda b: put(batch=b, curve=OWN, step=0),
         own=get("curve") == OWN)  # fmt: skip


def _cell(text: str, state: str) -> Json:
    return {"text": text, "state": f"dsp-{state}", "title": t(f"{TOPIC}.state_{state}")}


def _picture(batch: Batch, at: int) -> Json:
    """One admission: per request the position that always goes, its drafts in, the new one, and those that wait."""
    path = _path(batch)
    now, stop = path[at], early_stop(path)
    chances = {(p.request, p.position): p.survival for p in path[1:]}
    lanes = []
    for r, chain in enumerate(batch.requests, 1):
        cells = [_cell("1", "always")]
        for j in range(1, len(chain) + 1):
            state = "new" if (r, j) == (now.request, now.position) else "in" if j <= now.lengths[r - 1] else "waits"
            cells.append(_cell(decimal_text(chances.get((r, j), chain[0] * 0), 2), state))
        lanes.append({"label": t(f"{TOPIC}.request", number=r), "cells": cells})
    event = "start" if at == 0 else "better" if at <= stop else "stop" if at == stop + 1 else "beyond"
    words = {
        "request": now.request, "place": now.position, "survival": short_text(now.survival), "count": now.positions,
        "theta": decimal_text(now.throughput), "before": decimal_text(path[max(0, at - 1)].throughput),
    }  # fmt: skip
    caption = t(f"{TOPIC}.event_{event}", **words)
    if at == path_best(path):
        caption += " " + t(f"{TOPIC}.event_best")
    return {"event": event, "caption": caption, "lanes": lanes}


@lru_cache(maxsize=32)
def _pictures(batch: Batch, lang: str) -> list[Json]:
    return [_picture(batch, i) for i in range(len(_path(batch)))]


def player(block: Block, words: str) -> None:
    data = {
        "variants": [_pictures(batch_now(), language())], "topic": f"{TOPIC}.path_variant",
        "words": player_words(), "step": get("step"), "alt": words, "steps": STEPS,
    }  # fmt: skip

    def save(value: Any) -> None:
        if isinstance(value, int) and 0 <= value <= STEPS_SHOWN:
            put(step=value)

    block.part("stepper", data, key=f"{TOPIC}.player", step=save)


def path_rows(block: Block, words: str) -> None:
    batch = batch_now()
    path = _path(batch)
    show(block, path_table(path, batch.curve), "path", words, head="row_lengths",
         roles={"throughput": "target", "admitted_survival": "accepted"})  # fmt: skip
    marks = {"stop": early_stop(path), "best": path_best(path)}
    block.part("rowmark", {"table": f"{TOPIC}.path", "topic": STEPS, "marks": marks}, key=f"{TOPIC}.path_marks")


def path_plot(block: Block, words: str) -> None:
    path = _path(batch_now())
    data = {
        "series": [{"table": f"{TOPIC}.path", "y": "throughput", "mark": "is_best", "role": "target",
                    "label": t(f"{TOPIC}.line_path")}],
        "stop": early_stop(path), "stopped": t(f"{TOPIC}.line_stop"), "best": t(f"{TOPIC}.line_best"),
        "axis": t(f"{TOPIC}.theta_axis"), "foot": t(f"{TOPIC}.row_lengths"), "note": words,
        "alt": t(f"{TOPIC}.path_alt"),
    }  # fmt: skip
    block.part("peaks", data, key=f"{TOPIC}.path_plot")


def outcomes(block: Block, words: str) -> None:
    batch = batch_now()
    table, lengths = outcome_table(batch.requests, batch.curve)
    rows = tuple(f"{t(f'{TOPIC}.way_{w}')} {x}" for w, x in zip(table.rows, lengths, strict=True))
    show(block, replace(table, rows=rows), "outcomes", words, head="row_way", roles={"throughput": "target"})


def allocations(block: Block, words: str) -> None:
    batch = batch_now()
    count = count_allocations(batch.requests)
    bound = t(f"{TOPIC}.{'bounded' if count <= MOST_ALLOCATIONS else 'too_many'}", count=count, limit=MOST_ALLOCATIONS)
    note(block, bound, "bounded")
    if count <= MOST_ALLOCATIONS:
        show(block, allocation_table(batch.requests, batch.curve), "allocation", words, head="row_lengths")


def singles(block: Block, words: str) -> None:
    batch = batch_now()
    note(block, words, "singles_help")
    for r, chain in enumerate(batch.requests, 1):
        table = single_table(chain, batch.curve, f"single_{r}")
        show(block, table, f"single_{r}", t(f"{TOPIC}.single", number=r), head="row_length")


def sums(block: Block, words: str) -> None:
    batch = batch_now()
    show(block, alone_best(batch.requests, batch.curve), "alone", t(f"{TOPIC}.alone"), head="row_request")
    order = ("promised", "together", "joint_best", "shortfall", "together_tokens", "together_positions",
             "together_steps")  # fmt: skip
    show(block, sum_table(batch.requests, batch.curve), "sums", words, layout="strip", over=f"{TOPIC}.alone",
         order=order)  # fmt: skip
