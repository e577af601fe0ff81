"""Versions, the survival chain with one position under a slider, and what follows from the chain alone."""

from __future__ import annotations

from functools import lru_cache

from mechanisms.dspark import Chain, cap_table, law_table, substitution_table, summary_table, survival_table
from mechanisms.dspark_input import read_chain
from mechanisms.dspark_presets import CHAINS
from mechanisms.dspark_versions import VERSIONS, version_table
from mechanisms.quantity import short_text
from mechanisms.table import Table
from pages import _assets, _payload
from pages._controls import position
from pages._dspark_state import (
    DRAG,
    OWN,
    TOPIC,
    base_chain,
    chain_now,
    chains,
    choose,
    dragged,
    forget,
    form,
    frame_now,
    get,
    note,
    plain,
    put,
    show,
    stops,
)  # fmt: skip
from pages._parts import Block
from pages._plots import bar
from pages._words import t

MAKERS = {
    "survival": survival_table, "summary": summary_table, "substitution": substitution_table,
    "rejection_law": law_table, "cap": cap_table,
}  # fmt: skip
SURVIVAL_ORDER = (
    "conditional_acceptance", "survival_so_far", "prefix_survival", "tokens_so_far", "expected_tokens",
)  # fmt: skip
SUMMARY_ORDER = ("tokens_per_round", "accepted_tokens", "mean_conditional", "accepted_per_proposed", "draft_length")
ROLES = {"conditional_acceptance": "draft", "prefix_survival": "accepted", "expected_tokens": "output"}


def versions(block: Block, words: str) -> None:
    note(block, words, "versions_help")
    for name in VERSIONS:
        text = f"<h3>{t(f'{TOPIC}.version_{name}')}</h3><p>{t(f'{TOPIC}.version_{name}_note')}</p>"
        block.prose(text, key=f"{TOPIC}.version_{name}_head")
        show(block, version_table(name), f"version_{name}", t(f"{TOPIC}.version_{name}"), layout="strip")


def chain_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        forget("chain")
        if value == OWN:
            put(chain=OWN, own=chain_now() if get("own") is None else get("own"), pos=1, drag=-1)
        else:
            put(chain=value, pos=1, drag=-1)

    choose(block, "chain", (*CHAINS, OWN), words, notes=True, pick=pick)


def position_choice(block: Block, words: str) -> None:
    """Which c lies under the slider. A new choice keeps the old one where it was dragged to."""
    chain, at = base_chain(), dragged()
    if at < 0:
        note(block, t(f"{TOPIC}.{'no_drag' if chain else 'no_positions'}"), "no_drag")
        return
    names = [str(j) for j in range(1, len(chain) + 1)]

    def pick(value: str) -> None:
        moved = {"own": chain_now(), "chain": OWN} if chain_now() != base_chain() else {}
        put(pos=int(value), drag=-1, **moved)

    labels = [f"<i>c</i><sub>{n}</sub>" for n in names]
    choose(block, "pos", names, words, labels=labels, value=names[at], pick=pick)


def drag_range(block: Block, words: str) -> None:
    at = dragged()
    if at < 0:
        return
    found = stops(base_chain(), at)
    data = {
        "label": t(f"{TOPIC}.drag", place=at + 1), "help": words, "texts": [short_text(x) for x in found],
        "value": frame_now(), "topic": DRAG,
    }  # fmt: skip
    block.part("range", data, key=DRAG, value=lambda v: put(drag=position(v, len(found) - 1)))


def editor(block: Block, words: str) -> None:
    form(
        block, "chain", {"chain": plain(chain_now())}, words, read=lambda texts: read_chain(texts["chain"]),
        take=lambda chain: put(own=chain, chain=OWN, pos=1, drag=-1), own=get("chain") == OWN,
    )  # fmt: skip


@lru_cache(maxsize=64)
def frames(chain: Chain, at: int, name: str) -> tuple[Table, _payload.Printed]:
    """One table for every stop of the slider: the first, and the numbers of all."""
    tables = [MAKERS[name](c) for c in chains(chain, at)]
    order = {"survival": SURVIVAL_ORDER, "summary": SUMMARY_ORDER}.get(name)
    return tables[0], _payload.printed(tables, order)


def _now(name: str) -> tuple[Table, _payload.Printed]:
    return frames(base_chain(), dragged(), name)


def survival(block: Block, words: str) -> None:
    first, numbers = _now("survival")
    show(block, first, "survival", words, topic=DRAG, roles=ROLES, order=SURVIVAL_ORDER, frames=numbers)


def summary(block: Block, words: str) -> None:
    first, numbers = _now("summary")
    show(block, first, "summary", words, layout="strip", topic=DRAG, over=f"{TOPIC}.survival", order=SUMMARY_ORDER,
         frames=numbers)  # fmt: skip


def survival_plot(block: Block, words: str) -> None:
    traces = [
        bar("conditional_acceptance", "c", "draft", t(f"{TOPIC}.bar_conditional")),
        bar("prefix_survival", "s", "accepted", t(f"{TOPIC}.bar_survival")),
    ]
    data = {
        "table": f"{TOPIC}.survival", "traces": traces, "note": words, "alt": t(f"{TOPIC}.survival_alt"),
        "plotly": _assets.PLOTLY_URL, "axis": t("words.probability"), "range": [0, 1.02], "height": 260,
    }  # fmt: skip
    block.part("plot", data, key=f"{TOPIC}.survival_plot")


def rejection_law(block: Block, words: str) -> None:
    first, numbers = _now("rejection_law")
    show(block, first, "rejection_law", words, head="row_accepted", topic=DRAG, frames=numbers,
         roles={"ends_here": "rejected"})  # fmt: skip


def substitution(block: Block, words: str) -> None:
    first, numbers = _now("substitution")
    named = tuple(t(f"{TOPIC}.rule_{r}") for r in first.rows)
    show(block, _renamed(first, named), "substitution", words, head="row_rule", topic=DRAG, frames=numbers)


def _renamed(table: Table, rows: tuple[str, ...]) -> Table:
    return Table(table.id, table.columns, rows, table.cells, table.function, table.over, table.long)


def cap(block: Block, words: str) -> None:
    first, numbers = _now("cap")
    show(block, first, "cap", words, head="row_cap", topic=DRAG, frames=numbers)
