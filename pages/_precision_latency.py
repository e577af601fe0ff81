"""Speedups against the time of a target pass, the intervals behind them, and what a faster draft would have to do."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechanisms.draft_precision import NAMES
from mechanisms.precision_free import free_verification
from mechanisms.precision_latency import MODELS, Model, common, implied, speedups
from mechanisms.precision_survives import break_even
from mechanisms.quantity import as_fraction, short_text
from mechanisms.table import Table
from pages import _payload
from pages._parts import Block
from pages._precision_state import PRICES, TARGETS, TOPIC, audit, choose, get, note, show, slide
from pages._words import t

Frames = tuple[Table, _payload.Printed]
FRAMES = f"{TOPIC}.target"
_SHOWN = ("speedup_printed", "speedup", "speedup_reached", "tokens", "step_printed", "round_ms")
_EVEN = ("break_even_step", "step_printed", "pays", "margin", "tokens", "base_tokens", "tokens_share")


def order_of(table: Table, shown: tuple[str, ...]) -> tuple[str, ...]:
    """The shown columns first, then those that only derivations need."""
    return (*shown, *(q.name for q in table.columns if q.name not in shown))


def strip_of(table: Table, shown: tuple[str, ...]) -> dict[str, Any]:
    """Order and marks of a strip of the shown columns."""
    order = order_of(table, shown)
    return {"order": order, "audit": audit((), hide=order[len(shown) :])}


def _numbers() -> tuple[Model, Fraction]:
    return get("model"), Fraction(get("price"))


@lru_cache(maxsize=32)
def frames(model: Model, price: Fraction) -> Frames:
    found = [speedups(model, x, price) for x in TARGETS]
    return found[0], _payload.printed(found, order_of(found[0], _SHOWN))


@lru_cache(maxsize=32)
def even_frames(model: Model, price: Fraction) -> Frames:
    found = [break_even(model, x, price) for x in TARGETS]
    return found[0], _payload.printed(found, order_of(found[0], _EVEN))


def model_choice(block: Block, words: str) -> None:
    choose(block, "model", MODELS, words, notes=True)


def price_choice(block: Block, words: str) -> None:
    choose(block, "price", PRICES, words)


def target_range(block: Block, words: str) -> None:
    slide(block, "target", [f"{short_text(x)} ms" for x in TARGETS], words)


def speedup_table(block: Block, words: str) -> None:
    first, cells = frames(*_numbers())
    order = order_of(first, _SHOWN)
    marks = audit(
        ("speedup_printed", "step_printed"), {"speedup_printed": ("speedup",)},
        computed={"speedup_printed": ("speedup_reached", ("missed", "reached"))}, hide=order[len(_SHOWN) :],
    )  # fmt: skip
    show(block, first, "speedups", words, order=order, topic=FRAMES, frames=cells, audit=marks)


_BOUNDS = ("speedup_printed", "tokens", "implied_target", "implied_low", "implied_high")


def implied_table(block: Block, words: str) -> None:
    found = implied(*_numbers())
    order = order_of(found, _BOUNDS)
    marks = audit(("speedup_printed",), hide=order[len(_BOUNDS) :])
    show(block, found, "implied", words, order=order, audit=marks)


def common_strip(block: Block, words: str) -> None:
    found = common(*_numbers())
    note(block, words, "common_head")
    show(block, found, "common", words, layout="strip", over=f"{TOPIC}.implied")
    possible = found.value(0, "one_target_possible")
    key = "unbounded" if possible is None else "possible" if possible else "impossible"
    verdict = "exact" if key == "possible" else "broken"
    block.prose(
        f'<p class="wiki-verdict" data-verdict="{verdict}" data-outcome="{key}">{t(f"{TOPIC}.common_{key}")}</p>',
        key=f"{TOPIC}.common_text",
    )


def _bounds(found: Table) -> list[tuple[Fraction, Fraction] | None]:
    rows = zip(found.column("implied_low"), found.column("implied_high"), strict=True)
    return [None if a is None or b is None else (as_fraction(a), as_fraction(b)) for a, b in rows]


def _axis(bounds: list[tuple[Fraction, Fraction] | None]) -> tuple[Fraction, Fraction]:
    """From a round number below the lowest bound to one above the highest."""
    known = [x for b in bounds if b is not None for x in b] or [Fraction(40), Fraction(120)]
    edge = max((max(known) - min(known)) / 5, Fraction(4))
    return Fraction((min(known) - edge) // 5 * 5), Fraction(-((-max(known) - edge) // 5) * 5)


def intervals(block: Block, words: str) -> None:
    bounds = _bounds(implied(*_numbers()))
    low, high = _axis(bounds)

    def place(x: Fraction) -> float:
        return round(float(100 * (x - low) / (high - low)), 3)

    def span(ends: tuple[Fraction, Fraction] | None) -> list[float] | None:
        return None if ends is None else [place(ends[0]), round(place(ends[1]) - place(ends[0]), 3)]

    shared = common(*_numbers())
    ends = [shared.value(0, n) for n in ("common_low", "common_high")]
    both = None
    if shared.value(0, "one_target_possible") == 1 and None not in ends:
        both = span(tuple(as_fraction(e) for e in ends if e is not None))  # type: ignore[arg-type]
    step = (high - low) / 5
    data: dict[str, Any] = {
        "rows": [{"name": n, "span": span(b)} for n, b in zip(NAMES, bounds, strict=True)], "common": both,
        "ticks": [[20 * i, f"{short_text(low + i * step)} ms"] for i in range(6)],
        "places": [place(x) for x in TARGETS], "topic": FRAMES, "note": words, "none": t(f"{TOPIC}.interval_none"),
        "alt": t(f"{TOPIC}.interval_alt"),
    }  # fmt: skip
    block.part("intervals", data, key=f"{TOPIC}.intervals")


_FREE = ("free_target", "free_verification", "free_price", "predicted_int4")


def free_strip(block: Block, words: str) -> None:
    note(block, words, "free_head")
    found = free_verification()
    show(block, found, "free", words, layout="strip", **strip_of(found, _FREE))


def even_table(block: Block, words: str) -> None:
    first, cells = even_frames(*_numbers())
    order = order_of(first, _EVEN)
    marks = audit(
        ("step_printed",), {}, computed={"step_printed": ("pays", ("slow", "fast"))}, hide=order[len(_EVEN) :]
    )  # fmt: skip
    show(block, first, "break_even", words, order=order, topic=FRAMES, frames=cells, audit=marks)
