"""Sources: every entry of lessons/sources.toml with its status and what was checked."""

from __future__ import annotations

import html

from lessons import store
from lessons.entries import Source
from lessons.render import render_inline
from pages import _frame
from pages._parts import Block
from pages._words import language, t

TOPIC = "sources"


def _entry(source: Source) -> str:
    facts = [t("sources.version", date=source.version.isoformat())] if source.version else []
    facts.append(t("sources.checked", date=source.checked.isoformat()) if source.checked else t("sources.unchecked"))
    authors, title, venue = (html.escape(x) for x in (source.authors, source.title, source.venue))
    link = f'<a href="{html.escape(source.url)}" rel="noopener"><cite lang="en">{title}</cite></a>'
    return (
        f'<li id="{source.key}" tabindex="-1"><p>{authors} ({source.year}). {link}. {venue}. '
        f'<span class="wiki-kind" data-kind="{source.status}">'
        f"{t(f'sources.status_{source.status}')}</span></p>"
        f'<p class="wiki-help">{" · ".join(facts)} · {render_inline(source.note[language()], {})}</p></li>'
    )


def listing(block: Block, words: str) -> None:
    entries = sorted(store.sources().values(), key=lambda s: (s.year, s.key))
    block.prose(
        f'<ul class="wiki-sources" aria-label="{html.escape(words)}">{"".join(map(_entry, entries))}</ul>',
        key="sources.list",
    )


SLOTS: dict[str, _frame.Slot] = {"sources.list": listing}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS)
