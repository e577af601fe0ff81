"""Conventions side by side, the price in milliseconds, and two published tables beside our calculation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from mechanisms.economics_conventions import CONVENTIONS, EXAMPLES, Example, bonus_split, reconcile
from mechanisms.economics_price import break_even, price
from mechanisms.economics_published import leviathan_table_1, leviathan_table_4
from mechanisms.table import Table
from pages import _payload
from pages._economics_state import (
    DRAFT_TIMES,
    TOPIC,
    VERIFY_TIMES,
    choose,
    get,
    note,
    show,
    slide,
    together,
)
from pages._parts import Block
from pages._words import t

PRICED = f"{TOPIC}.priced"
CONVENTION_ORDER = (
    "speedup", "tokens_counted", "round_time", "tokens_per_round", "tokens_left_out", "more_draft_steps",
    "verification_cost", "draft_length", "draft_cost", "acceptance_rate",
)  # fmt: skip
SPLIT_ORDER = (
    "with_bonus", "without_bonus", "bonus_term", "bonus_ratio", "tokens_per_round", "acceptance_rate", "draft_length",
    "draft_cost",
)  # fmt: skip
EVEN_ORDER = ("break_even", "plain_ms", "draft_ms", "verify_ms")
PRICE_ORDER = ("ms_per_token", "price_speedup", "confirmed_tokens", "plain_ms", "draft_ms", "verify_ms")


def _example() -> Example:
    return next(e for e in EXAMPLES if e.id == get("example"))


def example_choice(block: Block, words: str) -> None:
    choose(block, "example", [e.id for e in EXAMPLES], words, notes=True)


def split_strip(block: Block, words: str) -> None:
    e = _example()
    note(block, words, "split_head")
    show(block, bonus_split(e.rate, e.gamma, e.cost), "bonus_split", words, layout="strip", order=SPLIT_ORDER)


def convention_table(block: Block, words: str) -> None:
    e = _example()
    found = reconcile(e.rate, e.gamma, e.cost)
    named = replace(found, rows=tuple(t(f"{TOPIC}.convention_{c.id}") for c in CONVENTIONS))
    show(block, named, "reconcile", words, head="row_convention", order=CONVENTION_ORDER)


def draft_range(block: Block, words: str) -> None:
    slide(block, "draft_ms", [f"{x} ms" for x in DRAFT_TIMES], words)


def verify_range(block: Block, words: str) -> None:
    slide(block, "verify_ms", [f"{x} ms" for x in VERIFY_TIMES], words)
    together(block, "draft_ms", "verify_ms", (len(DRAFT_TIMES), len(VERIFY_TIMES)), PRICED)


@lru_cache(maxsize=1)
def prices() -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    """Table and break-even for every position of both sliders."""
    times = [{"draft": Fraction(d), "verify": Fraction(v)} for d in DRAFT_TIMES for v in VERIFY_TIMES]
    tables, evens = [price(**x) for x in times], [break_even(**x) for x in times]
    printed = _payload.printed
    return tables[0], printed(tables, PRICE_ORDER), evens[0], printed(evens, EVEN_ORDER)


def even_strip(block: Block, words: str) -> None:
    *_, first, frames = prices()
    note(block, words, "even_head")
    show(block, first, "break_even", words, layout="strip", topic=PRICED, frames=frames, order=EVEN_ORDER)


def price_table(block: Block, words: str) -> None:
    first, frames, *_ = prices()
    show(block, first, "price", words, head="row_confirmed", topic=PRICED, frames=frames, order=PRICE_ORDER)


def first_table(block: Block, words: str) -> None:
    order = (
        "speedup", "speedup_printed", "operations", "operations_printed", "tokens_per_round", "acceptance_rate",
        "draft_length", "draft_cost", "operations_cost",
    )  # fmt: skip
    show(block, leviathan_table_1(), "leviathan_table_1", words, head="row_setting", order=order)


def fourth_table(block: Block, words: str) -> None:
    order = (
        "speedup", "expected_printed", "measured_printed", "measured_over_computed", "best_draft_length",
        "draft_length", "acceptance_rate", "draft_cost", "tokens_per_round",
    )  # fmt: skip
    found = leviathan_table_4()
    named = tuple(
        f"{t(f'{TOPIC}.task_{task.split()[0]}')}, T = {task.split()[1]}, {t(f'{TOPIC}.draft_{draft}')}"
        for task, draft in (r.split(", ") for r in found.rows)
    )
    show(block, replace(found, rows=named), "leviathan_table_4", words, head="row_setting", order=order)
