"""Collisions of neighbouring drafts, and the label of the confidence head, for every strength of the bias."""

from __future__ import annotations

from functools import lru_cache

from mechanisms.drafter_confidence import context_table, label, label_table, means
from mechanisms.drafter_pairs import collisions, pair_table
from mechanisms.drafter_toy import STRENGTHS, VOCABULARY
from mechanisms.table import Table
from pages import _assets, _payload
from pages._drafter_state import TOPIC, choose, get, show, slide, strength_texts
from pages._parts import Block
from pages._plots import bar
from pages._words import t

FOLLOWS = f"{TOPIC}.strength"
ORDER = (
    "parallel_pair", "headed_pair", "target_pair", "clash", "target_first", "single_second", "target_second",
    "head_first", "guided_second",
)  # fmt: skip
Frames = tuple[Table, _payload.Printed]


@lru_cache(maxsize=16)
def _pairs(anchor: str, place: int) -> tuple[Frames, Frames]:
    rows = [pair_table(anchor, place, s) for s in STRENGTHS]
    totals = [collisions(r) for r in rows]
    return (rows[0], _payload.printed(rows, ORDER)), (totals[0], _payload.printed(totals))


@lru_cache(maxsize=32)
def _labels(anchor: str, previous: str) -> tuple[Frames, Frames]:
    rows = [label_table(anchor, previous, s) for s in STRENGTHS]
    totals = [label(r) for r in rows]
    return (rows[0], _payload.printed(rows)), (totals[0], _payload.printed(totals))


@lru_cache(maxsize=8)
def _contexts(anchor: str) -> tuple[Frames, Frames]:
    rows = [context_table(anchor, s) for s in STRENGTHS]
    totals = [means(r) for r in rows]
    return (rows[0], _payload.printed(rows)), (totals[0], _payload.printed(totals))


def place_choice(block: Block, words: str) -> None:
    choose(block, "place", ("1", "2"), words)


def strength_range(block: Block, words: str) -> None:
    slide(block, "strength", strength_texts(), words)


def collision_strip(block: Block, words: str) -> None:
    first, frames = _pairs(get("anchor"), int(get("place")))[1]
    show(block, first, "collisions", words, layout="strip", topic=FOLLOWS, over=f"{TOPIC}.pairs", frames=frames)


def pair_rows(block: Block, words: str) -> None:
    first, frames = _pairs(get("anchor"), int(get("place")))[0]
    roles = {"parallel_pair": "rejected", "headed_pair": "draft", "target_pair": "target"}
    show(block, first, "pairs", words, head="head_pair", topic=FOLLOWS, roles=roles, order=ORDER, frames=frames)


def pair_plot(block: Block, words: str) -> None:
    traces = [
        bar("parallel_pair", "a", "rejected", t(f"{TOPIC}.bar_parallel")),
        bar("headed_pair", "b", "draft", t(f"{TOPIC}.bar_headed")),
        bar("target_pair", "c", "target", t(f"{TOPIC}.bar_target")),
    ]
    data = {
        "table": f"{TOPIC}.pairs", "traces": traces, "note": words, "alt": t(f"{TOPIC}.pairs_alt"),
        "axis": t("words.probability"), "plotly": _assets.PLOTLY_URL, "height": 280,
    }  # fmt: skip
    block.part("plot", data, key=f"{TOPIC}.pair_plot")


def previous_choice(block: Block, words: str) -> None:
    choose(block, "previous", VOCABULARY, words, labels=VOCABULARY)


def label_strip(block: Block, words: str) -> None:
    first, frames = _labels(get("anchor"), get("previous"))[1]
    show(block, first, "label_value", words, layout="strip", topic=FOLLOWS, over=f"{TOPIC}.labels", frames=frames)


def label_rows(block: Block, words: str) -> None:
    first, frames = _labels(get("anchor"), get("previous"))[0]
    roles = {"target_probability": "target", "draft_probability": "draft", "kept_mass": "accepted"}
    show(block, first, "labels", words, topic=FOLLOWS, roles=roles, frames=frames)


def mean_strip(block: Block, words: str) -> None:
    first, frames = _contexts(get("anchor"))[1]
    show(block, first, "means", words, layout="strip", topic=FOLLOWS, over=f"{TOPIC}.contexts", frames=frames)


def context_rows(block: Block, words: str) -> None:
    first, frames = _contexts(get("anchor"))[0]
    show(block, first, "contexts", words, head="head_previous", topic=FOLLOWS, frames=frames)
