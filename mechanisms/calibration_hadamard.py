"""Hadamard rotation: spread a large coordinate over all of them without changing any product.

Teaches: that (W D H)(H D x) = W x for signs D and an orthonormal H, that a lone outlier M becomes M/√d everywhere, and
that the largest of d rotated coordinates lies a few standard deviations above that: the rotation of a constant vector
even puts all of it into one coordinate, which random signs prevent. Leaves out: dimensions that are no power of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from mechanisms.calibration_layer import Floats
from mechanisms.expression import REAL
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

TOPIC = "calibration"
_FUNCTION = "mechanisms.calibration_hadamard.peak_table"
OUTLIER_AT = 7
CHUNK = 250
MAX_DRAWS = 100_000


def _one(name: str, tex: str, source: str, expression: Any = None, **more: Any) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, index="", **more)


ROOT = given(f"{TOPIC}.root_dimension", r"\sqrt{d}", "chosen", index="", counts=True)
OUTLIER = given(f"{TOPIC}.outlier", "M", "chosen", index="", counts=True)
DIMENSION = _one("dimension", "d", "derived", ROOT.sym**2, counts=True)
ALONE = _one("peak_alone", r"m_0", "derived", OUTLIER.sym / ROOT.sym)
SIGMA = _one("peak_plus_one", r"m_1", "derived", ALONE.sym + 1)
ONES = _one("peak_of_ones", r"m_H", "derived", ROOT.sym + (OUTLIER.sym - 1) / ROOT.sym)
SIGNED = _one("peak_with_signs", r"\bar m", "derived", kind="simulated")
ERROR = _one("standard_error", r"\operatorname{se}(\bar m)", "derived", kind="simulated")
LEAST = _one("smallest_draw", r"\min m", "derived", kind="simulated")
GAIN_ALONE = _one("gain_alone", r"M/m_0", "derived", OUTLIER.sym / ALONE.sym)
GAIN_SIGMA = _one("gain_plus_one", r"M/m_1", "derived", OUTLIER.sym / SIGMA.sym)
GAIN_ONES = _one("gain_of_ones", r"M/m_H", "derived", OUTLIER.sym / ONES.sym)
GAIN_SIGNED = _one("gain_with_signs", r"M/\bar m", "derived", OUTLIER.sym / SIGNED.sym, kind="simulated")
COLUMNS = (
    ROOT, OUTLIER, DIMENSION, ALONE, SIGMA, ONES, GAIN_ALONE, GAIN_SIGMA, GAIN_ONES, SIGNED, ERROR, LEAST, GAIN_SIGNED,
)  # fmt: skip


def transform(x: Floats) -> Floats:
    """x H for the ±1 Sylvester matrix H, along the last axis, in d log d additions. x: (…, d), d a power of two.

    >>> transform(np.array([3.0, 1.0])).tolist()
    [4.0, 2.0]

    Source: fino1976.
    """
    d = x.shape[-1]
    if d < 1 or d & (d - 1):
        raise ValueError(f"the last axis has {d} entries: a power of two is needed")
    half, y = 1, np.array(x, dtype=np.float64)
    while half < d:
        pairs = y.reshape(*x.shape[:-1], d // (2 * half), 2, half)
        y = np.stack((pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]), axis=-2)
        half *= 2
    return y.reshape(x.shape)


def rotate(x: Floats) -> Floats:
    """`transform` divided by √d: orthonormal, and its own inverse. Source: ashkboos2024quarot, §3."""
    return transform(x) / np.sqrt(x.shape[-1])


def random_signs(d: int, rng: np.random.Generator) -> Floats:
    """(d,) independent ±1. Source: ashkboos2024quarot, §3 (randomized Hadamard matrix)."""
    return rng.choice(np.array([-1.0, 1.0]), size=d)


@dataclass(frozen=True, slots=True)
class Peaks:
    """max|rotated| over draws of random signs: mean, its standard error (n − 1) and the smallest draw. Sums of integers
    over √d; rational where √d is an integer, else the nearest float.
    """

    draws: int
    mean: Fraction
    standard_error: float
    smallest: Fraction


def signed_peaks(d: int, outlier: int, draws: int, *, rng: np.random.Generator) -> Peaks:
    """Rotate ±1 vectors with one entry of ±outlier, signs drawn anew each time. draws: 2 … 100,000.

    Every coordinate is an integer over √d. The outlier sits at index 7 (or the last one); where does not matter for
    the law. Source: derived; the experiment is described in tests/reference.
    """
    if not 2 <= draws <= MAX_DRAWS:
        raise ValueError(f"draws={draws}: must lie in 2 … {MAX_DRAWS}")
    peaks: list[Floats] = []
    for begin in range(0, draws, CHUNK):
        x = rng.choice(np.array([-1.0, 1.0]), size=(min(CHUNK, draws - begin), d))
        x[:, min(OUTLIER_AT, d - 1)] *= outlier
        peaks.append(np.abs(transform(x)).max(axis=-1))
    found = np.concatenate(peaks)
    root = Fraction(isqrt(d)) if isqrt(d) ** 2 == d else Fraction(float(np.sqrt(d)))
    error = float(found.std(ddof=1) / np.sqrt(draws * d))
    return Peaks(draws, Fraction(int(found.sum()), draws) / root, error, Fraction(int(found.min())) / root)


def peak_table(d: int, outlier: int, peaks: Peaks, name: str = "") -> Table:
    """The largest coordinate after rotating (M, 1, …, 1), four ways, and by how much it is below M. d: a power of four.

    m₀ = M/√d for the outlier alone, m₁ = m₀ + 1 as a rule of thumb that adds one standard deviation, m_H with literal
    ones and no signs, and the simulated mean with random signs. √d is an integer here, so the first three are exact.

    >>> none = Peaks(2, Fraction(1), 0.0, Fraction(1))
    >>> peak_table(1024, 500, none).value(0, "peak_of_ones")
    Fraction(1523, 32)

    Source: derived; ashkboos2024quarot for the use.
    """
    root = isqrt(d)
    if root * root != d or d & (d - 1):
        raise ValueError(f"d={d}: must be a power of four")
    row = {
        ROOT.name: (Fraction(root),), OUTLIER.name: (Fraction(outlier),), SIGNED.name: (peaks.mean,),
        ERROR.name: (REAL.mpf(peaks.standard_error),), LEAST.name: (peaks.smallest,),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.hadamard", COLUMNS, (name,), row, function=_FUNCTION)
