"""Weights in formats that are no even grid, and the one that the model was shipped in; in torch, each there and back.

Twins of `mechanisms/formats_floats.py`, `formats_nf4.py` and `formats_blocks.py`, tested equal to them. FP8 has one
scale a row, max|w|/448 (the bare cast would push small weights among the subnormal numbers); NF4 keeps its scale in
32 bits, without the second quantization of scales. Last short blocks are blocks of their own.
"""

from __future__ import annotations

import torch

from gpu_demos.quantize import affine, grouped, stored
from mechanisms.formats_blocks import MX_BLOCK, ScaleRule
from mechanisms.formats_floats import E2M1, E4M3, decoded
from mechanisms.formats_nf4 import BLOCK, CODE

Q4_1_BLOCK = 32


def _flat(blocks: torch.Tensor, width: int) -> torch.Tensor:
    return blocks.flatten(1)[:, :width]


def fp8(weights: torch.Tensor) -> torch.Tensor:
    """(out, in) weights in E4M3 with one 32-bit scale a row, float64. Source: micikevicius2022."""
    peak = weights.double().abs().amax(1, keepdim=True)
    scale = stored(torch.where(peak > 0, peak / float(E4M3.largest), 1.0), 32)
    # torch rounds half to even; the clamp makes overflow saturate, as `mechanisms` does, instead of becoming NaN.
    inside = (weights.double() / scale).clamp(-float(E4M3.largest), float(E4M3.largest))
    return inside.to(torch.float8_e4m3fn).double() * scale


def nf4(weights: torch.Tensor, block: int = BLOCK) -> torch.Tensor:
    """(out, in) weights as the nearest of sixteen normal quantiles times the block's largest magnitude, float64.

    Source: dettmers2023; a midpoint goes to the lower value, as in its code.
    """
    code = torch.tensor([float(c) for c in CODE], dtype=torch.float64, device=weights.device)
    blocks = grouped(weights.double(), block)
    peak = blocks.abs().amax(-1, keepdim=True)
    share = blocks / torch.where(peak > 0, peak, 1.0)
    return _flat(code[torch.bucketize(share, (code[1:] + code[:-1]) / 2)] * peak, weights.shape[1])


def mxfp4(weights: torch.Tensor, rule: ScaleRule = "floor") -> torch.Tensor:
    """(out, in) weights as E2M1 numbers times a power of two for each 32, float64. Source: ocp2023, §6.3."""
    blocks = grouped(weights.double(), MX_BLOCK)
    # A block of zeros may have any scale: every product is 0.
    mantissa, exponent = blocks.abs().amax(-1, keepdim=True).frexp()
    half_unit = 1 / 2 ** (E2M1.fraction_bits + 1)
    carried = (2 * mantissa + half_unit >= 2) if rule == "even" else torch.zeros_like(mantissa, dtype=torch.bool)
    largest = int(float(E2M1.largest)).bit_length() - 1
    power = (exponent - 1 + carried - largest).clamp(-127, 127)
    scale = torch.ldexp(torch.ones_like(mantissa), power)
    return _flat(_e2m1(blocks / scale) * scale, weights.shape[1])


def _e2m1(x: torch.Tensor) -> torch.Tensor:
    """The nearest E2M1 number, a tie to the even code, saturating."""
    points = decoded(E2M1)[: E2M1.largest_code + 1]
    numbers = torch.tensor([float(v) for v in points], dtype=torch.float64, device=x.device)
    middles = (numbers[1:] + numbers[:-1]) / 2
    place = torch.bucketize(x.abs(), middles)  # a tie falls to the lower number …
    tie = (x.abs() == middles[place.clamp(max=len(middles) - 1)]) & (place % 2 == 1)
    return torch.copysign(numbers[(place + tie).clamp(max=len(numbers) - 1)], x)  # … which is right if it is even


def q4_1(weights: torch.Tensor) -> torch.Tensor:
    """(out, in) weights as m + d·code, code 0 … 15, with a 16-bit step and a 16-bit minimum for each 32, float64.

    This is the grid that the file of the model was made with, so it gives the baseline back unchanged: an error of 0
    says that the weights had been rounded to it before, not that four bits are free. An *integer* zero point is another
    grid (`quantize.nearest`), because a stored minimum need not be a multiple of the step.
    Source: llama.cpp, quantize_row_q4_1.
    """
    return _flat(affine(grouped(weights.double(), Q4_1_BLOCK), 4, -1), weights.shape[1])
