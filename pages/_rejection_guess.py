"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import streamlit as st

from mechanisms.quantity import as_fraction
from mechanisms.rejection_ledger import ledger, summary
from mechanisms.rejection_presets import PRESETS
from pages import _html
from pages._parts import Block
from pages._rejection_pair import TOPIC, get, position, put
from pages._words import language, t

REASONS = ("law", "bug", "nothing", "zero")
RIGHT = "nothing"
WORDS = ("commit", "again", "guess")
SHARE = "agree_rejected"


def unlocked() -> bool:
    """A teacher's link (`&unlock=1`) opens every answer."""
    return st.query_params.get("unlock") == "1"


def _draw(block: Block, name: str, data: dict[str, Any], commit: Any, nothing: Any) -> None:
    data["words"] = {w: t(f"predict.{w}") for w in WORDS}
    block.part("predict", data, key=f"{TOPIC}.{name}", commit=commit, again=lambda _: put(**{name: nothing}))


def strings(block: Block, words: str) -> None:
    """Does a different string mean a different law?"""
    guess = get("guess1") or None
    opened = guess is not None or unlocked()
    options: list[dict[str, Any]] = [{"id": r, "label": t(f"{TOPIC}.guess1_{r}")} for r in REASONS]
    if opened:
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
    feedback = t(f"{TOPIC}.guess1_{guess or RIGHT}_feedback") if opened else None
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}
    _draw(block, "guess1", data, lambda v: put(guess1=v) if v in REASONS else None, "")


def mistake(guess: int) -> str:
    """Which thought leads to this guess (percent of drafts rejected): each wrong one has a number of its own."""
    pair = PRESETS["argmax_agrees_tv_large"]
    right = 100 * as_fraction(summary(pair).value(0, "rejection_probability") or Fraction(0))
    star = pair.favourite("q")
    accept = as_fraction(ledger(pair).value(star, "acceptance_probability") or Fraction(0))
    near = {"right": right, "favourite_only": 100 * (1 - accept), "point_mass": 100 * (1 - pair.p[star])}
    distance = {name: abs(x - guess) for name, x in near.items()}
    best = min(distance, key=lambda n: distance[n])
    if distance[best] <= 2:
        return best
    return "agreement" if guess <= 10 else "low" if guess < right else "high"


def favourite(block: Block, words: str) -> None:
    """Same favourite token: how often is a draft rejected?"""
    guess = get("guess2") if get("guess2") >= 0 else None
    feedback = None
    if guess is not None or unlocked():
        lang = language()
        numbers = {
            n: _html.value(f"{TOPIC}.agree_{n}", lang)
            for n in ("rejected", "favourite_p", "favourite_q", "favourite_accept")
        }
        key = "right" if guess is None else mistake(guess)
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=f'{guess} %')}</b></p>"
        feedback = yours + t(f"{TOPIC}.guess2_{key}", **numbers) + t(f"{TOPIC}.guess2_why", **numbers)
    data = {"question": words, "texts": [f"{i} %" for i in range(101)], "guess": guess, "feedback": feedback}
    _draw(block, "guess2", data, lambda v: put(guess2=position(v, 100)), -1)
