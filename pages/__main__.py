"""Main script of every run: language, navigation, frame."""

import streamlit as st

from lessons import store
from pages import _frame
from pages._menu import PAGES
from pages._words import language, resolve, switch, t, unknown

ICON = "/assets/icon.svg"


def pick_language() -> None:
    def commit() -> None:
        switch(st.session_state["lang_choice"])

    st.session_state["lang_choice"] = language()
    st.segmented_control(
        t("language.label"),
        list(store.LANGUAGES),
        format_func=lambda code: t(f"language.{code}"),
        key="lang_choice",
        on_change=commit,
        required=True,
    )


notices = unknown()
lang = resolve()
# set first, so that no page's icon becomes the favicon: that would be fetched from a font host
st.set_page_config(
    page_title=t("site.name"), page_icon="📘", layout="wide", menu_items={"About": t("site.description")}
)
pages = {name: st.Page(f"{name}.py", title=t(f"site.{name}"), url_path=name, default=name == "home") for name in PAGES}
# one flat list: the sections that Streamlit can draw are lists with headings inside, which no screen reader expects
current = st.navigation(list(pages.values()))
st.set_page_config(page_title=f"{current.title} · {t('site.name')}")
with st.sidebar:
    pick_language()
_frame.shell(lang, {"" if name == "home" else name: page for name, page in pages.items()})
_frame.notify("address", notices)
current.run()
