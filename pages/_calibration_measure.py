"""Stage four: the wrong domain, single outputs, and how far a rotation flattens an outlier."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from mechanisms.calibration import domains_table, outputs_table
from mechanisms.calibration_convert import Recipe
from mechanisms.calibration_grid import Grid
from mechanisms.calibration_hadamard import peak_table, signed_peaks
from mechanisms.table import Table
from mechanisms.values.calibration import LOOKING, PEAK_DRAWS, PEAK_SEED
from pages import _payload
from pages._calibration_base import draw
from pages._calibration_convert import attempt, named
from pages._calibration_state import PEAKS, TOPIC, built_in, choose, chosen, get, note, show, work
from pages._parts import Block
from pages._plots import bar
from pages._words import language, t

Json = dict[str, Any]
OUTLIERS = {"1024": 500, "4096": 1000}  # dimension -> size of the outlier, the two cases of the reference table
PEAKS_SHOWN = (
    "outlier", "dimension", "peak_alone", "peak_of_ones", "gain_of_ones", "peak_with_signs", "gain_with_signs",
    "standard_error", "smallest_draw", "gain_alone", "root_dimension",
)  # fmt: skip


@lru_cache(maxsize=32)
def domains(grid: Grid) -> Table:
    """The built-in layer measured on prose, calibrated on prose and on code."""
    prose, code = built_in("prose"), built_in("code")
    return domains_table(
        prose.layer, measured_on=prose.held_out, same=prose.calibration, other=code.calibration, methods=LOOKING,
        base=Recipe(grid=grid),
    )  # fmt: skip


def _grid() -> Grid:
    """The chosen grid, for the built-in layer, whose width every group divides."""
    return Grid(int(get("bits")), get("grid") == "symmetric", get("granularity"))


def domain_rows(block: Block, words: str) -> None:
    def action() -> None:
        roles = {"matched_domain": "target", "other_domain": "rejected"}
        show(block, named(domains(_grid())), "domains", words, head="head_method", roles=roles)
        if work().own:
            note(block, t(f"{TOPIC}.domains_built_in"), "domains_note")

    attempt(block, "domains", action)


def domain_plot(block: Block, words: str) -> None:
    traces = [
        bar("matched_domain", "s", "target", t(f"{TOPIC}.bar_same")),
        bar("other_domain", "o", "rejected", t(f"{TOPIC}.bar_other")),
    ]
    draw(block, "domains", traces, words, t(f"{TOPIC}.axis_error"), bottom=80)


def method_choice(block: Block, words: str) -> None:
    methods = work().methods
    choose(block, "method", methods, words, value=get("method") if get("method") in methods else methods[0])


def output_rows(block: Block, words: str) -> None:
    def action() -> None:
        table = outputs_table(chosen().measurement)
        show(block, table, "outputs", words, head="head_output", roles={"output_error": "rejected"})

    attempt(block, "outputs", action)


def output_plot(block: Block, words: str) -> None:
    traces = [bar("output_share", "e", "rejected", t(f"{TOPIC}.bar_output"))]
    draw(block, "outputs", traces, words, t(f"{TOPIC}.axis_share"))


def peaks_choice(block: Block, words: str) -> None:
    choose(block, "peaks", PEAKS, words, labels=[f"d = {d}, M = {OUTLIERS[d]}" for d in PEAKS])


@lru_cache(maxsize=2)
def peaks(dimension: int, outlier: int) -> Table:
    """Rotations of (M, 1, …, 1): exact without signs, drawn with them."""
    assert isqrt(dimension) ** 2 == dimension
    drawn = signed_peaks(dimension, outlier, PEAK_DRAWS, rng=np.random.default_rng(PEAK_SEED))
    table = peak_table(dimension, outlier, drawn)
    return replace(table, rows=("",))


@lru_cache(maxsize=8)
def _peaks(lang: str, caption: str) -> Json:
    frames = [peaks(int(d), OUTLIERS[d]) for d in PEAKS]
    return _payload.table(
        frames[0], id=f"{TOPIC}.hadamard", lang=lang, caption=caption, topic=f"{TOPIC}.peaks", layout="strip",
        order=PEAKS_SHOWN, frames=_payload.printed(frames, PEAKS_SHOWN),
    )  # fmt: skip


def peaks_strip(block: Block, words: str) -> None:
    block.part("table", _peaks(language(), words), key=f"{TOPIC}.hadamard")
    note(block, t(f"{TOPIC}.peaks_drawn", draws=PEAK_DRAWS, seed=PEAK_SEED), "peaks_note")
