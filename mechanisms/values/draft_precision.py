"""Numbers that the audit of the draft-precision article quotes. Each is a cell of a table, so that it can be opened."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mechanisms.draft_precision import matrix
from mechanisms.precision_break import CASES, breaks
from mechanisms.precision_choice import best, choices
from mechanisms.precision_claims import held, noise, relative
from mechanisms.precision_latency import Model, common, implied, speedups
from mechanisms.precision_memory import memory, reading
from mechanisms.precision_survives import break_even
from mechanisms.precision_window import by_window
from mechanisms.rejection_bias import greedy_bias
from mechanisms.rejection_presets import PRESETS
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name
MEAN: Model = "mean"
FITTING = Fraction(94)  # a time of a target pass that serves all three speedups
SHORT = Fraction(43)


def _threshold() -> Table:
    return choices(Fraction("0.6"), Fraction("4.2"))


VALUES: dict[str, Callable[[], CellRef]] = {
    "draft_precision.window": lambda: (matrix(), 0, "draft_length"),
    "draft_precision.bf16_printed": lambda: (matrix(), 0, "tokens_printed"),
    "draft_precision.bf16_code_percent": lambda: (matrix(), 0, "code_printed"),
    "draft_precision.bf16_code": lambda: (matrix(), 0, "tokens_code"),
    "draft_precision.fp8_gap": lambda: (matrix(), 1, "excess_over_code"),
    "draft_precision.bf16_needed": lambda: (matrix(), 0, "needed_rate"),
    "draft_precision.int4_needed": lambda: (matrix(), 2, "needed_rate"),
    "draft_precision.int4_printed": lambda: (matrix(), 2, "tokens_printed"),
    "draft_precision.int4_five": lambda: (by_window(5, "code"), 2, "tokens"),
    "draft_precision.int4_six": lambda: (by_window(6, "code"), 2, "tokens"),
    "draft_precision.int4_eight": lambda: (by_window(8, "code"), 2, "tokens"),
    "draft_precision.int4_limit": lambda: (by_window(5, "code"), 2, "limit"),
    "draft_precision.target_bf16": lambda: (implied("printed"), 0, "implied_target"),
    "draft_precision.target_fp8": lambda: (implied("printed"), 1, "implied_target"),
    "draft_precision.target_int4": lambda: (implied("printed"), 2, "implied_target"),
    "draft_precision.mean_low": lambda: (common(MEAN), 0, "common_low"),
    "draft_precision.mean_high": lambda: (common(MEAN), 0, "common_high"),
    "draft_precision.int4_tokens": lambda: (speedups(MEAN, FITTING), 2, "tokens"),
    "draft_precision.bf16_speedup": lambda: (speedups(MEAN, FITTING), 0, "speedup"),
    "draft_precision.int4_share": lambda: (break_even(MEAN, FITTING), 1, "tokens_share"),
    "draft_precision.int4_even": lambda: (break_even(MEAN, FITTING), 1, "break_even_step"),
    "draft_precision.int4_even_short": lambda: (break_even(MEAN, SHORT), 1, "break_even_step"),
    "draft_precision.int4_speedup": lambda: (speedups(MEAN, FITTING), 2, "speedup"),
    "draft_precision.fp8_even": lambda: (break_even(MEAN, FITTING), 0, "break_even_step"),
    "draft_precision.fp8_step": lambda: (matrix(), 1, "step_printed"),
    "draft_precision.best_short": lambda: (best(_threshold()), 0, "best_length_short"),
    "draft_precision.best_long": lambda: (best(_threshold()), 0, "best_length_long"),
    "draft_precision.two_long": lambda: (_threshold(), 2, "speedup_long"),
    "draft_precision.three_long": lambda: (_threshold(), 3, "speedup_long"),
    "draft_precision.five_long": lambda: (_threshold(), 5, "speedup_long"),
    "draft_precision.first_break": lambda: (breaks(CASES["int4_code"]), 0, "break_probability"),
    "draft_precision.second_so_far": lambda: (breaks(CASES["int4_code"]), 1, "break_so_far"),
    "draft_precision.star_target": lambda: (greedy_bias(PRESETS["identical"]), 0, "star_target"),
    "draft_precision.int4_kept": lambda: (memory(), 3, "weight_gigabytes"),
    "draft_precision.int4_every": lambda: (memory(), 4, "weight_gigabytes"),
    "draft_precision.int4_memory": lambda: (memory(), 3, "memory_printed"),
    "draft_precision.read_bf16": lambda: (reading(), 0, "reading_ms"),
    "draft_precision.step_bf16": lambda: (reading(), 0, "step_printed"),
    "draft_precision.step_saved": lambda: (held(), 0, "drop"),
    "draft_precision.drop": lambda: (relative(), 0, "drop"),
    "draft_precision.drop_errors": lambda: (noise(), 0, "drop_in_errors"),
}
