"""The frame of every page: it walks the lesson and lets the page fill the slots."""

from __future__ import annotations

import html
import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import streamlit as st

from lessons import store
from pages import _html, _payload, _state
from pages._parts import Block, answering
from pages._parts import shell as shell_part
from pages._words import language, t

Slot = Callable[[Block, str], None]  # adds parts to the block; gets the slot's caption or help as HTML
MOVES = ("control", "player", "predict")  # what a learner can change; all else only shows
# What was touched answers first: sent together with all that follows from it, it would be painted with the last of it.
AHEAD_S = 0.05
OPEN = ("predict", "aside", "quiz", "source")  # drawn on the page itself, not inside an instrument's frame


def chapter(
    topic: str,
    slots: Mapping[str, Slot],
    controls: tuple[_state.Control, ...] = (),
    reach: Mapping[str, str] | None = None,
) -> None:
    """Draw a chapter: notices about the link, then the lesson block by block.

    reach: block -> the last block that its controls move. A change redraws its own block and what it reaches, in one
    run of the server; a block that is not named here moves only itself.
    """
    notify(topic, _state.begin(topic, controls) if controls else [])
    sections = _html.lesson(topic, language())
    extra = {sections[0].label: _contents(sections, bool(controls))}
    _draw(topic, sections, slots, reach or {}, extra)


def notify(topic: str, notices: Sequence[_state.Notice]) -> None:
    """Say what a link asked for in vain, and what is shown instead."""
    if not notices:
        return
    top = Block(f"notices-{topic}")
    for notice in notices:
        name, given, used = (html.escape(x) for x in (notice.name, notice.given, notice.used))
        text = t("state.corrected", name=name, given=given, used=used or t("state.default"))
        top.prose(f'<p class="wiki-notice" role="status">{text}</p>', key=f"notice-{topic}-{notice.name}")
    top.mount()


def _draw(
    topic: str,
    sections: Sequence[_html.Section],
    slots: Mapping[str, Slot],
    reach: Mapping[str, str],
    extra: Mapping[str, str],
) -> None:
    """Blocks in order; one that reaches further holds the blocks it moves inside its own fragment. Neighbours without a
    control are one block and no fragment: the browser goes through every block of a page at every change.
    """
    labels = [section.label for section in sections]
    at = 0
    while at < len(sections):
        still = [*itertools.takewhile(_still, sections[at:])]
        if still:
            _mount(topic, still, slots, extra)
            at += len(still)
            continue
        last = labels.index(reach.get(labels[at], labels[at]))
        own, moved = sections[at], sections[at + 1 : last + 1]

        def draw(own: _html.Section = own, moved: Sequence[_html.Section] = moved) -> None:
            _mount(topic, [own], slots, extra)
            if moved and answering():
                time.sleep(AHEAD_S)
            _draw(topic, moved, slots, reach, extra)

        st.fragment(draw)()
        at = last + 1


def _still(section: _html.Section) -> bool:
    return not any(isinstance(part, _html.Place) and part.name in MOVES for part in section.parts)


def _mount(topic: str, sections: Sequence[_html.Section], slots: Mapping[str, Slot], extra: Mapping[str, str]) -> None:
    """Sections as one component: prose and instruments in the order of the lesson."""
    block = Block(f"block-{topic}-{sections[0].label}")
    for section in sections:
        for n, part in enumerate(section.parts):
            block.frame(isinstance(part, _html.Place) and part.name not in OPEN)
            if isinstance(part, _html.Place):
                _fill(block, part, slots)
            else:
                text = part + (extra.get(section.label, "") if n == 0 else "")
                block.prose(text, key=f"prose-{topic}-{section.label}-{n}", anchor=section.label if n == 0 else "")
    block.mount()


def _fill(block: Block, place: _html.Place, slots: Mapping[str, Slot]) -> None:
    if place.id in slots:
        slots[place.id](block, place.words)
    elif place.name == "quiz":
        summary = f"<summary>{t('words.answer')}</summary>"
        block.prose(f'<details class="wiki-answer">{summary}{place.words}</details>', key=place.id)
    else:
        block.prose(f'<div class="wiki-aside">{place.words}</div>', key=place.id)


def _contents(sections: tuple[_html.Section, ...], linked: bool) -> str:
    items = "".join(f'<li><a href="#{s.label}">{html.escape(s.title)}</a></li>' for s in sections[1:] if s.title)
    link = f'<button type="button" class="wiki-copylink" data-copy-link="{t("site.linked")}">{t("site.link")}</button>'
    contents = f'<nav aria-label="{t("site.contents")}"><ol class="wiki-toc">{items}</ol></nav>' if items else ""
    return contents + (link if linked else "")


def data_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A small table of words as HTML; the first cell of a row is its header. All texts are HTML."""
    top = "".join(f'<th scope="col">{x}</th>' for x in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{x}</td>" for x in rest)}</tr>' for first, *rest in rows
    )
    title = f'<caption class="wiki-hidden">{caption}</caption>'
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


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
    shell_part(data, go)
