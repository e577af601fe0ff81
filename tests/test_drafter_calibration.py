"""The calibration against torchmetrics, scikit-learn and scipy, on simulated rounds and on what a reader types."""

from __future__ import annotations

import doctest
import importlib
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brute
from scipy.special import expit, logit
from scipy.stats import kendalltau, mannwhitneyu
from sklearn.metrics import brier_score_loss, roc_auc_score
from torchmetrics.functional.classification import binary_calibration_error

from mechanisms.drafter_calibration import (
    Result,
    bin_table,
    calibrate,
    calibrate_all,
    place_table,
    protocol,
    score_table,
)
from mechanisms.drafter_metrics import BINS, area_under_curve, bins, brier, calibration_error, swapped
from mechanisms.drafter_rounds import FACTORS, MOST, TEMPERS, InvalidPairs, Rounds, read_pairs, simulate
from mechanisms.drafter_scaling import GRID, fit, products, soften
from mechanisms.quantity import as_fraction
from tests.oracle_drafter_tex import agrees
from tests.oracle_rejection import SEEDED

MODULES = (
    "dspark_drafter", "drafter_toy", "drafter_walk", "drafter_pairs", "drafter_confidence", "drafter_order",
    "drafter_published", "drafter_rounds", "drafter_metrics", "drafter_scaling",
)  # fmt: skip
GRIDDED = st.integers(0, 1000).map(lambda n: n / 1000)
PAIRS = st.lists(st.tuples(GRIDDED, st.booleans()), min_size=2, max_size=60)


def rounds(temper: Any, count: int, seed: int = 1) -> Rounds:
    return simulate(temper, count, np.random.default_rng(seed))


def arrays(pairs: list[tuple[float, bool]]) -> tuple[Any, Any]:
    return np.array([a for a, _ in pairs]), np.array([y for _, y in pairs])


def ece(a: Any, y: Any) -> float:
    """torchmetrics in float64."""
    found = binary_calibration_error(torch.from_numpy(a.copy()), torch.from_numpy(y.astype(np.int64)), n_bins=BINS)
    return float(found)


@SEEDED
@given(PAIRS)
def test_calibration_error_is_torchmetrics(pairs: list[tuple[float, bool]]) -> None:
    """Twenty equal bins; values on an edge are moved off it, as the two libraries round edges differently."""
    a, y = arrays(pairs)
    a = np.where(np.isclose(a * BINS % 1, 0) | np.isclose(a * BINS % 1, 1), a * 0.997 + 0.001, a)
    assert math.isclose(calibration_error(a, y), ece(a, y), abs_tol=1e-9)


@SEEDED
@given(PAIRS)
def test_brier_and_area_are_scikit_learns(pairs: list[tuple[float, bool]]) -> None:
    """Also with ties; the area is undefined where all outcomes are equal, and equals Mann and Whitney's U otherwise."""
    a, y = arrays(pairs)
    assert math.isclose(brier(a, y), brier_score_loss(y, a, pos_label=1) if len(set(y)) > 1 else np.mean((a - y) ** 2))
    found = area_under_curve(a, y)
    if len(set(y)) < 2:
        assert found is None
        return
    assert found is not None and math.isclose(float(found), roc_auc_score(y, a), abs_tol=1e-12)
    u = mannwhitneyu(a[y], a[~y]).statistic
    assert found == Fraction(int(2 * u), 2 * int(y.sum()) * int((~y).sum()))


def test_bins_are_closed_on_the_left() -> None:
    """0 and 0.05 open bins one and two; 1 belongs to the last."""
    found = bins(np.array([0.0, 0.05, 0.999, 1.0]), np.array([True, False, True, True]))
    assert found.count[[0, 1, 19]].tolist() == [1, 1, 2] and found.happened.tolist()[19] == 2


