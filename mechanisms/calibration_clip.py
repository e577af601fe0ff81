"""Clip search: shrink the range of each block until its squared weight error is least.

Teaches: that cutting off the largest weights can pay, because all others get a finer step. Candidates are the shares
1, 0.99, …, 0.20 of the full range; the first of equals wins, so a tie keeps the wider range. Leaves out: the
activations; the least weight error need not be the least output error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechanisms.calibration_grid import Grid, Scales, blocks, decode, encode, fit
from mechanisms.calibration_layer import Floats

SHARES = tuple(i / 100 for i in range(100, 19, -1))


def clip_search(
    weights: Floats, grid: Grid, *, shares: tuple[float, ...] = SHARES, progress: Callable[[float], None] | None = None
) -> tuple[Scales, Floats]:
    """The scales with the least Σ(ŵ − w)² per block, and the share of the range that each block keeps, (r, c).

    progress: called with the part done after each candidate; an exception raised there ends the search.

    >>> w = np.array([[1.0, 1.1, -0.9, 1.05, 8.0]])
    >>> float(clip_search(w, Grid(bits=2, granularity="channel"), shares=(1.0, 0.5))[1][0, 0])
    1.0

    Source: nagel2021whitepaper, §3.1, mean-squared-error range setting.
    """
    if not shares or not all(0 < share <= 1 for share in shares):
        raise ValueError(f"shares={shares}: must lie in (0, 1], at least one")
    best_error = np.full(grid.scale_shape((weights.shape[0], weights.shape[1])), np.inf)
    best_share = np.full(best_error.shape, shares[0])
    for i, share in enumerate(shares):
        error = block_error(weights, grid, fit(weights, grid, share))
        better = error < best_error
        best_error, best_share = np.where(better, error, best_error), np.where(better, share, best_share)
        if progress is not None:
            progress((i + 1) / len(shares))
    return fit(weights, grid, best_share), best_share


def block_error(weights: Floats, grid: Grid, scales: Scales) -> Floats:
    """Σ(ŵ − w)² of each block, (r, c). Source: derived."""
    error = decode(encode(weights, scales, grid), scales) - weights
    return (blocks(error, grid) ** 2).sum(axis=-1)
