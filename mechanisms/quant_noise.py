"""The law Δ²/12 of rounding errors: where it holds, the exact error where it does not, and samples beside both.

Teaches: that Δ²/12 is the error of a value that is spread evenly over its cell. A smooth law comes close while Δ is
below about twice its deviation and is far off beyond; values on a grid break it at every Δ. Leaves out: clipping, which
an unbounded grid does not have (`quant_gaussian` has both).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.error_budget import TOPIC
from mechanisms.expression import REAL, Real, real
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.quant_noise"


@dataclass(frozen=True, slots=True)
class Law:
    """A symmetric law of deviation 1: its characteristic function at a positive real, and how to draw from it."""

    id: str
    transform: Callable[[Real], Real]
    draw: Callable[[np.random.Generator, int], np.ndarray]


def _uniform(t: Real) -> Real:
    edge = REAL.sqrt(3) * t
    return REAL.sin(edge) / edge


LAWS: tuple[Law, ...] = (
    Law("uniform", _uniform, lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n)),
    Law("gaussian", lambda t: REAL.exp(-(t**2) / 2), lambda rng, n: rng.standard_normal(n)),
    Law("laplace", lambda t: 1 / (1 + t**2 / 2), lambda rng, n: rng.laplace(0, np.sqrt(0.5), n)),
    # Student's law with three degrees of freedom over √3: no fourth moment, the heavy tail
    Law("student", lambda t: (1 + t) * REAL.exp(-t), lambda rng, n: rng.standard_t(3, n) / np.sqrt(3)),
)
STEP = given(f"{TOPIC}.step", r"\Delta", "chosen", unit="σ")
DRAWS = given(f"{TOPIC}.draws", "N", "chosen", unit="draw", index="", counts=True)
PREDICTED = Quantity(f"{TOPIC}.predicted_variance", r"\sigma_e^2", "bennett1948", STEP.sym**2 / 12, unit="σ²")
TRUE = Quantity(f"{TOPIC}.true_error", r"\mathrm{E}[e^2]", "widrow2008", unit="σ²", kind="float")
RATIO = Quantity(f"{TOPIC}.error_ratio", "r", "derived", TRUE.sym / PREDICTED.sym, kind="float")
MEASURED = Quantity(f"{TOPIC}.measured_error", r"\overline{e^2}", "derived", unit="σ²", kind="simulated")
SPREAD = Quantity(f"{TOPIC}.standard_error", r"\mathrm{se}", "derived", unit="σ²", kind="simulated")
COLUMNS = (STEP, DRAWS, PREDICTED, TRUE, RATIO, MEASURED, SPREAD)
STEPS = tuple(map(Fraction, ("1/4", "1/2", "1", "2", "3", "4", "8")))


def true_error(law: Law, step: Fraction) -> Real:
    """E[(x − Δ·round(x/Δ))²] of a law with characteristic function φ, to 20 digits or more.

    Δ²/12 + (Δ²/π²)·Σ_{k≥1} (−1)^k·φ(2πk/Δ)/k²: the second term is what Δ²/12 leaves out.

    >>> [round(float(true_error(LAWS[1], Fraction(d)) / (Fraction(d) ** 2 / 12)), 4) for d in (1, 4)]
    [1.0, 0.6481]

    Source: widrow2008; derived from the Fourier series of the squared sawtooth.
    """
    if step <= 0:
        raise ValueError(f"step={step}: must be positive")
    size = real(step)
    if law.id == "uniform":
        return _uniform_error(size)
    omega = 2 * REAL.pi / size
    series = REAL.nsum(lambda k: (-1) ** int(k) * law.transform(omega * k) / k**2, [1, REAL.inf])
    return size**2 / 12 + size**2 / REAL.pi**2 * series


def _uniform_error(size: Real) -> Real:
    """∫ of the squared sawtooth over [0, √3]/√3: whole cells give Δ²/12 each, the rest is a cubic."""
    reach = REAL.sqrt(3)
    cells = REAL.floor(reach / size + REAL.mpf(1) / 2)
    rest = reach - cells * size  # from −Δ/2 to Δ/2, measured from the last level
    whole = (cells * size) * size**2 / 12  # half a cell at 0, whole cells, and half a cell before the last level
    return (whole + rest**3 / 3) / reach


def noise(law: Law, draws: int, rng: np.random.Generator, steps: Sequence[Fraction] = STEPS) -> Table:
    """Predicted, true and measured squared error for several steps on one sample.

    draws: at least 2. Source: bennett1948 for the prediction; the sample is ours.
    """
    if draws < 2:
        raise ValueError(f"draws={draws}: at least 2 are needed for a standard error")
    x = law.draw(rng, draws)
    squares = [(x - float(d) * np.rint(x / float(d))) ** 2 for d in steps]
    columns = {
        STEP.name: tuple(steps),
        DRAWS.name: (Fraction(draws),) * len(steps),
        TRUE.name: tuple(true_error(law, d) for d in steps),
        MEASURED.name: tuple(REAL.mpf(float(s.mean())) for s in squares),
        SPREAD.name: tuple(REAL.mpf(float(s.std(ddof=1) / np.sqrt(draws))) for s in squares),
    }
    names = [f"{d} σ" for d in steps]
    return tabulate(f"{TOPIC}.noise", COLUMNS, names, columns, function=f"{_MODULE}.noise")


def on_a_grid(unit: Fraction, step: Fraction) -> tuple[Fraction, Fraction]:
    """True mean square error and Δ²/12 where every value is a multiple of `unit` and all places in a cell are equally
    frequent: 0 where the step divides into the unit, as when an INT4 tensor is quantized again on its own grid.

    step/unit or unit/step: a whole number.

    >>> on_a_grid(Fraction(1), Fraction(1)), on_a_grid(Fraction(1), Fraction(2))
    ((Fraction(0, 1), Fraction(1, 12)), (Fraction(1, 2), Fraction(1, 3)))

    Source: derived, by enumerating one period.
    """
    if unit <= 0 or step <= 0 or 1 not in ((step / unit).denominator, (unit / step).denominator):
        raise ValueError(f"unit={unit}, step={step}: must be positive, one a multiple of the other")
    count = max(1, int(step / unit))
    places = [Fraction(i) * unit for i in range(count)]
    squares = [(x - step * round(x / step)) ** 2 for x in places]
    return sum(squares, Fraction(0)) / count, step**2 / 12
