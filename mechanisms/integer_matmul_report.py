"""A whole layer as tables: one row per output, and the layer's work and error in one line.

Teaches: which of the sums are known before the first activation arrives, what the correction costs beside the
products, and that the integers are exact, so that all error was made by rounding inputs, weights and outputs.
Leaves out: the speed of it. The built-in layer is seeded noise in which one activation channel can be made large.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from mechanisms.expression import REAL
from mechanisms.integer_matmul import (
    RESULT,
    SUM_PRODUCTS,
    SUM_W,
    TERMS,
    TOPIC,
    X_ZERO,
)
from mechanisms.integer_matmul_layer import Floats, LayerRun
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.integer_matmul_report"
VECTORS, WIDTH, OUTPUTS = 64, 32, 6
SIZES = (1, 2, 4, 8, 16, 32, 64)  # of the channel that is made large


def _q(name: str, tex: str, expression: sp.Basic | None = None, **more: object) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, **more)  # type: ignore[arg-type]


def _row(quantity: Quantity, expression: sp.Basic | None = None) -> Quantity:
    """The same quantity with one value per output."""
    return Quantity(quantity.id, quantity.symbol, "derived", expression, index="v", counts=True)


_S, _W = _row(SUM_PRODUCTS), _row(SUM_W)
_A = _row(RESULT, signed(SUM_PRODUCTS) - signed(X_ZERO) * signed(SUM_W))
X_STEP = _q("layer_activation_scale", "s_x", kind="float", index="")
W_STEP = _q("layer_weight_scale", "s_w", kind="float")
INTEGER = _q("integer_output", r"\tilde y", X_STEP.sym * W_STEP.sym * signed(RESULT), kind="float")
FLOAT = _q("float_output", "y", kind="float")
GAP = _q("output_gap", r"\tilde y-y", signed(INTEGER) - signed(FLOAT), kind="float")
LAYER_CODE = _q("output_code", r"\hat q_y", counts=True)
OUTPUT = _q("code_output", r"\hat y", kind="float")
ROWS = (X_ZERO, X_STEP, _W, W_STEP, _S, _A, INTEGER, FLOAT, GAP, LAYER_CODE, OUTPUT)

COUNT = given(f"{TOPIC}.layer_vectors", "n", "chosen", index="", counts=True)
OUT = given(f"{TOPIC}.layer_outputs", "m", "chosen", index="", counts=True)
_n, _k, _m = (signed(q) for q in (COUNT, TERMS, OUT))
PRODUCTS = _q("layer_products", "N", _n * _k * _m, index="", counts=True)
ONCE = _q("additions_once", "N_w", _k * _m, index="", counts=True)
RUNTIME = _q("additions_at_run_time", "N_x", _n * _k, index="", counts=True)
SHARE = _q("run_time_share", "N_x/N", signed(RUNTIME) / signed(PRODUCTS), index="")
WORK = (COUNT, TERMS, OUT, PRODUCTS, ONCE, RUNTIME, SHARE)

SIGNAL = _q("output_size", r"\operatorname{rms}(y)", kind="float", index="")
CODE_ERROR = _q("code_error", r"\operatorname{rms}(\tilde y-y)", kind="float", index="")
TOTAL_ERROR = _q("total_error", r"\operatorname{rms}(\hat y-y)", kind="float", index="")
RELATIVE = _q("relative_code_error", r"\varrho", CODE_ERROR.sym / SIGNAL.sym, kind="float", index="")
RELATIVE_TOTAL = _q("relative_total_error", r"\hat\varrho", TOTAL_ERROR.sym / SIGNAL.sym, kind="float", index="")
INTEGER_GAP = _q("integer_gap", r"\max\left|A-A'\right|", index="", counts=True)
ERRORS = (X_STEP, INTEGER_GAP, SIGNAL, CODE_ERROR, RELATIVE, TOTAL_ERROR, RELATIVE_TOTAL)


def demo_layer(size: int, *, seed: int = 11) -> tuple[Floats, Floats]:
    """Activations (64, 32) and weights (32, 6); the first activation channel is multiplied by `size`, its weights are
    divided by it, so that the float output stays what it was. size: a power of two keeps that exact.

    >>> x, w = demo_layer(4)
    >>> bool(((x @ w) == (demo_layer(1)[0] @ demo_layer(1)[1])).all())
    True

    Source: derived; the idea of moving a factor between x and w is that of xiao2022smoothquant, Eq. 3.
    """
    if size < 1 or size & (size - 1):
        raise ValueError(f"size={size}: must be a power of two")
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((VECTORS, WIDTH)), 0.2 * rng.standard_normal((WIDTH, OUTPUTS))
    x[:, 0] *= size
    w[0] /= size
    return x, w


def _reals(values: Floats) -> tuple[Cell, ...]:
    return tuple(REAL.mpf(float(v)) for v in values)


def layer_table(run: LayerRun, vector: int = 0) -> Table:
    """One row per output for one input vector: Σ q_w is known beforehand, Σ q_x q_w is not, A = Σ q_x q_w − z_x Σ q_w.

    ỹ = s_x s_w A is what the integers stand for, y the product of the floats, ŷ what the requantized code stands for.

    Source: jacob2018, Eq. 3 and 7, with z_w = 0.
    """
    m = len(run.weight_scale)
    products = run.q_x[vector] @ run.q_w
    columns: dict[str, tuple[Cell, ...]] = {
        X_ZERO.name: (Fraction(run.activation.zero_point),) * m, X_STEP.name: _reals(np.full(m, run.activation.scale)),
        _W.name: tuple(Fraction(int(v)) for v in run.weight_sums), W_STEP.name: _reals(run.weight_scale),
        _S.name: tuple(Fraction(int(v)) for v in products), FLOAT.name: _reals(run.y_float[vector]),
        LAYER_CODE.name: tuple(Fraction(int(v)) for v in run.y_code[vector]), OUTPUT.name: _reals(run.y_output[vector]),
    }  # fmt: skip
    names = [f"y{i + 1}" for i in range(m)]
    return tabulate(f"{TOPIC}.layer", ROWS, names, columns, function=f"{_MODULE}.layer_table")


def work_table(run: LayerRun, name: str = "") -> Table:
    """Products of the layer, additions done once for Σ q_w, additions per run for Σ q_x. Source: jacob2018, §2.3."""
    (n, k), m = run.q_x.shape, len(run.weight_scale)
    row = {COUNT.name: (Fraction(n),), TERMS.name: (Fraction(k),), OUT.name: (Fraction(m),)}
    return tabulate(f"{TOPIC}.work", WORK, (name,), row, function=f"{_MODULE}.work_table")


def error_table(run: LayerRun, name: str = "") -> Table:
    """The layer's error in one row; the gap of the integers compares A with Σ (q_x − z_x) q_w over all outputs.

    Source: derived.
    """
    direct = (run.q_x - run.activation.zero_point) @ run.q_w
    row: dict[str, tuple[Cell, ...]] = {
        X_STEP.name: (REAL.mpf(run.activation.scale),),
        INTEGER_GAP.name: (Fraction(int(np.abs(direct - run.accumulated).max())),),
        SIGNAL.name: (REAL.mpf(float(np.sqrt(np.mean(run.y_float**2)))),),
        CODE_ERROR.name: (REAL.mpf(run.code_error),), TOTAL_ERROR.name: (REAL.mpf(run.total_error),),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.error", ERRORS, (name,), row, function=f"{_MODULE}.error_table")
