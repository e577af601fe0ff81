"""Rejection sampling written a second time, as an enumeration of what can happen: the oracle of the mechanisms.

Nothing here imports `mechanisms`: probabilities are lists of Fractions, outcomes are counted one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st

Law = list[Fraction]
Outputs = dict[tuple[int, ...], Fraction]
SEEDED = settings(max_examples=60, derandomize=True, database=None)
ZERO, ONE = Fraction(0), Fraction(1)


def shares(weights: Sequence[int | Fraction]) -> Law:
    """Weights divided by their sum."""
    return [Fraction(w, 1) / sum(weights) for w in weights]


def laws(tokens: int, largest: int = 30) -> st.SearchStrategy[Law]:
    """A random rational distribution over `tokens` tokens; zeros are common."""
    weight = st.one_of(st.just(0), st.integers(0, largest))
    return st.lists(weight, min_size=tokens, max_size=tokens).filter(any).map(shares)


@st.composite
def two_laws(draw: st.DrawFn, least: int = 1, most: int = 6) -> tuple[Law, Law]:
    """Target and draft over the same tokens; every sixth pair is p = q."""
    tokens = draw(st.integers(least, most))
    p = draw(laws(tokens))
    return p, p if draw(st.integers(0, 5)) == 0 else draw(laws(tokens))


def total_variation(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """The largest difference that the two laws give any event, over all 2^n events."""
    events = [ZERO]
    for a, b in zip(p, q, strict=True):
        events += [e + a - b for e in events]
    return max(events)


def keep_chance(p: Fraction, q: Fraction) -> Fraction:
    """Chance that a drafted token is kept: never more often than p allows."""
    return p / q if p < q else ONE


def leftover(p: Sequence[Fraction], q: Sequence[Fraction]) -> Law | None:
    """Where p exceeds q, scaled to a law; None where it nowhere does."""
    gain = [a - b if a > b else ZERO for a, b in zip(p, q, strict=True)]
    return shares(gain) if any(gain) else None


def emitted(draft: Sequence[Fraction], keep: Callable[[int], Fraction], fix: Law | None) -> Law | None:
    """Law of the token that leaves one position: each draft is kept or replaced, outcome by outcome."""
    out = [ZERO] * len(draft)
    for token, chance in enumerate(draft):
        if not chance:
            continue
        out[token] += chance * keep(token)
        lost = chance * (1 - keep(token))
        if lost and fix is None:
            return None
        for other, share in enumerate(fix or []):
            out[other] += lost * share
    return out


def rounds(p: Sequence[Law], q: Sequence[Law], bonus: Law) -> Outputs:
    """Joint law of all that one round emits: `p[i]`, `q[i]` at position i, `bonus` after the last accepted draft."""
    found: Counter[tuple[int, ...]] = Counter()
    alive: dict[tuple[int, ...], Fraction] = {(): ONE}
    for target, draft in zip(p, q, strict=True):
        following: Counter[tuple[int, ...]] = Counter()
        for prefix, weight in alive.items():
            for token, chance in enumerate(draft):
                if not chance:
                    continue
                kept = keep_chance(target[token], chance)
                following[(*prefix, token)] += weight * chance * kept
                if kept < 1:
                    for other, share in enumerate(leftover(target, draft) or []):
                        found[(*prefix, other)] += weight * chance * (1 - kept) * share
        alive = following
    for prefix, weight in alive.items():
        for token, share in enumerate(bonus):
            found[(*prefix, token)] += weight * share
    return {out: weight for out, weight in found.items() if weight}


def completed(outputs: Outputs, length: int, target: Sequence[Law]) -> Outputs:
    """Law of the first `length` tokens, where a round that ended earlier goes on with samples of the target."""
    whole: Counter[tuple[int, ...]] = Counter()
    for out, weight in outputs.items():
        paths = {out[:length]: weight}
        while len(next(iter(paths))) < length:
            paths = {(*w, t): m * share for w, m in paths.items() for t, share in enumerate(target[len(w)])}
        for path, mass in paths.items():
            whole[path] += mass
    return {path: mass for path, mass in whole.items() if mass}


def independent(laws: Sequence[Law]) -> Outputs:
    """Joint law of independent tokens, without impossible ones."""
    joint: Outputs = {(): ONE}
    for law in laws:
        joint = {(*out, t): m * share for out, m in joint.items() for t, share in enumerate(law) if share}
    return joint


def half(x: Fraction) -> Fraction | None:
    """A non-negative rational rounded to binary16, half to even; None where it overflows."""
    if not x:
        return ZERO
    exponent = -14  # smallest normal exponent; below it the spacing stays 2^-24
    while x >= Fraction(2) ** (exponent + 1):
        exponent += 1
    ulp = Fraction(2) ** (exponent - 10)
    steps, rest = divmod(x, ulp)
    steps += rest > ulp / 2 or (rest == ulp / 2 and steps % 2 == 1)
    return steps * ulp if steps * ulp < 65520 else None


def half_accept(p: Fraction, q: Fraction) -> Fraction:
    """min(1, p/q) where p, q and the quotient are binary16; 0/0 is never accepted, x/0 always."""
    a, b = half(p), half(q)
    assert a is not None and b is not None
    if not b:
        return ONE if a else ZERO
    ratio = half(a / b)
    return ONE if ratio is None or ratio > 1 else ratio
