"""Which state feeds which depth, step by step; versions that must not be mixed; tables that others printed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mechanisms.mtp_mixing import DEPTHS, MODES, Feed, feeds, mismatch, shares
from mechanisms.mtp_published import DEEPSEEK, EAGLE, SPEED_BENCH, loss_table, speed_bench
from mechanisms.table import Table
from pages import _frame, _links, _payload
from pages._controls import player_words
from pages._mtp_state import TOPIC, choose, get, note, put, show, slide
from pages._parts import Block
from pages._words import language, t

Json = dict[str, Any]
SEED = 3
SHOWN = ("share_plain", "share_report", "share_code", "share_draft", "source_depth", "depth", "prefix_length",
         "source_backbone", "source_exists", "source_newest")  # fmt: skip
ROLES = {"share_draft": "target", "share_plain": "rejected", "share_report": "corrected", "share_code": "accepted"}
LOSS_COLUMNS = ("warm_mean", "warm_gain", "cold_mean", "warm_mt", "warm_human", "warm_gsm", "cold_mt", "cold_human",
                "cold_gsm", "reference_mean")  # fmt: skip
VERSIONS = {
    "meta": "gloeckle2024", "ultra": "nemotron3ultra", "super": "nemotron35", "lightning": "nemotron35", "lk": "lk2026",
    "code": "megatron2026",
}  # fmt: skip
VERSION_COLUMNS = ("trained", "states", "loss", "mind")


def mode_choice(block: Block, words: str) -> None:
    choose(block, "mode", MODES, words, notes=True)


def _cell(source: int | None, lost: bool) -> Json:
    if source is None:
        return {"text": "·", "state": "source-none", "title": t(f"{TOPIC}.source_none")}
    title = t(f"{TOPIC}.source_backbone") if source == 0 else t(f"{TOPIC}.source_depth", depth=source)
    if lost:
        return {"text": str(source), "state": "source-lost", "title": f"{title}, {t(f'{TOPIC}.source_lost')}"}
    text = t(f"{TOPIC}.source_letter") if source == 0 else str(source)
    return {"text": text, "state": f"source-{source}", "title": title}


def _waiting() -> Json:
    return {"text": "", "state": "source-none", "title": t(f"{TOPIC}.source_waiting")}


def _lane(feed: Feed, now: int) -> Json:
    """Depths that have not run yet keep their place, so that the picture does not jump."""
    pairs = zip(feed.sources, feed.fallback, strict=True)
    cells = [_cell(s, lost) for s, lost in pairs] if feed.depth <= now else [_waiting()] * len(feed.sources)
    return {"label": t(f"{TOPIC}.lane", depth=feed.depth), "cells": cells}


@lru_cache(maxsize=8)
def _variants(lang: str) -> list[list[Json]]:
    found: list[list[Json]] = []
    for mode in MODES:
        every = feeds(mode, rng=np.random.default_rng(SEED))
        steps: list[Json] = []
        for k, feed in enumerate(every, 1):
            used = len({s for s in feed.sources if s is not None})
            caption = t(f"{TOPIC}.event_{mode}_{'first' if k == 1 else 'next'}", depth=k, before=k - 1, used=used)
            steps.append({"event": f"depth-{k}", "caption": caption, "lanes": [_lane(f, k) for f in every]})
        found.append(steps)
    return found


def player(block: Block, words: str) -> None:
    data = {
        "variants": _variants(language()), "topic": f"{TOPIC}.mode", "words": player_words(),
        "step": get("moment"), "alt": words,
    }  # fmt: skip

    def save(value: Any) -> None:
        if isinstance(value, int) and 0 <= value < DEPTHS:
            put(moment=value)

    block.part("player", data, key=f"{TOPIC}.player", step=save)


def depth_range(block: Block, words: str) -> None:
    slide(block, "depth", [str(k) for k in range(2, DEPTHS + 1)], words, first=2)


@lru_cache(maxsize=4)
def _shares(lang: str) -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    names = [t(f"{TOPIC}.source_backbone_row"), *(t(f"{TOPIC}.lane_row", depth=j) for j in range(1, DEPTHS))]
    tables = [shares(k, names=names) for k in range(2, DEPTHS + 1)]
    sums = [mismatch(x) for x in tables]
    return tables[0], _payload.printed(tables, SHOWN), sums[0], _payload.printed(sums)


def share_rows(block: Block, words: str) -> None:
    first, cells, *_ = _shares(language())
    show(
        block,
        first,
        "shares",
        words,
        head="head_source",
        topic=f"{TOPIC}.depth",
        order=SHOWN,
        roles=ROLES,
        frames=cells,
    )


def mismatch_strip(block: Block, words: str) -> None:
    *_, first, cells = _shares(language())
    note(block, words, "mismatch_head")
    show(block, first, "mismatch", words, topic=f"{TOPIC}.depth", over=f"{TOPIC}.shares", layout="strip", frames=cells)


def versions(block: Block, words: str) -> None:
    """What was published when, what it trains with, and what must not be carried from one to another."""
    head = [t(f"{TOPIC}.version"), *(t(f"{TOPIC}.version_{c}") for c in VERSION_COLUMNS)]
    rows = (
        (f"{t(f'{TOPIC}.version_{v}')}<br>{_links.cite(source, language())}",
         *(t(f"{TOPIC}.version_{v}_{c}") for c in VERSION_COLUMNS))
        for v, source in VERSIONS.items()
    )  # fmt: skip
    table = _frame.data_table(words, head, rows)
    block.prose(f'<div class="wiki-scroll wiki-versions" tabindex="0" role="region" aria-label="{words}">{table}</div>',
                key=f"{TOPIC}.versions")  # fmt: skip


def boost_rows(block: Block, words: str) -> None:
    names = {n: t(f"{TOPIC}.task_{n}") for n in (*(line[0] for line in SPEED_BENCH), "printed", "mean")}
    show(block, speed_bench(names), "speed_bench", words, head="head_category")


def eagle_rows(block: Block, words: str) -> None:
    names = {line[0]: t(f"{TOPIC}.objective_{line[0]}") for line in EAGLE}
    show(block, loss_table(EAGLE, "kl", names), "eagle", words, head="head_objective", order=LOSS_COLUMNS)


def deepseek_rows(block: Block, words: str) -> None:
    names = {line[0]: t(f"{TOPIC}.objective_{line[0]}") for line in DEEPSEEK}
    show(block, loss_table(DEEPSEEK, "kl", names), "deepseek", words, head="head_objective", order=LOSS_COLUMNS)
