"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mechanisms.integer_matmul_accumulator import CODE_RANGES, overflow_table
from mechanisms.quantity import as_fraction
from mechanisms.values.integer_matmul import first_lost_pair
from pages import _html
from pages._matmul_state import COUNTS, TOPIC, WEIGHT_TOP, get, position, put
from pages._parts import Block
from pages._words import language, t

RIGHT = "one"
WORDS = ("commit", "again", "guess")


def unlocked() -> bool:
    """A teacher's link (`&unlock=1`) opens every answer."""
    return st.query_params.get("unlock") == "1"


def _draw(block: Block, name: str, data: dict[str, Any], commit: Any, nothing: Any) -> None:
    data["words"] = {w: t(f"predict.{w}") for w in WORDS}
    block.part("predict", data, key=f"{TOPIC}.{name}", commit=commit, again=lambda _: put(**{name: nothing}))


def _numbers(*names: str) -> dict[str, str]:
    return {n: _html.value(f"{TOPIC}.{n}", language()) for n in names}


def width_guess(block: Block, words: str) -> None:
    """How many products of int8 codes does int16 hold, whatever they are?"""
    guess = get("guess1") or None
    first = int(as_fraction(overflow_table("int8", "int8").value(0, "first_overflow")))
    low, high = CODE_RANGES["int8"]
    counts = {"one": first - 1, "two": first, "spare": high - low + 1}
    options: list[dict[str, Any]] = [
        {"id": n, "label": t(f"{TOPIC}.guess1_{n}", count=counts.get(n, 0))} for n in COUNTS
    ]
    opened = guess is not None or unlocked()
    if opened:
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
    feedback = None
    if opened:
        numbers = _numbers("largest_product", "int16_top", "two_products", "int32_first", "int16_first")
        feedback = t(f"{TOPIC}.guess1_{guess or RIGHT}_feedback", **numbers) + t(f"{TOPIC}.guess1_why", **numbers)
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}
    _draw(block, "guess1", data, lambda v: put(guess1=v) if v in COUNTS else None, "")


def mistake(guess: int) -> str:
    """Which thought leads to this weight."""
    first = int(as_fraction(first_lost_pair().value(0, "first_weight")))
    if abs(guess - first) <= 1:
        return "right"
    if guess >= WEIGHT_TOP - 1:
        return "single"  # looks at one product, which always fits
    return "low" if guess < first else "high"


def pair_guess(block: Block, words: str) -> None:
    """From which weight on is the sum of two products wrong?"""
    guess = get("guess2") if get("guess2") >= 0 else None
    feedback = None
    if guess is not None or unlocked():
        numbers = _numbers("pair_first_lost", "pair_true", "pair_kept")
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=guess)}</b></p>"
        key = "right" if guess is None else mistake(guess)
        feedback = yours + t(f"{TOPIC}.guess2_{key}", **numbers) + t(f"{TOPIC}.guess2_why", **numbers)
    texts = [str(w) for w in range(WEIGHT_TOP + 1)]
    data = {"question": words, "texts": texts, "guess": guess, "feedback": feedback}
    _draw(block, "guess2", data, lambda v: put(guess2=position(v, WEIGHT_TOP)), -1)
