"""The chapter's prediction. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from typing import Any

from pages import _html
from pages._calibration_state import GUESSES, TOPIC, get, opened, put
from pages._parts import Block
from pages._words import language, t

RIGHT = "several"
NUMBERS = ("gptq_weight_error", "rtn_weight_error", "gptq_error", "rtn_error")


def weight_guess(block: Block, words: str) -> None:
    """GPTQ's error of the weights beside that of rounding to nearest."""
    guess = get("guess1") or None
    options: list[dict[str, Any]] = [{"id": g, "label": t(f"{TOPIC}.guess1_{g}")} for g in GUESSES]
    feedback = None
    if opened():
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
        numbers = {n: _html.value(f"{TOPIC}.{n}", language()) for n in NUMBERS}
        feedback = t(f"{TOPIC}.guess1_{guess or RIGHT}_feedback", **numbers) + t(f"{TOPIC}.guess1_why", **numbers)
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}
    data["words"] = {w: t(f"predict.{w}") for w in ("commit", "again", "guess")}
    block.part(
        "predict", data, key=f"{TOPIC}.guess1", commit=lambda v: put(guess1=v) if v in GUESSES else None,
        again=lambda _: put(guess1=""),
    )  # fmt: skip
