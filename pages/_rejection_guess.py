"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from fractions import Fraction

from mechanisms.quantity import as_fraction
from mechanisms.rejection_ledger import ledger, summary
from mechanisms.rejection_presets import PRESETS
from pages import _predict
from pages._parts import Block
from pages._rejection_pair import CHAPTER

REASONS = ("law", "bug", "nothing", "zero")
NUMBERS = ("agree_rejected", "agree_favourite_p", "agree_favourite_q", "agree_favourite_accept")


def mistake(guess: int) -> str:
    """Which thought leads to this guess (percent of drafts rejected): each wrong one has a number of its own."""
    pair = PRESETS["argmax_agrees_tv_large"]
    right = 100 * as_fraction(summary(pair).value(0, "rejection_probability") or Fraction(0))
    star = pair.favourite("q")
    accept = as_fraction(ledger(pair).value(star, "acceptance_probability") or Fraction(0))
    near = {"right": right, "favourite_only": 100 * (1 - accept), "point_mass": 100 * (1 - pair.p[star])}
    distance = {name: abs(x - guess) for name, x in near.items()}
    best = min(distance, key=lambda n: distance[n])
    if distance[best] <= 2:
        return best
    return "agreement" if guess <= 10 else "low" if guess < right else "high"


def strings(block: Block, words: str) -> None:
    """Does a different string mean a different law?"""
    _predict.option(CHAPTER, block, "guess1", words, options=REASONS, right="nothing", why=False)


def favourite(block: Block, words: str) -> None:
    """Same favourite token: how often is a draft rejected?"""
    texts = [f"{i} %" for i in range(101)]
    _predict.estimate(CHAPTER, block, "guess2", words, texts=texts, mistake=mistake, numbers=NUMBERS)
