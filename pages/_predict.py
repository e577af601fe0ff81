"""Predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pages import _html
from pages._controls import Chapter, position
from pages._parts import Block
from pages._words import language, t

_WORDS = ("commit", "again", "guess")


def option(
    chapter: Chapter, block: Block, name: str, words: str, *, options: Sequence[str], right: str,
    numbers: Sequence[str] = (), labels: Sequence[str] = (), why: bool = True, also: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """A guess among options, with feedback for each. also: controls that a committed guess sets as well."""
    guess, opened = chapter.get(name) or None, chapter.opened(name)
    named = labels or [t(f"{chapter.topic}.{name}_{o}") for o in options]
    made: list[dict[str, Any]] = [{"id": o, "label": label} for o, label in zip(options, named, strict=True)]
    if opened:
        for one in made:
            one["verdict"] = "right" if one["id"] == right else "wrong" if one["id"] == guess else None
    feedback = _feedback(chapter, name, f"{guess or right}_feedback", numbers, why) if opened else None
    data = {"question": words, "options": made, "guess": guess, "feedback": feedback}

    def commit(value: Any) -> None:
        if value in options:
            chapter.put(**{name: value, **(also or {})})

    _draw(chapter, block, name, data, commit, "")


def estimate(
    chapter: Chapter, block: Block, name: str, words: str, *, texts: Sequence[str], mistake: Callable[[int], str],
    numbers: Sequence[str],
) -> None:  # fmt: skip
    """A guess on a slider. mistake: which thought leads to this position, `right` where it is the answer."""
    guess = chapter.get(name) if chapter.get(name) >= 0 else None
    feedback = None
    if chapter.opened(name):
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=texts[guess])}</b></p>"
        feedback = yours + _feedback(chapter, name, "right" if guess is None else mistake(guess), numbers)
    data = {"question": words, "texts": list(texts), "guess": guess, "feedback": feedback}
    most = len(texts) - 1
    _draw(chapter, block, name, data, lambda v: chapter.put(**{name: position(v, most)}), -1)


def _feedback(chapter: Chapter, name: str, key: str, numbers: Sequence[str], why: bool = True) -> str:
    found = {n: _html.value(f"{chapter.topic}.{n}", language()) for n in numbers}
    keys = (key, "why") if why else (key,)
    return "".join(t(f"{chapter.topic}.{name}_{k}", **found) for k in keys)


def _draw(
    chapter: Chapter, block: Block, name: str, data: Mapping[str, Any], commit: Callable[[Any], None], nothing: Any
) -> None:
    words = {w: t(f"predict.{w}") for w in _WORDS}
    block.part(
        "predict", {**data, "words": words}, key=f"{chapter.topic}.{name}", commit=commit,
        again=lambda _: chapter.put(**{name: nothing}),
    )  # fmt: skip
