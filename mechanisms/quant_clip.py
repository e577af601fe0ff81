"""Clip search on one vector: the error as a function of the clip, and its exact minimum.

Teaches: that giving up the largest value a little can make all others finer. For fixed codes the error is a parabola
in the scale, so the best scale is found exactly, without a grid of trials. Leaves out: Gaussians (`quant_gaussian`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import sympy as sp

from mechanisms.error_budget import TOPIC, Scheme, quantize
from mechanisms.quant_lab import scale_of
from mechanisms.quant_summary import errors
from mechanisms.quantity import Quantity, as_fraction, given
from mechanisms.table import Table, tabulate

TRIAL = given(f"{TOPIC}.clip_ratio", "c", "chosen")
FULL = given(f"{TOPIC}.full_scale", "s_1", "derived", index="")
TRIED = Quantity(f"{TOPIC}.scale", "s", "derived", sp.Mul(TRIAL.sym, FULL.sym, evaluate=False))
CURVE_MSE = Quantity(f"{TOPIC}.mean_squared_error", r"\mathrm{MSE}", "derived")
CURVE_RMSE = Quantity(
    f"{TOPIC}.root_mean_squared_error", r"\mathrm{RMSE}", "derived", sp.sqrt(CURVE_MSE.sym, evaluate=False),
    kind="float",
)  # fmt: skip
CLIP_COLUMNS = (TRIAL, FULL, TRIED, CURVE_MSE, CURVE_RMSE)
CLIPS = tuple(Fraction(i, 20) for i in range(4, 21))


def clip_error(values: Sequence[Fraction], bits: int, ratio: Fraction) -> Fraction:
    """MSE of the symmetric map whose scale is cut to `ratio` of the max-abs scale.

    >>> clip_error([Fraction(-1), Fraction("0.29")], 4, Fraction(1)) == (Fraction("0.29") - Fraction(2, 7)) ** 2 / 2
    True

    Source: derived.
    """
    cell = errors(quantize(values, Scheme(bits=bits, clip_ratio=ratio))).value(0, "mean_squared_error")
    assert cell is not None
    return as_fraction(cell)


def best_clip_ratio(values: Sequence[Fraction], bits: int) -> Fraction:
    """The clip ratio in (0, 1] with the least MSE, exact; the largest one where several tie.

    Between two scales at which a code changes, MSE(s) = Σ(x − s·q)²/n with fixed q, least at s = Σxq/Σq² or at an end.
    values: not all zero.

    >>> best_clip_ratio([Fraction(1), Fraction(3, 7)], 4)
    Fraction(1, 1)

    Source: derived.
    """
    full = scale_of(values, Scheme(bits=bits))
    if not full:
        raise ValueError("values: all are zero, so no clip changes anything")
    limit = 2 ** (bits - 1) - 1
    # a code changes where |x|/s crosses k + 1/2; below the least such scale every nonzero value is clipped
    edges = {abs(x) / (k + Fraction(1, 2)) for x in values if x for k in range(limit)} | {full}
    inside = sorted(edge for edge in edges if edge <= full)
    candidates = {full, *inside}
    for low, high in pairwise([Fraction(0), *inside]):
        middle = (low + high) / 2
        codes = [max(-limit, min(limit, round(x / middle))) for x in values]
        weight = sum(code * code for code in codes)
        if weight:
            best = sum((x * code for x, code in zip(values, codes, strict=True)), Fraction(0)) / weight
            candidates.add(max(low, min(high, best)))
    return max((c for c in candidates if c), key=lambda s: (-_squares(values, s, limit), s)) / full


def _squares(values: Sequence[Fraction], scale: Fraction, limit: int) -> Fraction:
    codes = (max(-limit, min(limit, round(x / scale))) for x in values)
    return sum(((x - scale * code) ** 2 for x, code in zip(values, codes, strict=True)), Fraction(0))


def clip_curve(values: Sequence[Fraction], bits: int) -> Table:
    """MSE for clip ratios 0.2 … 1 and for the exact best one, which is the first row. values: not all zero.

    >>> clip_curve([Fraction(1), Fraction(3, 7)], 4).rows[0]
    'best'

    Source: derived.
    """
    ratios = (best_clip_ratio(values, bits), *CLIPS)
    columns = {
        TRIAL.name: ratios,
        FULL.name: (scale_of(values, Scheme(bits=bits)),) * len(ratios),
        CURVE_MSE.name: tuple(clip_error(values, bits, c) for c in ratios),
    }
    names = ("best", *(f"{float(c):.2f}" for c in CLIPS))
    return tabulate(f"{TOPIC}.clip_curve", CLIP_COLUMNS, names, columns, function="mechanisms.quant_clip.clip_curve")