@pytest.mark.parametrize("temper", ["over", "under"])
def test_temperatures_are_those_of_a_brute_force_search(temper: Any) -> None:
    """scipy tries the grid with torchmetrics' error of scipy's logistic, place by place; none is better."""
    part, _ = rounds(temper, 300).halves()
    found = fit(part)
    assert all(t in GRID for t in found) and len(GRID) == len(set(GRID)) == 81 and 1.0 in GRID
    before = np.ones(len(part.confidence))
    for k, temperature in enumerate(found):
        z, y = logit(part.confidence[:, k]), part.survived[:, k]

        def error(i: Any, z: Any = z, y: Any = y, before: Any = before) -> float:
            return ece(before * expit(z / GRID[int(i[0])]), y)

        best = brute(error, (slice(0, len(GRID), 1),), finish=None, full_output=True)
        ours = ece(before * expit(z / temperature), y)
        assert math.isclose(ours, float(best[1]), abs_tol=1e-9), (k, temperature, GRID[int(best[0])])
        before = before * expit(z / temperature)


def test_a_known_distortion_is_undone() -> None:
    """With many rounds the fit of the first place comes near the factor that the simulation put in."""
    for temper in TEMPERS:
        whole = rounds(temper, 20_000)
        found = fit(Rounds(whole.confidence[:, :1], whole.survived[:, :1]))
        assert math.isclose(found[0], FACTORS[temper][0], rel_tol=0.1)


def test_ties_go_to_the_temperature_nearest_to_one() -> None:
    """Where every temperature is as good, nothing is changed; of two equally near, the smaller one is taken."""
    sure = Rounds(np.array([[0.5], [0.5]]), np.array([[True], [False]]))
    assert fit(sure) == (1.0,)
    assert fit(Rounds(np.array([[1.0], [0.0]]), np.array([[True], [False]]))) == (1.0,)


def test_soften_is_the_logistic_of_a_scaled_logit() -> None:
    """Against scipy, on a grid; 0 and 1 stay; T = 1 changes nothing."""
    c = np.linspace(0.001, 0.999, 200)
    for t in (0.25, 0.5, 1.0, 2.0, 8.0):
        assert np.allclose(soften(c, t), expit(logit(c) / t), atol=1e-12)
    assert soften(np.array([0.0, 1.0]), 3.0).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="temperature"):
        soften(c, 0.0)


def test_order_of_one_place_is_kept_and_of_products_is_not() -> None:
    """No pair swaps at the first place; deeper the share is Kendall's: ω = (1 − τ)/2 where nothing is tied."""
    result = calibrate(rounds("over", 1000))
    for k in range(5):
        a, b = result.before[:400, k], result.after[:400, k]
        share = swapped(a, b)
        assert share is not None and (share == 0) == (k == 0)
        if len(set(a)) == len(a) and len(set(b)) == len(b):
            assert math.isclose(float(share), (1 - kendalltau(a, b).statistic) / 2, abs_tol=1e-12)
    assert swapped(np.array([0.5]), np.array([0.5])) is None


@pytest.mark.parametrize("temper", TEMPERS)
def test_tables_hold_what_the_libraries_say(temper: Any) -> None:
    """Scores of every place before and after, from the tables, against torchmetrics and scikit-learn; bins add up."""
    result = calibrate(rounds(temper, 1000))
    places = place_table(result)
    for k in range(result.places):
        y = result.survived[:, k]
        for name, found in (("before", result.before), ("after", result.after)):
            a = found[:, k]
            rows = bin_table(a, y, f"bins_{name}")
            assert sum(x or 0 for x in rows.column("bin_count")) == len(a)
            scores = score_table(rows, a, y, f"scores_{name}")
            frame = pd.DataFrame(
                {"a": a, "y": y, "b": [min(int(Fraction(repr(float(x))) * BINS), BINS - 1) for x in a]}
            )
            grouped = frame.groupby("b").mean()
            for column, mean in (("bin_mean", grouped["a"]), ("bin_share", grouped["y"])):
                found_means = {b: float(as_fraction(x)) for b, x in enumerate(rows.column(column)) if x is not None}
                assert found_means == pytest.approx(dict(mean), abs=1e-6)
            shown = [float(as_fraction(scores.cells[i][0] or 0)) for i in range(3)]
            wanted = [ece(a, y), brier_score_loss(y, a), roc_auc_score(y, a)]
            assert np.allclose(shown, wanted, atol=2e-6)
            for i, score in enumerate(("error", "brier", "curve")):
                assert math.isclose(shown[i], float(as_fraction(places.value(k, f"{score}_{name}") or 0)), abs_tol=2e-6)
            if k in (0, 4) and name == "after":
                for table in (rows, scores, places, protocol(result)):
                    for quantity in table.columns:
                        for row in range(0, len(table.rows), 5):
                            assert agrees(table, row, quantity), (table.id, quantity.name, row)


