"""Sums that are watched: the worst case for a number of terms, a running sum that wraps, a pair that saturates.

Teaches: that a register keeps the sum modulo a power of two, so that wrapping on the way does no harm if the last sum
fits, while saturating loses for good. Leaves out: how often real codes come near the worst case.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from mechanisms.integer_matmul import PRODUCT, TERMS, TOPIC, W_CODE, X_CODE
from mechanisms.integer_matmul_accumulator import (
    BOTTOM,
    CEILING,
    FLOOR,
    TOP,
    WIDTH,
    WIDTHS,
    CodeType,
    product_range,
    step,
)
from mechanisms.integer_matmul_accumulator import Sum as Register
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.integer_matmul_running"


def _whole(name: str, tex: str, expression: sp.Basic | None = None, index: str = "") -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, index=index, counts=True)


def _one(name: str, tex: str, expression: sp.Basic) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, index="")


UP = _whole("worst_sum_above", r"K\,m_{\max}", TERMS.sym * TOP.sym)
DOWN = _whole("worst_sum_below", r"K\left|m_{\min}\right|", TERMS.sym * BOTTOM.sym)
USED = _one("range_used", r"\eta", sp.Max(UP.sym / CEILING.sym, DOWN.sym / FLOOR.sym))
WORST = (WIDTH, TERMS, TOP, BOTTOM, CEILING, FLOOR, UP, DOWN, USED)

RUNNING = _whole("running_sum", "S", index="v")
_s, _b = signed(RUNNING), WIDTH.sym
TURNS = _whole("turns", "r", sp.floor(_s / 2**_b + sp.Rational(1, 2)), index="v")
HELD = _whole("register_content", "R", _s - 2**_b * signed(TURNS), index="v")
WATCHED = (WIDTH, X_CODE, W_CODE, PRODUCT, RUNNING, TURNS, HELD)

FIRST_X = given(f"{TOPIC}.first_activation", "x_1", "chosen", index="", counts=True)
SECOND_X = given(f"{TOPIC}.second_activation", "x_2", "chosen", index="", counts=True)
FIRST_W = given(f"{TOPIC}.first_weight", "w_1", "chosen", index="", counts=True)
SECOND_W = given(f"{TOPIC}.second_weight", "w_2", "chosen", index="", counts=True)
_x1, _x2, _w1, _w2 = (signed(q) for q in (FIRST_X, SECOND_X, FIRST_W, SECOND_W))
PAIR_TRUE = _whole("pair_sum", "P", _x1 * _w1 + _x2 * _w2)
PAIR_HELD = _whole("pair_saturated", r"\hat P", sp.Min(2**15 - 1, sp.Max(-(2**15), signed(PAIR_TRUE))))
PAIR_LOST = _whole("pair_lost", r"P-\hat P", signed(PAIR_TRUE) - signed(PAIR_HELD))
PAIR = (FIRST_X, SECOND_X, FIRST_W, SECOND_W, PAIR_TRUE, PAIR_HELD, PAIR_LOST)


def worst_case_table(x: CodeType, w: CodeType, terms: int, widths: Sequence[int] = WIDTHS) -> Table:
    """One row per accumulator width: the largest sums that K products can make, and the share η of the range they use.

    η = max(K m_max / A_max, K |m_min| / |A_min|); above 1 there are codes that overflow. terms: at least 1.

    >>> worst_case_table("int8", "int8", 2).value(0, "range_used")
    Fraction(32768, 32767)

    Source: derived from two's complement.
    """
    if terms < 1:
        raise ValueError(f"terms={terms}: must be at least 1")
    low, high = product_range(x, w)
    if low >= 0:
        raise ValueError(f"{x} x {w}: no negative products; at least one type must be signed")
    n = len(widths)
    columns = {
        WIDTH.name: tuple(map(Fraction, widths)), TERMS.name: (Fraction(terms),) * n,
        TOP.name: (Fraction(high),) * n, BOTTOM.name: (Fraction(-low),) * n,
        CEILING.name: tuple(Fraction(2 ** (b - 1) - 1) for b in widths),
        FLOOR.name: tuple(Fraction(2 ** (b - 1)) for b in widths),
    }  # fmt: skip
    names = [f"int{b}" for b in widths]
    return tabulate(f"{TOPIC}.worst_case", WORST, names, columns, function=f"{_MODULE}.worst_case_table")


def running_table(q_x: Sequence[int], q_w: Sequence[int], bits: int) -> Table:
    """One row per addition: the sum as it is, how often it has gone round, and what a register of `bits` bits holds.

    R = S − 2^b ⌊S/2^b + 1/2⌋.

    >>> running_table((-128, -128), (-128, -128), 16).column("register_content")
    (Fraction(16384, 1), Fraction(-32768, 1))

    Source: derived from two's complement.
    """
    if len(q_x) != len(q_w):
        raise ValueError(f"q_x has {len(q_x)} codes, q_w {len(q_w)}: they must be equally long")
    state, sums = Register(bits), list[Fraction]()
    for a, b in zip(q_x, q_w, strict=True):
        state, _ = step(state, a * b)
        sums.append(Fraction(state.true))
    columns = {
        WIDTH.name: (Fraction(bits),) * len(sums), X_CODE.name: tuple(map(Fraction, q_x)),
        W_CODE.name: tuple(map(Fraction, q_w)), RUNNING.name: tuple(sums),
    }  # fmt: skip
    names = [f"k={i + 1}" for i in range(len(sums))]
    return tabulate(f"{TOPIC}.running", WATCHED, names, columns, function=f"{_MODULE}.running_table")


def pair_table(q_x: tuple[int, int], q_w: tuple[int, int], name: str = "") -> Table:
    """Two neighbouring products in a saturating 16-bit lane: the sum, what is kept, what is lost.

    >>> t = pair_table((255, 255), (127, 127))
    >>> t.value(0, "pair_sum"), t.value(0, "pair_saturated")
    (Fraction(64770, 1), Fraction(32767, 1))

    Source: Intel, instruction VPMADDUBSW; see `integer_matmul_accumulator.saturating_pairs`.
    """
    values = dict(zip((FIRST_X.name, SECOND_X.name, FIRST_W.name, SECOND_W.name), (*q_x, *q_w), strict=True))
    row = {key: (Fraction(value),) for key, value in values.items()}
    return tabulate(f"{TOPIC}.pair", PAIR, (name,), row, function=f"{_MODULE}.pair_table")
