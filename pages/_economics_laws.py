"""Overlap with a draggable shape, temperature, and independent heads against a draft that knows the first token."""

from __future__ import annotations

from functools import lru_cache

from mechanisms.economics_markov import COUPLINGS, two_step_totals, two_steps
from mechanisms.economics_overlap import (
    PAIRS,
    SHAPES,
    TAILS,
    TEMPERATURES,
    heated,
    heated_rate,
    overlap,
    overlap_summary,
    shaped,
)
from mechanisms.table import Table
from pages import _payload
from pages._economics_state import TOPIC, choose, get, note, show, slide
from pages._parts import Block
from pages._plots import bar, plot
from pages._words import t

Moving = tuple[Table, _payload.Printed, Table, _payload.Printed]
HOT_ORDER = (
    "heated_target", "heated_draft", "heated_shared", "target_probability", "draft_probability", "temperature",
    "sharpness",
)  # fmt: skip
HOT_RATE = ("heated_acceptance", "temperature")
STEP_ORDER = (
    "overlap_marginal", "overlap_conditional", "first_probability", "conditional_one", "conditional_two",
    "marginal_one", "marginal_two", "coupling",
)  # fmt: skip
STEP_TOTALS = ("tokens_marginal", "tokens_conditional", "second_rate_marginal", "second_rate_conditional")
_ROLES = {"target_probability": "target", "draft_probability": "draft", "shared_mass": "accepted"}
_HOT_ROLES = {"heated_target": "target", "heated_draft": "draft", "heated_shared": "accepted"}


@lru_cache(maxsize=4)
def overlaps(tail: str) -> Moving:
    """Table and totals for every position of the shape slider."""
    tables = [overlap(shaped(x, tail)) for x in SHAPES]
    totals = [overlap_summary(x) for x in tables]
    return tables[0], _payload.printed(tables), totals[0], _payload.printed(totals)


@lru_cache(maxsize=4)
def heats(pair: str) -> Moving:
    tables = [heated(PAIRS[pair], x) for x in TEMPERATURES]
    totals = [heated_rate(x) for x in tables]
    return tables[0], _payload.printed(tables, HOT_ORDER), totals[0], _payload.printed(totals, HOT_RATE)


@lru_cache(maxsize=1)
def couplings() -> Moving:
    tables = [two_steps(x) for x in COUPLINGS]
    totals = [two_step_totals(x) for x in tables]
    return tables[0], _payload.printed(tables, STEP_ORDER), totals[0], _payload.printed(totals, STEP_TOTALS)


def tail_choice(block: Block, words: str) -> None:
    choose(block, "tail", TAILS, words)


def shape_range(block: Block, words: str) -> None:
    slide(block, "shape", [f"{float(x):.2f}" for x in SHAPES], words)


def overlap_strip(block: Block, words: str) -> None:
    *_, first, frames = overlaps(get("tail"))
    note(block, words, "overlap_head")
    show(
        block, first, "overlap_summary", words, layout="strip", topic=f"{TOPIC}.shape", frames=frames,
        over=f"{TOPIC}.overlap",
    )  # fmt: skip


def overlap_plot(block: Block, words: str) -> None:
    traces = [
        bar("target_probability", "p", "target", t(f"{TOPIC}.bar_target")),
        bar("draft_probability", "q", "draft", t(f"{TOPIC}.bar_draft")),
        bar("shared_mass", "d", "accepted", t(f"{TOPIC}.bar_shared")),
    ]
    plot(block, f"{TOPIC}.overlap", traces, note=words, alt=t(f"{TOPIC}.overlap_alt"), key=f"{TOPIC}.overlap_plot")


def overlap_table(block: Block, words: str) -> None:
    first, frames, *_ = overlaps(get("tail"))
    show(
        block, first, "overlap", words, head="row_token", roles=_ROLES, topic=f"{TOPIC}.shape", frames=frames
    )  # fmt: skip


def pair_choice(block: Block, words: str) -> None:
    choose(block, "pair", tuple(PAIRS), words)


def heat_range(block: Block, words: str) -> None:
    slide(block, "heat", [f"{float(x):.1f}" for x in TEMPERATURES], words)


def heat_strip(block: Block, words: str) -> None:
    *_, first, frames = heats(get("pair"))
    note(block, words, "heat_head")
    show(
        block, first, "heated_rate", words, layout="strip", topic=f"{TOPIC}.heat", frames=frames, order=HOT_RATE,
        over=f"{TOPIC}.heated",
    )  # fmt: skip


def heat_table(block: Block, words: str) -> None:
    first, frames, *_ = heats(get("pair"))
    show(
        block, first, "heated", words, head="row_token", roles=_HOT_ROLES, topic=f"{TOPIC}.heat", frames=frames,
        order=HOT_ORDER,
    )  # fmt: skip


def coupling_range(block: Block, words: str) -> None:
    slide(block, "coupling", [f"{float(x):.2f}" for x in COUPLINGS], words)


def coupling_strip(block: Block, words: str) -> None:
    *_, first, frames = couplings()
    note(block, words, "coupling_head")
    show(
        block, first, "two_step_totals", words, layout="strip", topic=f"{TOPIC}.coupling", frames=frames,
        order=STEP_TOTALS, over=f"{TOPIC}.two_steps",
    )  # fmt: skip


def coupling_table(block: Block, words: str) -> None:
    first, frames, *_ = couplings()
    show(
        block, first, "two_steps", words, head="row_first", topic=f"{TOPIC}.coupling", frames=frames, order=STEP_ORDER
    )  # fmt: skip
