"""A whole layer in integers: quantize, multiply, correct by precomputed sums, requantize, compare with float.

Teaches: that the integer path gives exactly the product of the dequantized values, so the whole error is that of the
codes; and that only Σ q_x has to be computed at run time. Activations: one scale and zero point for all (asymmetric,
8 bits). Weights: one symmetric scale per output. Leaves out: the speed of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechanisms.integer_matmul_requantize import fixed_point, requantize

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
ACTIVATION_CODES, OUTPUT_CODES, WEIGHT_TOP = (0, 255), (-128, 127), 127
MAX_SIDE = 1024


@dataclass(frozen=True, slots=True)
class Affine:
    """x ≈ scale · (q − zero_point)."""

    scale: float
    zero_point: int


@dataclass(frozen=True, slots=True)
class LayerRun:
    """All stages of one product. q_x: (n, K), q_w: (K, m), accumulated and y_code: (n, m), all int64;
    weight_scale: (m,). `y_float` is the product of the float inputs, `y_integer` s_x s_w A, `y_output` what the
    requantized code stands for.
    """

    activation: Affine
    output: Affine
    weight_scale: Floats
    q_x: Codes
    q_w: Codes
    weight_sums: Codes
    accumulated: Codes
    y_code: Codes
    y_float: Floats
    y_integer: Floats
    y_output: Floats

    @property
    def code_error(self) -> float:
        """Root mean square of y_integer − y_float: what the codes of x and w cost."""
        return float(np.sqrt(np.mean((self.y_integer - self.y_float) ** 2)))

    @property
    def total_error(self) -> float:
        """Root mean square of y_output − y_float: requantization included."""
        return float(np.sqrt(np.mean((self.y_output - self.y_float) ** 2)))


def four_sums(q_x: Codes, q_w: Codes, z_x: int, z_w: int, *, weight_sums: Codes | None = None) -> Codes:
    """Σ q_x q_w − z_w Σ q_x − z_x Σ q_w + K z_x z_w for all outputs. q_x: (n, K), q_w: (K, m) -> (n, m) int64.

    weight_sums: (m,) Σ_k q_w, known before any activation arrives; computed here where it is not handed over.

    >>> four_sums(np.array([[3, 5]]), np.array([[2], [-1]]), 4, 1)
    array([[-3]])

    Source: jacob2018, Eq. 7 and 8.
    """
    q_x, q_w = q_x.astype(np.int64), q_w.astype(np.int64)
    column = q_w.sum(axis=0) if weight_sums is None else weight_sums
    row = q_x.sum(axis=1, keepdims=True)
    return q_x @ q_w - z_w * row - z_x * column + q_x.shape[1] * z_x * z_w


def affine_range(values: Floats, low: int, high: int) -> Affine:
    """Scale and zero point that cover the values and 0 with codes low … high. Source: jacob2018, §3."""
    least, most = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = (most - least) / (high - low) or 1.0
    return Affine(scale, int(np.clip(low + round(-least / scale), low, high)))


def encode(values: Floats, affine: Affine, low: int, high: int) -> Codes:
    """round(x/s) + z, ties to even, clipped to low … high. Source: jacob2018, Eq. 1."""
    return np.clip(np.rint(values / affine.scale).astype(np.int64) + affine.zero_point, low, high)


def run_layer(x: Floats, w: Floats) -> LayerRun:
    """y = x w in 8-bit integers. x: (n, K), w: (K, m) float64, each side 1 … 1024, finite.

    Source: jacob2018, §2.4, with one weight scale per output instead of one for the layer.
    """
    if x.ndim != 2 or w.ndim != 2 or x.shape[1] != w.shape[0]:
        raise ValueError(f"x has shape {x.shape}, w {w.shape}: (n, K) and (K, m) are needed")
    if not 1 <= min(*x.shape, *w.shape) <= max(*x.shape, *w.shape) <= MAX_SIDE:
        raise ValueError(f"x has shape {x.shape}, w {w.shape}: sides must lie in 1 … {MAX_SIDE}")
    if not (np.isfinite(x).all() and np.isfinite(w).all()):
        raise ValueError("x and w must be finite")
    activation = affine_range(x, *ACTIVATION_CODES)
    peak = np.abs(w).max(axis=0)
    scale = np.where(peak > 0, peak / WEIGHT_TOP, 1.0).astype(np.float64)
    q_x, q_w = encode(x, activation, *ACTIVATION_CODES), np.rint(w / scale).astype(np.int64)
    sums = q_w.sum(axis=0)
    accumulated = four_sums(q_x, q_w, activation.zero_point, 0, weight_sums=sums)
    y_float, y_integer = x @ w, activation.scale * scale * accumulated
    output = affine_range(y_float, *OUTPUT_CODES)
    y_code = _requantize_all(accumulated, activation.scale, scale, output)
    y_output = (output.scale * (y_code - output.zero_point)).astype(np.float64)
    return LayerRun(
        activation, output, scale, q_x, q_w, sums, accumulated, y_code, y_float, y_integer, y_output
    )  # fmt: skip


def _requantize_all(accumulated: Codes, x_scale: float, w_scale: Floats, output: Affine) -> Codes:
    low, high = OUTPUT_CODES
    fixed = [fixed_point(Fraction(x_scale) * Fraction(float(s)) / Fraction(output.scale)) for s in w_scale]
    return np.array(
        [[requantize(int(a), f, zero_point=output.zero_point, low=low, high=high)
          for a, f in zip(row, fixed, strict=True)] for row in accumulated], dtype=np.int64,
    )  # fmt: skip
