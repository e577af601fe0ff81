"""A fixed teacher p over a few tokens, and the logits of a draft, with presets (`mtp_read` takes what people type).

Leaves out: how a network makes logits. Here they are the parameters themselves, which is what makes one step exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

MAX_TOKENS = 8  # tables and arrows stay on one screen
LARGEST_LOGIT = 100


@dataclass(frozen=True, slots=True)
class Case:
    """A teacher and the logits of a draft: p sums to exactly 1, −100 ≤ z ≤ 100, two to eight tokens."""

    tokens: tuple[str, ...]
    p: tuple[Fraction, ...]
    z: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        n = len(self.tokens)
        if not 2 <= n <= MAX_TOKENS or len(self.p) != n or len(self.z) != n:
            raise ValueError(f"tokens={self.tokens}: 2 … {MAX_TOKENS} are allowed, each with a p and a z")
        if min(self.p) < 0 or sum(self.p) != 1:
            raise ValueError(f"p={[str(x) for x in self.p]}: must be non-negative and sum to exactly 1")
        if max(map(abs, self.z)) > LARGEST_LOGIT:
            raise ValueError(f"z={[str(x) for x in self.z]}: must lie in −{LARGEST_LOGIT} … {LARGEST_LOGIT}")


@dataclass(frozen=True, slots=True)
class Drafts:
    """One teacher and two drafts of it, all positive, each with sum 1: what is compared in the reversal."""

    tokens: tuple[str, ...]
    p: tuple[Fraction, ...]
    a: tuple[Fraction, ...]
    b: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        n = len(self.tokens)
        for name, law in (("p", self.p), ("a", self.a), ("b", self.b)):
            if not 2 <= n <= MAX_TOKENS or len(law) != n or min(law) <= 0 or sum(law) != 1:
                raise ValueError(f"{name}={[str(x) for x in law]}: must be positive, sum to 1, 2 … {MAX_TOKENS} tokens")


def _numbers(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(x) for x in text.split())


def _case(p: str, z: str) -> Case:
    return Case(tuple("ABCDEFGH"[: len(p.split())]), _numbers(p), _numbers(z))


# "seed" is the source document's; the others are ours
CASES: dict[str, Case] = {
    "seed": _case("0.8 0.2", "0.1 -0.2"),
    "three": _case("0.8 0.1 0.1", "0 1 0.5"),
    "far": _case("0.97 0.01 0.01 0.01", "-6 1 0.5 0"),
    "tail": _case("0.5 0.3 0.08 0.05 0.03 0.02 0.01 0.01", "0 0 0 0 0 0 0 0"),
    "equal": _case("0.5 0.5", "1 1"),
}
SEED_DRAFTS = Drafts(tuple("ABC"), _numbers("0.8 0.1 0.1"), _numbers("0.79 0.209 0.001"), _numbers("0.6 0.2 0.2"))
