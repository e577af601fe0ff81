"""Where a number comes from, in words: links to sources, and what a measurement was made with."""

from __future__ import annotations

import html

from lessons import store
from lessons.model import split_cite
from pages import _records as records
from pages import _traces as traces


def cite(target: str, lang: str) -> str:
    """`Leviathan 2022, §2.3`, linked to its entry on the sources page; `target` is a key and an optional locator."""
    key, locator = split_cite(target)
    source = store.sources()[key]
    family = source.authors.split(",")[0].split()[-1]
    text = f"{family} {source.year}" + (f", {locator}" if locator else "")
    return f'<a class="wiki-cite" href="/sources?lang={lang}#{key}">{html.escape(text)}</a>'


def provenance(text: str, lang: str) -> str:
    """The source of a number: a citation, a file of records, or that the reader chose it or that it is derived here."""
    if text in ("chosen", "derived"):
        return html.escape(store.ui(f"provenance.{text}", lang))
    head, _, name = text.partition(" ")
    if head in ("record", "trace"):
        return recorded(head, name, lang)
    return cite(text, lang)


def recorded(kind: str, name: str, lang: str) -> str:
    """Machine, day, versions, commit and command of a file of records or of traces, whose name may be a pattern."""
    first = records.read(name)[0] if kind == "record" else traces.first(name)
    versions = ", ".join(f"{library} {version}" for library, version in first.versions.items())
    folder = "results" if kind == "record" else "traces"
    words = {
        "device": first.device, "date": first.date, "versions": versions, "commit": first.commit[:10],
        "command": first.command, "file": f"gpu_demos/{folder}/{name}.json",
    }  # fmt: skip
    own = kind == "trace" and name.startswith(traces.OWN)
    return store.ui(
        "provenance.own" if own else "provenance.record", lang, **{k: html.escape(v) for k, v in words.items()}
    )
