"""GPTQ: against the Lagrangian, a solver that starts afresh for each column, and llmcompressor's stored results."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.calibration import step_table
from mechanisms.calibration_gptq import gptq, plan, start, step
from mechanisms.calibration_grid import Grid, Scales, column_of, decode, encode, fit
from mechanisms.calibration_statistics import calibrate, mean_squared
from tests.oracle_calibration import cases, constrained_gptq, lagrange_correction


def problem(seed: int, out: int = 3, width: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Weights and the second moments of correlated inputs with uneven channels."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(width) + 0.5 * rng.standard_normal((width, width))
    x = rng.standard_normal((40, width)) @ mixing * np.exp(rng.standard_normal(width))
    return rng.standard_normal((out, width)), calibrate(x).hessian


@pytest.mark.parametrize("seed", range(5))
def test_first_push_is_the_lagrangian_solution(seed: int) -> None:
    """What one step adds equals the constrained minimum of eᵀHe from its own linear system, to 1e-9, relative.

    And the loss of the step is the error that the minimum leaves.
    """
    w, h = problem(seed)
    grid = Grid(bits=3, granularity="channel")
    _, event = step(start(w), plan(h, grid, fit(w, grid), damping=0))
    losses = 0.0
    for row in range(len(w)):
        best = lagrange_correction(h, 0, -float(event.error[row]))
        np.testing.assert_allclose(event.pushed[row], best[1:], rtol=1e-9, atol=1e-12)
        losses += float(best @ h @ best)
    assert event.loss == pytest.approx(losses, rel=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from(["tensor", "channel", "group"]))
def test_codes_equal_the_solver_that_starts_afresh(seed: int, symmetric: bool, act_order: bool, granularity) -> None:
    """Solving for the free columns anew at every column gives the same weights, whatever grid and order.

    A weight within 1e-6 of a rounding tie could differ; seeds are arbitrary reals, where that has chance of about 1e-4.
    """
    w, h = problem(seed)
    grid = Grid(bits=4, symmetric=symmetric, granularity=granularity, group=4)
    scales = fit(w, grid)
    order = [int(i) for i in np.argsort(-np.diag(h), kind="stable")] if act_order else list(range(8))
    damped = h + 0.01 * np.diag(h).mean() * np.eye(8)

    def nearest(values: np.ndarray, column: int) -> np.ndarray:
        own = column_of(scales, column, 8)
        return decode(encode(values[:, None], own, grid), own)[:, 0]

    codes, loss = gptq(w, plan(h, grid, scales, act_order=act_order))
    ours = decode(codes, scales)
    np.testing.assert_allclose(ours, constrained_gptq(w, damped, nearest, order), rtol=1e-9, atol=1e-12)
    assert loss == pytest.approx(mean_squared(ours - w, damped), rel=1e-8)


@pytest.mark.parametrize("case", cases("gptq"), ids=lambda c: "act_order" if c["act_order"] else "in_order")
def test_weights_equal_llmcompressor(case: dict) -> None:
    """llmcompressor 0.14.0.1 gave the same weights in float32: to 1e-6, far below one step of the grid."""
    w, x = np.array(case["weights"]), np.array(case["inputs"])
    grid = Grid(bits=4, symmetric=False, group=8)
    scales = Scales(np.array(case["scale"], np.float16), np.array(case["zero_point"], np.uint8))
    codes, loss = gptq(w, plan(calibrate(x).hessian, grid, scales, act_order=case["act_order"]))
    np.testing.assert_allclose(decode(codes, scales), np.array(case["result"]), atol=1e-6)
    # its H carries a factor 2 and its loss one of 1/2, which leaves ours
    assert loss == pytest.approx(case["loss"], rel=1e-3)
    own = fit(w, grid)
    assert (own.scale == scales.scale).all() and (own.zero_point == scales.zero_point).all()


@pytest.mark.parametrize("act_order", [False, True])
def test_steps_equal_the_run_and_the_shrinking_inverse(act_order: bool) -> None:
    """`step` to the end gives the codes of `gptq`; each row is that of the inverse of the Hessian still free."""
    w, h = problem(3)
    grid = Grid(bits=3, symmetric=False, group=4)
    fixed = plan(h, grid, fit(w, grid), act_order=act_order)
    damped, state, losses = h + 0.01 * np.diag(h).mean() * np.eye(8), start(w), 0.0
    for k in range(8):
        live = list(fixed.order[k:])
        before = state.weights
        state, event = step(state, fixed)
        row = np.linalg.inv(damped[np.ix_(live, live)])[0]
        np.testing.assert_allclose(event.inverse_row, row, rtol=1e-9, atol=1e-12)
        assert (event.column, *event.free) == tuple(live) and state.done == k + 1
        np.testing.assert_array_equal(before[:, event.column], event.weight)
        losses += event.loss
    codes, loss = gptq(w, fixed)
    assert (codes == state.codes).all() and loss == pytest.approx(losses)
    np.testing.assert_allclose(state.weights, decode(codes, fixed.scales))
    with pytest.raises(ValueError, match="done"):
        step(state, fixed)


def test_step_table_repeats_the_step() -> None:
    """The table's push and corrected weight, derived from its own columns, are what the step did."""
    w, h = problem(5)
    grid = Grid(bits=3, granularity="channel")
    state = start(w)
    after, event = step(state, plan(h, grid, fit(w, grid)))
    table = step_table(event, state.weights, 1)
    np.testing.assert_allclose([float(c) for c in table.column("push")], event.pushed[1], rtol=1e-12)
    np.testing.assert_allclose([float(c) for c in table.column("corrected_weight")], after.weights[1, 1:], rtol=1e-12)
    assert "H^{-1}" in table.explain(0, "push").general and table.rows[0] == "j=2"


def test_uncorrelated_channels_need_no_correction() -> None:
    """With a diagonal H GPTQ is rounding to nearest."""
    w, _ = problem(1)
    grid = Grid(bits=3, group=4)
    scales = fit(w, grid)
    codes, _ = gptq(w, plan(np.diag(np.arange(1.0, 9.0)), grid, scales))
    assert (codes == encode(w, scales, grid)).all()


def test_silent_channel_and_singular_matrix() -> None:
    """A channel that is always 0 is rounded to nearest; a singular H needs damping; no signal is an error."""
    w, h = problem(2)
    grid = Grid(bits=4, granularity="channel")
    scales = fit(w, grid)
    silent = h.copy()
    silent[2], silent[:, 2] = 0, 0
    codes, _ = gptq(w, plan(silent, grid, scales))
    assert (codes[:, 2] == encode(w, scales, grid)[:, 2]).all()
    few = np.outer(w[0], w[0])
    assert gptq(w, plan(few, grid, scales))[0].shape == w.shape
    with pytest.raises(ValueError, match="singular"):
        plan(few - 1e-9 * np.eye(8), grid, scales, damping=0)
    with pytest.raises(ValueError, match="all zero"):
        plan(np.zeros((8, 8)), grid, scales)
    with pytest.raises(ValueError, match="damping"):
        plan(h, grid, scales, damping=-1)


def test_progress_is_monotone_and_cancels() -> None:
    """The callback hears rising parts up to 1, and an exception in it ends the run."""
    w, h = problem(2)
    grid = Grid(bits=4, granularity="channel")
    heard: list[float] = []
    gptq(w, plan(h, grid, fit(w, grid)), progress=heard.append)
    assert heard == sorted(heard) and heard[-1] == 1 and len(heard) == 8

    def stop(part: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        gptq(w, plan(h, grid, fit(w, grid)), progress=stop)
