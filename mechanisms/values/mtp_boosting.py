"""Numbers that the lesson on draft training quotes. Each is a cell of a table, so that it can be opened like one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from mechanisms.mtp_boosting import SEED_RATE, descent, totals
from mechanisms.mtp_cases import CASES, SEED_DRAFTS
from mechanisms.mtp_lambda import means, positions
from mechanisms.mtp_mixing import mismatch, shares
from mechanisms.mtp_pair import draft_totals, flip, masses
from mechanisms.mtp_published import EAGLE, loss_table, speed_bench
from mechanisms.mtp_race import race
from mechanisms.mtp_search import MOST_DRAWS, Finding, count_table, search
from mechanisms.mtp_temperature import softened
from mechanisms.mtp_vanish import vanishing
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name
GUESS_TOKENS, GUESS_SEED = 5, 1
SHOWN_DEPTH = 4


@cache
def states() -> tuple[Table, ...]:
    return descent(CASES["seed"], rate=SEED_RATE)


@cache
def draft(which: str, decay: int) -> Table:
    return draft_totals(masses(SEED_DRAFTS, which), decay=Fraction(decay))


@cache
def guess_search() -> Finding:
    """The search that the second guess is about."""
    return search(tokens=GUESS_TOKENS, draws=MOST_DRAWS, rng=np.random.default_rng(GUESS_SEED))


@cache
def _flip() -> Table:
    found = flip(SEED_DRAFTS)
    assert found is not None
    return found


@cache
def _far() -> Table:
    return race(CASES["far"], [SEED_RATE * 5])[0]


VALUES: dict[str, Callable[[], CellRef]] = {
    "mtp_boosting.q_before": lambda: (states()[0], 0, "draft_probability"),
    "mtp_boosting.q_after": lambda: (states()[1], 0, "draft_probability"),
    "mtp_boosting.kl_before": lambda: (totals(states()[0]), 0, "kl_divergence"),
    "mtp_boosting.kl_after": lambda: (totals(states()[1]), 0, "kl_divergence"),
    "mtp_boosting.rate_before": lambda: (totals(states()[0]), 0, "acceptance_rate"),
    "mtp_boosting.rate_after": lambda: (totals(states()[1]), 0, "acceptance_rate"),
    "mtp_boosting.rate_last": lambda: (totals(states()[-1]), 0, "acceptance_rate"),
    "mtp_boosting.kl_a": lambda: (draft("a", 3), 0, "kl_divergence"),
    "mtp_boosting.kl_b": lambda: (draft("b", 3), 0, "kl_divergence"),
    "mtp_boosting.rate_a": lambda: (draft("a", 3), 0, "acceptance_rate"),
    "mtp_boosting.rate_b": lambda: (draft("b", 3), 0, "acceptance_rate"),
    "mtp_boosting.tv_a": lambda: (draft("a", 3), 0, "total_variation"),
    "mtp_boosting.tv_b": lambda: (draft("b", 3), 0, "total_variation"),
    "mtp_boosting.bound_a": lambda: (draft("a", 3), 0, "pinsker_bound"),
    "mtp_boosting.bound_b": lambda: (draft("b", 3), 0, "pinsker_bound"),
    "mtp_boosting.term_a": lambda: (masses(SEED_DRAFTS, "a"), 2, "kl_term"),
    "mtp_boosting.hybrid_a1": lambda: (draft("a", 1), 0, "hybrid_loss"),
    "mtp_boosting.hybrid_b1": lambda: (draft("b", 1), 0, "hybrid_loss"),
    "mtp_boosting.hybrid_a3": lambda: (draft("a", 3), 0, "hybrid_loss"),
    "mtp_boosting.hybrid_b3": lambda: (draft("b", 3), 0, "hybrid_loss"),
    "mtp_boosting.flip": lambda: (_flip(), 0, "decay"),
    "mtp_boosting.reversal_share": lambda: (count_table(guess_search()), 0, "reversal_share"),
    "mtp_boosting.reversals": lambda: (count_table(guess_search()), 0, "reversals_found"),
    "mtp_boosting.pairs": lambda: (count_table(guess_search()), 0, "pairs_drawn"),
    "mtp_boosting.far_start": lambda: (_far(), 0, "acceptance_under_kl"),
    "mtp_boosting.far_kl": lambda: (_far(), 10, "acceptance_under_kl"),
    "mtp_boosting.far_tv": lambda: (_far(), 10, "acceptance_under_tv"),
    "mtp_boosting.far_nla": lambda: (_far(), 10, "acceptance_under_nla"),
    "mtp_boosting.far_hybrid": lambda: (_far(), 10, "acceptance_under_hybrid"),
    "mtp_boosting.vanish_kl": lambda: (vanishing(5, [50_000]), 0, "kl_length"),
    "mtp_boosting.vanish_tv": lambda: (vanishing(5, [50_000]), 0, "tv_length"),
    "mtp_boosting.vanish_nla": lambda: (vanishing(5, [50_000]), 0, "nla_length"),
    "mtp_boosting.soft_one": lambda: (softened(CASES["seed"], temperature=Fraction(1)), 0, "draft_after"),
    "mtp_boosting.soft_two": lambda: (softened(CASES["seed"], temperature=Fraction(2)), 0, "draft_after"),
    "mtp_boosting.soft_four": lambda: (softened(CASES["seed"], temperature=Fraction(4)), 0, "draft_after"),
    "mtp_boosting.mean_token": lambda: (means(positions("3")), 0, "mean_speculators"),
    "mtp_boosting.mean_depth": lambda: (means(positions("3")), 0, "mean_modelopt"),
    "mtp_boosting.mean_batch": lambda: (means(positions("3")), 0, "mean_specforge"),
    "mtp_boosting.mismatch_plain": lambda: (mismatch(shares(SHOWN_DEPTH)), 0, "mismatch_plain"),
    "mtp_boosting.mismatch_report": lambda: (mismatch(shares(SHOWN_DEPTH)), 0, "mismatch_report"),
    "mtp_boosting.mismatch_code": lambda: (mismatch(shares(SHOWN_DEPTH)), 0, "mismatch_code"),
    "mtp_boosting.boost_base": lambda: (speed_bench({}), 11, "base_greedy"),
    "mtp_boosting.boost_after": lambda: (speed_bench({}), 11, "boost_greedy"),
    "mtp_boosting.boost_gain": lambda: (speed_bench({}), 11, "gain_greedy"),
    "mtp_boosting.boost_gain_warm": lambda: (speed_bench({}), 11, "gain_warm"),
    "mtp_boosting.printed_warm": lambda: (speed_bench({}), 11, "base_warm"),
    "mtp_boosting.mean_warm": lambda: (speed_bench({}), 12, "base_warm"),
    "mtp_boosting.eagle_tv": lambda: (loss_table(EAGLE, "kl", {}), 1, "warm_gain"),
    "mtp_boosting.eagle_hybrid": lambda: (loss_table(EAGLE, "kl", {}), 5, "warm_gain"),
}
