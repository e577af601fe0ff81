"""Three ways to count the steps of a b-bit grid, and what each makes of one outlier and of one bit less.

Teaches: that "the step of INT4" has no value until somebody says how many steps lie in the range: 14, 15 or 16.
Leaves out: where the levels lie; that decides the error of a clipped value (`quant_gaussian.levels_of`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, get_args

import sympy as sp

from mechanisms.error_budget import BITS, TOPIC, b, less_one
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.quant_steps"
Convention = Literal["symmetric", "levels", "cells"]  # 2·qmax, 2^b − 1 and 2^b steps over the range
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)


def _steps(width: Any, convention: Convention) -> Any:
    """The number of steps as a formula in the width."""
    if convention == "symmetric":
        return sp.Mul(2, less_one(sp.Add(width, -1, evaluate=False)), evaluate=False)
    return less_one(width) if convention == "levels" else 2**width


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


LARGEST = given(_id("largest_weight"), "k", "chosen", unit="σ", index="")
STEPS: dict[Convention, Quantity] = {
    c: Quantity(_id("steps"), "N", "derived", _steps(b, c), index="", counts=True) for c in CONVENTIONS
}
STEP = Quantity(_id("step"), r"\Delta", "derived", 2 * LARGEST.sym / STEPS["levels"].sym, unit="σ", index="")
VARIANCE = Quantity(_id("rounding_variance"), r"\sigma_e^2", "bennett1948", STEP.sym**2 / 12, unit="σ²", index="")
DEVIATION = Quantity(
    _id("rounding_deviation"), r"\sigma_e", "bennett1948", sp.sqrt(VARIANCE.sym, evaluate=False), unit="σ", index="",
    kind="float",
)  # fmt: skip
OTHER_BITS = given(_id("fewer_bits"), "b'", "chosen", unit="bit", index="", counts=True)
OTHER_STEPS: dict[Convention, Quantity] = {
    c: Quantity(_id("fewer_steps"), "N'", "derived", _steps(OTHER_BITS.sym, c), index="", counts=True)
    for c in CONVENTIONS
}
FACTOR = Quantity(
    _id("variance_factor"), "F", "derived", (STEPS["levels"].sym / OTHER_STEPS["levels"].sym) ** 2, unit="×", index=""
)


def outlier_step(largest: Fraction, bits: int, convention: Convention) -> Table:
    """The step that one weight of k σ forces on its group, and the deviation Δ/√12 that a uniform error would have.

    Δ = 2k/N. largest: k > 0 in σ; bits: at least 2.

    >>> [str(outlier_step(Fraction(15), 4, c).value(0, "step")) for c in CONVENTIONS]
    ['15/7', '2', '15/8']

    Source: derived; the law Δ²/12 is bennett1948's, see `quant_noise` for where it fails.
    """
    if largest <= 0 or bits < 2:
        raise ValueError(f"largest={largest}, bits={bits}: must be positive and at least 2")
    row = {BITS.name: (Fraction(bits),), LARGEST.name: (largest,)}
    columns = (BITS, LARGEST, STEPS[convention], STEP, VARIANCE, DEVIATION)
    return tabulate(_id("outlier_step"), columns, (convention,), row, function=f"{_MODULE}.outlier_step")


def variance_factor(bits: int, fewer: int, convention: Convention) -> Table:
    """How many times larger Δ²/12 becomes over the same range with fewer bits: F = (N/N')².

    bits ≥ fewer ≥ 2.

    >>> [str(variance_factor(8, 4, c).value(0, "variance_factor")) for c in CONVENTIONS]
    ['16129/49', '289', '256']

    Source: derived.
    """
    if not 2 <= fewer <= bits:
        raise ValueError(f"bits={bits}, fewer={fewer}: bits ≥ fewer ≥ 2 is needed")
    row = {BITS.name: (Fraction(bits),), OTHER_BITS.name: (Fraction(fewer),)}
    columns = (BITS, OTHER_BITS, STEPS[convention], OTHER_STEPS[convention], FACTOR)
    return tabulate(_id("variance_factor"), columns, (convention,), row, function=f"{_MODULE}.variance_factor")
