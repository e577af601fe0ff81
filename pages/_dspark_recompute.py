"""Ten thousand rounds and every reference table, recomputed on the reader's click."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import streamlit as st

from mechanisms.dspark_presets import GRID_CHAINS
from mechanisms.dspark_recompute import POINTS, checked_table, count_rounds, count_table, counted_caps, mean_table
from mechanisms.verify import REFERENCE, compare
from mechanisms.verify_dspark import TABLES
from pages._dspark_state import TOPIC, choose, get, note, show
from pages._parts import Block
from pages._words import t

_RUN, _DONE = f"{TOPIC}._run", f"{TOPIC}._done"


@dataclass(frozen=True, slots=True)
class Done:
    """What one run found: counts of accepted lengths, and cells and mismatches by table."""

    counts: Counter[int]
    checked: tuple[tuple[str, int, int], ...]


def grid_choice(block: Block, words: str) -> None:
    choose(block, "grid", tuple(GRID_CHAINS), words, notes=True)


def _compute(name: str, place: Any) -> Done:
    """Both parts, with a bar that moves from chunk to chunk."""
    chain = GRID_CHAINS[name]
    rounds, steps = POINTS ** len(chain), len(TABLES)
    bar, counts = place.progress(0.0, t("words.working")), Counter[int]()
    for done, so_far in count_rounds(chain):
        counts = Counter(so_far)
        bar.progress(0.8 * done / rounds, t(f"{TOPIC}.rounds_done", done=f"{done:,}", total=f"{rounds:,}"))
    checked = []
    for i, (table, rows) in enumerate(TABLES.items(), 1):
        found = compare(table, rows(), REFERENCE / f"{table}.csv")
        checked.append((table, found.cells, len(found.differences)))
        bar.progress(0.8 + 0.2 * i / steps, t(f"{TOPIC}.tables_done", done=i, total=steps))
    place.empty()
    return Done(counts, tuple(checked))


def start(block: Block, words: str) -> None:
    """The button; the run itself happens while the block is drawn, so that its bar stands above it."""

    def go(_: Any) -> None:
        st.session_state[_RUN] = True

    place = block.status()
    results: dict[str, Done] = st.session_state.setdefault(_DONE, {})
    if st.session_state.pop(_RUN, False):
        results[get("grid")] = _compute(get("grid"), place)
    block.part("action", {"label": t(f"{TOPIC}.recompute")}, key=f"{TOPIC}.recompute", go=go)
    note(block, words, "recompute_help")
    if get("grid") not in results:
        note(block, t(f"{TOPIC}.not_yet"), "not_yet")


def _done() -> Done | None:
    found: dict[str, Done] = st.session_state.get(_DONE, {})
    return found.get(get("grid"))


def counted(block: Block, words: str) -> None:
    done, chain = _done(), GRID_CHAINS[get("grid")]
    if done is None:
        return
    table = count_table(chain, done.counts)
    show(block, table, "counted", words, head="row_accepted", roles={"rounds_counted": "output"})
    show(block, mean_table(table), "counted_mean", words, layout="strip", over=f"{TOPIC}.counted")


def counted_cap(block: Block, words: str) -> None:
    done = _done()
    if done is not None:
        show(block, counted_caps(GRID_CHAINS[get("grid")], done.counts), "counted_caps", words, head="row_cap")


def checked(block: Block, words: str) -> None:
    done = _done()
    if done is not None:
        rows, sums = checked_table(done.checked)
        show(block, rows, "checked", words, head="row_table")
        show(block, sums, "checked_all", words, layout="strip", over=f"{TOPIC}.checked")
