"""Falling acceptance against one rate, and one trace under all its names."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from mechanisms.economics_decay import CHAINS, PLUGS, chain, chain_totals
from mechanisms.economics_metrics import DRAFTS, TRACES, metrics, positions
from mechanisms.table import Table
from pages._economics_speed import lines
from pages._economics_state import OWN, TOPIC, choose, choose_list, get, note, own_list, show
from pages._parts import Block

Values = tuple[Fraction, ...]
CHAIN_ORDER = (
    "conditional_acceptance", "prefix_survival", "tokens_falling", "tokens_constant", "tokens_difference",
    "survival_before", "survival_sum", "constant_rate", "position",
)  # fmt: skip
TOTALS_ORDER = (
    "tokens_per_round", "tokens_constant", "overstatement", "accepted_tokens", "accepted_per_proposed",
    "drafts_proposed",
)  # fmt: skip
METRICS_ORDER = (
    "accepted_per_proposed", "accepted_per_verified", "accepted_tokens", "tokens_per_round", "share_of_longest",
    "tokens_per_second", "plugged_proposed", "plugged_verified", "rounds", "draft_length", "round_ms",
)  # fmt: skip


def rates() -> Values:
    own: Values | None = get("own_chain")
    if get("chain") == OWN and own is not None:
        return own
    return next((c.rates for c in CHAINS if c.id == get("chain")), CHAINS[0].rates)


@lru_cache(maxsize=64)
def _chain(values: Values, plug: str) -> Table:
    return chain(values, plug)


def chain_choice(block: Block, words: str) -> None:
    choose_list(block, "chain", (*(c.id for c in CHAINS), OWN), words, rates)


def plug_choice(block: Block, words: str) -> None:
    choose(block, "plug", PLUGS, words)


def own_chain(block: Block, words: str) -> None:
    own_list(block, "chain", "rates", words, rates)


def chain_strip(block: Block, words: str) -> None:
    note(block, words, "chain_head")
    found = chain_totals(_chain(rates(), get("plug")))
    show(
        block,
        found,
        "chain_totals",
        words,
        layout="strip",
        order=TOTALS_ORDER,
        over="speculation_economics.chain_table",
    )


def chain_plot(block: Block, words: str) -> None:
    lines(block, "chain_plot", "chain_table", ("tokens_falling", "tokens_constant"), words)


def chain_table(block: Block, words: str) -> None:
    show(block, _chain(rates(), get("plug")), "chain_table", words, head="row_position", order=CHAIN_ORDER)


def lengths() -> Values:
    own: Values | None = get("own_trace")
    if get("trace") == OWN and own is not None:
        return own
    return tuple(Fraction(n) for n in TRACES.get(get("trace"), TRACES["falling"]))


def _trace() -> tuple[tuple[int, ...], int]:
    """Accepted drafts of each round, and the draft length: four, or the longest of an own list."""
    found = tuple(int(x) for x in lengths())
    return found, max(DRAFTS, *found)


def trace_choice(block: Block, words: str) -> None:
    choose_list(block, "trace", (*TRACES, OWN), words, lengths)


def own_trace(block: Block, words: str) -> None:
    own_list(block, "trace", "lengths", words, lengths)


def metrics_strip(block: Block, words: str) -> None:
    note(block, words, "metrics_head")
    over = f"{TOPIC}.positions"
    show(block, metrics(*_trace()), "metrics", words, layout="strip", order=METRICS_ORDER, over=over)


def positions_table(block: Block, words: str) -> None:
    show(block, positions(*_trace()), "positions", words, head="row_position")
