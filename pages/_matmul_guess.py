"""The chapter's two predictions. Feedback is written only after a guess is committed, or on a teacher's link."""

from __future__ import annotations

from mechanisms.integer_matmul_accumulator import CODE_RANGES, overflow_table
from mechanisms.quantity import as_fraction
from mechanisms.values.integer_matmul import first_lost_pair
from pages import _predict
from pages._matmul_state import CHAPTER, COUNTS, TOPIC, WEIGHT_TOP
from pages._parts import Block
from pages._words import t


def mistake(guess: int) -> str:
    """Which thought leads to this weight."""
    first = int(as_fraction(first_lost_pair().value(0, "first_weight")))
    if abs(guess - first) <= 1:
        return "right"
    if guess >= WEIGHT_TOP - 1:
        return "single"  # looks at one product, which always fits
    return "low" if guess < first else "high"


def width_guess(block: Block, words: str) -> None:
    """How many products of int8 codes does int16 hold, whatever they are?"""
    first = int(as_fraction(overflow_table("int8", "int8").value(0, "first_overflow")))
    low, high = CODE_RANGES["int8"]
    counts = {"one": first - 1, "two": first, "spare": high - low + 1}
    labels = [t(f"{TOPIC}.guess1_{n}", count=counts.get(n, 0)) for n in COUNTS]
    numbers = ("largest_product", "int16_top", "two_products", "int32_first", "int16_first")
    _predict.option(CHAPTER, block, "guess1", words, options=COUNTS, right="one", numbers=numbers, labels=labels)


def pair_guess(block: Block, words: str) -> None:
    """From which weight on is the sum of two products wrong?"""
    texts, numbers = [str(w) for w in range(WEIGHT_TOP + 1)], ("pair_first_lost", "pair_true", "pair_kept")
    _predict.estimate(CHAPTER, block, "guess2", words, texts=texts, mistake=mistake, numbers=numbers)
