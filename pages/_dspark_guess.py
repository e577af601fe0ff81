"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from typing import Any

from mechanisms.dspark_cost import best_length, cost_table
from mechanisms.dspark_presets import CHAINS, DRAFT_TIME, FIXED_TIME, VERIFY
from pages import _html
from pages._dspark_state import LONGEST, LOOKS, TOPIC, get, position, put, unlocked
from pages._parts import Block
from pages._words import language, t

RIGHT = "more"
WORDS = ("commit", "again", "guess")


def _draw(block: Block, name: str, data: dict[str, Any], commit: Any, nothing: Any) -> None:
    data["words"] = {w: t(f"predict.{w}") for w in WORDS}
    block.part("predict", data, key=f"{TOPIC}.{name}", commit=commit, again=lambda _: put(**{name: nothing}))


def _numbers(*names: str) -> dict[str, str]:
    return {n: _html.value(f"{TOPIC}.{n}", language()) for n in names}


def _best(curve: str) -> int:
    return best_length(cost_table(CHAINS["printed"], VERIFY[curve], draft=DRAFT_TIME, fixed=FIXED_TIME))


def thought(guess: int | None) -> str:
    """Which thought leads to this length: the best of the other curve, the longest, none, or one off."""
    right = _best("B")
    if guess in (None, right):
        return "right"
    if guess == 0:
        return "none"
    if guess == _best("A"):
        return "longest"
    return "short" if guess < right else "long"


def length(block: Block, words: str) -> None:
    """Which length pays most on curve B?"""
    guess = get("guess1") if get("guess1") >= 0 else None
    feedback = None
    if guess is not None or unlocked():
        numbers = _numbers("best_a", "best_b", "best_rate_b", "last_rate_b", "first_rate_b", "third_rate_b",
                           "none_rate_b", "best_rate_a")  # fmt: skip
        yours = "" if guess is None else f"<p><b>{t('predict.yours', guess=guess)}</b></p>"
        feedback = yours + t(f"{TOPIC}.guess1_{thought(guess)}", **numbers) + t(f"{TOPIC}.guess1_why", **numbers)
    data = {"question": words, "texts": [str(i) for i in range(LONGEST + 1)], "guess": guess, "feedback": feedback}
    _draw(block, "guess1", data, lambda v: put(guess1=position(v, LONGEST)), -1)


def look(block: Block, words: str) -> None:
    """Does it matter that the length is chosen after the drafts were seen?"""
    guess = get("guess2") or None
    opened = guess is not None or unlocked()
    options: list[dict[str, Any]] = [{"id": g, "label": t(f"{TOPIC}.guess2_{g}")} for g in LOOKS]
    feedback = None
    if opened:
        for option in options:
            option["verdict"] = "right" if option["id"] == RIGHT else "wrong" if option["id"] == guess else None
        numbers = _numbers("small_biased", "small_target")
        feedback = t(f"{TOPIC}.guess2_{guess or RIGHT}_feedback") + t(f"{TOPIC}.guess2_why", **numbers)
    data = {"question": words, "options": options, "guess": guess, "feedback": feedback}
    _draw(block, "guess2", data, lambda v: put(guess2=v) if v in LOOKS else None, "")
