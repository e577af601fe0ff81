"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from mechanisms.dspark_cost import best_length, cost_table
from mechanisms.dspark_presets import CHAINS, DRAFT_TIME, FIXED_TIME, VERIFY
from pages import _predict
from pages._dspark_state import CHAPTER, LONGEST, LOOKS
from pages._parts import Block

NUMBERS = (
    "best_a", "best_b", "best_rate_b", "last_rate_b", "first_rate_b", "third_rate_b", "none_rate_b", "best_rate_a",
)  # fmt: skip


def _best(curve: str) -> int:
    return best_length(cost_table(CHAINS["printed"], VERIFY[curve], draft=DRAFT_TIME, fixed=FIXED_TIME))


def thought(guess: int) -> str:
    """Which thought leads to this length: the best of the other curve, the longest, none, or one off."""
    right = _best("B")
    if guess == right:
        return "right"
    if guess == 0:
        return "none"
    if guess == _best("A"):
        return "longest"
    return "short" if guess < right else "long"


def length(block: Block, words: str) -> None:
    """Which length pays most on curve B?"""
    texts = [str(i) for i in range(LONGEST + 1)]
    _predict.estimate(CHAPTER, block, "guess1", words, texts=texts, mistake=thought, numbers=NUMBERS)


def look(block: Block, words: str) -> None:
    """Does it matter that the length is chosen after the drafts were seen?"""
    numbers = ("small_biased", "small_target")
    _predict.option(CHAPTER, block, "guess2", words, options=LOOKS, right="more", numbers=numbers)
