"""Drawing many rounds of one position and testing the counts against p.

Teaches: how a frequency converges, what a chi-square test can and cannot show. The exact law needs none of this; it
stands beside it. Leaves out: more than one position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import stats

from mechanisms.distribution import Pair
from mechanisms.expression import REAL, Real
from mechanisms.rejection_rules import Rule, output_law
from mechanisms.table import Cell

CHUNK = 250_000
MAX_DRAWS = 10_000_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Frequency:
    """Count of one row with its 95 % Wilson interval, and the exact probability under p."""

    token: str
    count: int
    low: float
    high: float
    target: Fraction


@dataclass(frozen=True, slots=True)
class Check:
    """`draws` outputs under one rule. `p_value` is None where the test does not apply; `impossible` counts outputs of
    tokens that p gives no mass; `accepted` counts drafts that passed."""

    rule: str
    seed: int
    draws: int
    accepted: int
    rows: tuple[Frequency, ...]
    chi_square: float
    degrees: int
    p_value: Real | None
    impossible: int
    smallest_expected: float


def draw_chunks(
    pair: Pair, rule: Rule, draws: int, *, rng: np.random.Generator, keep: int = 2
) -> Iterator[tuple[np.ndarray, int]]:
    """Yield (counts per row, accepted) for at most `CHUNK` draws at a time: draft, accept or correct, as the rule does.

    The three uniforms of a draw are independent float64; probabilities are the rule's exact ones rounded to float64.
    Raises ValueError for draws outside 1 … 10,000,000 and where the rule needs a correction that does not exist.
    """
    if not 1 <= draws <= MAX_DRAWS:
        raise ValueError(f"draws={draws}: must lie in 1 … {MAX_DRAWS}")
    law = output_law(pair, rule, keep=keep)
    sampled = _floats(law.column("sampled_probability"))
    accept = _floats(law.column("counted_acceptance"))
    corrected = law.column("corrected_with")
    residual = None if None in corrected else _edges(_floats(corrected))
    edges = _edges(sampled)
    for start in range(0, draws, CHUNK):
        n = min(CHUNK, draws - start)
        drafts = np.searchsorted(edges, rng.random(n), side="right")
        passed = rng.random(n) < accept[drafts]
        output = drafts.copy()
        rejected = int(n - passed.sum())
        if rejected:
            if residual is None:
                raise ValueError(f"rule {rule.id!r} rejects although p = q leaves nothing to correct with")
            output[~passed] = np.searchsorted(residual, rng.random(rejected), side="right")
        yield np.bincount(output, minlength=len(sampled)), n - rejected


def _floats(cells: tuple[Cell, ...]) -> np.ndarray:
    return np.array([0.0 if c is None else float(c) for c in cells])


def _edges(weights: np.ndarray) -> np.ndarray:
    """Cumulative sums; the last row with mass ends at exactly 1, so rounding never sends a draw past it."""
    edges = np.cumsum(weights)
    edges[np.flatnonzero(weights)[-1] :] = 1.0
    return edges


def wilson(count: int, n: int) -> tuple[float, float]:
    """The 95 % score interval of a proportion. Source: wilson1927, as in scipy's binomtest."""
    found = stats.binomtest(count, n).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def tail(chi_square: float, degrees: int) -> Real | None:
    """Pr(χ² ≥ x) = Γ(ν/2, x/2) / Γ(ν/2) in 50 digits: float64 ends at 1e-308, where a negative control only begins.

    None where there is nothing to test, ν = 0 and x = 0. Source: pearson1900.
    """
    if np.isinf(chi_square):
        return REAL.mpf(0)
    if degrees == 0:
        return None
    return REAL.gammainc(REAL.mpf(degrees) / 2, REAL.mpf(chi_square) / 2, regularized=True)


def check(
    pair: Pair, rule: Rule, draws: int, *, seed: int, keep: int = 2, progress: Callable[[float], None] | None = None
) -> Check:
    """Draw, count, and test the counts against p with Pearson's chi-square over the rows with p > 0.

    progress: called with the share done after each chunk. An output that p forbids makes chi-square infinite.
    """
    rng = np.random.default_rng(seed)
    counts, accepted, done = np.zeros(len(pair.p), dtype=np.int64), 0, 0
    for part, passed in draw_chunks(pair, rule, draws, rng=rng, keep=keep):
        counts, accepted, done = counts + part, accepted + passed, done + int(part.sum())
        if progress is not None:
            progress(done / draws)
    return judged(pair, counts, rule=rule.id, seed=seed, accepted=accepted)


def judged(pair: Pair, counts: np.ndarray, *, rule: str, seed: int, accepted: int) -> Check:
    """Counts of outputs against p. counts: (rows,) integers. Source: pearson1900."""
    draws = int(counts.sum())
    target = np.array([float(x) for x in pair.p])
    live = target > 0
    expected = target[live] * draws
    impossible, degrees = int(counts[~live].sum()), int(live.sum()) - 1
    chi_square = float("inf") if impossible else float(((counts[live] - expected) ** 2 / expected).sum())
    rows = tuple(
        Frequency(t, int(c), *wilson(int(c), draws), x) for t, c, x in zip(pair.labels, counts, pair.p, strict=True)
    )
    p_value, least = tail(chi_square, degrees), float(expected.min())
    return Check(rule, seed, draws, accepted, rows, chi_square, degrees, p_value, impossible, least)
