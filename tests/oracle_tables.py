"""Every table of the rejection chapter for every preset, so that a test can open each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from mechanisms.distribution import Pair
from mechanisms.rejection_bias import greedy_bias
from mechanisms.rejection_counts import counts_table, fit_table
from mechanisms.rejection_ledger import ledger, summary, two_draft_length
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_round import cache_table
from mechanisms.rejection_rules import RULES, output_law, rule, verdict
from mechanisms.rejection_sampling import check
from mechanisms.table import Table


def tables(pair: Pair, *, draws: int = 500) -> Iterator[Table]:
    """All tables of one pair, under every rule."""
    yield from (ledger(pair), summary(pair), two_draft_length(summary(pair).value(0, "acceptance_rate")))  # type: ignore[arg-type]
    yield greedy_bias(pair)
    for which in RULES:
        for keep in (1, 2, 3) if which.id == "filtered_draft" else (2,):
            law = output_law(pair, which, keep=keep)
            yield from (law, verdict(law))
    for name in ("exact", "no_residual"):
        done = check(pair, rule(name), draws, seed=7)
        yield from (counts_table(done), fit_table(done))


def cache_tables() -> Iterator[Table]:
    """Rounds of four drafts with every fate."""
    for first in (1, 2, 3, 4, None):
        yield cache_table(first_rejected=first)


TABLES: dict[str, Callable[[], Iterator[Table]]] = {name: partial(tables, pair) for name, pair in PRESETS.items()}
TABLES["cache"] = cache_tables
