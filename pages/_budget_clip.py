"""Clip search on the current vector, the Gaussian optimum, step conventions and the law Δ²/12."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from mechanisms.quant_clip import clip_curve
from mechanisms.quant_gaussian import best_clip
from mechanisms.quant_noise import LAWS, noise
from mechanisms.quant_stack import stacked
from mechanisms.quant_steps import CONVENTIONS, outlier_step, variance_factor
from mechanisms.table import Table
from pages import _assets
from pages._budget_state import LARGEST, TOPIC, Values, choose, get, note, show, values_now
from pages._parts import Block
from pages._plots import bar
from pages._words import t

WIDTHS = (8, 4)  # what "four bits fewer" compares
DRAWS, SEED = 10_000, 1


@lru_cache(maxsize=32)
def _curve(values: Values, bits: int) -> Table:
    return clip_curve(values, bits)


def clip_plot(block: Block, words: str) -> None:
    if not any(values_now()):
        note(block, t(f"{TOPIC}.clip_zeros"), "clip_zeros")
        return
    data = {
        "table": f"{TOPIC}.clip_curve", "x": "clip_ratio", "y": "mean_squared_error", "note": words,
        "axis": t(f"{TOPIC}.clip_axis"), "alt": t(f"{TOPIC}.clip_alt"),
    }  # fmt: skip
    block.part("curve", data, key=f"{TOPIC}.clip_plot")


def clip_table(block: Block, words: str) -> None:
    if any(values_now()):
        found = _curve(values_now(), get("bits"))
        named = replace(found, rows=(t(f"{TOPIC}.clip_best"), *found.rows[1:]))
        show(block, named, "clip_curve", words, head="row_clip")


def gaussian_table(block: Block, words: str) -> None:
    found = [best_clip(get("bits"), c) for c in CONVENTIONS]
    names = [t(f"{TOPIC}.convention_{c}") for c in CONVENTIONS]
    show(block, stacked(found, names, ["best_clip", "least_error"]), "best_clip", words, head="row_grid")


def convention_choice(block: Block, words: str) -> None:
    choose(block, "convention", CONVENTIONS, words, notes=True)


def largest_choice(block: Block, words: str) -> None:
    choose(block, "largest", LARGEST, words, labels=[f"{k} σ" for k in LARGEST])


def outlier_strip(block: Block, words: str) -> None:
    note(block, words, "outlier_head")
    table = outlier_step(Fraction(get("largest")), WIDTHS[1], get("convention"))
    show(block, table, "outlier_step", words, layout="strip")


def factor_strip(block: Block, words: str) -> None:
    note(block, words, "factor_head")
    show(block, variance_factor(*WIDTHS, get("convention")), "variance_factor", words, layout="strip")


def law_choice(block: Block, words: str) -> None:
    choose(block, "law", [law.id for law in LAWS], words)


@lru_cache(maxsize=8)
def _noise(law: str) -> Table:
    return noise(next(x for x in LAWS if x.id == law), DRAWS, np.random.default_rng(SEED))


def noise_table(block: Block, words: str) -> None:
    show(block, _noise(get("law")), "noise", words, head="row_step")


def noise_plot(block: Block, words: str) -> None:
    data = {
        "table": f"{TOPIC}.noise", "note": words, "alt": t(f"{TOPIC}.noise_alt"), "plotly": _assets.PLOTLY_URL,
        "axis": t(f"{TOPIC}.noise_axis"), "traces": [bar("error_ratio", "r", "target", t(f"{TOPIC}.noise_axis"))],
        "height": 260,
    }  # fmt: skip
    block.part("plot", data, key=f"{TOPIC}.noise_plot")
