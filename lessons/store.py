"""What pages ask for: lessons, interface words, terms and sources, each read from disk once."""

from functools import cache
from pathlib import Path

from lessons.entries import LANGUAGES, Source, Term, read_glossary, read_sources, read_ui
from lessons.model import Lesson
from lessons.parse import parse

__all__ = ["HTML_TAGS", "LANGUAGES", "Source", "Term", "glossary", "load", "sources", "topics", "ui"]

HTML_TAGS = {"en": "en", "zh": "zh-Hans"}
FOLDER = Path(__file__).parent


def topics() -> tuple[str, ...]:
    """Every folder that holds a lesson in some language, sorted."""
    return tuple(sorted({path.parent.name for path in FOLDER.glob("*/*.md")}))


@cache
def load(topic: str, language: str) -> Lesson:
    """The lesson of a topic; a missing file or a mistake in it is an error, never the other language."""
    _language(language)
    path = FOLDER / topic / f"{language}.md"
    return parse(path.read_text(encoding="utf-8"), path=path, topic=topic, language=language)


def ui(key: str, language: str, **values: object) -> str:
    """A short interface text; `values` fill its placeholders."""
    words = _words()
    if key not in words:
        raise KeyError(f"key={key!r} is not in {FOLDER.name}/ui.toml; keys read section.name")
    text = words[key][_language(language)]
    return text.format(**values)


@cache
def glossary() -> dict[str, Term]:
    """Term id -> term."""
    return read_glossary(FOLDER / "glossary.toml")


@cache
def sources() -> dict[str, Source]:
    """Source key -> source."""
    return read_sources(FOLDER / "sources.toml")


@cache
def _words() -> dict[str, dict[str, str]]:
    return read_ui(FOLDER / "ui.toml")


def _language(language: str) -> str:
    if language not in LANGUAGES:
        raise ValueError(f"language={language!r} must be one of {', '.join(LANGUAGES)}")
    return language
