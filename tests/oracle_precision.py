"""The audit's formulas a second time: by enumeration of rounds, in floats, by search; no import of mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

# The article's table, typed from the article a second time.
PRINTED = {
    "BF16": {"memory": 3.2, "step": 6.8, "code": 0.784, "chat": 0.682, "tokens": 3.82, "speedup": 2.35},
    "FP8-E4M3": {"memory": 1.7, "step": 4.2, "code": 0.769, "chat": 0.668, "tokens": 3.74, "speedup": 2.52},
    "INT4-AWQ": {"memory": 0.95, "step": 3.9, "code": 0.612, "chat": 0.495, "tokens": 2.65, "speedup": 1.81},
}


def enumerated(rate: Fraction, window: int) -> dict[int, Fraction]:
    """Law of the number of accepted drafts, from all 2^K verdicts that could be thrown."""
    law = dict.fromkeys(range(window + 1), Fraction(0))
    for verdicts in product((True, False), repeat=window):
        chance = Fraction(1)
        for kept in verdicts:
            chance *= rate if kept else 1 - rate
        law[verdicts.index(False) if False in verdicts else window] += chance
    return law


def mean_tokens(rate: Fraction, window: int) -> Fraction:
    """Accepted drafts and the one token that the target adds, averaged over that law."""
    return sum((Fraction(j + 1) * chance for j, chance in enumerated(rate, window).items()), Fraction(0))


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing f crosses zero."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2


def float_tokens(model: str, row: dict[str, float], rate_shift: float = 0, tokens_shift: float = 0) -> float:
    def geometric(a: float) -> float:
        return sum(a**i for i in range(6))

    code, chat = row["code"] + rate_shift, row["chat"] + rate_shift
    return {
        "printed": row["tokens"] + tokens_shift, "code": geometric(code), "chat": geometric(chat),
        "mean": (geometric(code) + geometric(chat)) / 2, "mean_rate": geometric((code + chat) / 2),
    }[model]  # fmt: skip
