"""Two requests before and after scaling, for every temperature of the slider; the paper's reliability points."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mechanisms.drafter_order import LOCKS, TEMPERATURES, leads, order_table
from mechanisms.drafter_published import PUBLISHED, published_points, published_summary
from mechanisms.quantity import short_text
from mechanisms.table import Table
from pages import _payload
from pages._drafter_state import TOPIC, choose, get, show, slide
from pages._parts import Block
from pages._words import t

Frames = tuple[Table, _payload.Printed]


@lru_cache(maxsize=4)
def _order(lock: str) -> tuple[Frames, Frames]:
    rows = [order_table(x, lock) for x in TEMPERATURES]
    totals = [leads(r) for r in rows]
    return (rows[0], _payload.printed(rows)), (totals[0], _payload.printed(totals))


@lru_cache(maxsize=1)
def _published() -> tuple[Frames, Frames]:
    rows = [published_points(p) for p in PUBLISHED]
    totals = [published_summary(r, p) for r, p in zip(rows, PUBLISHED, strict=True)]
    return (rows[0], _payload.printed(rows)), (totals[0], _payload.printed(totals))


def lock_choice(block: Block, words: str) -> None:
    choose(block, "lock", LOCKS, words)


def heat_range(block: Block, words: str) -> None:
    slide(block, "heat", [short_text(x) for x in TEMPERATURES], words)


def order_rows(block: Block, words: str) -> None:
    first, frames = _order(get("lock"))[0]
    show(block, first, "order", words, head="head_request", topic=f"{TOPIC}.heat", frames=frames)


def lead_strip(block: Block, words: str) -> None:
    first, frames = _order(get("lock"))[1]
    show(block, first, "leads", words, layout="strip", topic=f"{TOPIC}.heat", frames=frames)


def published_choice(block: Block, words: str) -> None:
    names = [str(p) for p in PUBLISHED]
    choose(block, "published", names, words, labels=names)


def published_rows(block: Block, words: str) -> None:
    first, frames = _published()[0]
    roles = {"seen_before": "draft", "seen_after": "accepted"}
    show(block, first, "points", words, head="head_point", topic=f"{TOPIC}.published", roles=roles, frames=frames)


def published_strip(block: Block, words: str) -> None:
    first, frames = _published()[1]
    more: Any = {"topic": f"{TOPIC}.published", "over": f"{TOPIC}.points", "frames": frames}
    show(block, first, "points_summary", words, layout="strip", **more)


def diagram(block: Block, name: str, series: list[dict[str, str]], words: str) -> None:
    """Predictions against what happened, with the diagonal; each series is two columns of a table on the page."""
    data = {
        "series": series, "note": words, "alt": t(f"{TOPIC}.diagram_alt"), "across": t(f"{TOPIC}.axis_predicted"),
        "up": t(f"{TOPIC}.axis_happened"),
    }  # fmt: skip
    block.part("reliability", data, key=f"{TOPIC}.{name}")


def published_diagram(block: Block, words: str) -> None:
    series = [
        {"table": f"{TOPIC}.points", "x": f"point_{n}", "y": f"seen_{n}", "role": n, "label": t(f"{TOPIC}.series_{n}")}
        for n in ("before", "after")
    ]
    diagram(block, "published_diagram", series, words)
