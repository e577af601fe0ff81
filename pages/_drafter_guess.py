"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from mechanisms.quantity import as_fraction
from mechanisms.values.dspark_drafter import VALUES
from pages import _predict
from pages._drafter_state import CHAPTER, GUESSES, TOPIC
from pages._parts import Block

NUMBERS = {
    "guess1": ("either_way", "one_way", "matched"),
    "guess2": ("a_before", "b_before", "a_after", "b_after", "a_both", "b_both"),
}


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
    texts = [f"{i} %" for i in range(101)]
    _predict.estimate(CHAPTER, block, "guess1", words, texts=texts, mistake=mistake, numbers=NUMBERS["guess1"])


def order(block: Block, words: str) -> None:
    """Can an increasing correction of every confidence change which request is preferred?"""
    _predict.option(CHAPTER, block, "guess2", words, options=GUESSES, right="can", numbers=NUMBERS["guess2"])
