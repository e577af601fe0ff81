"""The verification budget written a second time: outcomes counted one by one, and Algorithm 1 as it is printed.

Nothing here imports `mechanisms`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

ZERO, ONE = Fraction(0), Fraction(1)
CHANCES = st.integers(0, 20).map(lambda n: Fraction(n, 20))
CHAINS = st.lists(CHANCES, min_size=0, max_size=5)


def lengths_law(chain: Sequence[Fraction]) -> Counter[int]:
    """Law of the accepted length: all 2^K patterns of what each check would say, weighted."""
    law: Counter[int] = Counter()
    for pattern in product((True, False), repeat=len(chain)):
        weight = ONE
        for passed, c in zip(pattern, chain, strict=True):
            weight *= c if passed else 1 - c
        law[(*pattern, False).index(False)] += weight
    return law


def algorithm_one(chances: Sequence[Sequence[Any]], sps: Sequence[Any]) -> tuple[list[int], Any]:
    """Lengths and Θ of the printed algorithm. chances: a_{r,j} per request; sps[B] from B = 0.

    Line by line: sort the pairs with a > 0 by falling a; start from one position a request; admit, and keep the new
    lengths while Θ rises; break at the first admission that does not raise it.
    """
    order = [(r, j) for r, row in enumerate(chances) for j, a in enumerate(row, 1) if a > 0]
    order.sort(key=lambda rj: (-chances[rj[0]][rj[1] - 1], rj[1], rj[0]))
    lengths, kept = [0] * len(chances), [0] * len(chances)
    batch = tokens = len(chances)
    best = tokens * sps[batch]
    for r, j in order:
        lengths[r] = j
        batch += 1
        tokens += chances[r][j - 1]
        theta = tokens * sps[batch]
        if theta <= best:
            break
        best, kept = theta, list(lengths)
    return kept, best


def survivals(chain: Sequence[Any]) -> list[Any]:
    """a_1 … a_γ of one request."""
    out: list[Any] = []
    for c in chain:
        out.append(c * (out[-1] if out else 1))
    return out


def brute_force(batch: Sequence[Sequence[Any]], sps: Sequence[Any]) -> tuple[Any, list[tuple[int, ...]]]:
    """The largest Θ over every choice of lengths that ends at a draft with a > 0, and all choices that reach it.
    sps[B] from B = 0. (Where SPS rises with B, dead drafts could pay, too; the algorithm leaves them out.)"""
    chances, found = [survivals(c) for c in batch], []
    for lengths in product(*(range(len(c) + 1) for c in batch)):
        if any(n and not a[n - 1] for a, n in zip(chances, lengths, strict=True)):
            continue
        tokens = sum(1 + sum(a[:n]) for a, n in zip(chances, lengths, strict=True))
        found.append((tokens * sps[len(batch) + sum(lengths)], lengths))
    most = max(theta for theta, _ in found)
    return most, [lengths for theta, lengths in found if theta == most]


def first_token(
    p: Sequence[Fraction], q: Sequence[Fraction], second: Sequence[Fraction], sps: Sequence[Fraction], policy: str
) -> list[Fraction]:
    """Law of the first output, outcome by outcome: draft, look, decide, verify or sample anew."""
    law = [ZERO] * len(p)
    common = sum(min(a, b) for a, b in zip(p, q, strict=True))
    gaps = [max(ZERO, a - b) for a, b in zip(p, q, strict=True)]
    for draft, chance in enumerate(q):
        theta = [sps[0], (1 + common) * sps[1], (1 + common + common * second[draft]) * sps[2]]
        if policy == "target":
            length = 0
        elif policy == "hindsight":
            length = max(range(3), key=lambda k: (theta[k], -k))
        else:
            length = 0
            while length < 2 and theta[length + 1] > theta[length]:
                length += 1
        if not chance:
            continue
        if length == 0:
            law = [x + chance * a for x, a in zip(law, p, strict=True)]
            continue
        keep = min(ONE, p[draft] / chance)
        law[draft] += chance * keep
        if keep < 1:
            law = [x + chance * (1 - keep) * g / sum(gaps) for x, g in zip(law, gaps, strict=True)]
    return law
