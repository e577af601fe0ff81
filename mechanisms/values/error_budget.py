"""Numbers that the error-budget lesson quotes. Each is a cell of a table, so that it can be opened like one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.formats_bits import effective_bits, layout
from mechanisms.formats_compare import FORMATS, bell, through
from mechanisms.formats_floats import E4M3
from mechanisms.formats_regions import float_regions
from mechanisms.quant_blocks import block_errors
from mechanisms.quant_bytes import CACHE_128K, LLAMA_70B, SEVEN_BILLION, weight_bytes
from mechanisms.quant_gaussian import best_clip
from mechanisms.quant_lab import grouping, lab_summary, nested, outlier, ties
from mechanisms.quant_output import INPUT_VECTOR, LOUD, QUIET, damage
from mechanisms.quant_presets import widget
from mechanisms.quant_steps import outlier_step, variance_factor
from mechanisms.quant_summary import errors, summary
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name


def _widget(last: str, bits: int = 4) -> Table:
    scheme = Scheme(bits=bits)
    return summary(quantize(widget(last), scheme), scheme)


def _ordinary(last: str, bits: int = 4) -> Table:
    return errors(quantize(widget(last), Scheme(bits=bits)), rows=range(7))


def _range(last: str, bits: int = 4) -> Table:
    return ranges(widget(last), Scheme(bits=bits))[0]


def _format(id: str) -> Table:
    return through(bell(), next(f for f in FORMATS if f.id == id))[1]


def _large(bits: int, kept: bool = True, cache: int = 0) -> Table:
    metadata = Fraction(5, 32) if bits == 4 else Fraction(0)  # INT4 g128 with a 4-bit zero point
    if not kept:
        return weight_bytes(LLAMA_70B.weights, Fraction(bits), metadata=metadata)
    return weight_bytes(
        LLAMA_70B.linear_weights, Fraction(bits), metadata=metadata, kept=LLAMA_70B.other_weights, cache=cache
    )


VALUES: dict[str, Callable[[], CellRef]] = {
    "error_budget.scale_small": lambda: (_range("0.8"), 0, "scale"),
    "error_budget.scale_large": lambda: (_range("12.8"), 0, "scale"),
    "error_budget.guess_scale": lambda: (_range("6.4"), 0, "scale"),
    "error_budget.guess_lost": lambda: (_ordinary("6.4"), 0, "rounded_to_zero"),
    "error_budget.codes_small": lambda: (_ordinary("0.8"), 0, "codes_used"),
    "error_budget.codes_large": lambda: (_ordinary("12.8"), 0, "codes_used"),
    "error_budget.lost_large": lambda: (_ordinary("12.8"), 0, "rounded_to_zero"),
    "error_budget.lost_large_8": lambda: (_ordinary("12.8", 8), 0, "rounded_to_zero"),
    "error_budget.raw_ratio": lambda: (_widget("0.8"), 0, "raw_ratio"),
    "error_budget.real_ratio": lambda: (_widget("0.8"), 0, "ratio_with_metadata"),
    "error_budget.lab_rmse_4": lambda: (lab_summary(4), 0, "root_mean_squared_error"),
    "error_budget.lab_rmse_8": lambda: (lab_summary(8), 0, "root_mean_squared_error"),
    "error_budget.lab_bits_one": lambda: (grouping(4, "one group"), 0, "effective_bits"),
    "error_budget.lab_bits_two": lambda: (grouping(4, "first two | last three"), 0, "effective_bits"),
    "error_budget.lab_rmse_two": lambda: (grouping(4, "first two | last three"), 0, "root_mean_squared_error"),
    "error_budget.outlier_lost": lambda: (outlier(4, 0)[2], 0, "rounded_to_zero"),
    "error_budget.outlier_scale": lambda: (outlier(4, 0)[0], 0, "scale"),
    "error_budget.nested_4": lambda: (nested()[0], 0, "root_mean_squared_error"),
    "error_budget.nested_8": lambda: (nested()[1], 0, "root_mean_squared_error"),
    "error_budget.bias_half_up": lambda: (ties("half_up")[1], 0, "mean_error"),
    "error_budget.bias_half_even": lambda: (ties("half_even")[1], 0, "mean_error"),
    "error_budget.step_symmetric": lambda: (outlier_step(Fraction(15), 4, "symmetric"), 0, "step"),
    "error_budget.step_levels": lambda: (outlier_step(Fraction(15), 4, "levels"), 0, "step"),
    "error_budget.step_cells": lambda: (outlier_step(Fraction(15), 4, "cells"), 0, "step"),
    "error_budget.factor_symmetric": lambda: (variance_factor(8, 4, "symmetric"), 0, "variance_factor"),
    "error_budget.factor_cells": lambda: (variance_factor(8, 4, "cells"), 0, "variance_factor"),
    "error_budget.clip_symmetric": lambda: (best_clip(4, "symmetric"), 0, "best_clip"),
    "error_budget.clip_cells": lambda: (best_clip(4, "cells"), 0, "best_clip"),
    "error_budget.nf4_symmetric": lambda: (block_errors(), 1, "nf4_lower"),
    "error_budget.nf4_min_max": lambda: (block_errors(), 4, "nf4_lower"),
    "error_budget.bits_g128": lambda: (effective_bits(layout("int4_g128_zero")), 0, "effective_bits"),
    "error_budget.bits_mxfp4": lambda: (effective_bits(layout("mxfp4")), 0, "effective_bits"),
    "error_budget.bits_nvfp4": lambda: (effective_bits(layout("nvfp4")), 0, "effective_bits"),
    "error_budget.bits_nf4_double": lambda: (effective_bits(layout("nf4_double")), 0, "effective_bits"),
    "error_budget.e4m3_relative": lambda: (float_regions(E4M3), 1, "worst_relative_error"),
    "error_budget.bell_int4_g32": lambda: (_format("int4_g32"), 0, "root_mean_squared_error"),
    "error_budget.bell_nvfp4": lambda: (_format("nvfp4"), 0, "root_mean_squared_error"),
    "error_budget.weight_error": lambda: (damage(LOUD, INPUT_VECTOR), 0, "weight_error_square"),
    "error_budget.quiet_damage": lambda: (damage(QUIET, INPUT_VECTOR), 0, "output_error_square"),
    "error_budget.loud_damage": lambda: (damage(LOUD, INPUT_VECTOR), 0, "output_error_square"),
    "error_budget.seven_gb": lambda: (weight_bytes(SEVEN_BILLION, Fraction(4)), 0, "weight_gigabytes"),
    "error_budget.seven_gib": lambda: (weight_bytes(SEVEN_BILLION, Fraction(4)), 0, "weight_gibibytes"),
    "error_budget.large_16": lambda: (_large(16), 0, "weight_gigabytes"),
    "error_budget.large_4": lambda: (_large(4), 0, "weight_gigabytes"),
    "error_budget.large_4_every": lambda: (_large(4, kept=False), 0, "weight_gigabytes"),
    "error_budget.large_ratio": lambda: (_large(4), 0, "ratio_to_16_bit"),
    "error_budget.large_ratio_cache": lambda: (_large(4, cache=CACHE_128K), 0, "total_ratio"),
}
