"""Panels of the ledger section: tables, chart and the pasted lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from mechanisms import rejection_lists
from mechanisms.distribution import InvalidInput, Pair, Problem
from mechanisms.rejection_ledger import ledger, totals
from mechanisms.table import Table
from pages import _payload
from pages._parts import Block
from pages._plots import bar, plot
from pages._rejection_pair import TOPIC, base_pair, frames, note, problem_data, show
from pages._words import t

ROLES = {
    "target_probability": "target", "draft_probability": "draft", "acceptance_probability": "plain",
    "direct_mass": "accepted", "rejected_mass": "rejected", "correction_mass": "corrected", "final_mass": "output",
    "residual": "corrected",
}  # fmt: skip


@lru_cache(maxsize=64)
def numbers(pair: Pair) -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    """Ledger and totals, and both for every position of the blend slider: what the browser needs to move by itself."""
    ledgers = [ledger(x) for x in frames(pair)]
    sums = [totals(x) for x in ledgers]
    return ledgers[0], _payload.printed(ledgers), sums[0], _payload.printed(sums)


def ledger_table(block: Block, words: str) -> None:
    first, cells, *_ = numbers(base_pair())
    show(block, first, "ledger", words, roles=ROLES, topic=f"{TOPIC}.blend", frames=cells)


def summary_strip(block: Block, words: str) -> None:
    *_, first, cells = numbers(base_pair())
    show(block, first, "summary", words, topic=f"{TOPIC}.blend", over=f"{TOPIC}.ledger", layout="strip", frames=cells)


def masses_plot(block: Block, words: str) -> None:
    traces = [
        bar("direct_mass", "q", "accepted", t(f"{TOPIC}.bar_accepted")),
        bar("rejected_mass", "q", "rejected", t(f"{TOPIC}.bar_rejected"), "direct_mass"),
        bar("direct_mass", "p", "accepted", t(f"{TOPIC}.bar_accepted"), quiet=True),
        bar("correction_mass", "p", "corrected", t(f"{TOPIC}.bar_corrected"), "direct_mass"),
        bar("draft_probability", "q", "draft", t(f"{TOPIC}.bar_draft"), outline=True),
        bar("target_probability", "p", "target", t(f"{TOPIC}.bar_target"), outline=True),
    ]
    plot(block, f"{TOPIC}.ledger", traces, note=words, alt=t(f"{TOPIC}.masses_alt"), key=f"{TOPIC}.masses")


_LISTS = f"{TOPIC}._lists"  # the last usable summary, the problems of the last attempt, and the number of attempts
_NOTHING = (None, (), 0)


def _paste(event: Any) -> None:
    if not isinstance(event, Mapping):
        return
    counts = event.get("counts")
    texts = [str(event.get(n) or "") for n in ("p", "q")]
    if isinstance(counts, Mapping):  # lists so long that the browser sent only their lengths
        texts = ["0 " * min(int(counts.get(n) or 0), 10_000_000) for n in ("p", "q")]
    good, _, tries = st.session_state.get(_LISTS, _NOTHING)
    try:
        lists = rejection_lists.read_lists(*texts, normalise=event.get("normalise") is True)
        st.session_state[_LISTS] = (rejection_lists.list_summary(*lists), (), tries + 1)
    except InvalidInput as error:
        st.session_state[_LISTS] = (good, error.problems, tries + 1)


def _placed(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Problems of long lists, each with the place where it stands."""
    data = problem_data(problems, rejection_lists.MAX_LIST)
    for entry in data:
        if entry["row"] is not None:
            entry["text"] = t("problems.at", place=f"{entry['row'] + 1:,}") + entry["text"]
    return data


def paste_lists(block: Block, words: str) -> None:
    """Two long lists in a folded box; the last usable totals stay below it."""
    good, problems, tries = st.session_state.get(_LISTS, _NOTHING)
    labels = {w: t(f"editor.{w}") for w in ("p", "q", "summarise")}
    data = {
        "problems": _placed(problems), "most": rejection_lists.MAX_LIST,
        "title": t(f"{TOPIC}.long_lists"), "help": words, "tries": tries, "open": good is not None or bool(problems),
        "words": {**labels, "normalise": t("editor.normalise_both"), "working": t("words.working")},
    }  # fmt: skip
    block.part("paste", data, key=f"{TOPIC}.paste", paste=_paste)
    if good is not None:
        caption = t(f"{TOPIC}.list_totals", count=f"{good.long:,}")
        note(block, caption, "list_head")
        show(block, good, "list_summary", caption, layout="strip")
