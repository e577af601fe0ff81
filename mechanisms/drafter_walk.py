"""A draft block, step by step: one parallel pass, then one token after the other.

Teaches: what happens once per block and what once per token. Every step is an immutable event; the same uniforms also
drive a drafter without the head, so that both blocks can be compared. Leaves out: verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from mechanisms.distribution import inverse_cdf
from mechanisms.drafter_toy import BLOCK, VOCABULARY, corrected, known, marginal

Kind = Literal["input", "pass", "draw", "lookup"]
# uniforms of three draws, made so that the head matters in the first two and not in the third
DRAWS: dict[str, tuple[Fraction, ...]] = {
    "first": (Fraction(3, 10), Fraction(4, 5), Fraction(1, 2)),
    "second": (Fraction(7, 10), Fraction(3, 10), Fraction(1, 2)),
    "third": (Fraction(3, 10), Fraction(3, 10), Fraction(3, 5)),
}


@dataclass(frozen=True, slots=True)
class Event:
    """One step: the place in hand (0 before the first), the token that the head looked up, and both blocks so far."""

    kind: Kind
    position: int
    previous: str | None
    uniform: Fraction | None
    drafted: tuple[str, ...]
    parallel: tuple[str, ...]


def draw(law: Sequence[Fraction], uniform: Fraction) -> str:
    """The token under `uniform` when the law is laid end to end in the order of the vocabulary."""
    return VOCABULARY[inverse_cdf(uniform, law)]


def walk(anchor: str, strength: Fraction, uniforms: Sequence[Fraction]) -> tuple[Event, ...]:
    """Input, pass, then lookup (from the second place on) and draw for each place.

    uniforms: one in [0, 1) per place.

    >>> events = walk("to", Fraction(1), DRAWS["first"])
    >>> events[-1].drafted, events[-1].parallel
    (('New', 'York', '.'), ('New', 'Angeles', '.'))

    Source: dspark2026, §3.1.
    """
    known(anchor)
    if len(uniforms) != BLOCK or not all(0 <= u < 1 for u in uniforms):
        raise ValueError(f"uniforms={[str(u) for u in uniforms]}: {BLOCK} numbers in [0, 1) are needed")
    events = [Event("input", 0, None, None, (), ()), Event("pass", 0, None, None, (), ())]
    drafted, parallel = tuple[str, ...](), tuple[str, ...]()
    for position, u in enumerate(uniforms, 1):
        previous = drafted[-1] if drafted else None
        if previous is not None:
            events.append(Event("lookup", position, previous, None, drafted, parallel))
        drafted += (draw(corrected(anchor, position, previous or anchor, strength), u),)
        parallel += (draw(marginal(anchor, position), u),)
        events.append(Event("draw", position, previous, u, drafted, parallel))
    return tuple(events)
