"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from pages import _predict
from pages._parts import Block
from pages._precision_state import CHAPTER, LENGTH_GUESSES, STEP_GUESSES

LENGTH_NUMBERS = ("int4_five", "int4_six", "int4_eight", "int4_limit", "int4_printed", "int4_needed")
STEP_NUMBERS = ("int4_tokens", "bf16_speedup", "int4_speedup", "int4_share", "int4_even", "int4_even_short")


def length(block: Block, words: str) -> None:
    """Which draft length makes the printed tokens follow from the printed rate?"""
    _predict.option(CHAPTER, block, "guess1", words, options=LENGTH_GUESSES, right="none", numbers=LENGTH_NUMBERS)


def step(block: Block, words: str) -> None:
    """How fast must an INT4 draft be to catch up with BF16?"""
    _predict.option(CHAPTER, block, "guess2", words, options=STEP_GUESSES, right="never", numbers=STEP_NUMBERS)
