"""Six tokens, a target and a drafter, all of it small enough to check by hand.

Teaches: what a parallel backbone can know at best. The target is a Markov chain, so its law at every place of a block
follows exactly; the backbone is granted exactly these laws, one for each place, which is the best that any drafter
without a look at its own tokens can do. The head's two small matrices are set by hand, not trained. Leaves out: layers,
attention, training.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Row = tuple[Fraction, ...]
VOCABULARY = ("New", "Los", "York", "Angeles", "to", ".")
ANCHORS = ("to", "New", ".")
BLOCK = 3  # drafted tokens
RANK = 2
STRENGTHS = tuple(Fraction(i, 4) for i in range(9))  # of the bias: all make 2^bias rational
CITIES = (("New", "York"), ("New", "Angeles"), ("Los", "York"), ("Los", "Angeles"))
CLASHES = (("New", "Angeles"), ("Los", "York"))  # pairs that name no city

_PERCENT = {
    "New": (1, 1, 94, 1, 1, 2),
    "Los": (1, 1, 1, 93, 1, 3),
    "York": (1, 1, 1, 1, 20, 76),
    "Angeles": (1, 1, 1, 1, 16, 80),
    "to": (57, 38, 1, 1, 1, 2),
    ".": (6, 4, 1, 1, 80, 8),
}
TARGET: dict[str, Row] = {x: tuple(Fraction(n, 100) for n in row) for x, row in _PERCENT.items()}
# W1: what the head looks up for the previous token. W2: what it multiplies that with, one column per token.
LOOKUP: dict[str, tuple[int, int]] = {
    "New": (2, 0), "Los": (-2, 0), "York": (0, 2), "Angeles": (0, 2), "to": (0, -2), ".": (0, 0),
}  # fmt: skip
OUTPUT: dict[str, tuple[int, int]] = {
    "New": (0, -2), "Los": (0, -2), "York": (2, 0), "Angeles": (-2, 0), "to": (0, 0), ".": (0, 2),
}  # fmt: skip


def place(position: int) -> int:
    """`position` if the block has it; ValueError otherwise."""
    if not 1 <= position <= BLOCK:
        raise ValueError(f"position={position}: must lie in 1 … {BLOCK}")
    return position


def known(token: str) -> str:
    """`token` if it belongs to the vocabulary; ValueError otherwise."""
    if token not in VOCABULARY:
        raise ValueError(f"token={token!r}: must be one of {VOCABULARY}")
    return token


def after(law: Sequence[Fraction]) -> Row:
    """The target's law one token later: Σ_x law(x) · p(v | x)."""
    rows = [TARGET[x] for x in VOCABULARY]
    return tuple(sum((m * row[v] for m, row in zip(law, rows, strict=True)), Fraction(0)) for v in range(len(rows)))


def marginal(anchor: str, position: int) -> Row:
    """The target's law of the token at a place of the block, seen from the anchor: what the backbone is granted.

    anchor: a token of the vocabulary; position: 1 … 3.

    >>> str(marginal("to", 1)[0]), str(marginal("to", 2)[2])
    ('57/100', '5401/10000')

    Source: derived.
    """
    law = TARGET[known(anchor)]
    for _ in range(place(position) - 1):
        law = after(law)
    return law


def bias(previous: str, token: str) -> Fraction:
    """B(x, v) = W1[x] · W2[v], in bits.

    >>> str(bias("New", "York")), str(bias("New", "Angeles"))
    ('4', '-4')

    Source: dspark2026, §3.1.
    """
    return Fraction(sum(a * b for a, b in zip(LOOKUP[known(previous)], OUTPUT[known(token)], strict=True)))


def corrected(anchor: str, position: int, previous: str, strength: Fraction) -> Row:
    """The draft's law after `previous`: m(v) 2^{λB(x, v)}, divided by its sum. At place 1 the backbone has seen the
    previous token, and the head adds nothing.

    >>> [round(float(x), 3) for x in corrected("to", 2, "New", Fraction(1))]
    [0.002, 0.002, 0.986, 0.003, 0.003, 0.005]

    Source: dspark2026, §3.1. There the head is added at the first place as well, and backbone and head are trained
    together; here the backbone's first row is right by itself, and a bias would count the anchor twice.
    """
    law = marginal(anchor, position)
    if position == 1:
        return law
    powers = [strength * bias(previous, v) for v in VOCABULARY]
    if any(x.denominator != 1 for x in powers):
        raise ValueError(f"strength={strength}: must be a multiple of 1/4")
    weights = [m * Fraction(2) ** x.numerator for m, x in zip(law, powers, strict=True)]
    return tuple(w / sum(weights) for w in weights)
