"""Stages one and two: what is pinned down, and what is captured from the calibration vectors."""

from __future__ import annotations

import base64
import binascii
import html
from collections.abc import Mapping
from typing import Any

import streamlit as st

from mechanisms.calibration_container import ContainerError
from mechanisms.calibration_layer import DOMAINS, baseline
from mechanisms.calibration_report import baseline_table, statistics_table
from pages import _assets, _frame
from pages._calibration_state import MAX_FILE, MAX_OWN_SIDE, TOPIC, choose, keep, note, read_file, show, work
from pages._parts import Block
from pages._plots import bar
from pages._words import t

_PROBLEM = f"{TOPIC}._problem"  # what was wrong with the last file: a code and its detail
_TRIES = f"{TOPIC}._tries"


def _take(event: Any) -> None:
    """A file from the browser, or the wish to return to the built-in layer."""
    if not isinstance(event, Mapping):
        return
    st.session_state[_TRIES] = st.session_state.get(_TRIES, 0) + 1
    st.session_state.pop(_PROBLEM, None)
    if event.get("remove") is True:
        keep(None)
        return
    text = str(event.get("data") or "")
    try:
        if len(text) > 2 * MAX_FILE:
            raise ContainerError("too_large", f"> {MAX_FILE}")
        keep(read_file(str(event.get("name") or "")[:80], base64.b64decode(text, validate=True)))
    except binascii.Error as error:
        st.session_state[_PROBLEM] = ("not_a_container", str(error))
    except ContainerError as error:
        st.session_state[_PROBLEM] = (error.code, error.detail)


def quoted(detail: str) -> str:
    """What a mechanism says of the particulars, as code: it is not in the reader's language."""
    return f"<code>{html.escape(detail[:160])}</code>"


def upload(block: Block, words: str) -> None:
    own = work().own
    problem = st.session_state.get(_PROBLEM)
    limit = f"{MAX_FILE // 2**20}"
    text = "" if problem is None else t(f"{TOPIC}.file_{problem[0]}", detail=quoted(problem[1]))
    names = ("choose", "working", "remove")
    labels = {n: t(f"{TOPIC}.file_button_{n}") for n in names}
    bounds = t(f"{TOPIC}.file_limit", limit=limit, side=MAX_OWN_SIDE)
    data = {
        "title": t(f"{TOPIC}.file_title"), "help": f"{words} {bounds}",
        "most": MAX_FILE, "open": own or problem is not None, "own": html.escape(work().layer.name) if own else "",
        "problem": text, "too_large": t(f"{TOPIC}.file_too_large", detail=f"> {limit} MiB"),
        "tries": st.session_state.get(_TRIES, 0), "words": labels,
    }  # fmt: skip
    block.part("upload", data, key=f"{TOPIC}.file", file=_take)


def facts(block: Block, words: str) -> None:
    """What a later artifact is checked against: words and hashes, so a plain table."""
    on = work()
    found = baseline(on.layer, on.calibration)
    name = html.escape(on.layer.name) if on.own else t(f"{TOPIC}.built_in")
    rows = [
        ("layer", name), ("dtype", f"<code>{found.dtype}</code>"),
        ("weights_hash", f"<code>{found.weights_sha256}</code>"),
        ("inputs_hash", f"<code>{found.inputs_sha256}</code>"),
        ("output_hash", f"<code>{found.output_sha256}</code>"), ("protocol", t(f"{TOPIC}.protocol")),
    ]  # fmt: skip
    head = (t(f"{TOPIC}.fact"), t(f"{TOPIC}.fact_value"))
    table = _frame.data_table(words, head, [(t(f"{TOPIC}.fact_{key}"), value) for key, value in rows])
    block.prose(f'<div class="wiki-facts">{table}</div>', key=f"{TOPIC}.facts")


def baseline_strip(block: Block, words: str) -> None:
    on = work()
    table = baseline_table(baseline(on.layer, on.calibration), len(on.calibration), len(on.held_out))
    show(block, table, "baseline", words, layout="strip")


def domain_choice(block: Block, words: str) -> None:
    if work().own:
        note(block, t(f"{TOPIC}.domain_own"), "domain_note", "notice")
    else:
        choose(block, "domain", DOMAINS, words, notes=True)


def statistics_rows(block: Block, words: str) -> None:
    table = statistics_table(work().statistics)
    roles = {"largest": "rejected", "mean_size": "target"}
    show(block, table, "statistics", words, head="head_channel", roles=roles)


def statistics_plot(block: Block, words: str) -> None:
    traces = [
        bar("largest", "m", "rejected", t(f"{TOPIC}.bar_largest")),
        bar("mean_size", "a", "target", t(f"{TOPIC}.bar_mean")),
    ]
    draw(block, "statistics", traces, words, t(f"{TOPIC}.axis_activation"))


def draw(block: Block, name: str, traces: list[dict[str, Any]], note: str, axis: str, bottom: int = 48) -> None:
    """A chart of a table of this chapter, with its own axis. bottom: room for the names below, in pixels."""
    data = {
        "table": f"{TOPIC}.{name}", "traces": traces, "note": note, "alt": t(f"{TOPIC}.{name}_alt"), "axis": axis,
        "plotly": _assets.PLOTLY_URL, "room": {"l": 68, "r": 2 * bottom // 3, "b": bottom},
    }  # fmt: skip
    block.part("plot", data, key=f"{TOPIC}.{name}_plot")
