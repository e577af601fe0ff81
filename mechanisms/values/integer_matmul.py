"""Numbers that the integer-product lesson quotes. Each is a cell of a table, so that it can be opened like one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from mechanisms.integer_matmul import PRESET, sums
from mechanisms.integer_matmul_accumulator import overflow_table
from mechanisms.integer_matmul_layer import run_layer
from mechanisms.integer_matmul_report import SIZES, demo_layer, error_table, work_table
from mechanisms.integer_matmul_requantize import requantize_table
from mechanisms.integer_matmul_running import pair_table, worst_case_table
from mechanisms.quantity import as_fraction
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name
X_SCALE, W_SCALE, Y_SCALE = Fraction(1, 50), Fraction(1, 20), Fraction(1, 100)


def requantized() -> Table:
    """The preset's sum with M = 1/10: 79.5, a tie on which the exact and the fixed-point multiplier part."""
    accumulated = int(as_fraction(sums(PRESET).value(0, "accumulated")))
    return requantize_table(accumulated, x_scale=X_SCALE, w_scale=W_SCALE, y_scale=Y_SCALE)


@cache
def layer_errors(size: int) -> Table:
    return error_table(run_layer(*demo_layer(size)))


@cache
def layer_work() -> Table:
    return work_table(run_layer(*demo_layer(1)))


def first_lost_pair() -> Table:
    """The least weight w for which 255 w + 255 w no longer fits the 16-bit lane."""
    tables = (pair_table((255, 255), (w, w)) for w in range(128))
    return next(t for t in tables if t.value(0, "pair_lost"))


VALUES: dict[str, Callable[[], CellRef]] = {
    "integer_matmul.preset_products": lambda: (sums(PRESET), 0, "sum_products"),
    "integer_matmul.preset_activations": lambda: (sums(PRESET), 0, "sum_activations"),
    "integer_matmul.preset_weights": lambda: (sums(PRESET), 0, "sum_weights"),
    "integer_matmul.preset_constant": lambda: (sums(PRESET), 0, "constant_term"),
    "integer_matmul.preset_result": lambda: (sums(PRESET), 0, "accumulated"),
    "integer_matmul.preset_difference": lambda: (sums(PRESET), 0, "difference"),
    "integer_matmul.int16_first": lambda: (overflow_table("int8", "int8"), 0, "first_overflow"),
    "integer_matmul.int32_first": lambda: (overflow_table("int8", "int8"), 1, "first_overflow"),
    "integer_matmul.int32_first_unsigned": lambda: (overflow_table("uint8", "int8"), 1, "first_overflow"),
    "integer_matmul.int16_first_int4": lambda: (overflow_table("int8", "int4"), 0, "first_overflow"),
    "integer_matmul.multiplier": lambda: (requantized(), 0, "multiplier"),
    "integer_matmul.mantissa": lambda: (requantized(), 0, "mantissa"),
    "integer_matmul.shift": lambda: (requantized(), 0, "shift"),
    "integer_matmul.exact_code": lambda: (requantized(), 0, "exact_code"),
    "integer_matmul.fixed_point_code": lambda: (requantized(), 0, "fixed_point_code"),
    "integer_matmul.largest_product": lambda: (overflow_table("int8", "int8"), 0, "largest_product"),
    "integer_matmul.int16_top": lambda: (overflow_table("int8", "int8"), 0, "largest_sum"),
    "integer_matmul.two_products": lambda: (worst_case_table("int8", "int8", 2), 0, "worst_sum_above"),
    "integer_matmul.pair_first_lost": lambda: (first_lost_pair(), 0, "first_weight"),
    "integer_matmul.pair_true": lambda: (first_lost_pair(), 0, "pair_sum"),
    "integer_matmul.pair_kept": lambda: (first_lost_pair(), 0, "pair_saturated"),
    "integer_matmul.work_share": lambda: (layer_work(), 0, "run_time_share"),
    "integer_matmul.layer_gap": lambda: (layer_errors(1), 0, "integer_gap"),
    "integer_matmul.layer_error": lambda: (layer_errors(1), 0, "relative_code_error"),
    "integer_matmul.layer_error_large": lambda: (layer_errors(SIZES[-1]), 0, "relative_code_error"),
}
