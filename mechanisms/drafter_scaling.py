"""Sequential temperature scaling: one temperature per place, fitted from left to right.

Teaches: the objective is the error of the *product*, with all earlier places already corrected. The paper gives the
order and the objective; form, grid, bins and tie rule are choices and are stated here. Leaves out: other calibrators.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechanisms.drafter_metrics import calibration_error
from mechanisms.drafter_rounds import Floats, Rounds

PER_DOUBLING = 16  # grid points from one power of two to the next
GRID = tuple(2.0 ** (i / PER_DOUBLING) for i in range(-2 * PER_DOUBLING, 3 * PER_DOUBLING + 1))
_FROM_ONE = sorted(GRID, key=lambda t: (abs(np.log(t)), t))  # so that the first of equals lies nearest to 1
GRID_LOW, GRID_HIGH = Fraction(1, 4), Fraction(8)


def soften(confidence: Floats, temperature: float) -> Floats:
    """σ(logit(c) / T), written so that 0 and 1 stay what they are.

    >>> soften(np.array([0.8]), 2.0).round(6).tolist()
    [0.666667]

    Source: guo2017, §4.2; dspark2026, §3.2.1, for its use (the form is not stated there).
    """
    if not temperature > 0:
        raise ValueError(f"temperature={temperature}: must be positive")
    yes, no = confidence ** (1 / temperature), (1 - confidence) ** (1 / temperature)
    return yes / (yes + no)


def fit(rounds: Rounds) -> tuple[float, ...]:
    """For each place, left to right, the temperature of the grid with the smallest ECE of the product; of equals the
    one nearest to 1, of two equally near the smaller.

    >>> fit(Rounds(np.array([[0.8], [0.8], [0.8]]), np.array([[True], [True], [False]])))
    (2.0,)

    Source: dspark2026, §3.2.1.
    """
    product = np.ones(len(rounds.confidence))
    found: list[float] = []
    for k in range(rounds.confidence.shape[1]):
        confidence, survived = rounds.confidence[:, k], rounds.survived[:, k]
        error = [calibration_error(product * soften(confidence, t), survived) for t in _FROM_ONE]
        found.append(_FROM_ONE[int(np.argmin(error))])
        product = product * soften(confidence, found[-1])
    return tuple(found)


def products(confidence: Floats, temperatures: tuple[float, ...] | None = None) -> Floats:
    """Predicted survival of every prefix, a_k = Π c_i, after scaling where temperatures are given. (N, places).

    >>> products(np.array([[0.5, 0.5]])).tolist()
    [[0.5, 0.25]]

    Source: dspark2026, §3.2.1.
    """
    if temperatures is None:
        return np.multiply.accumulate(confidence, axis=1)
    if len(temperatures) != confidence.shape[1]:
        raise ValueError(f"temperatures={temperatures}: {confidence.shape[1]} places need as many")
    scaled = np.stack([soften(confidence[:, k], t) for k, t in enumerate(temperatures)], axis=1)
    return np.multiply.accumulate(scaled, axis=1)
