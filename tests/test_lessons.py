"""The lessons on disk: both languages in step, every reference resolved, every slot bound."""

import importlib
from collections.abc import Callable, Mapping

import pytest

from lessons import store
from lessons.model import Lesson
from tests import lesson_checks as checks

TOPICS = store.topics()
PAIRS = {
    "labels": checks.labels_differ,
    "contents": checks.contents_differ,
    "stamps": checks.stamps_stale,
}


def values_of(topic: str) -> Mapping[str, object] | None:
    """What a mechanism offers to prose; None if there is no such module."""
    try:
        values: Mapping[str, object] = importlib.import_module(f"mechanisms.values.{topic}").VALUES
    except ModuleNotFoundError as error:
        if error.name != f"mechanisms.values.{topic}":
            raise
        return None
    return values


def test_lessons_exist() -> None:
    """An empty folder would make every other test here pass."""
    assert TOPICS


def test_every_topic_has_both_languages() -> None:
    """No lesson lacks a translation, none is in a language the site does not have."""
    assert checks.missing_languages(store.FOLDER) == []


@pytest.mark.parametrize("check", PAIRS.values(), ids=PAIRS.keys())
@pytest.mark.parametrize("topic", TOPICS)
def test_languages_are_in_step(topic: str, check: Callable[[Lesson, Lesson], list[str]]) -> None:
    """Labels, slots, roles, formulas and stamps agree."""
    assert check(store.load(topic, "en"), store.load(topic, "zh")) == []


@pytest.mark.parametrize("language", store.LANGUAGES)
@pytest.mark.parametrize("topic", TOPICS)
def test_references_resolve_and_prose_is_clean(topic: str, language: str) -> None:
    """Terms, sources and values exist; no typed numbers, forbidden words or formulas that cannot be shown."""
    lesson = store.load(topic, language)
    assert checks.terms_unknown(lesson, store.glossary()) == []
    assert checks.cites_unknown(lesson, store.sources()) == []
    assert checks.values_unknown(lesson, values_of) == []
    assert checks.digits_typed(lesson) == []
    assert checks.words_forbidden(lesson, store.glossary()) == []
    assert checks.formulas_broken(lesson) == []


@pytest.mark.parametrize("language", store.LANGUAGES)
@pytest.mark.parametrize("topic", TOPICS)
def test_slots_are_those_of_the_page(topic: str, language: str) -> None:
    """A slot without a function and a function without a slot are both mistakes."""
    page = importlib.import_module(f"pages.{topic}")
    assert checks.slots_unbound(store.load(topic, language), getattr(page, "SLOTS", {})) == []
