"""One measure for all methods: the mean squared change of the layer's output.

Teaches: that tr(E H Eᵀ) *is* that mean on the calibration vectors, not an estimate of it; that it says nothing about
other vectors, which are measured beside it; and what quantized activations add. Leaves out: loss and perplexity of a
whole model (next chapter).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from mechanisms.calibration_convert import Conversion
from mechanisms.calibration_layer import Floats, Layer, check_inputs
from mechanisms.calibration_statistics import Statistics, calibrate, mean_squared

ActivationRange = Literal["token", "tensor"]
IDENTITY_TOLERANCE = 1e-9  # relative; both sides are float64 sums of at most 4096 · 1024 terms


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Errors of Ŵ. `trace` tr(E H Eᵀ), `measured` the mean of ‖Ŵx − Wx‖² on the calibration vectors, `held_out` the
    same on others, `with_activations` the same as `held_out` with T⁻¹x rounded, too; `energy`, `held_out_energy`: mean
    ‖Wx‖²; per_output: (out,) shares of `held_out`; `weight_error`: mean of (ŵ − w)².
    """

    trace: float
    measured: float
    energy: float
    held_out: float
    held_out_energy: float
    with_activations: float
    per_output: Floats
    weight_error: float

    @property
    def identity_gap(self) -> float:
        """|trace − measured| / measured, 0 where both are 0."""
        return abs(self.trace - self.measured) / self.measured if self.measured else abs(self.trace)


def round_inputs(x: Floats, bits: int, kind: ActivationRange = "token") -> Floats:
    """Symmetric rounding of activations: one scale a vector (dynamic) or one for all (static). x: (n, in).

    >>> round_inputs(np.array([[0.4, -2.0], [100.0, 0.0]]), 3, "token").round(3).tolist()
    [[0.667, -2.0], [100.0, 0.0]]

    Source: xiao2022smoothquant, Eq. 1 and Fig. 3.
    """
    if not 2 <= bits <= 8:
        raise ValueError(f"bits={bits}: must lie in 2 … 8")
    if kind not in get_args(ActivationRange):
        raise ValueError(f"kind={kind!r}: must be one of {get_args(ActivationRange)}")
    peak = np.abs(x).max(axis=1, keepdims=True) if kind == "token" else np.abs(x).max(keepdims=True)
    scale = np.where(peak > 0, peak, 1.0) / (2 ** (bits - 1) - 1)
    return np.rint(x / scale) * scale


def measure(
    layer: Layer, conversion: Conversion, *, calibration: Floats, held_out: Floats,
    statistics: Statistics | None = None, activation_bits: int = 8, activation_range: ActivationRange = "token",
) -> Measurement:  # fmt: skip
    """All errors of one conversion. calibration, held_out: (n, in); statistics: of `calibration`, if already there.

    Source: derived; the quadratic form as in `calibration_statistics.mean_squared`.
    """
    x, other = (check_inputs(inputs, layer.shape[1]) for inputs in (calibration, held_out))
    w, w_hat = layer.wide, conversion.weights
    seen = calibrate(x) if statistics is None else statistics
    y, y_other = x @ w.T, other @ w.T
    change = (other @ w_hat.T - y_other) ** 2
    coarse = round_inputs(conversion.transform.inputs(other), activation_bits, activation_range)
    return Measurement(
        trace=mean_squared(w_hat - w, seen.hessian),
        measured=_mean(x @ w_hat.T - y),
        energy=_mean(y),
        held_out=float(change.sum(axis=1).mean()),
        held_out_energy=_mean(y_other),
        with_activations=_mean(coarse @ conversion.rounded.T - y_other),
        per_output=change.mean(axis=0),
        weight_error=float(((w_hat - w) ** 2).mean()),
    )


def _mean(y: Floats) -> float:
    """The mean of ‖y‖² over the rows."""
    return float((y * y).sum(axis=1).mean())
