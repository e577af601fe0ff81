"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import streamlit as st

from mechanisms.quantity import as_fraction
from mechanisms.values.speculation_economics import GUESS_LONG, guessed
from pages import _html
from pages._economics_state import GUESSES, SPEEDS, TOPIC, get, position, put
from pages._parts import Block
from pages._words import language, t

RIGHT = "other"
WORDS = ("commit", "again", "guess")


def _draw(block: Block, name: str, data: dict[str, Any], commit: Any, nothing: Any) -> None:
    data["words"] = {w: t(f"predict.{w}") for w in WORDS}
    block.part("predict", data, key=f"{TOPIC}.{name}", commit=commit, again=lambda _: put(**{name: nothing}))


def _unlocked() -> bool:
    return st.query_params.get("unlock") == "1"


def _numbers(*names: str) -> dict[str, str]:
    return {n: _html.value(f"{TOPIC}.{n}", language()) for n in names}


def mistake(guess: Fraction) -> str:
    """Which thought leads to this speed-up: each wrong one has a number of its own."""
    table = guessed()
    right, one, tokens = (
        as_fraction(table.value(row, name))  # type: ignore[arg-type]
        for row, name in ((GUESS_LONG, "speedup"), (1, "speedup"), (GUESS_LONG, "tokens_per_round"))
    )
    near = {"right": right, "no_cost": tokens, "as_one": one}
    off = {name: abs(x - guess) for name, x in near.items()}
    best = min(off, key=lambda n: off[n])
    if off[best] <= Fraction(1, 10):
        return best
    return "low" if guess < right else "faster"


def longer(block: Block, words: str) -> None:
    """What do eight drafts bring where one brings a third?"""
    guess = get("guess1") if get("guess1") >= 0 else None
    feedback = None
    if guess is not None or _unlocked():
        numbers = _numbers("guess_one", "guess_eight", "guess_tokens", "guess_time", "guess_best", "guess_best_speedup")
        said = "" if guess is None else f"{float(SPEEDS[guess]):.1f}"
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=said)}</b></p>"
        key = "right" if guess is None else mistake(SPEEDS[guess])
        feedback = yours + t(f"{TOPIC}.guess1_{key}", **numbers) + t(f"{TOPIC}.guess1_why", **numbers)
    texts = [f"{float(x):.1f}" for x in SPEEDS]
    data = {"question": words, "texts": texts, "guess": guess, "feedback": feedback}
    _draw(block, "guess1", data, lambda v: put(guess1=position(v, len(SPEEDS) - 1)), -1)


def rivals(block: Block, words: str) -> None:
    """Which of two drafts is accepted more often?"""
    guess = get("guess2") or None
    opened = guess is not None or _unlocked()
    options: list[dict[str, Any]] = [{"id": g, "label": t(f"{TOPIC}.guess2_{g}")} for g in GUESSES]
    feedback = None
    if opened:
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
        numbers = _numbers("rival_same", "rival_other", "rival_floor")
        feedback = t(f"{TOPIC}.guess2_{guess or RIGHT}_feedback", **numbers) + t(f"{TOPIC}.guess2_why", **numbers)
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}
    _draw(block, "guess2", data, lambda v: put(guess2=v) if v in GUESSES else None, "")
