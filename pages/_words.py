"""Which language this run speaks, and its interface texts. The URL decides, then the session, then the browser."""

from __future__ import annotations

import streamlit as st

from lessons import store


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
