"""Rounding that looks at what goes through a layer, in torch: AWQ, GPTQ, and the Hadamard rotation, which does not.

Twins of `mechanisms/calibration_transform.py`, `calibration_gptq.py` and `calibration_hadamard.py`, tested equal to
them. Differences: GPTQ handles columns in blocks (as its paper does; the result is the same up to rounding), and a
width that is no power of two is rotated in pieces of the largest power of two that divides it (576 in nines of 64).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from gpu_demos.quantize import fit, group_of, nearest, restore, spread
from mechanisms.calibration_gptq import DAMPING
from mechanisms.calibration_grid import Grid
from mechanisms.calibration_hadamard import random_signs
from mechanisms.calibration_transform import ALPHAS, LEAST_SIZE

BLOCK = 64  # columns between two updates of all that follow


@dataclass(frozen=True, slots=True)
class Seen:
    """What calibration keeps of a layer's inputs. hessian: (in, in) E[x xᵀ]; mean_size: (in,) mean |x|; vectors."""

    hessian: torch.Tensor
    mean_size: torch.Tensor
    vectors: int


def awq(weights: torch.Tensor, grid: Grid, seen: Seen, *, every: int = 1) -> torch.Tensor:
    """(out, in) weights: channels scaled by mean|x|^α, rounded, scaled back; α has the least tr(E H Eᵀ). float64.

    every: judge each α by every so many-th output only; the error is a sum over outputs, so a part of them ranks the
    exponents almost as well. Source: lin2023awq, §3.2 and Eq. 5, as `mechanisms.calibration_transform.awq`.
    """
    size = seen.mean_size.double().clamp(min=LEAST_SIZE)
    scales, judged = [], weights[::every].double()
    for alpha in ALPHAS:
        power = size**alpha
        scales.append((power / (power.max() * power.min()).sqrt()).float().double())
    errors = [output_error(nearest(judged * s, grid) / s - judged, seen.hessian) for s in scales]
    best = scales[errors.index(min(errors))]
    return nearest(weights.double() * best, grid) / best


def output_error(error: torch.Tensor, hessian: torch.Tensor) -> float:
    """tr(E H Eᵀ), the mean of ‖E x‖². error: (out, in). Source: nagel2020adaround, Eq. 7."""
    narrow = error.to(hessian.dtype)
    return float(((narrow @ hessian) * narrow).sum(dtype=torch.float64))


def gptq(weights: torch.Tensor, grid: Grid, hessian: torch.Tensor, damping: float = DAMPING) -> torch.Tensor:
    """(out, in) weights rounded column by column, each error pushed onto the columns still free. float64.

    Scales are fixed beforehand from the untouched weights. hessian: (in, in). Raises ValueError where H is all zero or
    stays singular. Source: frantar2022gptq, Eq. 2 and §3.3, as `mechanisms.calibration_gptq.gptq`.
    """
    factor = _factor(hessian.double(), damping)
    width = weights.shape[1]
    group = group_of(grid, width)
    # One row for each column of the layer, so that what is used together lies together in memory.
    work = weights.double().T.contiguous()
    scale, zero = (spread(v, group, width).T.contiguous() for v in fit(weights, grid))
    for begin in range(0, width, BLOCK):
        end = min(begin + BLOCK, width)
        shares = torch.empty_like(work[begin:end])
        for k in range(begin, end):
            value = restore(work[k], scale[k], zero[k], grid)
            share = (work[k] - value) / factor[k, k]
            work[k + 1 : end].addr_(factor[k, k + 1 : end], share, alpha=-1)
            work[k], shares[k - begin] = value, share
        work[end:].addmm_(factor[begin:end, end:].T, shares, alpha=-1)
    return work.T


def _factor(hessian: torch.Tensor, damping: float) -> torch.Tensor:
    """Upper triangular U with UᵀU = (H + damping)⁻¹."""
    diagonal = hessian.diagonal()
    if not bool(diagonal.any()):
        raise ValueError("the calibration vectors are all zero: there is nothing to weigh errors with")
    live = hessian + torch.diag((diagonal == 0).double() + damping * diagonal.mean())
    root, failed = torch.linalg.cholesky_ex(live.flip(0, 1))
    if bool(failed):
        raise ValueError(f"damping={damping}: H is singular; more vectors or more damping are needed")
    eye = torch.eye(len(hessian), dtype=torch.float64, device=hessian.device)
    return torch.linalg.solve_triangular(root.flip(0, 1), eye, upper=True)


def rotated(
    weights: torch.Tensor, hessian: torch.Tensor, rounding: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], *,
    seed: int = 0,
) -> torch.Tensor:  # fmt: skip
    """Weights rounded in a rotated basis and rotated back, float64.

    rounding: of (weights, hessian) in that basis. Random signs come from `seed`, then a Hadamard matrix for each piece.
    Source: ashkboos2024quarot, §3, as `mechanisms.calibration_transform.hadamard`.
    """
    width = weights.shape[1]
    signs = torch.from_numpy(random_signs(width, np.random.default_rng(seed))).to(weights.device)
    turned = rotate(rotate(hessian.double() * signs).T * signs).T
    return rotate(rounding(rotate(weights.double() * signs), turned)) * signs


def rotate(x: torch.Tensor) -> torch.Tensor:
    """x times the orthonormal Hadamard matrix of each piece of the last axis; its own inverse. x: (…, d) float64."""
    piece = x.shape[-1] & -x.shape[-1]  # the largest power of two that divides the width
    y, half = x.unflatten(-1, (-1, piece)), 1
    while half < piece:
        pairs = y.unflatten(-1, (-1, 2, half))
        a, b = pairs[..., 0, :], pairs[..., 1, :]
        y, half = torch.stack((a + b, a - b), -2).flatten(-3), 2 * half
    return y.flatten(-2) / piece**0.5
