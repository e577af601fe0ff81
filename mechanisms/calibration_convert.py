"""Convert a layer: a change of basis, then a way of rounding, then codes and scales.

Teaches: that every method of this chapter is one of four transforms followed by one of four roundings, so all can be
measured alike and combined. Leaves out: choosing a method for a reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from mechanisms.calibration_clip import clip_search
from mechanisms.calibration_gptq import DAMPING, gptq, plan
from mechanisms.calibration_grid import Codes, Grid, Scales, decode, encode, fit
from mechanisms.calibration_layer import Floats, Layer
from mechanisms.calibration_statistics import Statistics
from mechanisms.calibration_transform import Transform, Trial, awq, hadamard, smooth

TransformName = Literal["none", "smoothquant", "awq", "hadamard_plain", "hadamard"]
Rounding = Literal["nearest", "clip", "gptq", "gptq_act_order"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """All choices of a conversion. alpha: only SmoothQuant's; damping: only GPTQ's; seed: only that of random signs."""

    transform: TransformName = "none"
    rounding: Rounding = "nearest"
    grid: Grid = field(default_factory=Grid)
    alpha: float = 0.5
    damping: float = DAMPING
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("transform", self.transform, get_args(TransformName)),
            ("rounding", self.rounding, get_args(Rounding)),
        ):
            if value not in allowed:
                raise ValueError(f"{name}={value!r}: must be one of {allowed}")
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha={self.alpha}: must lie in [0, 1]")
        if self.damping < 0 or self.seed < 0:
            raise ValueError(f"damping={self.damping}, seed={self.seed}: must not be negative")


METHODS: dict[str, tuple[TransformName, Rounding]] = {
    "rtn": ("none", "nearest"),
    "clip": ("none", "clip"),
    "smoothquant": ("smoothquant", "nearest"),
    "awq": ("awq", "nearest"),
    "gptq": ("none", "gptq"),
    "gptq_act_order": ("none", "gptq_act_order"),
    "hadamard_plain": ("hadamard_plain", "nearest"),
    "hadamard": ("hadamard", "nearest"),
    "awq_gptq": ("awq", "gptq"),
    "hadamard_gptq": ("hadamard", "gptq"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Conversion:
    """The converted layer. `trials`: AWQ's sweep, else empty; `loss`: GPTQ's own, else None."""

    recipe: Recipe
    codes: Codes
    scales: Scales
    transform: Transform
    trials: tuple[Trial, ...] = ()
    loss: float | None = None

    @property
    def rounded(self) -> Floats:
        """What the codes stand for, in the changed basis. (out, in)"""
        return decode(self.codes, self.scales)

    @property
    def weights(self) -> Floats:
        """Ŵ in the basis of the original layer. (out, in)"""
        return self.transform.back(self.rounded)

    @property
    def code_bits(self) -> int:
        return self.recipe.grid.bits * self.codes.size

    @property
    def scale_bits(self) -> int:
        return self.recipe.grid.scale_bits * self.scales.scale.size

    @property
    def zero_point_bits(self) -> int:
        """A symmetric grid has one zero point, known from its bits."""
        return 0 if self.recipe.grid.symmetric else self.recipe.grid.bits * self.scales.zero_point.size

    @property
    def effective_bits(self) -> Fraction:
        """Bits a weight with scales, zero points and the transform. Source: derived."""
        bits = self.code_bits + self.scale_bits + self.zero_point_bits + self.transform.bits
        return Fraction(bits, self.codes.size)


def convert(
    layer: Layer, statistics: Statistics, recipe: Recipe, *, progress: Callable[[float], None] | None = None
) -> Conversion:
    """Apply a recipe to a layer with the statistics of its calibration vectors.

    progress: called with the part done of the longest stage; an exception raised there cancels the conversion.

    >>> from mechanisms.calibration_layer import synthetic_inputs, synthetic_layer
    >>> from mechanisms.calibration_statistics import calibrate
    >>> seen = calibrate(synthetic_inputs("prose", 32))
    >>> convert(synthetic_layer(), seen, Recipe(grid=Grid(bits=4, group=16))).effective_bits
    Fraction(5, 1)

    Source: as each stage.
    """
    w, grid = layer.wide, recipe.grid
    if statistics.hessian.shape[0] != layer.shape[1]:
        raise ValueError(f"statistics are of {statistics.hessian.shape[0]} channels, the layer takes {layer.shape[1]}")
    sweeps = recipe.transform == "awq" and recipe.rounding == "nearest"
    change, trials = _transform(w, statistics, recipe, progress if sweeps else None)
    changed = change.weights(w)
    if recipe.rounding == "clip":
        scales, _ = clip_search(changed, grid, progress=progress)
    else:
        scales = fit(changed, grid)
    if recipe.rounding in ("gptq", "gptq_act_order"):
        act_order = recipe.rounding == "gptq_act_order"
        steps = plan(
            change.hessian(statistics.hessian), grid, scales, damping=recipe.damping, act_order=act_order
        )  # fmt: skip
        codes, loss = gptq(changed, steps, progress=progress)
        return Conversion(recipe, codes, scales, change, trials, loss)
    return Conversion(recipe, encode(changed, scales, grid), scales, change, trials)


def _transform(
    w: Floats, statistics: Statistics, recipe: Recipe, progress: Callable[[float], None] | None
) -> tuple[Transform, tuple[Trial, ...]]:
    if recipe.transform == "smoothquant":
        return smooth(w, statistics, alpha=recipe.alpha), ()
    if recipe.transform == "awq":
        return awq(w, statistics, recipe.grid, progress=progress)
    if recipe.transform == "none":
        return Transform(), ()
    rng = np.random.default_rng(recipe.seed) if recipe.transform == "hadamard" else None
    return hadamard(w.shape[1], rng=rng), ()
