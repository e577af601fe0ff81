"""What keeps two languages and the code in step: each check takes lessons and returns messages, none if all is well."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from lessons.entries import Term
from lessons.model import Block, Lesson, split_cite
from lessons.render import mathml
from lessons.stamp import stale

LANGUAGES = ("en", "zh")
# A digit that follows a letter belongs to a name (INT4, FP8); a four-digit 19xx or 20xx is a year.
_NUMBER = re.compile(r"(?<![A-Za-z\d])\d+(?:[.,:/]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
# Folded boxes and source lists may be drawn by the frame alone, without a function of the page.
_FRAME_SLOTS = ("aside", "quiz", "source")


def missing_languages(folder: Path) -> list[str]:
    """Every topic folder holds exactly en.md and zh.md."""
    found: list[str] = []
    for topic in sorted({path.parent for path in folder.glob("*/*.md")}):
        names = {path.stem for path in topic.glob("*.md")}
        found += [f"{topic.name}: no {language}.md" for language in LANGUAGES if language not in names]
        found += [f"{topic.name}: {name}.md is not a language of this site" for name in sorted(names - {*LANGUAGES})]
    return found


def labels_differ(english: Lesson, chinese: Lesson) -> list[str]:
    """The same labels in the same order."""
    ours, theirs = ([block.label for block in lesson.blocks] for lesson in (english, chinese))
    return [] if ours == theirs else [f"{english.topic}: labels en {ours}, zh {theirs}"]


def contents_differ(english: Lesson, chinese: Lesson) -> list[str]:
    """Per block the same slots in order, and the same multisets of roles and of formulas."""
    theirs = {block.label: block for block in chinese.blocks}
    found: list[str] = []
    for block in english.blocks:
        if other := theirs.get(block.label):
            for what, ours, its in _facts(block, other):
                if ours != its:
                    where = f"{english.topic} ({block.label})= line {block.line}/{other.line}"
                    found.append(f"{where}: {what} en {ours}, zh {its}")
    return found


def stamps_stale(english: Lesson, chinese: Lesson) -> list[str]:
    """Every Chinese block was looked at since its English block changed."""
    return [str(item) for item in stale(english, chinese)]


def terms_unknown(lesson: Lesson, glossary: Mapping[str, Term]) -> list[str]:
    """Every term is in the glossary."""
    return [
        f"{lesson.path}:{line}: term {target!r} is not in glossary.toml"
        for name, target, line in _roles(lesson)
        if name == "term" and target not in glossary
    ]


def cites_unknown(lesson: Lesson, sources: Collection[str]) -> list[str]:
    """Every citation has a source."""
    return [
        f"{lesson.path}:{line}: source {split_cite(target)[0]!r} is not in sources.toml"
        for name, target, line in _roles(lesson)
        if name == "cite" and split_cite(target)[0] not in sources
    ]


def values_unknown(lesson: Lesson, values: Callable[[str], Collection[str] | None]) -> list[str]:
    """Every value is one that its topic's mechanism declares; `values` gives a topic's ids, None without a module."""
    found: list[str] = []
    for name, target, line in _roles(lesson):
        if name == "value":
            topic = target.partition(".")[0]
            declared = values(topic)
            if declared is None:
                found.append(f"{lesson.path}:{line}: value {target!r}: there is no mechanisms.values.{topic}")
            elif target not in declared:
                found.append(f"{lesson.path}:{line}: value {target!r} is not in mechanisms.values.{topic}.VALUES")
    return found


def slots_unbound(lesson: Lesson, declared: Collection[str]) -> list[str]:
    """The lesson and the page name the same slots."""
    used = {slot.id for slot in lesson.slots}
    found = [
        f"{lesson.path}:{slot.line}: slot {slot.id!r} is not in pages.{lesson.topic}.SLOTS"
        for slot in lesson.slots
        if slot.id not in declared and slot.name not in _FRAME_SLOTS
    ]
    return found + [
        f"pages.{lesson.topic}.SLOTS: {name!r} is nowhere in {lesson.path}" for name in set(declared) - used
    ]


def digits_typed(lesson: Lesson) -> list[str]:
    """No number stands in running text outside formulas, roles and code, except a year."""
    return [
        f"{lesson.path}:{line}: typed number {number!r}; use a value, a formula or a word"
        for text, line in _texts(lesson)
        for number in _NUMBER.findall(text)
        if not _YEAR.fullmatch(number)
    ]


def words_forbidden(lesson: Lesson, glossary: Mapping[str, Term]) -> list[str]:
    """No word stands there that the glossary forbids in this language."""
    return [
        f"{lesson.path}:{line}: {word!r} must not stand for {term.name[lesson.language]!r}"
        for text, line in _texts(lesson)
        for term in glossary.values()
        for word in term.forbidden[lesson.language]
        if word in text
    ]


def formulas_broken(lesson: Lesson) -> list[str]:
    """Every formula becomes MathML."""
    found: list[str] = []
    for block in lesson.blocks:
        for tex in block.formulas:
            try:
                mathml(tex)
            except ValueError as error:
                found.append(f"{lesson.path}:{block.line}: ({block.label})= {error}")
    return found


def _facts(block: Block, other: Block) -> Iterator[tuple[str, object, object]]:
    yield "slots", [(slot.name, slot.id) for slot in block.slots], [(slot.name, slot.id) for slot in other.slots]
    yield "roles", block.roles, other.roles
    yield "formulas", block.formulas, other.formulas


def _roles(lesson: Lesson) -> Iterator[tuple[str, str, int]]:
    for block in lesson.blocks:
        for piece, line in block.pieces():
            if piece.kind == "role":
                yield piece.name, piece.content, line


def _texts(lesson: Lesson) -> Iterator[tuple[str, int]]:
    for block in lesson.blocks:
        for piece, line in block.pieces():
            if piece.kind in ("text", "escaped"):
                yield piece.content, line
