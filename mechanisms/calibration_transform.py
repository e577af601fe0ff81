"""Changes of basis before rounding: scale channels, or rotate them. The product W x stays what it was.

Teaches: SmoothQuant's and AWQ's channel scales and the Hadamard rotation as one thing: W x = (W T)(T⁻¹ x), where only
W T is rounded. Leaves out: where T⁻¹ goes in a model (usually into the layer before).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration_grid import Grid, decode, encode, fit
from mechanisms.calibration_hadamard import random_signs, rotate
from mechanisms.calibration_layer import Floats
from mechanisms.calibration_statistics import Statistics, mean_squared

ALPHAS = tuple(i / 20 for i in range(20))  # 0, 0.05, …, 0.95, the grid of AWQ's own code
LEAST_SIZE = 1e-4  # so that a silent channel does not scale its weights away


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """Either channel scales s, (in,) float32, or signs ±1, (in,) int8, before a Hadamard rotation, or neither."""

    column_scale: NDArray[np.float32] | None = None
    signs: NDArray[np.int8] | None = None

    def weights(self, w: Floats) -> Floats:
        """W T. w: (out, in)."""
        if self.column_scale is not None:
            return w * self.column_scale.astype(np.float64)
        return w if self.signs is None else rotate(w * self.signs)

    def back(self, w: Floats) -> Floats:
        """(W T) T⁻¹: weights in the basis of the original layer."""
        if self.column_scale is not None:
            return w / self.column_scale.astype(np.float64)
        return w if self.signs is None else rotate(w) * self.signs

    def inputs(self, x: Floats) -> Floats:
        """T⁻¹ x for each row. x: (n, in)."""
        if self.column_scale is not None:
            return x / self.column_scale.astype(np.float64)
        return x if self.signs is None else rotate(x * self.signs)

    def hessian(self, h: Floats) -> Floats:
        """E[T⁻¹x (T⁻¹x)ᵀ]. h: (in, in)."""
        return self.inputs(self.inputs(h).T)

    @property
    def bits(self) -> int:
        """What T costs where it cannot be folded into another layer."""
        if self.column_scale is not None:
            return 32 * len(self.column_scale)
        return 0 if self.signs is None else len(self.signs)


@dataclass(frozen=True, slots=True)
class Trial:
    """One exponent of the sweep and the mean squared output error that rounding to nearest then has."""

    alpha: float
    error: float


def smooth(weights: Floats, statistics: Statistics, *, alpha: float = 0.5) -> Transform:
    """s_j = max|x_j|^α / max|w_j|^(1−α): column j of W is multiplied by it, x_j divided.

    alpha: in [0, 1]; larger moves more of the difficulty from the activations into the weights.

    Source: xiao2022smoothquant, Eq. 4. A channel without weights or activations keeps the scale 1.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha}: must lie in [0, 1]")
    peak, largest = np.abs(weights).max(axis=0), statistics.largest
    silent = (peak == 0) | (largest == 0)
    scale = np.where(silent, 1.0, np.where(silent, 1.0, largest) ** alpha / np.where(silent, 1.0, peak) ** (1 - alpha))
    return Transform(column_scale=scale.astype(np.float32))


def awq_scale(statistics: Statistics, alpha: float) -> Transform:
    """s_j = mean|x_j|^α, divided by √(max s · min s). alpha: in [0, 1].

    Source: lin2023awq, Eq. 5; the normalisation is that of its code and of torchao.
    """
    size = np.maximum(statistics.mean_size, LEAST_SIZE) ** alpha
    return Transform(column_scale=(size / np.sqrt(size.max() * size.min())).astype(np.float32))


def awq(
    weights: Floats, statistics: Statistics, grid: Grid, *, alphas: tuple[float, ...] = ALPHAS,
    progress: Callable[[float], None] | None = None,
) -> tuple[Transform, tuple[Trial, ...]]:  # fmt: skip
    """The exponent with the least tr(E H Eᵀ) after rounding to nearest, the first of equals, and all that were tried.

    Source: lin2023awq, §3.2. Its code measures the error on sampled inputs; here it is the exact mean over all.
    """
    if not alphas or not all(0 <= alpha <= 1 for alpha in alphas):
        raise ValueError(f"alphas={alphas}: must lie in [0, 1], at least one")
    trials: list[Trial] = []
    for i, alpha in enumerate(alphas):
        change = awq_scale(statistics, alpha)
        scaled = change.weights(weights)
        scales = fit(scaled, grid)
        error = change.back(decode(encode(scaled, scales, grid), scales)) - weights
        trials.append(Trial(alpha, mean_squared(error, statistics.hessian)))
        if progress is not None:
            progress((i + 1) / len(alphas))
    best = min(trials, key=lambda trial: trial.error)
    return awq_scale(statistics, best.alpha), tuple(trials)


def hadamard(width: int, *, rng: np.random.Generator | None = None) -> Transform:
    """Rotation with random signs from `rng`, or with none: then all signs are +1. Source: ashkboos2024quarot, §3."""
    signs = np.ones(width) if rng is None else random_signs(width, rng)
    return Transform(signs=signs.astype(np.int8))
