"""The frame of every page: it walks the lesson and lets the page fill the slots."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

import streamlit as st

from lessons import store
from pages import _html, _parts, _payload, _state
from pages._words import language, t

Slot = Callable[[str], None]  # gets the slot's caption or help as HTML
PAGES = ("home", "rejection_ledger", "sources")


def chapter(topic: str, slots: Mapping[str, Slot], controls: tuple[_state.Control, ...] = ()) -> None:
    """Draw a chapter: notices about the link, contents, prose, and each instrument in a fragment of its own."""
    notices = _state.begin(topic, controls) if controls else []
    for notice in notices:
        name, given, used = (html.escape(x) for x in (notice.name, notice.given, notice.used))
        text = t("state.corrected", name=name, given=given, used=used or t("state.default"))
        markup(f'<p class="wiki-notice" role="status">{text}</p>', key=f"notice-{topic}-{notice.name}")
    sections = _html.lesson(topic, language())
    for i, section in enumerate(sections):
        for n, (is_prose, parts) in enumerate(groupby(section.parts, key=lambda p: isinstance(p, str))):
            if is_prose:
                text = "".join(parts)
                _prose(text + (_contents(sections, bool(controls)) if i == n == 0 else ""), topic, section.label, n)
            else:
                _panel(topic, section.label, list(parts), slots)


def markup(text: str, *, key: str) -> None:
    """HTML of the page's own making. A component, because `st.html` strips formulas."""
    _parts.part("prose", {"html": f'<div class="wiki-prose">{text}</div>'}, key=key)


def data_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, key: str) -> None:
    """A small table of words; the first cell of a row is its header. All texts are HTML."""
    top = "".join(f'<th scope="col">{x}</th>' for x in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{x}</td>" for x in rest)}</tr>' for first, *rest in rows
    )
    title = f'<caption class="wiki-hidden">{caption}</caption>'
    markup(f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>", key=key)


def _prose(text: str, topic: str, label: str, n: int) -> None:
    anchor = f' id="{label}" tabindex="-1"' if n == 0 else ""
    _parts.part("prose", {"html": f'<div class="wiki-prose"{anchor}>{text}</div>'}, key=f"prose-{topic}-{label}-{n}")


def _contents(sections: tuple[_html.Section, ...], linked: bool) -> str:
    items = "".join(f'<li><a href="#{s.label}">{html.escape(s.title)}</a></li>' for s in sections[1:] if s.title)
    link = f'<button type="button" class="wiki-copylink" data-copy-link="{t("site.linked")}">{t("site.link")}</button>'
    contents = f'<nav aria-label="{t("site.contents")}"><ol class="wiki-toc">{items}</ol></nav>' if items else ""
    return contents + (link if linked else "")


OPEN = ("predict", "aside", "quiz", "source")  # drawn on the page itself, not inside an instrument's frame


def _panel(topic: str, label: str, places: list[_html.Place], slots: Mapping[str, Slot]) -> None:
    def draw() -> None:
        if all(place.name in OPEN for place in places):
            for place in places:
                _fill(place, slots)
            return
        with st.container(key=_state.panel_key(topic, label)):
            for place in places:
                _fill(place, slots)

    st.fragment(draw, key=_state.panel_key(topic, label))()


def _fill(place: _html.Place, slots: Mapping[str, Slot]) -> None:
    if place.id in slots:
        slots[place.id](place.words)
    elif place.name == "quiz":
        markup(
            f'<details class="wiki-answer"><summary>{t("words.answer")}</summary>{place.words}</details>', key=place.id
        )
    else:
        markup(f'<div class="wiki-aside">{place.words}</div>', key=place.id)


def shell(lang: str, pages: Mapping[str, object]) -> None:
    """Language of the document, links that stay in this session, and the live region."""

    def go(event: object) -> None:
        if not isinstance(event, dict) or event.get("path") not in pages:
            return
        query = event.get("query") if isinstance(event.get("query"), dict) else {}
        params = {"lang": lang, **{str(k): str(v) for k, v in query.items()}}
        st.session_state["_hash"] = str(event.get("hash") or "")
        st.switch_page(pages[event["path"]], query_params=params)

    target = st.session_state.pop("_hash", "")
    data = {"lang": store.HTML_TAGS[lang], "pages": list(pages), "description": t("site.description"), "scroll": target}
    data["words"] = _payload.words(lang)
    _parts.part("shell", data, key="wiki_shell", go=go)
