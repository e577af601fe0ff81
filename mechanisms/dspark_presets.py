"""Chains, cost curves and batches that the chapter starts with.

`printed`, the costs A and B and the small selection example are those of the audited document; the batch with its two
curves is the wiki's own; the other selection example is that of the paper's appendix.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechanisms.dspark import Chain


def numbers(text: str) -> tuple[Fraction, ...]:
    """Numbers separated by blanks."""
    return tuple(Fraction(x) for x in text.split())


CHAINS: dict[str, Chain] = {
    "printed": numbers("0.9 0.8 0.6 0.4"),
    "all": numbers("1 1 1 1"),
    "rejected": numbers("0 0.5 0.5"),
    "dead": (*numbers("0.9 0.5 0"), None),
    "none": (),
}
GRID_CHAINS = {"tenths": numbers("0.9 0.8 0.6 0.4"), "thirds": numbers("2/3 1/3 2/3 1/3")}
DRAFT_TIME, FIXED_TIME = Fraction("0.15"), Fraction("0.05")
VERIFY = {"A": numbers("1 1.02 1.04 1.06 1.08"), "B": numbers("1 1.4 2 2.8 3.8")}
REQUESTS: tuple[tuple[Fraction, ...], ...] = (numbers("0.9 0.8 0.5"), numbers("0.6 0.4 0.2"))
CURVES = {
    "smooth": numbers("1.05 1.00 0.97 0.94 0.70 0.68 0.66 0.64"),
    "step": numbers("1.05 1.00 0.60 0.58 0.57 0.56 0.55 0.54"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """Two drafted positions of one request: p and q of the first, per first draft the c of the second, SPS(1…3).

    Raises ValueError unless p and q are distributions over the tokens, c lies in [0, 1] and SPS is positive.
    """

    tokens: tuple[str, ...]
    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    second: tuple[Fraction, ...]
    sps: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        n = len(self.tokens)
        for name in ("p", "q", "second"):
            row = getattr(self, name)
            if len(row) != n or not n:
                raise ValueError(f"{name} has {len(row)} values: {n} tokens need as many, and at least one")
            if min(row) < 0 or max(row) > 1 or (name != "second" and sum(row) != 1):
                raise ValueError(f"{name}={[str(x) for x in row]}: must lie in [0, 1], p and q sum to 1")
        if len(self.sps) != 3 or min(self.sps) <= 0:
            raise ValueError(f"sps={[str(x) for x in self.sps]}: must be three positive numbers")


def _example(p: str, q: str, second: str, sps: str) -> Example:
    return Example(("A", "B"), *(numbers(x) for x in (p, q, second, sps)))


EXAMPLES = {
    "small": _example("0.5 0.5", "0.5 0.5", "0.9 0", "1 0.45 0.4"),
    "appendix": _example("0.7 0.3", "0.5 0.5", "0.9 0", "1 0.5 0.45"),
}
