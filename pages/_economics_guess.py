"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from fractions import Fraction

from mechanisms.quantity import as_fraction
from mechanisms.values.speculation_economics import GUESS_LONG, guessed
from pages import _predict
from pages._economics_state import CHAPTER, GUESSES, SPEEDS
from pages._parts import Block

NUMBERS = ("guess_one", "guess_eight", "guess_tokens", "guess_time", "guess_best", "guess_best_speedup")


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
    _predict.estimate(
        CHAPTER, block, "guess1", words, texts=[f"{float(x):.1f}" for x in SPEEDS],
        mistake=lambda i: mistake(SPEEDS[i]), numbers=NUMBERS,
    )  # fmt: skip


def rivals(block: Block, words: str) -> None:
    """Which of two drafts is accepted more often?"""
    numbers = ("rival_same", "rival_other", "rival_floor")
    _predict.option(CHAPTER, block, "guess2", words, options=GUESSES, right="other", numbers=numbers)
