"""Records of the three TOML files; a mistake in one is a `ValueError` that names the file and the key."""

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeVar, cast

LANGUAGES = ("en", "zh")
STATUSES = ("quoted", "reproduced", "contradicted")
Entry = Mapping[str, object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field: its name and meaning per language, and the words not to use for it."""

    id: str
    name: Mapping[str, str]
    definition: Mapping[str, str]
    forbidden: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a statement comes from. `version` and `checked` are None where they are not known."""

    key: str
    authors: str
    year: int
    title: str
    venue: str
    url: str
    arxiv: str | None
    version: date | None
    checked: date | None
    status: str
    note: Mapping[str, str]


def read_ui(path: Path) -> dict[str, dict[str, str]]:
    """`section.name` -> language -> text; the placeholders must be the same in every language."""
    words: dict[str, dict[str, str]] = {}
    for section, names in _tables(path).items():
        for name, value in names.items():
            key = f"{section}.{name}"
            words[key] = _both(value, path, key)
            fields = {language: placeholders(text) for language, text in words[key].items()}
            if len({tuple(sorted(names)) for names in fields.values()}) > 1:
                raise ValueError(f"{path}: {key}: placeholders differ: {fields}")
    return words


def read_glossary(path: Path) -> dict[str, Term]:
    """Term id -> term; `forbidden` may leave a language out."""
    terms: dict[str, Term] = {}
    for key, entry in _tables(path).items():
        _known(entry, {"en", "zh", "definition", "forbidden"}, path, key)
        name = _both({language: entry.get(language) for language in LANGUAGES}, path, key)
        definition = _both(entry.get("definition"), path, f"{key}.definition")
        terms[key] = Term(key, name, definition, _forbidden(entry.get("forbidden", {}), path, key))
    return terms


def read_sources(path: Path) -> dict[str, Source]:
    """Source key -> source."""
    allowed = {"authors", "year", "title", "venue", "url", "arxiv", "version", "checked", "status", "note"}
    found: dict[str, Source] = {}
    for key, entry in _tables(path).items():
        _known(entry, allowed, path, key)
        status = _need(entry, "status", str, path, key)
        if status not in STATUSES:
            raise ValueError(f"{path}: {key}.status={status!r} must be one of {', '.join(STATUSES)}")
        found[key] = Source(
            key=key,
            authors=_need(entry, "authors", str, path, key),
            year=_need(entry, "year", int, path, key),
            title=_need(entry, "title", str, path, key),
            venue=_need(entry, "venue", str, path, key),
            url=_need(entry, "url", str, path, key),
            arxiv=_need(entry, "arxiv", str, path, key) if "arxiv" in entry else None,
            version=_need(entry, "version", date, path, key) if "version" in entry else None,
            checked=_need(entry, "checked", date, path, key) if "checked" in entry else None,
            status=status,
            note=_both(entry.get("note"), path, f"{key}.note"),
        )
    return found


def placeholders(text: str) -> set[str]:
    """Names in braces, as `str.format` reads them."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _tables(path: Path) -> dict[str, dict[str, object]]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error
    for key, value in content.items():
        if not isinstance(value, dict):
            raise ValueError(f"{path}: {key}={value!r} must be a table")
    return content


def _both(value: object, path: Path, key: str) -> dict[str, str]:
    entry: Entry = cast(Entry, value) if isinstance(value, dict) else {}
    _known(entry, set(LANGUAGES), path, key)
    return {language: _need(entry, language, str, path, key) for language in LANGUAGES}


def _need(entry: Entry, name: str, kind: type[T], path: Path, key: str) -> T:
    value = entry.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        raise ValueError(f"{path}: {key}.{name}={value!r} must be a non-empty {kind.__name__}")
    return value


def _forbidden(value: object, path: Path, key: str) -> dict[str, tuple[str, ...]]:
    lists = cast(Entry, value) if isinstance(value, dict) else {"forbidden": value}
    _known(lists, set(LANGUAGES), path, f"{key}.forbidden")
    for language, words in lists.items():
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in cast(list[object], words)):
            raise ValueError(f"{path}: {key}.forbidden.{language}={words!r} must be a list of words")
    return {language: tuple(cast(list[str], lists.get(language, []))) for language in LANGUAGES}


def _known(entry: Entry, allowed: set[str], path: Path, key: str) -> None:
    unknown = sorted(set(entry) - allowed)
    if unknown:
        raise ValueError(f"{path}: {key}.{unknown[0]} is unknown; allowed: {', '.join(sorted(allowed))}")
