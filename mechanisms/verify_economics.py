"""The economics tables in the shape of their reference files.

Columns ending in `_printed` repeat what a document prints. Here they are our value rounded to the printed places, and
`status` says whether that is the printed text: a figure that did not follow would show as a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from mechanisms.economics_conventions import EXAMPLES, bonus_split
from mechanisms.economics_decay import CHAINS, chain
from mechanisms.economics_price import price
from mechanisms.economics_ridge import ridge_limits
from mechanisms.hardware import device
from mechanisms.quantity import as_fraction, decimal_text, exact_text, short_text
from mechanisms.table import Table

Row = Mapping[str, str]
CASES = {
    "recap": "must-know example", "feature": "A3 feature-level draft", "small": "A3 8B draft",
    "small_low": "8B draft, rate 0.6, best gamma", "small_high": "8B draft, rate 0.75, best gamma",
    "mtp_low": "MTP upper bound, rate 0.85", "mtp_high": "MTP upper bound, rate 0.90",
    "mtp": "MTP, rate 0.875, cost 0.04",
}  # fmt: skip
RATE_TEXT = {"mtp_high": "0.90"}  # the file keeps the document's two places
PRICE_PRINTED = ("5", "15", "", "", "", "")
RIDGE_PRINTED = "295"
BATCH_PRINTED = {60: "4"}


def _value(table: Table, row: int, name: str) -> Fraction:
    return as_fraction(table.value(row, name))  # type: ignore[arg-type]


def _rounded(value: Fraction, printed: str) -> str:
    """Our value with as many places as the document prints."""
    return decimal_text(value, len(printed.partition(".")[2])) if printed else ""


def _examples() -> Iterator[Row]:
    for e in EXAMPLES:
        table = bonus_split(e.rate, e.gamma, e.cost)
        tokens, speed = _value(table, 0, "tokens_per_round"), _value(table, 0, "with_bonus")
        shown = [(e.tokens_printed, tokens), (e.speedup_printed, speed)]
        follows = all(_rounded(v, text) == text for text, v in shown)
        yield {
            "case": CASES[e.id], "rate": RATE_TEXT.get(e.id, short_text(e.rate)), "gamma": str(e.gamma),
            "cost": short_text(e.cost),
            "tokens_printed": _rounded(tokens, e.tokens_printed), "tokens_exact": exact_text(tokens),
            "tokens_12dp": decimal_text(tokens, 12), "speedup_printed": _rounded(speed, e.speedup_printed),
            "speedup_exact": exact_text(speed), "speedup_12dp": decimal_text(speed, 12),
            "status": "derived" if not e.speedup_printed else "ok" if follows else "mismatch",
        }  # fmt: skip


def _economics() -> Iterator[Row]:
    table = price()
    for i, name in enumerate(table.rows):
        each, printed = _value(table, i, "ms_per_token"), PRICE_PRINTED[i]
        yield {
            "tokens_per_round": name, "ms_per_token_printed": _rounded(each, printed),
            "ms_per_token_exact": exact_text(each), "ms_per_token_12dp": decimal_text(each, 12),
            "speedup_exact": exact_text(_value(table, i, "price_speedup")),
            "status": "derived" if not printed else "ok" if _rounded(each, printed) == printed else "mismatch",
        }  # fmt: skip


def _decay() -> Iterator[Row]:
    table = chain(CHAINS[0].rates)
    for i, name in enumerate(table.rows):
        yield {
            "position": name, "decaying_rate": short_text(_value(table, i, "conditional_acceptance")),
            "survival_exact": exact_text(_value(table, i, "prefix_survival")),
            "tokens_decaying": decimal_text(_value(table, i, "tokens_falling")),
            "tokens_constant": decimal_text(_value(table, i, "tokens_constant")),
            "difference": decimal_text(_value(table, i, "tokens_difference")),
        }  # fmt: skip


def _ridge() -> Iterator[Row]:
    table = ridge_limits(device("h100"))
    for i, name in enumerate(table.rows):
        ridge, largest = _value(table, i, "ridge"), _value(table, i, "largest_batch")
        yield {
            "positions_per_request": name, "ridge_printed": _rounded(ridge, RIDGE_PRINTED),
            "ridge_exact": exact_text(ridge), "largest_batch": exact_text(largest),
            "largest_batch_printed": _rounded(largest, BATCH_PRINTED.get(int(name), "")),
            "largest_batch_w4": exact_text(_value(table, i, "largest_batch_w4")),
        }  # fmt: skip


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "recap_speedup_examples": _examples,
    "draft_economics": _economics,
    "recap_chain_decay": _decay,
    "recap_ridge_limits": _ridge,
}
