"""The mean squared error of a grid on a unit Gaussian, by integrals that have a closed form.

Teaches: that the error of a codebook is a sum over its cells, and that its best clip is where rounding and clipping
balance. Leaves out: samples (`quant_noise` draws them) and blocks scaled by their own maximum (`quant_blocks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from mechanisms.error_budget import TOPIC
from mechanisms.expression import REAL, Real, real, total
from mechanisms.quant_steps import Convention
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.quant_gaussian"
Floats = NDArray[np.float64]


class NormalMass(sp.Function):
    """Φ, the distribution function of the unit Gaussian; only written here, its values are computed below."""

    nargs = (1,)

    def _latex(self, printer: Any) -> str:
        return rf"\Phi\left({printer._print(self.args[0])}\right)"


class NormalDensity(sp.Function):
    """φ, the density of the unit Gaussian; only written here."""

    nargs = (1,)

    def _latex(self, printer: Any) -> str:
        return rf"\varphi\left({printer._print(self.args[0])}\right)"


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


LEVEL = given(_id("level"), "y", "chosen", unit="σ")
LOW = Quantity(_id("cell_low"), "a", "derived", unit="σ")
HIGH = Quantity(_id("cell_high"), r"a'", "derived", unit="σ")
_y, _low, _high = (signed(c.name) for c in (LEVEL, LOW, HIGH))
_mass: Any = NormalMass
_density: Any = NormalDensity
PART = Quantity(
    _id("cell_error"), r"\epsilon", "derived",
    (1 + _y**2) * (_mass(_high) - _mass(_low)) + 2 * _y * (_density(_high) - _density(_low))
    + _low * _density(_low) - _high * _density(_high),
    unit="σ²", kind="float",
)  # fmt: skip
GAUSS_MSE = Quantity(
    _id("gaussian_error"), r"\mathrm{MSE}", "derived", total(PART.sym), unit="σ²", index="", kind="float"
)
GAUSS_RMS = Quantity(
    _id("gaussian_rms"), r"\mathrm{RMS}", "derived", sp.sqrt(GAUSS_MSE.sym, evaluate=False), unit="σ", index="",
    kind="float",
)  # fmt: skip
BEST_CLIP = Quantity(_id("best_clip"), r"c^{*}", "derived", unit="σ", index="", kind="float")
LEAST = Quantity(_id("least_error"), r"\mathrm{MSE}(c^{*})", "derived", unit="σ²", index="", kind="float")


def levels_of(reach: Fraction, bits: int, convention: Convention) -> tuple[Fraction, ...]:
    """Levels of a grid over [−reach, reach]: `cells` puts them in the middle of 2^b equal cells, the other two at both
    ends of N equal steps.

    >>> [str(y) for y in levels_of(Fraction(1), 2, "cells")]
    ['-3/4', '-1/4', '1/4', '3/4']

    Source: derived.
    """
    if convention == "cells":
        return tuple(reach * Fraction(2 * i + 1 - 2**bits, 2**bits) for i in range(2**bits))
    steps = 2**bits - (2 if convention == "symmetric" else 1)
    return tuple(reach * Fraction(2 * i - steps, steps) for i in range(steps + 1))


def gaussian_error(levels: Sequence[Fraction], name: str = "") -> Table:
    """MSE and RMS of a unit Gaussian on a codebook whose outer cells reach to infinity, to 50 digits.

    MSE = Σ_y ∫ (x − y)² φ(x) dx over the cell of y; the cells end halfway between neighbours. levels: ascending.

    >>> round(float(gaussian_error(levels_of(Fraction(10), 4, "levels")).value(0, "gaussian_rms")), 6)
    0.384904

    Source: derived; the error of a codebook as in max1960.
    """
    if not levels or list(levels) != sorted(set(levels)):
        raise ValueError(f"levels={[str(y) for y in levels]}: must be at least one, ascending and distinct")
    middles = [(a + b) / 2 for a, b in pairwise(levels)]
    low: list[Cell] = [-REAL.inf, *middles]
    high: list[Cell] = [*middles, REAL.inf]
    parts = [_part(*cell) for cell in zip(levels, low, high, strict=True)]
    over = tabulate(
        _id("cells"), (LEVEL, LOW, HIGH, PART), tuple(f"y{i}" for i in range(1, len(levels) + 1)),
        {LEVEL.name: levels, LOW.name: low, HIGH.name: high, PART.name: parts}, function=f"{_MODULE}.gaussian_error",
    )  # fmt: skip
    return tabulate(
        _id("gaussian"), (GAUSS_MSE, GAUSS_RMS), (name,), {}, function=f"{_MODULE}.gaussian_error", over=over
    )


def _part(y: Fraction, low: Any, high: Any) -> Real:
    """∫ (x − y)² φ(x) dx from low to high."""
    level, ends = real(y), []
    for edge in (low, high):
        x = real(edge) if isinstance(edge, Fraction) else edge
        density = REAL.npdf(x)
        ends.append((1 + level**2) * REAL.ncdf(x) + (2 * level - x) * density if REAL.isfinite(x) else (
            (1 + level**2) if x > 0 else REAL.mpf(0)))  # fmt: skip
    return ends[1] - ends[0]


def cell_errors(levels: Floats, low: Any = -np.inf, high: Any = np.inf) -> Any:
    """The same sum in float64 between `low` and `high`, which broadcast against levels: (…, L) → (…,).

    Source: derived; used where the optimum or an outer integral needs many of them.
    """
    low, high = np.asarray(low)[..., None], np.asarray(high)[..., None]
    middles = (levels[..., 1:] + levels[..., :-1]) / 2
    outer = np.full((*levels.shape[:-1], 1), np.inf)
    left = np.clip(np.concatenate([-outer, middles], axis=-1), low, high)
    right = np.clip(np.concatenate([middles, outer], axis=-1), low, high)
    return np.sum(_primitive(levels, right) - _primitive(levels, left), axis=-1)


def _primitive(y: Floats, x: Floats) -> Floats:
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    tail = np.where(np.isfinite(x), (2 * y - np.where(np.isfinite(x), x, 0)) * density, 0)
    return (1 + y**2) * ndtr(x) + tail


def best_clip(bits: int, convention: Convention) -> Table:
    """The clip of a grid on a unit Gaussian with the least MSE, and that MSE; double precision.

    c* = argmin_c E[(x − Q_c(x))²]. bits: 2 … 8.

    >>> [round(float(best_clip(4, c).value(0, "best_clip")), 4) for c in ("cells", "levels", "symmetric")]
    [2.6816, 2.514, 2.4739]

    Source: derived; max1960 tabulates the same problem for equal steps.
    """
    if not 2 <= bits <= 8:
        raise ValueError(f"bits={bits}: must be 2 … 8")
    unit = np.array([float(y) for y in levels_of(Fraction(1), bits, convention)])
    found = minimize_scalar(
        lambda c: float(cell_errors(c * unit)), bounds=(0.5, 8.0), method="bounded", options={"xatol": 1e-9}
    )
    row = {BEST_CLIP.name: (REAL.mpf(float(found.x)),), LEAST.name: (REAL.mpf(float(found.fun)),)}
    return tabulate(_id("best_clip"), (BEST_CLIP, LEAST), (convention,), row, function=f"{_MODULE}.best_clip")
