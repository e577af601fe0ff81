"""Links to sources."""

from __future__ import annotations

import html

from lessons import store
from lessons.model import split_cite


def cite(target: str, lang: str) -> str:
    """`Leviathan 2022, §2.3`, linked to its entry on the sources page; `target` is a key and an optional locator."""
    key, locator = split_cite(target)
    source = store.sources()[key]
    family = source.authors.split(",")[0].split()[-1]
    text = f"{family} {source.year}" + (f", {locator}" if locator else "")
    return f'<a class="wiki-cite" href="/sources?lang={lang}#{key}">{html.escape(text)}</a>'


def provenance(text: str, lang: str) -> str:
    """The source of a formula: a citation, or that the reader chose it, or that it is derived here."""
    if text in ("chosen", "derived"):
        return html.escape(store.ui(f"provenance.{text}", lang))
    return cite(text, lang)
