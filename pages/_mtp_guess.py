"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mechanisms.quantity import as_fraction
from mechanisms.values.mtp_boosting import VALUES
from pages import _html
from pages._mtp_state import GUESSES, TOPIC, get, position, put
from pages._parts import Block
from pages._words import language, t

RIGHT = "b_a"
WORDS = ("commit", "again", "guess")
REVERSAL = ("kl_a", "kl_b", "rate_a", "rate_b", "term_a", "tv_a", "tv_b", "bound_a", "bound_b")


def opened(name: str) -> bool:
    """Whether this guess is committed, or a teacher's link (`&unlock=1`) opens every answer."""
    return get(name) not in ("", -1) or st.query_params.get("unlock") == "1"


def _numbers(*names: str) -> dict[str, str]:
    return {n: _html.value(f"{TOPIC}.{n}", language()) for n in names}


def _draw(block: Block, name: str, data: dict[str, Any], commit: Any, again: Any) -> None:
    data["words"] = {w: t(f"predict.{w}") for w in WORDS}
    block.part("predict", data, key=f"{TOPIC}.{name}", commit=commit, again=lambda _: put(**again))


def prefers(block: Block, words: str) -> None:
    """Which draft does KL prefer, and which of them has more accepted?"""
    guess = get("guess1") or None
    options: list[dict[str, Any]] = [{"id": g, "label": t(f"{TOPIC}.guess1_{g}")} for g in GUESSES]
    feedback = None
    if opened("guess1"):
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
        numbers = _numbers(*REVERSAL)
        feedback = t(f"{TOPIC}.guess1_{guess or RIGHT}_feedback", **numbers) + t(f"{TOPIC}.guess1_why", **numbers)
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}

    def commit(value: Any) -> None:
        if value in GUESSES:
            put(guess1=value, pair="seed", drafts=None)

    _draw(block, "guess1", data, commit, {"guess1": ""})


def after_guess(block: Block, words: str) -> None:
    """What the pair shows, said only to those who have committed themselves."""
    if opened("guess1"):
        block.prose(f'<div class="wiki-aside">{words}</div>', key=f"{TOPIC}.after_guess")


def mistake(guess: int) -> str:
    """Which thought leads to this percentage of reversals."""
    table, row, name = VALUES[f"{TOPIC}.reversal_share"]()
    share = 100 * float(as_fraction(table.value(row, name) or 0))
    if abs(guess - share) <= 3:
        return "right"
    if guess == 0:
        return "never"
    if guess >= 40:
        return "coin"
    return "low" if guess < share else "high"


def often(block: Block, words: str) -> None:
    """In how many of a hundred random pairs does the lower KL come with the lower acceptance?"""
    guess = get("guess2") if get("guess2") >= 0 else None
    feedback = None
    if opened("guess2"):
        numbers = _numbers("reversal_share", "reversals", "pairs")
        key = "right" if guess is None else mistake(guess)
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=f'{guess} %')}</b></p>"
        feedback = yours + t(f"{TOPIC}.guess2_{key}", **numbers) + t(f"{TOPIC}.guess2_why", **numbers)
    data = {"question": words, "texts": [f"{i} %" for i in range(101)], "guess": guess, "feedback": feedback}
    _draw(block, "guess2", data, lambda v: put(guess2=position(v, 100)), {"guess2": -1})
