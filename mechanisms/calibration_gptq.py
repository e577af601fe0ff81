"""GPTQ column by column: round one column, push its error onto the columns that are still free.

Teaches: that the best correction of the free columns is a row of H⁻¹, and that one triangular factor U with
UᵀU = H⁻¹ holds that row for every step: after the first k columns are fixed, the inverse of the Hessian of the rest is
U[k:, k:]ᵀ U[k:, k:]. Differences from the paper: scales are fixed beforehand from the untouched weights (so act-order
needs no permuted groups), and columns are not handled in blocks, which changes speed only. Leaves out: whether the
calibration vectors are the right ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from mechanisms.calibration_grid import Codes, Grid, Scales, column_of, decode, encode
from mechanisms.calibration_layer import Floats

DAMPING = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What stays fixed: `order` of the columns, `factor` U in that order, the grid and its scales."""

    order: tuple[int, ...]
    factor: Floats
    grid: Grid
    scales: Scales


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """State: weights (out, in) with the corrections so far, codes (out, in), and how many columns are done."""

    weights: Floats
    codes: Codes
    done: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One column: w before rounding, its codes and values, error = w − ŵ, the row of the present H⁻¹ over
    (column, *free), and what was added to the free columns, (out, len(free)). `loss` = Σ error² / [H⁻¹]_qq.
    """

    column: int
    free: tuple[int, ...]
    weight: Floats
    codes: Codes
    value: Floats
    error: Floats
    inverse_row: Floats
    pushed: Floats
    loss: float


def plan(hessian: Floats, grid: Grid, scales: Scales, *, damping: float = DAMPING, act_order: bool = False) -> Plan:
    """Order and factor. The diagonal of H gets `damping` times its mean; a channel that never spoke gets 1.

    act_order: columns by falling H_jj, equal ones in their own order. Raises ValueError where H stays singular.
    Source: frantar2022gptq, §3.3 (Cholesky, damping); the order is that of its reference implementation.
    """
    if damping < 0:
        raise ValueError(f"damping={damping}: must not be negative")
    diagonal = np.diag(hessian)
    if not diagonal.any():
        raise ValueError("the calibration vectors are all zero: there is nothing to weigh errors with")
    live = hessian + np.diag(np.where(diagonal == 0, 1.0, 0.0) + damping * diagonal.mean())
    order = np.argsort(-diagonal, kind="stable") if act_order else np.arange(len(diagonal))
    try:
        root = linalg.cholesky(live[np.ix_(order, order)][::-1, ::-1], lower=True)
    except linalg.LinAlgError:
        raise ValueError(f"damping={damping}: H is singular; more vectors or more damping are needed") from None
    # H = L̃ L̃ᵀ with L̃ upper triangular (a Cholesky factor from the other end), hence H⁻¹ = UᵀU with U = L̃⁻¹
    factor = linalg.solve_triangular(root[::-1, ::-1], np.eye(len(order)), lower=False)
    return Plan(tuple(int(i) for i in order), factor, grid, scales)


def start(weights: Floats) -> Columns:
    return Columns(weights, np.zeros(weights.shape, np.uint8))


def step(state: Columns, plan: Plan) -> tuple[Columns, Event]:
    """Round the next column and correct the rest: δ = −(w_q − ŵ_q) / [H⁻¹]_qq · [H⁻¹]_q,:.

    >>> grid, w = Grid(bits=2, granularity="channel"), np.array([[0.6, 1.0]])
    >>> two = plan(np.array([[2.0, 1.0], [1.0, 2.0]]), grid, Scales(np.ones((1, 1), np.float32),
    ...            np.full((1, 1), 2, np.uint8)), damping=0)
    >>> state, event = step(start(w), two)
    >>> float(event.value[0]), round(float(event.pushed[0, 0]), 12)
    (1.0, -0.2)

    Source: frantar2022gptq, Eq. 2; hassibi1993 for the correction.
    """
    codes, event = _round(state.weights, state.done, plan)
    weights, all_codes = state.weights.copy(), state.codes.copy()
    weights[:, list(event.free)] += event.pushed
    weights[:, event.column], all_codes[:, event.column] = event.value, codes
    return replace(state, weights=weights, codes=all_codes, done=state.done + 1), event


def _round(weights: Floats, k: int, plan: Plan) -> tuple[Codes, Event]:
    if k >= len(plan.order):
        raise ValueError(f"all {len(plan.order)} columns are done")
    column, free = plan.order[k], plan.order[k + 1 :]
    w = weights[:, column : column + 1]
    own = column_of(plan.scales, column, len(plan.order))
    codes = encode(w, own, plan.grid)
    value = decode(codes, own)
    error = w - value
    row = plan.factor[k, k] * plan.factor[k, k:]
    pushed = -error / row[0] * row[1:]
    loss = float((error**2).sum() / row[0])
    return codes[:, 0], Event(column, free, w[:, 0], codes[:, 0], value[:, 0], error[:, 0], row, pushed, loss)


def gptq(weights: Floats, plan: Plan, *, progress: Callable[[float], None] | None = None) -> tuple[Codes, float]:
    """All columns, and the loss: the codes and Σ error²/[H⁻¹]_qq, which is tr(E H Eᵀ) with the damped H.

    The same arithmetic as `step`, on one working copy. progress: called after each column with the part done.
    """
    work, codes, loss = weights.copy(), np.zeros(weights.shape, np.uint8), 0.0
    ordered = np.ascontiguousarray(work[:, list(plan.order)])
    for k, column in enumerate(plan.order):
        work[:, column] = ordered[:, k]
        codes[:, column], event = _round(work, k, plan)
        ordered[:, k + 1 :] += event.pushed
        loss += event.loss
        if progress is not None:
            progress((k + 1) / len(plan.order))
    return codes, loss
