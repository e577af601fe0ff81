"""Three figures for a list of predictions and outcomes, and the bins behind the first of them.

Teaches: the expected calibration error depends on its bins; the Brier score does not; the area under the ROC curve sees
the order only. Predictions are those of the *whole prefix*: products of confidences. Leaves out: intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mechanisms.drafter_rounds import Flags, Floats

BINS = 20


def bin_of(prediction: Floats) -> npt.NDArray[np.int64]:
    """Equal width, closed on the left; 1 belongs to the last. Source: deepspec eval/dspark/confidence_head.py."""
    return np.minimum((prediction * BINS).astype(np.int64), BINS - 1)


@dataclass(frozen=True, slots=True)
class Bins:
    """Per bin: how many predictions, their sum, and how many outcomes were 1."""

    count: npt.NDArray[np.int64]
    predicted: Floats
    happened: npt.NDArray[np.int64]


def bins(prediction: Floats, outcome: Flags) -> Bins:
    """prediction: (N,) in [0, 1]; outcome: (N,).

    >>> bins(np.array([0.97, 1.0]), np.array([True, False])).count[-1]
    np.int64(2)

    Source: dspark2026, §4 (as the released evaluator bins).
    """
    index = bin_of(prediction)
    return Bins(
        np.bincount(index, minlength=BINS),
        np.asarray(np.bincount(index, weights=prediction, minlength=BINS), dtype=np.float64),
        np.bincount(index[outcome], minlength=BINS),
    )


def calibration_error(prediction: Floats, outcome: Flags) -> float:
    """ECE = Σ_b n_b/N |mean prediction − share of outcomes| = Σ_b |S_b − Y_b| / N.

    >>> round(calibration_error(np.array([0.9, 0.9]), np.array([True, False])), 12)
    0.4

    Source: guo2017, §2, Eq. 3, with the prediction itself instead of the confidence of a class.
    """
    found = bins(prediction, outcome)
    return float(np.abs(found.predicted - found.happened).sum() / len(prediction))


def brier(prediction: Floats, outcome: Flags) -> float:
    """Mean of (prediction − outcome)².

    >>> brier(np.array([0.5, 1.0]), np.array([True, True]))
    0.125

    Source: brier1950.
    """
    return float(np.mean((prediction - outcome) ** 2))


def area_under_curve(prediction: Floats, outcome: Flags) -> Fraction | None:
    """Share of pairs (one that passed, one that did not) in which the former got the higher prediction; a tie counts
    half. Exact; None where all outcomes are equal.

    >>> area_under_curve(np.array([0.2, 0.5, 0.5]), np.array([False, True, False]))
    Fraction(3, 4)

    Source: hanley1982.
    """
    _, place = np.unique(prediction, return_inverse=True)
    good, bad = np.bincount(place[outcome], minlength=1), np.bincount(place[~outcome], minlength=1)
    size = max(len(good), len(bad))
    good, bad = np.pad(good, (0, size - len(good))), np.pad(bad, (0, size - len(bad)))
    pairs = int(good.sum()) * int(bad.sum())
    if not pairs:
        return None
    below = np.cumsum(bad) - bad
    return Fraction(int((good * (2 * below + bad)).sum()), 2 * pairs)


def swapped(before: Floats, after: Floats) -> Fraction | None:
    """Share of pairs of rounds whose order the calibration turns around; pairs level before or after do not count as
    turned. None for fewer than two rounds.

    >>> swapped(np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.3, 0.2]))
    Fraction(1, 3)

    Source: derived.
    """
    n = len(before)
    if n < 2:
        return None
    first = np.sign(before[:, None] - before[None, :]).astype(np.int8)
    second = np.sign(after[:, None] - after[None, :]).astype(np.int8)
    return Fraction(int((first * second < 0).sum()) // 2, n * (n - 1) // 2)
