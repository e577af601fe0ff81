"""Numbers that the economics lesson quotes. Each is a cell of a table, so that it can be opened like one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mechanisms.economics_conventions import bonus_split
from mechanisms.economics_decay import CHAINS, chain, chain_totals
from mechanisms.economics_markov import two_step_totals, two_steps
from mechanisms.economics_metrics import TRACES, metrics
from mechanisms.economics_overlap import PAIRS, RIVALS, heated, heated_rate, overlap, overlap_summary
from mechanisms.economics_price import break_even, price
from mechanisms.economics_published import leviathan_table_4
from mechanisms.economics_ridge import batches, ridge_limits
from mechanisms.economics_tree import SHAPES, turned
from mechanisms.economics_tree_tables import tree_summary
from mechanisms.hardware import device
from mechanisms.rejection_presets import PRESETS
from mechanisms.speculation_economics import best, costs_of, speed_curve
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name
GUESS_RATE, GUESS_COST, GUESS_LONG = Fraction("0.6"), Fraction("0.2"), 8
TREE_PRESET = "argmax_agrees_tv_large"


def guessed() -> Table:
    """The curve of the first question."""
    return speed_curve(GUESS_RATE, GUESS_COST, costs_of("constant"))


def rivals() -> tuple[Table, Table]:
    """The two drafts of the second question: one shares the favourite, one does not."""
    return overlap_summary(overlap(RIVALS[0])), overlap_summary(overlap(RIVALS[1]))


def _recap() -> Table:
    return bonus_split(Fraction("0.8"), 4, Fraction("0.1"))


def _chain(place: int, which: str = "first") -> Table:
    return chain_totals(chain(CHAINS[place].rates, which))


def _tree(shape: str, rule: str = "exact") -> Table:
    return tree_summary(turned(PRESETS[TREE_PRESET]), SHAPES[shape], rule)  # type: ignore[arg-type]


def _hot(pair: str, heat: str) -> Table:
    return heated_rate(heated(PAIRS[pair], Fraction(heat)))


_V: dict[str, Callable[[], CellRef]] = {
    "recap_tokens": lambda: (_recap(), 0, "tokens_per_round"),
    "recap_with": lambda: (_recap(), 0, "with_bonus"),
    "recap_without": lambda: (_recap(), 0, "without_bonus"),
    "recap_gap": lambda: (_recap(), 0, "bonus_term"),
    "guess_one": lambda: (guessed(), 1, "speedup"),
    "guess_eight": lambda: (guessed(), GUESS_LONG, "speedup"),
    "guess_tokens": lambda: (guessed(), GUESS_LONG, "tokens_per_round"),
    "guess_time": lambda: (guessed(), GUESS_LONG, "round_time"),
    "guess_best": lambda: (best(guessed()), 0, "best_draft_length"),
    "guess_best_speedup": lambda: (best(guessed()), 0, "best_speedup"),
    "price_three": lambda: (price(), 0, "ms_per_token"),
    "price_one": lambda: (price(), 1, "ms_per_token"),
    "price_even": lambda: (break_even(), 0, "break_even"),
    "measured_low": lambda: (leviathan_table_4(), 2, "measured_over_computed"),
    "measured_high": lambda: (leviathan_table_4(), 6, "measured_over_computed"),
    "decay_falling": lambda: (_chain(0), 0, "tokens_per_round"),
    "decay_constant": lambda: (_chain(0), 0, "tokens_constant"),
    "decay_over": lambda: (_chain(0), 0, "overstatement"),
    "decay_mean": lambda: (_chain(0, "mean"), 0, "tokens_constant"),
    "decay_proposed": lambda: (_chain(0, "proposed"), 0, "tokens_constant"),
    "fastmtp_tokens": lambda: (_chain(2), 0, "tokens_per_round"),
    "trace_proposed": lambda: (metrics(TRACES["falling"]), 0, "accepted_per_proposed"),
    "trace_verified": lambda: (metrics(TRACES["falling"]), 0, "accepted_per_verified"),
    "trace_burst": lambda: (metrics(TRACES["all_or_nothing"]), 0, "accepted_per_verified"),
    "trace_tokens": lambda: (metrics(TRACES["falling"]), 0, "tokens_per_round"),
    "trace_plugged": lambda: (metrics(TRACES["falling"]), 0, "plugged_proposed"),
    "rival_same": lambda: (rivals()[0], 0, "acceptance_rate"),
    "rival_other": lambda: (rivals()[1], 0, "acceptance_rate"),
    "rival_floor": lambda: (rivals()[0], 0, "pinsker_floor"),
    "hot_same_cold": lambda: (_hot("same_favourite", "0.1"), 0, "heated_acceptance"),
    "hot_same_one": lambda: (_hot("same_favourite", "1"), 0, "heated_acceptance"),
    "hot_other_cold": lambda: (_hot("other_favourite", "0.1"), 0, "heated_acceptance"),
    "hot_other_one": lambda: (_hot("other_favourite", "1"), 0, "heated_acceptance"),
    "ridge_h100": lambda: (ridge_limits(device("h100")), 0, "ridge"),
    "ridge_h200": lambda: (ridge_limits(device("h200")), 0, "ridge"),
    "batch_sixty": lambda: (ridge_limits(device("h100")), 4, "largest_batch"),
    "batch_sixty_h200": lambda: (ridge_limits(device("h200")), 4, "largest_batch"),
    "batch_sixty_w4": lambda: (ridge_limits(device("h100")), 4, "largest_batch_w4"),
    "batch_large": lambda: (batches(device("h100"), 4), 9, "speedup"),
    "batch_small": lambda: (batches(device("h100"), 4), 0, "speedup"),
    "tree_chain": lambda: (_tree("chain"), 0, "tokens_per_round"),
    "tree_two": lambda: (_tree("two"), 0, "tokens_per_round"),
    "tree_nodes": lambda: (_tree("two"), 0, "tree_nodes"),
    "tree_error": lambda: (_tree("two"), 0, "joint_distance"),
    "tree_stale": lambda: (_tree("two", "stale"), 0, "joint_distance"),
    "heads_tokens": lambda: (two_step_totals(two_steps(Fraction(1))), 0, "tokens_marginal"),
    "knows_tokens": lambda: (two_step_totals(two_steps(Fraction(1))), 0, "tokens_conditional"),
}
VALUES: dict[str, Callable[[], CellRef]] = {f"speculation_economics.{name}": make for name, make in _V.items()}
