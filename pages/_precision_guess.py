"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages import _html
from pages._parts import Block
from pages._precision_state import LENGTH_GUESSES, STEP_GUESSES, TOPIC, get, put
from pages._words import language, t

RIGHT = {"guess1": "none", "guess2": "never"}
NUMBERS = {
    "guess1": ("int4_five", "int4_six", "int4_eight", "int4_limit", "int4_printed", "int4_needed"),
    "guess2": ("int4_tokens", "bf16_speedup", "int4_speedup", "int4_share", "int4_even", "int4_even_short"),
}  # fmt: skip


def _guess(block: Block, name: str, options: Sequence[str], words: str) -> None:
    guess = get(name) or None
    made: list[dict[str, Any]] = [{"id": g, "label": t(f"{TOPIC}.{name}_{g}")} for g in options]
    feedback = None
    if guess is not None or st.query_params.get("unlock") == "1":
        for option in made:
            right = option["id"] == RIGHT[name]
            option["verdict"] = "right" if right else "wrong" if option["id"] == guess else None
        numbers = {n: _html.value(f"{TOPIC}.{n}", language()) for n in NUMBERS[name]}
        answer = t(f"{TOPIC}.{name}_{guess or RIGHT[name]}_feedback", **numbers)
        feedback = answer + t(f"{TOPIC}.{name}_why", **numbers)
    data = {
        "question": words, "options": made, "guess": guess, "feedback": feedback,
        "words": {w: t(f"predict.{w}") for w in ("commit", "again", "guess")},
    }  # fmt: skip
    block.part(
        "predict", data, key=f"{TOPIC}.{name}", commit=lambda v: put(**{name: v}) if v in options else None,
        again=lambda _: put(**{name: ""}),
    )  # fmt: skip


def length(block: Block, words: str) -> None:
    """Which draft length makes the printed tokens follow from the printed rate?"""
    _guess(block, "guess1", LENGTH_GUESSES, words)


def step(block: Block, words: str) -> None:
    """How fast must an INT4 draft be to catch up with BF16?"""
    _guess(block, "guess2", STEP_GUESSES, words)
