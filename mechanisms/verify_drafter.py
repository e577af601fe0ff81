"""The drafter's exact tables in the shape of their reference files, which `tests/oracle_drafter.py` wrote by listing
every block of the toy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mechanisms.drafter_confidence import context_table, means
from mechanisms.drafter_order import LOCKS, TEMPERATURES, leads, order_table
from mechanisms.drafter_pairs import collisions, pair_table
from mechanisms.drafter_toy import ANCHORS, BLOCK, STRENGTHS
from mechanisms.quantity import as_fraction, decimal_text, exact_text
from mechanisms.table import Table

Row = Mapping[str, str]


def _exact(table: Table, name: str, row: int = 0) -> str:
    return exact_text(as_fraction(table.value(row, name)))


def _collisions() -> Iterator[Row]:
    for anchor in ANCHORS:
        for position in range(1, BLOCK):
            for strength in STRENGTHS:
                found = collisions(pair_table(anchor, position, strength))
                names = ("clash_parallel", "clash_headed", "clash_target")
                yield {"anchor": anchor, "position": str(position), "strength": str(strength)} | {
                    name: _exact(found, name) for name in names
                }


def _acceptance() -> Iterator[Row]:
    for anchor in ANCHORS:
        for strength in STRENGTHS:
            table = context_table(anchor, strength)
            overall = _exact(means(table), "mean_headed")
            for i, previous in enumerate(table.rows):
                yield {
                    "anchor": anchor, "strength": str(strength), "previous": previous,
                    "arrives": _exact(table, "arrives", i), "label_parallel": _exact(table, "label_parallel", i),
                    "label_headed": _exact(table, "label_headed", i), "mean_headed": overall,
                }  # fmt: skip


def _order() -> Iterator[Row]:
    for lock in LOCKS:
        for temperature in TEMPERATURES:
            found = leads(order_table(temperature, lock))
            yield {"lock": lock, "temperature": str(temperature)} | {
                name: decimal_text(as_fraction(found.value(0, name)), 12) for name in ("a_after", "b_after")
            }


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "drafter_collisions": _collisions,
    "drafter_acceptance": _acceptance,
    "drafter_order": _order,
}
