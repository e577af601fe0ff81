"""Weights of a layer rounded to an integer grid and back, in torch: the twin of `mechanisms/calibration_grid.py`.

Same conventions, tested equal: symmetric codes leave the lowest one unused, asymmetric ranges contain 0 and have an
integer zero point, ties go to even, scales are rounded to their stored precision first. One difference: a group need
not divide the inputs, the last one may be short (576 inputs in groups of 128 leave 64), where the mechanism refuses.
Only the effect on the numbers is here: nothing is packed, and nothing gets faster.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from mechanisms.calibration_grid import Grid


def grouped(weights: torch.Tensor, group: int) -> torch.Tensor:
    """(out, in) weights as (out, groups, group); a short last group is filled up with zeros, which every range holds
    already, so that they change no scale."""
    missing = -weights.shape[1] % group
    return functional.pad(weights, (0, missing)).unflatten(1, (-1, group))


def spread(values: torch.Tensor, group: int, width: int) -> torch.Tensor:
    """(out, groups) values of a grid repeated to (out, width)."""
    return values.repeat_interleave(group, 1)[:, :width]


def group_of(grid: Grid, width: int) -> int:
    """How many inputs share a scale. Raises ValueError for one scale a tensor, which no variant here uses."""
    if grid.granularity == "tensor":
        raise ValueError("granularity='tensor': must be channel or group")
    return width if grid.granularity == "channel" else grid.group


def fit(weights: torch.Tensor, grid: Grid) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and zero point of each group, (out, groups) float64, as `mechanisms.calibration_grid.fit`.

    weights: (out, in). Raises ValueError where a scale does not fit its stored precision.
    """
    block = grouped(weights.double(), group_of(grid, weights.shape[1]))
    low, high = block.amin(-1).clamp(max=0), block.amax(-1).clamp(min=0)
    exact = torch.maximum(-low, high) / (grid.middle - 1) if grid.symmetric else (high - low) / grid.top
    scale = stored(torch.where(exact > 0, exact, 1.0), grid.scale_bits)
    if grid.symmetric:
        return scale, torch.full_like(scale, grid.middle)
    return scale, (-low / scale).round().clamp(0, grid.top)


def stored(scale: torch.Tensor, scale_bits: int) -> torch.Tensor:
    """Positive scales rounded to 16 or 32 bits, as float64. Raises ValueError where one becomes 0 or infinite."""
    kept = scale.to(torch.float16 if scale_bits == 16 else torch.float32).double()
    if not bool((kept.isfinite() & (kept > 0)).all()):
        raise ValueError(f"scale_bits={scale_bits}: scales from {scale.min():.3g} to {scale.max():.3g} do not fit")
    return kept


def restore(weights: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, grid: Grid) -> torch.Tensor:
    """s·(code − z) for codes round(w/s) + z, clipped to the grid; all of one shape, float64."""
    return scale * ((weights / scale).round().add_(zero).clamp_(grid.lowest, grid.top).sub_(zero))


def nearest(weights: torch.Tensor, grid: Grid) -> torch.Tensor:
    """(out, in) weights rounded to the nearest point of the grid, float64.

    Source: jacob2018, Eq. 1; `mechanisms.calibration_grid`, encode and decode.
    """
    width = weights.shape[1]
    group = group_of(grid, width)
    scale, zero = (spread(v, group, width) for v in fit(weights, grid))
    return restore(weights.double(), scale, zero, grid)


def affine(x: torch.Tensor, bits: int, dim: int) -> torch.Tensor:
    """m + s·round((x − m)/s), float64, with the minimum m and s = (max − m)/(2^bits − 1) along `dim`, both in 16 bits.

    The minimum is stored as it is, where `fit` has an integer zero point: the range need not contain 0.
    Source: llama.cpp, quantize_row_q4_1 (weights); liu2024kivi, §3 (keys and values).
    """
    low, high = x.double().amin(dim, keepdim=True), x.double().amax(dim, keepdim=True)
    step = ((high - low) / (2**bits - 1)).half().double()
    codes = ((x.double() - low) / torch.where(step > 0, step, 1.0)).round().clamp(0, 2**bits - 1)
    return low.half().double() + step * codes


def bits_per_weight(grid: Grid, width: int) -> float:
    """Bits a weight with scales and zero points, for rows of `width` inputs. A symmetric grid stores no zero point.

    >>> bits_per_weight(Grid(bits=4, group=64), 576), round(bits_per_weight(Grid(bits=4, group=128), 576), 4)
    (4.25, 4.1389)
    """
    groups = -(-width // group_of(grid, width))
    return grid.bits + groups * (grid.scale_bits + (0 if grid.symmetric else grid.bits)) / width
