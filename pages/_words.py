"""Which language this run speaks, and its interface texts. The URL decides, then the session, then the browser."""

from __future__ import annotations

import time

import streamlit as st

from lessons import store
from pages._state import Notice

STALE_S = 3.0  # how long an address may lag behind a switch of the language


def unknown() -> list[Notice]:
    """A language or a page that the address asked for and that does not exist (`_serve` sends the latter here under
    `missing`). Ask before `resolve` mends the address."""
    found: list[Notice] = []
    asked = st.query_params.get("lang")
    if asked is not None and asked not in store.LANGUAGES:
        found.append(Notice("lang", asked[:40], ""))
    if path := st.query_params.pop("missing", ""):
        found.append(Notice("page", path[:40], ""))
    return found


def resolve() -> str:
    """Settle the language before anything is drawn, and put it back into the URL where navigation dropped it."""
    guess = "zh" if (st.context.locale or "").lower().startswith("zh") else "en"
    asked, spoken = st.query_params.get("lang"), st.session_state.get("lang")
    left, since = st.session_state.get("_left", ("", 0.0))
    stale = asked == left and time.monotonic() - since < STALE_S
    candidates = (None if stale else asked, spoken, guess)
    lang = next(c for c in candidates if c in store.LANGUAGES)
    st.session_state["lang"] = lang
    if st.query_params.get("lang") != lang:
        st.query_params["lang"] = lang
    return lang


def switch(lang: str) -> None:
    """The reader's own choice; what the browser sent just before it still names the language that was left."""
    st.session_state["_left"] = (language(), time.monotonic())
    st.session_state["lang"] = st.query_params["lang"] = lang


def language() -> str:
    return st.session_state.get("lang", "en")


def t(key: str, **values: object) -> str:
    """An interface text in the reader's language."""
    return store.ui(key, language(), **values)
