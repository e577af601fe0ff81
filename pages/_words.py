"""Which language this run speaks, and its interface texts. The URL decides, then the session, then the browser."""

from __future__ import annotations

import streamlit as st

from lessons import store
from pages._state import Notice


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
    candidates = (st.query_params.get("lang"), st.session_state.get("lang"), guess)
    lang = next(c for c in candidates if c in store.LANGUAGES)
    st.session_state["lang"] = lang
    if st.query_params.get("lang") != lang:
        st.query_params["lang"] = lang
    return lang


def language() -> str:
    return st.session_state.get("lang", "en")


def t(key: str, **values: object) -> str:
    """An interface text in the reader's language."""
    return store.ui(key, language(), **values)