@pytest.mark.parametrize("module", MODULES)
def test_worked_numbers_of_the_docstrings(module: str) -> None:
    """Each doctest of the chapter's mechanisms holds."""
    found = doctest.testmod(importlib.import_module(f"mechanisms.{module}"))
    assert found.attempted and not found.failed


def test_simulation_is_seeded_and_nested() -> None:
    """The same seed gives the same rounds; a later place never survives where an earlier one did not."""
    one, two = rounds("over", 50), rounds("over", 50)
    assert (one.confidence == two.confidence).all() and (one.survived == two.survived).all()
    assert (np.diff(one.survived.astype(int), axis=1) <= 0).all()
    assert (np.round(one.confidence, 4) == one.confidence).all()


def test_typed_pairs_are_judged_on_themselves() -> None:
    """Fractions, full-width digits and separators are read; the result is marked as not simulated."""
    found = calibrate_all(read_pairs("0.9，1/2;０.25\n1", "1 0、0 1"))
    assert isinstance(found, Result) and found.kind == "float" and found.places == 1
    assert found.before[:, 0].tolist() == [0.9, 0.5, 0.25, 1.0]
    assert found.survived[:, 0].tolist() == [True, False, False, True]
    assert place_table(found).columns[0].kind == "float"


@pytest.mark.parametrize(
    ("p", "q", "code", "column", "row"),
    [
        ("", "1", "empty", "p", None),
        ("0.5", "", "empty", "q", None),
        ("nan", "1", "not_finite", "p", 0),
        ("0.5 inf", "1 0", "not_finite", "p", 1),
        ("1.2", "1", "out_of_range", "p", 0),
        ("-0.1", "1", "out_of_range", "p", 0),
        ("half", "1", "not_a_number", "p", 0),
        ("0." + "1" * 60, "1", "too_precise", "p", 0),
        ("0.5", "2", "not_binary", "q", 0),
        ("0.5", "-1", "not_binary", "q", 0),
        ("0.5", "0.5", "not_binary", "q", 0),
        ("0.5", "nan", "not_finite", "q", 0),
        ("0.5 0.6", "1", "lengths_differ", "q", None),
        ("0.5 " * (MOST + 1), "1", "too_many", "p", None),
    ],
)
def test_bad_pairs_are_named(p: str, q: str, code: str, column: str, row: int | None) -> None:
    """Each fault has a code, a column and a place."""
    with pytest.raises(InvalidPairs) as caught:
        read_pairs(p, q)
    first = caught.value.problems[0]
    assert (first.code, first.column, first.row) == (code, column, row)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: simulate("x", 10, np.random.default_rng(1)), "temper"),  # type: ignore[arg-type]
        (lambda: simulate("over", 1, np.random.default_rng(1)), "count"),
        (lambda: Rounds(np.array([[1.5]]), np.array([[True]])), "confidence"),
        (lambda: Rounds(np.array([[np.nan]]), np.array([[True]])), "confidence"),
        (lambda: Rounds(np.zeros((0, 1)), np.zeros((0, 1), dtype=bool)), "equal shapes"),
        (lambda: products(np.array([[0.5]]), (1.0, 2.0)), "temperatures"),
    ],
)
def test_impossible_arguments_are_named(call: Any, name: str) -> None:
    """A ValueError names the argument."""
    with pytest.raises(ValueError, match=name):
        call()
