"""Numbers that the calibration lesson quotes: cells of tables of the built-in layer and of the rotation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from mechanisms.calibration import compare, comparison_table, domains_table
from mechanisms.calibration_hadamard import peak_table, signed_peaks
from mechanisms.calibration_layer import synthetic_inputs, synthetic_layer
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name
VECTORS = 256
METHODS = ("rtn", "clip", "smoothquant", "awq", "gptq", "gptq_act_order", "hadamard", "hadamard_gptq")
LOOKING = ("rtn", "smoothquant", "awq", "gptq")
PEAK_SEED, PEAK_DRAWS = 1, 500


@cache
def comparison() -> Table:
    """The built-in layer, calibrated and measured on prose, 4 bits, groups of 16."""
    held_out = synthetic_inputs("prose", VECTORS, part=1)
    found = compare(
        synthetic_layer(), calibration=synthetic_inputs("prose", VECTORS), held_out=held_out, methods=METHODS
    )  # fmt: skip
    return comparison_table(found)


@cache
def domains() -> Table:
    """The same layer measured on prose, calibrated on prose and on code."""
    return domains_table(
        synthetic_layer(), measured_on=synthetic_inputs("prose", VECTORS, part=1),
        same=synthetic_inputs("prose", VECTORS), other=synthetic_inputs("code", VECTORS), methods=LOOKING,
    )  # fmt: skip


@cache
def peaks() -> Table:
    """(500, 1, …, 1) in 1024 dimensions, and 500 draws of random signs."""
    return peak_table(1024, 500, signed_peaks(1024, 500, PEAK_DRAWS, rng=np.random.default_rng(PEAK_SEED)))


VALUES: dict[str, Callable[[], CellRef]] = {
    "calibration.peak_alone": lambda: (peaks(), 0, "peak_alone"),
    "calibration.peak_of_ones": lambda: (peaks(), 0, "peak_of_ones"),
    "calibration.peak_with_signs": lambda: (peaks(), 0, "peak_with_signs"),
    "calibration.gain_of_ones": lambda: (peaks(), 0, "gain_of_ones"),
    "calibration.gain_with_signs": lambda: (peaks(), 0, "gain_with_signs"),
    "calibration.rtn_error": lambda: (comparison(), 0, "held_out_error"),
    "calibration.rtn_bits": lambda: (comparison(), 0, "effective_bits"),
    "calibration.clip_error": lambda: (comparison(), 1, "held_out_error"),
    "calibration.awq_error": lambda: (comparison(), 3, "held_out_error"),
    "calibration.awq_bits": lambda: (comparison(), 3, "effective_bits"),
    "calibration.gptq_error": lambda: (comparison(), 4, "held_out_error"),
    "calibration.gptq_trace": lambda: (comparison(), 4, "trace"),
    "calibration.gptq_measured": lambda: (comparison(), 4, "measured"),
    "calibration.gptq_weight_error": lambda: (comparison(), 4, "weight_error"),
    "calibration.rtn_weight_error": lambda: (comparison(), 0, "weight_error"),
    "calibration.hadamard_error": lambda: (comparison(), 6, "held_out_error"),
    "calibration.hadamard_gptq_error": lambda: (comparison(), 7, "held_out_error"),
    "calibration.rtn_damage": lambda: (domains(), 0, "domain_damage"),
    "calibration.awq_damage": lambda: (domains(), 2, "domain_damage"),
    "calibration.gptq_damage": lambda: (domains(), 3, "domain_damage"),
    "calibration.gptq_other_domain": lambda: (domains(), 3, "other_domain"),
}
