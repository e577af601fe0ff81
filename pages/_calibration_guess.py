"""The chapter's prediction. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from pages import _predict
from pages._calibration_state import CHAPTER, GUESSES
from pages._parts import Block

NUMBERS = ("gptq_weight_error", "rtn_weight_error", "gptq_error", "rtn_error")


def weight_guess(block: Block, words: str) -> None:
    """GPTQ's error of the weights beside that of rounding to nearest."""
    _predict.option(CHAPTER, block, "guess1", words, options=GUESSES, right="several", numbers=NUMBERS)
