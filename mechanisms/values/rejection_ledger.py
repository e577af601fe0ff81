"""Numbers that the rejection-ledger lesson quotes. Each is a cell of a table, so that it can be opened like one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mechanisms.quantity import as_fraction
from mechanisms.rejection_bias import greedy_bias
from mechanisms.rejection_ledger import ledger, summary, two_draft_length
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_round import cache_table
from mechanisms.rejection_rules import output_law, rule, verdict
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name


def _agree() -> Table:
    return ledger(PRESETS["argmax_agrees_tv_large"])


def _verdict(preset: str, rule_id: str) -> Table:
    return verdict(output_law(PRESETS[preset], rule(rule_id)))


VALUES: dict[str, Callable[[], CellRef]] = {
    "rejection_ledger.prefix": lambda: (cache_table(first_rejected=2), 0, "confirmed_tokens"),
    "rejection_ledger.drafts": lambda: (cache_table(first_rejected=2), 0, "draft_length"),
    "rejection_ledger.processed": lambda: (cache_table(first_rejected=2), 0, "positions_processed"),
    "rejection_ledger.agree_rejected": lambda: (summary(PRESETS["argmax_agrees_tv_large"]), 0, "rejection_probability"),
    "rejection_ledger.agree_favourite_p": lambda: (_agree(), 0, "target_probability"),
    "rejection_ledger.agree_favourite_q": lambda: (_agree(), 0, "draft_probability"),
    "rejection_ledger.agree_favourite_accept": lambda: (_agree(), 0, "acceptance_probability"),
    "rejection_ledger.differ_accepted": lambda: (summary(PRESETS["argmax_differs_tv_small"]), 0, "acceptance_rate"),
    "rejection_ledger.never_drafted_final": lambda: (ledger(PRESETS["zero_in_draft"]), 2, "final_mass"),
    "rejection_ledger.never_drafted_residual": lambda: (ledger(PRESETS["zero_in_draft"]), 2, "residual"),
    "rejection_ledger.zero_rate": lambda: (summary(PRESETS["zero_in_draft"]), 0, "acceptance_rate"),
    "rejection_ledger.zero_error": lambda: (summary(PRESETS["zero_in_draft"]), 0, "largest_error"),
    "rejection_ledger.identical_argmax_distance": lambda: (_verdict("identical", "argmax_draft"), 0, "distance"),
    "rejection_ledger.identical_argmax_emitted": lambda: (greedy_bias(PRESETS["identical"]), 0, "star_emitted"),
    "rejection_ledger.identical_favourite": lambda: (greedy_bias(PRESETS["identical"]), 0, "star_target"),
    "rejection_ledger.equality_accepted": lambda: (_verdict("zero_in_draft", "equality"), 0, "accepted_share"),
    "rejection_ledger.zero_tokens": lambda: (two_draft_length(_rate("zero_in_draft")), 0, "tokens_per_round"),
}


def _rate(preset: str) -> Fraction:
    return as_fraction(summary(PRESETS[preset]).value(0, "acceptance_rate"))
