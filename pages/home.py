"""Home: what the wiki is, how to read a number, which chapters exist."""

from __future__ import annotations

import functools
import html
from functools import lru_cache
from typing import Any

import streamlit as st

from mechanisms import verify
from mechanisms.rejection_ledger import ledger
from mechanisms.rejection_presets import PRESETS
from pages import _frame, _payload
from pages._menu import GROUPS
from pages._parts import Block
from pages._rejection_ledger import ROLES
from pages._words import language, t

TOPIC = "home"
_RESULTS, _ASKED = "home._results", "home._asked"


@lru_cache(maxsize=4)
def _example(lang: str, caption: str) -> dict[str, Any]:
    table = ledger(PRESETS["zero_in_draft"])
    return _payload.table(table, id="home.example", lang=lang, caption=caption, roles=ROLES)


def example(block: Block, words: str) -> None:
    block.part("table", _example(language(), words), key="home.example")


def kinds(block: Block, words: str) -> None:
    rows = (
        (f'<span class="wiki-kind" data-kind="{k}">{t(f"kinds.{k}")}</span>', t(f"kinds_explained.{k}"))
        for k in _payload.KINDS
    )
    block.prose(_frame.data_table(words, (t("home.kinds_title"), t("home.kinds_meaning")), rows), key="home.kinds")


def chapters(block: Block, words: str) -> None:
    for group, names in GROUPS.items():
        if not group:
            continue
        cards = "".join(
            f'<li class="wiki-card"><h4><a href="/{name}?lang={language()}">{html.escape(t(f"site.{name}"))}</a></h4>'
            f"<p>{html.escape(t(f'site.{name}_about'))}</p></li>"
            for name in names
        )
        title = t(f"groups.{group}")
        block.prose(
            f'<h3>{title}</h3><ul class="wiki-cards" aria-label="{words}: {title}">{cards}</ul>', key=f"home.{group}"
        )


def _recompute(place: Any) -> tuple[verify.Result, ...]:
    results: list[verify.Result] = []
    for result in verify.verify():
        results.append(result)
        place.progress(len(results) / len(verify.TABLES), result.name)
    place.empty()
    return tuple(results)


def verify_button(block: Block, words: str) -> None:
    """Recompute on request; the result stays until the next one."""
    place = block.status()
    if st.session_state.pop(_ASKED, False):
        st.session_state[_RESULTS] = _recompute(place)
    ask = functools.partial(st.session_state.__setitem__, _ASKED)
    block.part("action", {"label": t("home.verify")}, key="home.verify", go=ask)
    results: tuple[verify.Result, ...] = st.session_state.get(_RESULTS, ())
    if not results:
        block.prose(f'<p class="wiki-help">{words}</p>', key="home.verify_help")
        return
    wrong = sum(len(r.differences) for r in results)
    total = t("home.verify_done", tables=len(results), cells=sum(r.cells for r in results), mismatches=wrong)
    block.prose(f'<p role="status" data-verified="true">{total}</p>', key="home.verify_total")
    rows = ((r.name, str(r.cells), str(len(r.differences))) for r in results)
    head = [t(f"home.verify_{c}") for c in ("table", "cells", "wrong")]
    block.prose(_frame.data_table(t("home.verify_caption"), head, rows), key="home.verify_result")


SLOTS: dict[str, _frame.Slot] = {
    "home.example": example,
    "home.kinds": kinds,
    "home.chapters": chapters,
    "home.verify": verify_button,
}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS)
