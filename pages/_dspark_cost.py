"""Two cost curves for the same chain. Curve B and its best length appear once the reader has guessed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from mechanisms.dspark import Chain
from mechanisms.dspark_cost import cost_table
from mechanisms.dspark_input import Costs, read_costs
from mechanisms.quantity import short_text
from mechanisms.table import Table
from pages import _payload
from pages._dspark_state import (
    DRAG,
    TOPIC,
    base_chain,
    chains,
    costs_now,
    dragged,
    form,
    get,
    note,
    opened,
    plain,
    put,
    show,
)  # fmt: skip
from pages._parts import Block
from pages._words import t

CURVES = ("a", "b")
ORDER = (
    "verified_length", "round_tokens", "verify_time", "draft_time", "fixed_time", "round_time", "token_rate", "is_best",
)  # fmt: skip


@lru_cache(maxsize=64)
def frames(chain: Chain, at: int, costs: Costs, curve: str) -> tuple[Table, _payload.Printed]:
    verify = costs.a if curve == "a" else costs.b
    tables = [
        cost_table(c, verify, draft=costs.draft, fixed=costs.fixed, name=f"cost_{curve}") for c in chains(chain, at)
    ]
    return tables[0], _payload.printed(tables, ORDER)


def editor(block: Block, words: str) -> None:
    now = costs_now()
    rows: Mapping[str, str] = {
        "a": plain(now.a), "b": plain(now.b), "draft": short_text(now.draft), "fixed": short_text(now.fixed),
    }  # fmt: skip
    form(block, "costs", rows, words, read=read_costs, take=lambda c: put(costs=c), own=get("costs") is not None)


def _table(block: Block, curve: str, words: str) -> None:
    first, numbers = frames(base_chain(), dragged(), costs_now(), curve)
    show(block, first, f"cost_{curve}", words, head="row_length", topic=DRAG, order=ORDER, frames=numbers,
         roles={"token_rate": "target" if curve == "a" else "corrected"})  # fmt: skip


def table_a(block: Block, words: str) -> None:
    costs = costs_now()
    if min(len(costs.a), len(costs.b)) < len(base_chain()) + 1:
        note(block, t(f"{TOPIC}.costs_short"), "costs_short", "notice")
    _table(block, "a", words)


def table_b(block: Block, words: str) -> None:
    if opened("guess1"):
        _table(block, "b", words)
    else:
        note(block, t(f"{TOPIC}.locked_length"), "locked_length", "locked")


def rate_plot(block: Block, words: str) -> None:
    shown = CURVES if opened("guess1") else CURVES[:1]
    series = [
        {
            "table": f"{TOPIC}.cost_{c}", "y": "token_rate", "mark": "is_best", "label": t(f"{TOPIC}.line_{c}"),
            "role": "target" if c == "a" else "corrected",
        }
        for c in shown
    ]  # fmt: skip
    data = {
        "series": series, "axis": t(f"{TOPIC}.rate_axis"), "foot": t(f"{TOPIC}.row_length"), "note": words,
        "alt": t(f"{TOPIC}.rate_alt"), "best": t(f"{TOPIC}.line_best"),
    }  # fmt: skip
    block.part("peaks", data, key=f"{TOPIC}.rate_plot")
