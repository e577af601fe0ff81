"""A small tree of drafts, verified exactly: several candidates per position, tried one after the other.

Teaches: after a rejection the residual becomes the new target and the candidate leaves the draft's law, which is then
scaled up again; so the output law stays the target's, whatever the widths. Leaves out: how large trees are grown.
Everything is enumerated with fractions: at most 4 tokens and 3 levels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from mechanisms.distribution import Pair, normalised

Law = tuple[Fraction, ...]
Rule = Literal["exact", "replacement", "stale"]
RULES: tuple[Rule, ...] = ("exact", "replacement", "stale")
MOST_TOKENS, MOST_DEPTH, MOST_WIDTH = 4, 3, 3
SHAPES: dict[str, tuple[int, ...]] = {"chain": (1, 1, 1), "two": (2, 2, 1), "wide": (3, 1, 1), "full": (2, 2, 2)}


@dataclass(frozen=True, slots=True)
class Text:
    """Laws that depend on the last token. Row 0 is the law of the first token, row i + 1 the law after token i."""

    tokens: tuple[str, ...]
    target: tuple[Law, ...]
    draft: tuple[Law, ...]

    def __post_init__(self) -> None:
        n = len(self.tokens)
        if not 2 <= n <= MOST_TOKENS:
            raise ValueError(f"tokens={self.tokens}: must be 2 … {MOST_TOKENS} of them")
        for name, rows in (("target", self.target), ("draft", self.draft)):
            if len(rows) != n + 1 or any(len(r) != n or min(r) < 0 or sum(r) != 1 for r in rows):
                raise ValueError(f"{name}={rows}: needs {n + 1} laws over {n} tokens, each of sum exactly 1")

    def laws(self, last: int | None) -> tuple[Law, Law]:
        """Target and draft after this token, or at the start."""
        row = 0 if last is None else last + 1
        return self.target[row], self.draft[row]


def turned(pair: Pair) -> Text:
    """A text from one pair: after token i the target's law is shifted by i places, the draft follows half-way.

    Source: this wiki's own example; any conditional laws would do.
    """
    n = len(pair.tokens)
    shift = lambda law, i: tuple(law[(v - i) % n] for v in range(n))  # noqa: E731
    target = (pair.p, *(shift(pair.p, i) for i in range(n)))
    draft = (pair.q, *(tuple((a + b) / 2 for a, b in zip(pair.q, shift(pair.q, i), strict=True)) for i in range(n)))
    return Text(pair.tokens, target, draft)


def orders(q: Law, width: int, rule: Rule) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every sequence of candidates that may be drawn, with its probability; without replacement unless the rule says
    so, and shorter than `width` where the draft has no further token."""
    if width == 0 or not any(q):
        yield (), Fraction(1)
        return
    for token, mass in enumerate(q):
        if mass:
            rest = q if rule == "replacement" else without(q, token)
            for more, chance in orders(rest, width - 1, rule):
                yield (token, *more), mass * chance


def without(q: Law, token: int) -> Law:
    """The draft's law once a token has been drawn, scaled up; all zeros where nothing is left."""
    rest = tuple(Fraction(0) if v == token else x for v, x in enumerate(q))
    return normalised(rest) if any(rest) else rest


@dataclass(frozen=True, slots=True)
class Check:
    """One candidate on trial: what the target still asks for, the law it was drawn from, and its chance."""

    token: int
    asked: Fraction
    drawn: Fraction
    chance: Fraction


def checks(p: Law, q: Law, candidates: Sequence[int], rule: Rule) -> tuple[list[Check], Law]:
    """The trials of these candidates, each provided that all before it failed, and the law of the last resort.

    a = min(1, p(x)/q(x)); after a rejection p ← [p − q]₊ scaled, q ← q without x, scaled. The rule `stale` forgets to
    scale the draft's law, `replacement` leaves it as it is because x may come again.
    """
    made: list[Check] = []
    first = q
    for token in candidates:
        against = first if rule == "stale" else q
        chance = min(Fraction(1), p[token] / against[token])
        made.append(Check(token, p[token], against[token], chance))
        gap = tuple(max(Fraction(0), a - b) for a, b in zip(p, against, strict=True))
        if chance == 1 or not any(gap):
            return made, p
        p = normalised(gap)
        q = q if rule == "replacement" else without(q, token)
    return made, p


@lru_cache(maxsize=256)
def node(p: Law, q: Law, width: int, rule: Rule = "exact") -> tuple[tuple[Law, ...], Law]:
    """Masses at one node: `accepted[k][v]` as the k-th candidate, and `corrected[v]` from the last residual.

    >>> half = (Fraction(1, 2), Fraction(1, 2))
    >>> accepted, corrected = node(half, (Fraction(1), Fraction(0)), 1)
    >>> str(accepted[0][0]), str(corrected[1])
    ('1/2', '1/2')

    Source: jeon2024 (sampling without replacement); miao2023 (several drafts at one node).
    """
    accepted = [[Fraction(0)] * len(p) for _ in range(width)]
    corrected = [Fraction(0)] * len(p)
    for candidates, weight in orders(q, width, rule):
        made, rest = checks(p, q, candidates, rule)
        for k, check in enumerate(made):
            accepted[k][check.token] += weight * check.chance
            weight *= 1 - check.chance
        for token, share in enumerate(rest):
            corrected[token] += weight * share
    return tuple(map(tuple, accepted)), tuple(corrected)


def joint(text: Text, widths: Sequence[int], rule: Rule = "exact") -> tuple[dict[tuple[int, ...], Fraction], Law]:
    """Law of the first `depth` tokens when every round that ends early is continued by the target, and the chance that
    each level is reached and passed.

    widths: candidates per level, 1 … 3 levels of 1 … 3. Source: as for `node`.
    """
    if not 1 <= len(widths) <= MOST_DEPTH or not all(1 <= w <= MOST_WIDTH for w in widths):
        raise ValueError(f"widths={tuple(widths)}: must be 1 … {MOST_DEPTH} levels of 1 … {MOST_WIDTH} candidates")
    law: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    alive: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    passed: list[Fraction] = []
    for level, width in enumerate(widths):
        following: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for prefix, weight in alive.items():
            accepted, corrected = node(*text.laws(prefix[-1] if prefix else None), width, rule)
            for token in range(len(text.tokens)):
                following[(*prefix, token)] += weight * sum((a[token] for a in accepted), Fraction(0))
                for whole, chance in _continued(text, (*prefix, token), len(widths) - level - 1):
                    law[whole] += weight * corrected[token] * chance
        alive = {k: v for k, v in following.items() if v}
        passed.append(sum(alive.values(), Fraction(0)))
    for prefix, weight in alive.items():
        law[prefix] += weight
    return {k: v for k, v in law.items() if v}, tuple(passed)


def target_joint(text: Text, depth: int) -> dict[tuple[int, ...], Fraction]:
    """The target's own law of the first tokens."""
    return {k: v for k, v in _continued(text, (), depth) if v}


def _continued(text: Text, prefix: tuple[int, ...], more: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    if not more:
        yield prefix, Fraction(1)
        return
    target, _ = text.laws(prefix[-1] if prefix else None)
    for token, share in enumerate(target):
        if share:
            for whole, chance in _continued(text, (*prefix, token), more - 1):
                yield whole, share * chance


def distance(a: dict[tuple[int, ...], Fraction], b: dict[tuple[int, ...], Fraction]) -> Fraction:
    """Total variation distance of two laws over sequences."""
    zero = Fraction(0)
    return sum((abs(a.get(k, zero) - b.get(k, zero)) for k in a.keys() | b.keys()), zero) / 2
