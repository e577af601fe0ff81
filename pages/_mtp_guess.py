"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from mechanisms.quantity import as_fraction
from mechanisms.values.mtp_boosting import VALUES
from pages import _predict
from pages._mtp_state import CHAPTER, GUESSES, TOPIC, opened
from pages._parts import Block

REVERSAL = ("kl_a", "kl_b", "rate_a", "rate_b", "term_a", "tv_a", "tv_b", "bound_a", "bound_b")


def after_guess(block: Block, words: str) -> None:
    """What the pair shows, said only to those who have committed themselves."""
    if opened("guess1"):
        block.prose(f'<div class="wiki-aside">{words}</div>', key=f"{TOPIC}.after_guess")


def mistake(guess: int) -> str:
    """Which thought leads to this percentage of reversals."""
    table, row, name = VALUES[f"{TOPIC}.reversal_share"]()
    share = 100 * float(as_fraction(table.value(row, name) or 0))
    if abs(guess - share) <= 3:
        return "right"
    if guess == 0:
        return "never"
    if guess >= 40:
        return "coin"
    return "low" if guess < share else "high"


def prefers(block: Block, words: str) -> None:
    """Which draft does KL prefer, and which of them has more accepted? An answer also shows that pair."""
    _predict.option(
        CHAPTER, block, "guess1", words, options=GUESSES, right="b_a", numbers=REVERSAL,
        also={"pair": "seed", "drafts": None},
    )  # fmt: skip


def often(block: Block, words: str) -> None:
    """In how many of a hundred random pairs does the lower KL come with the lower acceptance?"""
    texts, numbers = [f"{i} %" for i in range(101)], ("reversal_share", "reversals", "pairs")
    _predict.estimate(CHAPTER, block, "guess2", words, texts=texts, mistake=mistake, numbers=numbers)
