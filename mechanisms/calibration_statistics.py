"""What calibration keeps of the activations: second moments, ranges and mean sizes.

Teaches: that H = E[x xᵀ] is all that the squared output error of any weight change depends on, and that AWQ and
SmoothQuant use less: one number a channel. Leaves out: token order; a mean forgets it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.calibration_layer import Floats, check_inputs, digest


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """hessian: (in, in) E[x xᵀ]; largest, mean_size, low, high: (in,) max|x|, mean|x|, min x, max x.

    `hessian` carries no factor 2: it is the matrix of the error itself, and GPTQ's result does not change with it.
    """

    vectors: int
    hessian: Floats
    largest: Floats
    mean_size: Floats
    low: Floats
    high: Floats
    sha256: str


def calibrate(inputs: Floats) -> Statistics:
    """One pass over the calibration vectors. inputs: (n, in), n in 1 … 4096.

    >>> s = calibrate(np.array([[1.0, 2.0], [3.0, -4.0]]))
    >>> s.hessian.tolist(), s.largest.tolist(), s.mean_size.tolist()
    ([[5.0, -5.0], [-5.0, 10.0]], [3.0, 4.0], [2.0, 3.0])

    Source: frantar2022gptq, §3 (H up to a factor 2); lin2023awq, §3.2 (mean size); xiao2022smoothquant, §4 (maximum).
    """
    x = check_inputs(inputs, inputs.shape[1] if inputs.ndim == 2 else 0)
    size = np.abs(x)
    return Statistics(
        len(x), x.T @ x / len(x), size.max(axis=0), size.mean(axis=0), x.min(axis=0), x.max(axis=0), digest(x)
    )


def mean_squared(error: Floats, hessian: Floats) -> float:
    """tr(E H Eᵀ): the mean of ‖E x‖² over the vectors that made H. error: (out, in).

    >>> mean_squared(np.array([[1.0, 1.0]]), np.array([[5.0, -5.0], [-5.0, 10.0]]))
    5.0

    Source: nagel2020adaround, Eq. 7 and the following; lecun1989 for the quadratic form.
    """
    return float(per_output(error, hessian).sum())


def per_output(error: Floats, hessian: Floats) -> Floats:
    """The diagonal of E H Eᵀ: each output's own share. Source: as `mean_squared`."""
    return np.einsum("oi,oi->o", error @ hessian, error)
