"""The grid that weights are rounded to: bits, symmetry, and how many weights share a scale.

Teaches: codes, scales and zero points for one scale a tensor, a row, or a group within a row, and what the scales cost
in bits. Conventions: symmetric codes run from −(2^(b−1)−1) to 2^(b−1)−1 (14 steps for 4 bits), stored with 2^(b−1)
added; asymmetric ranges always contain 0; ties go to even. Scales are rounded to their stored precision *before* they
are used, so what is measured is what is exported. Leaves out: formats that are not evenly spaced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration_layer import Floats

Granularity = Literal["tensor", "channel", "group"]
Codes = NDArray[np.uint8]
BITS = (2, 8)


@dataclass(frozen=True, slots=True)
class Grid:
    """bits 2 … 8; `group` counts the inputs that share a scale (only with granularity "group"); scale_bits 16 or 32."""

    bits: int = 4
    symmetric: bool = True
    granularity: Granularity = "group"
    group: int = 16
    scale_bits: int = 16

    def __post_init__(self) -> None:
        if not BITS[0] <= self.bits <= BITS[1]:
            raise ValueError(f"bits={self.bits}: must lie in {BITS[0]} … {BITS[1]}")
        if self.granularity not in get_args(Granularity):
            raise ValueError(f"granularity={self.granularity!r}: must be one of {get_args(Granularity)}")
        if self.group < 1:
            raise ValueError(f"group={self.group}: must be at least 1")
        if self.scale_bits not in (16, 32):
            raise ValueError(f"scale_bits={self.scale_bits}: must be 16 or 32")

    @property
    def top(self) -> int:
        """The largest stored code."""
        return 2**self.bits - 1

    @property
    def lowest(self) -> int:
        """The smallest stored code that rounding may give: symmetric grids leave 0 unused."""
        return 1 if self.symmetric else 0

    @property
    def middle(self) -> int:
        """The zero point of a symmetric grid."""
        return 2 ** (self.bits - 1)

    def scale_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """(rows, columns) of the scales for weights of `shape`. Raises ValueError where the group does not divide."""
        out, width = shape
        if self.granularity == "tensor":
            return 1, 1
        if self.granularity == "channel":
            return out, 1
        if width % self.group:
            raise ValueError(f"group={self.group}: must divide the {width} inputs of the layer")
        return out, width // self.group


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """scale: (r, c) float16 or float32, zero_point: (r, c) uint8; one of each per tensor, channel or group."""

    scale: NDArray[np.floating]
    zero_point: Codes


def spread(values: NDArray[np.generic], shape: tuple[int, int]) -> NDArray[np.generic]:
    """(r, c) values of a grid repeated to the shape of the weights."""
    out, width = shape
    return np.repeat(np.repeat(values, out // values.shape[0], axis=0), width // values.shape[1], axis=1)


def blocks(weights: Floats, grid: Grid) -> Floats:
    """The weights that share a scale side by side on the last axis: (r, c, n)."""
    rows, columns = grid.scale_shape((weights.shape[0], weights.shape[1]))
    if grid.granularity == "tensor":
        return weights.reshape(1, 1, -1)
    return weights.reshape(rows, columns, -1)


def fit(weights: Floats, grid: Grid, shrink: float | Floats = 1.0) -> Scales:
    """Scale and zero point that cover the weights, their range multiplied by `shrink`. weights: (out, in).

    Symmetric: s = max|w| / (2^(b−1)−1). Asymmetric: lo = min(w, 0), hi = max(w, 0), s = (hi − lo)/(2^b − 1),
    z = round(−lo / s). A block of zeros gets s = 1. shrink: in (0, 1], a number or one per block (r, c).

    >>> s = fit(np.array([[0.5, -7.0, 3.4, 0.0]]), Grid(bits=4, granularity="channel"))
    >>> float(s.scale[0, 0]), int(s.zero_point[0, 0])
    (1.0, 8)

    Source: jacob2018, Eq. 1; the symmetric range as in xiao2022smoothquant, Eq. 1.
    """
    block = blocks(weights, grid)
    low = np.minimum(block.min(axis=-1), 0.0) * shrink
    high = np.maximum(block.max(axis=-1), 0.0) * shrink
    exact = np.maximum(-low, high) / (grid.middle - 1) if grid.symmetric else (high - low) / grid.top
    scale = _stored(np.where(exact > 0, exact, 1.0), grid)
    if grid.symmetric:
        return Scales(scale, np.full(scale.shape, grid.middle, np.uint8))
    zero = np.clip(np.rint(-low / scale.astype(np.float64)), 0, grid.top)
    return Scales(scale, zero.astype(np.uint8))


def _stored(scale: Floats, grid: Grid) -> NDArray[np.floating]:
    """Rounded to the precision in which it is kept; a scale that becomes 0 or infinite is an error."""
    with np.errstate(over="ignore", under="ignore"):
        kept = scale.astype(np.float16 if grid.scale_bits == 16 else np.float32)
    if not (np.isfinite(kept) & (kept > 0)).all():
        raise ValueError(
            f"scale_bits={grid.scale_bits}: scales from {scale.min():.3g} to {scale.max():.3g} do not fit; "
            + ("use 32 bits" if grid.scale_bits == 16 else "rescale the weights")
        )
    return kept


def encode(weights: Floats, scales: Scales, grid: Grid) -> Codes:
    """round(w/s) + z, ties to even, clipped to the grid. weights: (out, in) or one column (out, 1) with its scales.

    >>> grid = Grid(bits=4, granularity="channel")
    >>> w = np.array([[0.5, -7.0, 3.4, 0.0]])
    >>> encode(w, fit(w, grid), grid).tolist()
    [[8, 1, 11, 8]]

    Source: jacob2018, Eq. 1.
    """
    shape = (weights.shape[0], weights.shape[1])
    scale, zero = spread(scales.scale, shape).astype(np.float64), spread(scales.zero_point, shape)
    return np.clip(np.rint(weights / scale) + zero.astype(np.float64), grid.lowest, grid.top).astype(np.uint8)


def decode(codes: Codes, scales: Scales) -> Floats:
    """s (q − z) in float64: exact, as an 11- or 24-bit scale times an 8-bit integer fits 53 bits.

    Source: jacob2018, Eq. 1.
    """
    shape = (codes.shape[0], codes.shape[1])
    zero = spread(scales.zero_point, shape).astype(np.int64)
    return spread(scales.scale, shape).astype(np.float64) * (codes.astype(np.int64) - zero)


def column_of(scales: Scales, column: int, width: int) -> Scales:
    """The scales that one column of the weights uses, (r, 1)."""
    place = column * scales.scale.shape[1] // width
    return replace(scales, scale=scales.scale[:, place : place + 1], zero_point=scales.zero_point[:, place : place + 1])
