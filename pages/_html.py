"""A lesson as page HTML: numbers that open, terms that explain themselves, citations that lead to their source."""

from __future__ import annotations

import html
import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from lessons import store
from lessons.model import Prose
from lessons.render import render, render_inline
from mechanisms.quantity import decimal_text, short_text
from mechanisms.table import Table
from pages import _links, _payload


@dataclass(frozen=True, slots=True)
class Place:
    """A slot of the lesson: what the page draws there, and this language's caption or help as HTML."""

    name: str
    id: str
    words: str


@dataclass(frozen=True, slots=True)
class Section:
    """One block: its anchor, its heading as text for the contents list, and prose and slots in order."""

    label: str
    title: str | None
    parts: tuple[str | Place, ...]


@lru_cache(maxsize=64)
def lesson(topic: str, lang: str) -> tuple[Section, ...]:
    """The whole lesson, rendered once per language."""
    roles = _roles(lang)
    sections = []
    for block in store.load(topic, lang).blocks:
        parts: list[str | Place] = []
        for part in block.parts:
            if isinstance(part, Prose):
                parts.append(render(part.markdown, roles))
            else:
                parts.append(Place(part.name, part.id, _body(part.name, part.body, roles)))
        title = _payload.plain_text(render_inline(block.heading, roles)) if block.heading else None
        sections.append(Section(block.label, title, tuple(parts)))
    return tuple(sections)


def _body(name: str, markdown: str, roles: dict[str, Callable[[str], str]]) -> str:
    """Boxes hold paragraphs; captions and help texts are one line."""
    return render(markdown, roles) if name in ("aside", "quiz", "source") else render_inline(markdown, roles)


def _roles(lang: str) -> dict[str, Callable[[str], str]]:
    seen: set[str] = set()

    def term(target: str) -> str:
        first = target not in seen
        seen.add(target)
        return _term(target, lang, first=first)

    return {"value": lambda x: value(x, lang), "term": term, "cite": lambda x: _links.cite(x, lang)}


def value(target: str, lang: str) -> str:
    """A worked number by its id, `<topic>.<name>`."""
    found = importlib.import_module(f"mechanisms.values.{target.split('.')[0]}").VALUES[target]()
    return number(*found, lang)


def number(table: Table, row: int, name: str, lang: str) -> str:
    """One cell inside running text, as a button that opens its derivation."""
    cell = table.value(row, name)
    if cell is None:
        raise ValueError(f"{table.id}.{name} has no value in row {row}: prose cannot quote it")
    short = short_text(cell)
    text = decimal_text(cell) if "/" in short else short  # prose drops trailing zeros
    found = _payload.derivation(table, row, name, lang)
    data = html.escape(json.dumps(found, ensure_ascii=False), quote=True)
    return (
        f'<button type="button" class="wiki-number" data-quantity="{found["quantity"]}" data-value="{text}" '
        f'aria-haspopup="dialog" data-derive="{data}">{text}</button>'
    )


def _term(target: str, lang: str, *, first: bool) -> str:
    """A term that opens its definition; its first use in Chinese carries the English name."""
    found = store.glossary()[target]
    other = "zh" if lang == "en" else "en"
    note = {
        "title": html.escape(found.name[lang]),
        "other": html.escape(found.name[other]),
        "text": render_inline(found.definition[lang], {}),
    }
    data = html.escape(json.dumps(note, ensure_ascii=False), quote=True)
    english = f"（{html.escape(found.name['en'])}）" if first and lang == "zh" else ""
    button = f'<button type="button" class="wiki-term" data-term="{target}" aria-haspopup="dialog" data-note="{data}">'
    return f"{button}{html.escape(found.name[lang])}</button>{english}"
