"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from mechanisms.error_budget import Scheme, quantize
from mechanisms.quant_presets import widget
from mechanisms.quant_summary import errors
from mechanisms.quantity import as_fraction
from pages import _predict
from pages._budget_state import CHAPTER, GUESSES
from pages._parts import Block

ORDINARY = 7
GROWN = "6.4"  # the last value of the question


def survivors(bits: int) -> int:
    """How many of the seven ordinary values keep a code other than 0."""
    lost = errors(quantize(widget(GROWN), Scheme(bits=bits)), rows=range(ORDINARY)).value(0, "rounded_to_zero")
    assert lost is not None
    return ORDINARY - int(as_fraction(lost))


def mistake(guess: int) -> str:
    """Which thought leads to this number of survivors."""
    right, other = survivors(4), survivors(8)
    return (
        "right" if guess == right else "all" if guess == ORDINARY else "none" if guess == 0
        else "eight" if guess == other else "many" if guess > right else "few"
    )  # fmt: skip


def lost(block: Block, words: str) -> None:
    """One value grows; how many of the others survive?"""
    texts = [str(i) for i in range(ORDINARY + 1)]
    numbers = ("guess_scale", "guess_lost")
    _predict.estimate(CHAPTER, block, "guess1", words, texts=texts, mistake=mistake, numbers=numbers)


def groups(block: Block, words: str) -> None:
    """Do two scales always beat one?"""
    numbers = ("lab_rmse_4", "lab_rmse_two")
    _predict.option(CHAPTER, block, "guess2", words, options=GUESSES, right="may_rise", numbers=numbers)
