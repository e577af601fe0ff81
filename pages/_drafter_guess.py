"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from typing import Any

from mechanisms.quantity import as_fraction
from mechanisms.values.dspark_drafter import VALUES
from pages import _html
from pages._drafter_state import GUESSES, TOPIC, get, opened, position, put
from pages._parts import Block
from pages._words import language, t

RIGHT = "can"
WORDS = ("commit", "again", "guess")
NUMBERS = {
    "guess1": ("either_way", "one_way", "matched"),
    "guess2": ("a_before", "b_before", "a_after", "b_after", "a_both", "b_both"),
}


def _numbers(name: str) -> dict[str, str]:
    return {n: _html.value(f"{TOPIC}.{n}", language()) for n in NUMBERS[name]}


def _draw(block: Block, name: str, data: dict[str, Any], commit: Any, nothing: Any) -> None:
    data["words"] = {w: t(f"predict.{w}") for w in WORDS}
    block.part("predict", data, key=f"{TOPIC}.{name}", commit=commit, again=lambda _: put(**{name: nothing}))


def _percent(name: str) -> float:
    table, row, column = VALUES[f"{TOPIC}.{name}"]()
    return 100 * float(as_fraction(table.value(row, column) or 0))


def mistake(guess: int) -> str:
    """Which thought leads to this share of pairs without a city: each wrong one has a number of its own."""
    near = {"right": _percent("either_way"), "one": _percent("one_way"), "matched": _percent("matched")}
    best = min(near, key=lambda n: abs(near[n] - guess))
    if abs(near[best] - guess) <= 1:
        return best
    return "none" if guess <= 5 else "low" if guess < near["right"] else "high"


def pair(block: Block, words: str) -> None:
    """Every place drafted with exactly the right shares: how many pairs name no city?"""
    guess = get("guess1") if get("guess1") >= 0 else None
    feedback = None
    if opened("guess1"):
        key, numbers = "right" if guess is None else mistake(guess), _numbers("guess1")
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=f'{guess} %')}</b></p>"
        feedback = yours + t(f"{TOPIC}.guess1_{key}", **numbers) + t(f"{TOPIC}.guess1_why", **numbers)
    data = {"question": words, "texts": [f"{i} %" for i in range(101)], "guess": guess, "feedback": feedback}
    _draw(block, "guess1", data, lambda v: put(guess1=position(v, 100)), -1)


def order(block: Block, words: str) -> None:
    """Can an increasing correction of every confidence change which request is preferred?"""
    guess = get("guess2") or None
    options: list[dict[str, Any]] = [{"id": g, "label": t(f"{TOPIC}.guess2_{g}")} for g in GUESSES]
    feedback = None
    if opened("guess2"):
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
        numbers = _numbers("guess2")
        feedback = t(f"{TOPIC}.guess2_{guess or RIGHT}_feedback", **numbers) + t(f"{TOPIC}.guess2_why", **numbers)
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}
    _draw(block, "guess2", data, lambda v: put(guess2=v) if v in GUESSES else None, "")
