"""Numbers that the verification-budget lesson quotes. Each is a cell of a table, so that it can be opened like one."""

from __future__ import annotations

from collections.abc import Callable

from mechanisms.dspark import substitution_table, summary_table, survival_table
from mechanisms.dspark_batch import outcome_table, sum_table
from mechanisms.dspark_cost import best_length, cost_table
from mechanisms.dspark_presets import CHAINS, CURVES, DRAFT_TIME, EXAMPLES, FIXED_TIME, REQUESTS, VERIFY
from mechanisms.dspark_selection import Policy, first_output, rates
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name
PRINTED = CHAINS["printed"]


def _cost(curve: str) -> Table:
    return cost_table(PRINTED, VERIFY[curve], draft=DRAFT_TIME, fixed=FIXED_TIME, name=f"cost_{curve.lower()}")


def _best(curve: str, name: str) -> CellRef:
    table = _cost(curve)
    return table, best_length(table), name


def _outcome(curve: str, row: int) -> CellRef:
    return outcome_table(REQUESTS, CURVES[curve])[0], row, "throughput"


def _output(example: str, policy: Policy, row: int = 0) -> CellRef:
    return first_output(EXAMPLES[example], policy), row, "first_output"


VALUES: dict[str, Callable[[], CellRef]] = {
    "dspark.tokens": lambda: (summary_table(PRINTED), 0, "tokens_per_round"),
    "dspark.last_survival": lambda: (survival_table(PRINTED), 4, "prefix_survival"),
    "dspark.mean_rate": lambda: (summary_table(PRINTED), 0, "mean_conditional"),
    "dspark.mean_tokens": lambda: (substitution_table(PRINTED), 0, "tokens_if_constant"),
    "dspark.per_draft_rate": lambda: (summary_table(PRINTED), 0, "accepted_per_proposed"),
    "dspark.per_draft_tokens": lambda: (substitution_table(PRINTED), 1, "tokens_if_constant"),
    "dspark.first_tokens": lambda: (substitution_table(PRINTED), 2, "tokens_if_constant"),
    "dspark.best_a": lambda: _best("A", "verified_length"),
    "dspark.best_rate_a": lambda: _best("A", "token_rate"),
    "dspark.best_b": lambda: _best("B", "verified_length"),
    "dspark.best_rate_b": lambda: _best("B", "token_rate"),
    "dspark.last_rate_b": lambda: (_cost("B"), 4, "token_rate"),
    "dspark.first_rate_b": lambda: (_cost("B"), 1, "token_rate"),
    "dspark.third_rate_b": lambda: (_cost("B"), 3, "token_rate"),
    "dspark.none_rate_b": lambda: (_cost("B"), 0, "token_rate"),
    "dspark.smooth_best": lambda: _outcome("smooth", 1),
    "dspark.step_early": lambda: _outcome("step", 0),
    "dspark.step_best": lambda: _outcome("step", 1),
    "dspark.promised": lambda: (sum_table(REQUESTS, CURVES["smooth"]), 0, "promised"),
    "dspark.together": lambda: (sum_table(REQUESTS, CURVES["smooth"]), 0, "together"),
    "dspark.small_biased": lambda: _output("small", "hindsight"),
    "dspark.small_target": lambda: (first_output(EXAMPLES["small"], "hindsight"), 0, "target_probability"),
    "dspark.appendix_biased": lambda: _output("appendix", "hindsight"),
    "dspark.appendix_target": lambda: (first_output(EXAMPLES["appendix"], "hindsight"), 0, "target_probability"),
    "dspark.appendix_early": lambda: _output("appendix", "first_drop"),
    "dspark.appendix_a": lambda: (rates(EXAMPLES["appendix"]), 0, "rate_2"),
    "dspark.appendix_b": lambda: (rates(EXAMPLES["appendix"]), 1, "rate_2"),
}
