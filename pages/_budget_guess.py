"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mechanisms.error_budget import Scheme, quantize
from mechanisms.quant_presets import widget
from mechanisms.quant_summary import errors
from mechanisms.quantity import as_fraction
from pages import _html
from pages._budget_state import GUESSES, TOPIC, get, position, put
from pages._parts import Block
from pages._words import language, t

RIGHT = "may_rise"
WORDS = ("commit", "again", "guess")
ORDINARY = 7
GROWN = "6.4"  # the last value of the question


def _draw(block: Block, name: str, data: dict[str, Any], commit: Any, nothing: Any) -> None:
    data["words"] = {w: t(f"predict.{w}") for w in WORDS}
    block.part("predict", data, key=f"{TOPIC}.{name}", commit=commit, again=lambda _: put(**{name: nothing}))


def _unlocked() -> bool:
    return st.query_params.get("unlock") == "1"


def _numbers(*names: str) -> dict[str, str]:
    return {n: _html.value(f"{TOPIC}.{n}", language()) for n in names}


def survivors(bits: int) -> int:
    """How many of the seven ordinary values keep a code other than 0."""
    lost = errors(quantize(widget(GROWN), Scheme(bits=bits)), rows=range(ORDINARY)).value(0, "rounded_to_zero")
    assert lost is not None
    return ORDINARY - int(as_fraction(lost))


def lost(block: Block, words: str) -> None:
    """One value grows; how many of the others survive?"""
    guess = get("guess1") if get("guess1") >= 0 else None
    feedback = None
    if guess is not None or _unlocked():
        right, other = survivors(4), survivors(8)
        key = (
            "right" if guess in (None, right) else "all" if guess == ORDINARY else "none" if guess == 0
            else "eight" if guess == other else "many" if guess > right else "few"
        )  # fmt: skip
        numbers = _numbers("guess_scale", "guess_lost")
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=guess)}</b></p>"
        feedback = yours + t(f"{TOPIC}.guess1_{key}", **numbers) + t(f"{TOPIC}.guess1_why", **numbers)
    data = {"question": words, "texts": [str(i) for i in range(ORDINARY + 1)], "guess": guess, "feedback": feedback}
    _draw(block, "guess1", data, lambda v: put(guess1=position(v, ORDINARY)), -1)


def groups(block: Block, words: str) -> None:
    """Do two scales always beat one?"""
    guess = get("guess2") or None
    opened = guess is not None or _unlocked()
    options: list[dict[str, Any]] = [{"id": g, "label": t(f"{TOPIC}.guess2_{g}")} for g in GUESSES]
    feedback = None
    if opened:
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
        numbers = _numbers("lab_rmse_4", "lab_rmse_two")
        feedback = t(f"{TOPIC}.guess2_{guess or RIGHT}_feedback") + t(f"{TOPIC}.guess2_why", **numbers)
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}
    _draw(block, "guess2", data, lambda v: put(guess2=v) if v in GUESSES else None, "")
