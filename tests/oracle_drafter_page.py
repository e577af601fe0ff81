"""What the drafter's page has to show in a given state, taken from the mechanisms and from nothing of the pages."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mechanisms.drafter_calibration import (
    Result,
    bin_table,
    calibrate,
    calibrate_all,
    place_table,
    protocol,
    score_table,
)
from mechanisms.drafter_confidence import context_table, label, label_table, means
from mechanisms.drafter_order import TEMPERATURES, leads, order_table
from mechanisms.drafter_pairs import collisions, pair_table
from mechanisms.drafter_published import published_points, published_summary
from mechanisms.drafter_rounds import Temper, read_pairs, simulate
from mechanisms.drafter_toy import STRENGTHS
from mechanisms.drafter_walk import DRAWS, walk
from mechanisms.dspark_drafter import bias_table, law_table, size_table
from mechanisms.quantity import exact_text, print_text
from mechanisms.table import Table

Cells = dict[tuple[int, str], tuple[str, str]]
DEFAULTS: dict[str, str] = {
    "anchor": "to", "draw": "first", "head": "on", "step": "0", "place": "1", "strength": "4", "previous": "New",
    "lock": "second", "heat": "3", "temper": "over", "rounds": "1000", "seed": "1", "position": "2", "published": "1",
    "guess2": "",
}  # fmt: skip


def cells(table: Table, *, without: str = "") -> Cells:
    """`(row, quantity)` → `(decimal, exact)`, empty where undefined."""
    return {
        (row, q.name): ("", "") if v is None else (print_text(q, v), exact_text(v) if isinstance(v, Fraction) else "")
        for q, column in zip(table.columns, table.cells, strict=True)
        for row, v in enumerate(column)
        if q.name != without
    }


@lru_cache(maxsize=16)
def simulated(temper: Temper, count: int, seed: int) -> Result:
    return calibrate(simulate(temper, count, np.random.default_rng(seed)))


def judged(result: Result, k: int, prefix: str) -> dict[str, Cells]:
    """Bins and scores of place k (from 0), before and after."""
    found = {}
    for when, predictions in (("before", result.before), ("after", result.after)):
        a, y = predictions[:, k], result.survived[:, k]
        rows = bin_table(a, y, when, result.kind)
        found[f"{prefix}bins_{when}"] = cells(rows)
        found[f"{prefix}scores_{when}"] = cells(score_table(rows, a, y, when, result.kind))
    return found


def own(p: str, q: str) -> dict[str, Cells]:
    """What pasted lists lead to."""
    result = calibrate_all(read_pairs(p, q))
    return {"own_places": cells(place_table(result), without="swapped")} | judged(result, 0, "own_")


def expected(changed: Mapping[str, object]) -> dict[str, Cells]:
    """Every table of the page by its name."""
    s = DEFAULTS | {k: str(v) for k, v in changed.items()}
    strength, temperature = STRENGTHS[int(s["strength"])], TEMPERATURES[int(s["heat"])]
    head = Fraction(int(s["head"] == "on"))
    event = walk(s["anchor"], head, DRAWS[s["draw"]])[int(s["step"])]
    place = max(1, event.position)
    previous = event.previous if place > 1 else None
    pairs = pair_table(s["anchor"], int(s["place"]), strength)
    labels, contexts = label_table(s["anchor"], s["previous"], strength), context_table(s["anchor"], strength)
    order, points = order_table(temperature, s["lock"]), published_points(int(s["published"]))
    result = simulated(s["temper"], int(s["rounds"]), int(s["seed"]))  # type: ignore[arg-type]
    tables = {
        "bias_row": bias_table(previous), "law": law_table(s["anchor"], place, previous, head), "sizes": size_table(),
        "pairs": pairs, "collisions": collisions(pairs), "labels": labels, "label_value": label(labels),
        "contexts": contexts, "means": means(contexts), "order": order, "leads": leads(order),
        "protocol": protocol(result), "points": points,
        "points_summary": published_summary(points, int(s["published"])),
    }  # fmt: skip
    found = {name: cells(table) for name, table in tables.items()}
    found["places"] = cells(place_table(result), without="" if s["guess2"] else "swapped")
    return found | judged(result, int(s["position"]) - 1, "")
