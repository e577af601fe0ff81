"""Grids on a Gaussian, steps, rounding noise and clips against scipy's quadrature, samples and enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from mechanisms.error_budget import Scheme, restored
from mechanisms.quant_blocks import GRIDS, block_error, block_errors
from mechanisms.quant_clip import best_clip_ratio, clip_error
from mechanisms.quant_gaussian import best_clip, cell_errors, gaussian_error, levels_of
from mechanisms.quant_noise import LAWS, STEPS, noise, on_a_grid, true_error
from mechanisms.quant_presets import LAST_VALUES, widget
from mechanisms.quant_steps import CONVENTIONS, Convention, outlier_step, variance_factor
from tests.oracle_quant import SEEDED, VECTORS

FROZEN = {"uniform": stats.uniform(-(3**0.5), 2 * 3**0.5), "gaussian": stats.norm(),
          "laplace": stats.laplace(0, 0.5**0.5), "student": stats.t(3, scale=3**-0.5)}  # fmt: skip


def quadrature(levels: list[float]) -> float:
    """∫ min_y (x − y)² φ(x) dx by scipy."""
    return sum(cells(levels))


def cells(levels: list[float]) -> list[float]:
    """The same integral, cell by cell."""
    edges = [-np.inf, *((a + b) / 2 for a, b in pairwise(levels)), np.inf]
    return [
        integrate.quad(lambda x, y=y: (x - y) ** 2 * stats.norm.pdf(x), a, b, epsabs=1e-14)[0]
        for y, a, b in zip(levels, edges, edges[1:], strict=False)
    ]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("reach", "bits"), [(1, 2), (3, 3), (10, 4), (15, 4)])
def test_gaussian_error_equals_quadrature(convention: Convention, reach: int, bits: int) -> None:
    """The closed form over the cells equals scipy's integral, in 50 digits and in float64; 1e-10 is quad's claim."""
    levels = levels_of(Fraction(reach), bits, convention)
    wanted = quadrature([float(y) for y in levels])
    table = gaussian_error(levels)
    assert float(table.value(0, "gaussian_error")) == pytest.approx(wanted, abs=1e-10)  # type: ignore[arg-type]
    assert float(cell_errors(np.array([float(y) for y in levels]))) == pytest.approx(wanted, abs=1e-10)
    assert float(table.value(0, "gaussian_rms")) ** 2 == pytest.approx(wanted, abs=1e-10)  # type: ignore[arg-type]
    assert len(levels) == {"symmetric": 2**bits - 1, "levels": 2**bits, "cells": 2**bits}[convention]
    assert sum(levels) == 0
    assert table.over is not None
    parts = [float(x) for x in table.over.column("cell_error")]  # type: ignore[arg-type]
    np.testing.assert_allclose(parts, cells([float(y) for y in levels]), atol=1e-10)


def test_one_level_has_the_variance() -> None:
    """A grid of the single level 0 leaves the whole variance; unordered levels are errors."""
    assert gaussian_error([Fraction(0)]).value(0, "gaussian_error") == 1
    for levels in ([], [Fraction(1), Fraction(0)], [Fraction(1), Fraction(1)]):
        with pytest.raises(ValueError, match="levels"):
            gaussian_error(levels)


@pytest.mark.parametrize(
    ("bits", "published"), [(2, 0.1188), (3, 0.03744), (4, 0.01154), (5, 0.003495)], ids=["b2", "b3", "b4", "b5"]
)
def test_best_equal_steps_equal_max_1960(bits: int, published: float) -> None:
    """The least errors of 4, 8, 16 and 32 equal steps on a Gaussian are those of Max 1960, table II, to its digits.

    As commonly quoted; the paper itself was not opened.
    """
    least = float(best_clip(bits, "cells").value(0, "least_error"))  # type: ignore[arg-type]
    assert least == pytest.approx(published, rel=1e-3)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_best_clip_is_where_the_slope_is_zero(convention: Convention) -> None:
    """scipy's root finder on a numerical derivative of the quadrature finds the same clip, to 1e-5."""
    unit = np.array([float(y) for y in levels_of(Fraction(1), 4, convention)])

    def slope(c: float) -> float:
        return quadrature(list((c + 1e-4) * unit)) - quadrature(list((c - 1e-4) * unit))

    root = optimize.brentq(slope, 2.0, 3.5, xtol=1e-7)
    assert float(best_clip(4, convention).value(0, "best_clip")) == pytest.approx(root, abs=1e-5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bits"):
        best_clip(9, convention)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_steps_are_counted_on_the_levels(convention: Convention) -> None:
    """The step is the distance of neighbouring levels, and Δ/√12 the deviation of a uniform law of that width."""
    for bits in (2, 4, 8):
        table, levels = outlier_step(Fraction(10), bits, convention), levels_of(Fraction(10), bits, convention)
        step = table.value(0, "step")
        assert {b - a for a, b in pairwise(levels)} == {step}
        deviation = float(table.value(0, "rounding_deviation"))  # type: ignore[arg-type]
        assert deviation == pytest.approx(stats.uniform(0, float(step)).std(), rel=1e-12)  # type: ignore[arg-type]
    factor = variance_factor(8, 4, convention).value(0, "variance_factor")
    wide, narrow = (outlier_step(Fraction(10), b, convention).value(0, "rounding_variance") for b in (4, 8))
    assert factor == wide / narrow  # type: ignore[operator]
    for call in (lambda: outlier_step(Fraction(0), 4, convention), lambda: variance_factor(4, 8, convention)):
        with pytest.raises(ValueError, match="bits"):
            call()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
def test_true_error_equals_quadrature(law: object) -> None:
    """The series equals the integral of the squared sawtooth against scipy's density; 1e-6 is the tail cut at 500 σ."""
    density = FROZEN[law.id]  # type: ignore[attr-defined]
    for step in (Fraction(1, 2), Fraction(2), Fraction(4)):
        size = float(step)

        def integrand(t: float, size: float = size) -> float:
            ks = np.arange(-int(500 / size), int(500 / size) + 1)
            return t**2 * float(np.sum(density.pdf(t + ks * size)))

        reach = [r for r in (3**0.5 % size, -(3**0.5) % size - size) if abs(r) < size / 2] + [0.0]
        points = sorted({p - size if p > size / 2 else p for p in reach})
        wanted = integrate.quad(integrand, -size / 2, size / 2, points=points, limit=400)[0]
        assert float(true_error(law, step)) == pytest.approx(wanted, abs=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
def test_samples_agree_with_the_true_error(law: object) -> None:
    """A seeded sample lies within five standard errors of the series at every step: false alarm 6e-7 for each."""
    table = noise(law, 40_000, np.random.default_rng(11))  # type: ignore[arg-type]
    for row in range(len(STEPS)):
        true, found, spread = (float(table.value(row, n)) for n in ("true_error", "measured_error", "standard_error"))  # type: ignore[arg-type]
        assert abs(true - found) <= 5 * spread
    again = noise(law, 40_000, np.random.default_rng(11))  # type: ignore[arg-type]
    assert again.cells == table.cells


def test_law_holds_for_fine_steps_and_fails_for_coarse_ones() -> None:
    """A Gaussian obeys Δ²/12 to 1e-8 up to Δ = σ and not at 4σ; a uniform law obeys it where Δ divides its range."""
    ratios = dict(zip(STEPS, noise(LAWS[1], 100, np.random.default_rng(0)).column("error_ratio"), strict=True))
    assert abs(float(ratios[Fraction(1)]) - 1) < 1e-8 and float(ratios[Fraction(4)]) < 0.7  # type: ignore[arg-type]
    assert float(ratios[Fraction(8)]) == pytest.approx(12 / 64, abs=1e-3)  # type: ignore[arg-type]
    whole = Fraction(2 * 3**0.5)  # twice √3 in binary64: one cell holds the whole law
    assert float(true_error(LAWS[0], whole)) == pytest.approx(1, abs=1e-12)
    for call in (lambda: noise(LAWS[0], 1, np.random.default_rng(0)), lambda: true_error(LAWS[0], Fraction(0))):
        with pytest.raises(ValueError):
            call()


def test_values_on_a_grid_break_the_law() -> None:
    """Integers have no error at step 1 and 1/2 at step 2, where the law says 1/12 and 1/3; by enumeration at step 6."""
    assert on_a_grid(Fraction(1), Fraction(1))[0] == on_a_grid(Fraction(2), Fraction(1))[0] == 0
    squares = [(x - 6 * round(Fraction(x, 6))) ** 2 for x in range(600)]
    assert on_a_grid(Fraction(1), Fraction(6))[0] == Fraction(sum(squares), 600)
    with pytest.raises(ValueError, match="multiple"):
        on_a_grid(Fraction(2), Fraction(3))


@SEEDED
@given(VECTORS.filter(any), st.integers(2, 4))
def test_best_clip_beats_every_trial(values: list[Fraction], bits: int) -> None:
    """No clip ratio of a fine sweep has a smaller error than the exact optimum; ratio 1 is among them."""
    best = best_clip_ratio(values, bits)
    assert 0 < best <= 1
    least = clip_error(values, bits, best)
    assert all(clip_error(values, bits, Fraction(i, 60)) >= least for i in range(1, 61))


def test_clip_error_is_the_map_it_clips() -> None:
    """The error is that of the clipped scheme; on the slider vector clipping pays for some last values only."""
    for last in LAST_VALUES:
        values = widget(last)
        back = restored(values, Scheme(clip_ratio=Fraction(3, 4)))
        wanted = sum((y - x) ** 2 for x, y in zip(values, back, strict=True)) / 8
        assert clip_error(values, 4, Fraction(3, 4)) == wanted
    assert best_clip_ratio(widget("1.6"), 4) == Fraction(417, 440) and best_clip_ratio(widget("12.8"), 4) == 1
    with pytest.raises(ValueError, match="zero"):
        best_clip_ratio([Fraction(0)], 4)


@pytest.mark.parametrize("grid", GRIDS, ids=[g.id for g in GRIDS])
def test_block_errors_equal_a_sample(grid: object) -> None:
    """40,000 seeded blocks of 64 Gaussians lie within five standard errors of the integral: false alarm 6e-7."""
    rng = np.random.default_rng(3)
    means = []
    for _ in range(8):
        x = rng.standard_normal((5_000, 64))
        if grid.levels is None:  # type: ignore[attr-defined]
            low, high = x.min(1, keepdims=True), x.max(1, keepdims=True)
            back = low + (high - low) / 15 * np.rint((x - low) / ((high - low) / 15))
        else:
            levels = np.array([float(y) for y in grid.levels])  # type: ignore[attr-defined]
            peak = np.abs(x).max(1, keepdims=True)
            middles = (levels[1:] + levels[:-1]) / 2
            back = peak * levels[np.searchsorted(middles, x / peak)]
        means.append(((back - x) ** 2).mean(1))
    sample = np.concatenate(means)
    assert abs(sample.mean() - block_error(grid)) < 5 * sample.std() / len(sample) ** 0.5  # type: ignore[arg-type]


def test_block_integrals_have_converged() -> None:
    """Twice the nodes change nothing beyond 1e-12; the claim of 30 % holds against no grid, and fails the other way."""
    for grid in GRIDS:
        assert block_error(grid, nodes=160) == pytest.approx(block_error(grid, nodes=300), abs=1e-12)
    lower = block_errors().column("nf4_lower")
    assert [round(float(x), 1) for x in lower] == [0.0, 26.9, 16.1, 14.1, -5.3]  # type: ignore[arg-type]
    for grid, block in ((GRIDS[0], 1), (GRIDS[4], 2)):
        with pytest.raises(ValueError, match="block"):
            block_error(grid, block)
