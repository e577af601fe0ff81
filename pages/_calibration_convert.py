"""Stage three: every method on the same grid, in one table and one chart; and AWQ's sweep behind one of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mechanisms.calibration import Result, comparison_table, sweep_table
from mechanisms.table import Table
from pages._calibration_base import draw, quoted
from pages._calibration_state import (
    BITS,
    GRANULARITIES,
    TOPIC,
    choose,
    get,
    grid_now,
    group_missing,
    note,
    opened,
    results,
    show,
    work,
)
from pages._parts import Block
from pages._plots import bar
from pages._words import t

Json = dict[str, Any]
# what a reader compares first, then what it is made of
SHOWN = (
    "effective_bits", "weight_error", "relative_error", "held_out_error", "activation_error", "trace", "measured",
    "identity_gap", "energy", "held_out", "held_out_energy", "weights", "code_bits", "scale_bits", "zero_point_bits",
    "transform_bits",
)  # fmt: skip
ROLES = {"relative_error": "target", "held_out_error": "rejected", "weight_error": "draft", "trace": "output"}


def bits_choice(block: Block, words: str) -> None:
    choose(block, "bits", BITS, words, labels=BITS)


def granularity_choice(block: Block, words: str) -> None:
    labels = [t(f"{TOPIC}.granularity_{g}", group=grid_now().group) for g in GRANULARITIES]
    choose(block, "granularity", GRANULARITIES, words, labels=labels)
    if group_missing(replace(grid_now(), granularity=get("granularity"))):
        note(block, t(f"{TOPIC}.group_missing"), "group_note", "notice")


def symmetric_choice(block: Block, words: str) -> None:
    choose(block, "grid", ("symmetric", "asymmetric"), words)


def named(table: Table) -> Table:
    """Rows are methods; on a page they are called by their names in the reader's language."""
    return replace(table, rows=tuple(t(f"{TOPIC}.method_{m}") for m in table.rows))


def attempt(block: Block, key: str, action: Callable[[], None]) -> None:
    """Say that something cannot be computed instead of showing nothing: a scale may not fit the precision it is kept
    in. The reason stands once, at the comparison."""
    try:
        action()
    except ValueError as error:
        name = "cannot" if key == "comparison" else "cannot_above"
        note(block, t(f"{TOPIC}.{name}", detail=quoted(str(error))), f"{key}_cannot", "notice")


def _compared(place: Any) -> tuple[Result, ...]:
    """A layer of the reader's may take seconds: then there is a bar, and any other choice ends the work."""
    bar_ = place.progress(0.0, t("words.working")) if work().own else None
    found = results(bar_.progress if bar_ is not None else None)
    if bar_ is not None:
        place.empty()
    return found


def comparison_rows(block: Block, words: str) -> None:
    place = block.status()

    # the column of the weights' error is the answer to the chapter's question
    order = [name for name in SHOWN if name != "weight_error" or opened("guess1")]

    def action() -> None:
        table = named(comparison_table(_compared(place)))
        show(block, table, "comparison", words, head="head_method", roles=ROLES, order=order)
        if "hadamard" not in work().methods:
            note(block, t(f"{TOPIC}.no_rotation"), "rotation_note", "notice")

    attempt(block, "comparison", action)


def comparison_plot(block: Block, words: str) -> None:
    traces = [
        bar("relative_error", "c", "target", t(f"{TOPIC}.bar_calibration")),
        bar("held_out_error", "h", "rejected", t(f"{TOPIC}.bar_held_out")),
    ]
    attempt(
        block, "comparison_plot",
        lambda: draw(block, "comparison", traces, words, t(f"{TOPIC}.axis_error"), bottom=130) if results() else None,
    )  # fmt: skip


def sweep_rows(block: Block, words: str) -> None:
    def action() -> None:
        trials = next(r.conversion.trials for r in results() if r.method == "awq")
        show(block, sweep_table(trials), "sweep", words, head="head_alpha")

    attempt(block, "sweep", action)


def sweep_curve(block: Block, words: str) -> None:
    data = {
        "table": f"{TOPIC}.sweep", "x": "alpha", "y": "sweep_error", "note": words, "alt": t(f"{TOPIC}.sweep_alt"),
        "axis": t(f"{TOPIC}.axis_sweep"),
    }  # fmt: skip
    block.part("curve", data, key=f"{TOPIC}.sweep_curve")
