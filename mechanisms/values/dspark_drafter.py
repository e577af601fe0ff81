"""Numbers that the drafter lesson quotes. Each is a cell of a table, so that it can be opened like one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mechanisms.drafter_calibration import Result, bin_table, calibrate, place_table, protocol, score_table
from mechanisms.drafter_confidence import context_table, label, label_table, means
from mechanisms.drafter_order import leads, order_table
from mechanisms.drafter_pairs import collisions, pair_table, two_cities
from mechanisms.drafter_published import published_points, published_summary
from mechanisms.drafter_rounds import Temper, simulate
from mechanisms.dspark_drafter import block_table, size_table
from mechanisms.table import Table

CellRef = tuple[Table, int, str]  # table, row, column name
ONE = Fraction(1)


@lru_cache(maxsize=8)
def example(temper: Temper, count: int, seed: int = 1) -> Result:
    """The simulated calibration that the lesson talks about."""
    return calibrate(simulate(temper, count, np.random.default_rng(seed)))


def scores(result: Result, place: int, after: bool) -> Table:
    """ECE, Brier and area of one place, opened into bins. place: 1 … 5."""
    found, name = (result.after, "after") if after else (result.before, "before")
    a, y = found[:, place - 1], result.survived[:, place - 1]
    rows = bin_table(a, y, f"bins_{name}", result.kind)
    return score_table(rows, a, y, f"scores_{name}", result.kind)


def _clash(strength: Fraction, anchor: str = "to") -> Table:
    return collisions(pair_table(anchor, 1, strength))


def _means(anchor: str) -> Table:
    return means(context_table(anchor, ONE))


def _order() -> Table:
    return leads(order_table(Fraction(2)))


def _both() -> Table:
    return leads(order_table(Fraction(2), "both"))


def _published(place: int) -> Table:
    return published_summary(published_points(place), place)


MAJOR = Fraction(3, 5)  # the share of the first city in the chapter's first question

VALUES: dict[str, Callable[[], CellRef]] = {
    "dspark_drafter.either_way": lambda: (two_cities(MAJOR), 0, "either_way"),
    "dspark_drafter.one_way": lambda: (two_cities(MAJOR), 0, "one_way"),
    "dspark_drafter.matched": lambda: (two_cities(MAJOR), 0, "matched"),
    "dspark_drafter.block": lambda: (block_table(), 0, "block"),
    "dspark_drafter.masks": lambda: (block_table(), 0, "masks"),
    "dspark_drafter.clash_parallel": lambda: (_clash(ONE), 0, "clash_parallel"),
    "dspark_drafter.clash_headed": lambda: (_clash(ONE), 0, "clash_headed"),
    "dspark_drafter.clash_target": lambda: (_clash(ONE), 0, "clash_target"),
    "dspark_drafter.size_ratio": lambda: (size_table(), 1, "size_ratio"),
    "dspark_drafter.rank": lambda: (size_table(), 1, "rank"),
    "dspark_drafter.label_new": lambda: (label(label_table("to", "New", Fraction(0))), 0, "label"),
    "dspark_drafter.label_new_headed": lambda: (label(label_table("to", "New", ONE)), 0, "label"),
    "dspark_drafter.mean_parallel": lambda: (_means("to"), 0, "mean_parallel"),
    "dspark_drafter.mean_headed": lambda: (_means("to"), 0, "mean_headed"),
    "dspark_drafter.known_parallel": lambda: (_means("New"), 0, "mean_parallel"),
    "dspark_drafter.known_headed": lambda: (_means("New"), 0, "mean_headed"),
    "dspark_drafter.a_before": lambda: (_order(), 0, "a_before"),
    "dspark_drafter.b_before": lambda: (_order(), 0, "b_before"),
    "dspark_drafter.a_after": lambda: (_order(), 0, "a_after"),
    "dspark_drafter.b_after": lambda: (_order(), 0, "b_after"),
    "dspark_drafter.a_both": lambda: (_both(), 0, "a_after"),
    "dspark_drafter.b_both": lambda: (_both(), 0, "b_after"),
    "dspark_drafter.bins": lambda: (protocol(example("over", 1000)), 0, "bins"),
    "dspark_drafter.grid_points": lambda: (protocol(example("over", 1000)), 0, "grid_points"),
    "dspark_drafter.grid_low": lambda: (protocol(example("over", 1000)), 0, "grid_low"),
    "dspark_drafter.grid_high": lambda: (protocol(example("over", 1000)), 0, "grid_high"),
    "dspark_drafter.error_before": lambda: (scores(example("over", 1000), 2, False), 0, "calibration_error"),
    "dspark_drafter.error_after": lambda: (scores(example("over", 1000), 2, True), 0, "calibration_error"),
    "dspark_drafter.swapped": lambda: (place_table(example("over", 1000)), 1, "swapped"),
    "dspark_drafter.floor": lambda: (scores(example("right", 200), 2, False), 0, "calibration_error"),
    "dspark_drafter.floor_many": lambda: (scores(example("right", 5000), 2, False), 0, "calibration_error"),
    "dspark_drafter.overfitted": lambda: (scores(example("right", 200), 2, True), 0, "calibration_error"),
    "dspark_drafter.published_gap": lambda: (_published(7), 0, "most_gap_before"),
    "dspark_drafter.published_gap_after": lambda: (_published(7), 0, "most_gap_after"),
}
