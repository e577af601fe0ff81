"""A test for paired answers and an interval for a percentile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gpu_demos.record import Spread

Floats = NDArray[np.float64]
DRAWS = 1000


def bootstrap(
    texts: Sequence[Floats] | Floats, statistic: Callable[[Floats], float], *, draws: int = DRAWS, seed: int = 0
) -> Spread:
    """Half of the central 95 % of a statistic over texts drawn anew with replacement: tokens of one text stay together.

    texts: one array for each text, of any lengths; the statistic is of all their values together.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(texts), size=(draws, len(texts)))
    low, high = np.quantile([statistic(np.concatenate([texts[i] for i in row])) for row in drawn], (0.025, 0.975))
    return Spread(float(high - low) / 2, "ci95")


def p99(values: Floats) -> float:
    """The 99th percentile of all values, linear between neighbours."""
    return float(np.quantile(values, 0.99))


def mcnemar(lost: int, gained: int) -> float:
    """Two-sided exact probability that of lost + gained changed answers so uneven a split comes from a fair coin.

    lost, gained: items that only the baseline, only the variant got right; 1 where none changed.

    >>> mcnemar(5, 0)
    0.0625

    Source: McNemar 1947, in the exact form (binomial test).
    """
    changed = lost + gained
    return float(stats.binomtest(lost, changed, 0.5).pvalue) if changed else 1.0
