"""Every table of the quantization chapters for a state of their controls, from the mechanisms alone.

`error_budget(bits=8, …)` → name on the page → table. What a page hands to its slots is not asked; a page that picks the
wrong row, column or setting differs from this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mechanisms import calibration as convert
from mechanisms.calibration_artifact import export
from mechanisms.calibration_convert import Recipe
from mechanisms.calibration_gptq import plan, start, step
from mechanisms.calibration_grid import Grid, fit
from mechanisms.calibration_hadamard import peak_table, signed_peaks
from mechanisms.calibration_layer import baseline, synthetic_inputs, synthetic_layer
from mechanisms.calibration_report import baseline_table, column_table, reload_table, statistics_table
from mechanisms.calibration_statistics import calibrate
from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.formats_bits import LAYOUTS, effective_bits
from mechanisms.formats_compare import FORMATS, bell, through
from mechanisms.formats_floats import E2M1, E4M3, E5M2
from mechanisms.formats_overflow import overflow
from mechanisms.formats_regions import float_regions, integer_region
from mechanisms.integer_matmul import ledger, sums
from mechanisms.integer_matmul_accumulator import overflow_table
from mechanisms.integer_matmul_layer import run_layer
from mechanisms.integer_matmul_read import CASES
from mechanisms.integer_matmul_report import SIZES, demo_layer, error_table, layer_table, work_table
from mechanisms.integer_matmul_requantize import requantize_table
from mechanisms.integer_matmul_running import pair_table, running_table, worst_case_table
from mechanisms.quant_blocks import block_errors
from mechanisms.quant_bytes import CACHE_128K, LLAMA_70B, SEVEN_BILLION, weight_bytes
from mechanisms.quant_clip import clip_curve
from mechanisms.quant_gaussian import best_clip
from mechanisms.quant_lab import grouping, nested, ties
from mechanisms.quant_noise import LAWS, noise
from mechanisms.quant_output import INPUT_VECTOR, LOUD, QUIET, damage
from mechanisms.quant_presets import LAB, LAB_GROUPS, LAST_VALUES, OUTLIER, widget
from mechanisms.quant_steps import CONVENTIONS, outlier_step, variance_factor
from mechanisms.quant_summary import summary
from mechanisms.quant_vector import generate
from mechanisms.quantity import Quantity
from mechanisms.table import Cell, Table

Shown = dict[str, Table]


def one_below_the_other(tables: Iterable[Table]) -> Table:
    """The columns of tables with one row each, for their numbers only."""
    made = list(tables)
    rows = tuple(str(i) for i in range(len(made)))
    named: dict[Quantity, tuple[Cell, ...]] = {q: tuple(t.value(0, q.name) for t in made) for q in made[0].columns}
    return Table(made[0].id, tuple(named), rows, tuple(named.values()), made[0].function)


def over(table: Table) -> Table:
    assert table.over is not None
    return table.over


def error_budget(
    *, vector: str, seed: int, bits: int, last: int, grid: str, clip: str, rule: Any, group: str, convention: Any,
    largest: str, law: str, lab_bits: int, lab_group: str, lab_outlier: bool, tie: Any, tensor: str, shape: str,
    saturate: bool, loud: int, model: str,
) -> Shown:  # fmt: skip
    base = widget(LAST_VALUES[0]) if vector == "preset" else generate(vector, seed)  # type: ignore[arg-type]
    values = (*base[:-1], base[-1] * 2**last)
    used = Scheme(
        bits=bits, symmetric=grid == "symmetric", clip_ratio=Fraction(clip), rule=rule,
        group=None if group == "all" else int(group),
    )  # fmt: skip
    total = summary(quantize(values, used), used)
    lab_scheme = Scheme(bits=lab_bits, group=LAB_GROUPS[lab_group])
    lab = summary(quantize((OUTLIER, *LAB[1:]) if lab_outlier else LAB, lab_scheme), lab_scheme)
    inputs = (Fraction(2**loud), *INPUT_VECTOR[1:])
    quiet, noisy = damage(QUIET, inputs), damage(LOUD, inputs)
    outlier = {} if tensor == "outlier" else {"outlier": None}
    shown = {
        "summary": total, "map": over(total), "clip_curve": clip_curve(values, bits),
        "best_clip": one_below_the_other(best_clip(bits, c) for c in CONVENTIONS),
        "outlier_step": outlier_step(Fraction(largest), 4, convention),
        "variance_factor": variance_factor(8, 4, convention),
        "noise": noise(next(x for x in LAWS if x.id == law), 10_000, np.random.default_rng(1)),
        "lab_summary": lab, "lab": over(lab),
        "grouping": one_below_the_other(grouping(lab_bits, g, with_outlier=lab_outlier) for g in LAB_GROUPS),
        "nested": one_below_the_other(nested()), "ties": ties(tie)[0], "tie_errors": ties(tie)[1],
        "formats": one_below_the_other(through(bell(**outlier), f)[1] for f in FORMATS),
        "effective_bits": one_below_the_other(map(effective_bits, LAYOUTS)),
        "blocks": block_errors(), "cast": overflow(saturate=saturate),
        "damage_quiet": quiet, "outputs_quiet": over(quiet), "damage_loud": noisy, "outputs_loud": over(noisy),
        "bytes": one_below_the_other(_sizes(model)),
    }  # fmt: skip
    if group == "all":
        shown["range"] = ranges(values, used)[0]
    if shape != "nf4":
        floats = {"e2m1": E2M1, "e4m3": E4M3, "e5m2": E5M2}
        shown["regions"] = integer_region(Fraction(1), 7) if shape == "int4" else float_regions(floats[shape])
    return shown


def _sizes(model: str) -> list[Table]:
    every = SEVEN_BILLION if model == "seven" else LLAMA_70B.weights
    plain = [weight_bytes(every, Fraction(b)) for b in (16, 8, 4)]
    scaled: dict[str, Any] = {"metadata": Fraction(16 + 4, 128)}  # a half-precision scale and a 4-bit zero point
    found = [*plain, weight_bytes(every, Fraction(4), **scaled)]
    if model == "large":
        inner = {**scaled, "kept": LLAMA_70B.other_weights}
        found.append(weight_bytes(LLAMA_70B.linear_weights, Fraction(4), **inner))
        found.append(weight_bytes(LLAMA_70B.linear_weights, Fraction(4), **inner, cache=CACHE_128K))
    return found


def integer_matmul(
    *, case: str, zero: int, types: str, terms: int, codes: Any, weight: int, scale: Fraction, sum: int, size: int
) -> Shown:
    """zero, terms, sum and size: the values themselves, not positions of their sliders."""
    chosen = replace(CASES[case], z_x=zero)
    x, w = types.split("_")
    layer = run_layer(*demo_layer(size))
    steps = {"x_scale": Fraction(1, 50), "w_scale": Fraction(1, 20)}
    return {
        "ledger": ledger(chosen), "sums": sums(chosen),
        "overflow": overflow_table(x, w), "worst": worst_case_table(x, w, terms),  # type: ignore[arg-type]
        "running": running_table(*codes), "pair": pair_table((255, 255), (weight, weight)),
        "requantize": requantize_table(sum, **steps, y_scale=scale),
        "error": error_table(layer), "layer": layer_table(layer), "work": work_table(run_layer(*demo_layer(SIZES[0]))),
    }  # fmt: skip


def calibration(
    *, domain: Any, bits: int, granularity: Any, symmetric: bool, act_order: bool, output: int, moment: int,
    dimension: int, outlier: int, method: str,
) -> Shown:  # fmt: skip
    layer, grid = synthetic_layer(), Grid(bits, symmetric, granularity)
    seen, held_out = synthetic_inputs(domain, 256), synthetic_inputs("prose", 256, part=1)
    statistics = calibrate(seen)
    found = convert.compare(layer, calibration=seen, held_out=held_out, base=Recipe(grid=grid))
    named = {r.method: r for r in found}
    picked = named[method]
    peaks = signed_peaks(dimension, outlier, 500, rng=np.random.default_rng(1))
    return {
        "baseline": baseline_table(baseline(layer, seen), len(seen), len(held_out)),
        "statistics": statistics_table(statistics), "comparison": convert.comparison_table(found),
        "column": _column(bits, act_order, output, moment),
        "sweep": convert.sweep_table(named["awq"].conversion.trials),
        "hadamard": peak_table(dimension, outlier, peaks),
        "domains": convert.domains_table(
            layer, measured_on=held_out, same=synthetic_inputs("prose", 256), other=synthetic_inputs("code", 256),
            methods=("rtn", "smoothquant", "awq", "gptq"), base=Recipe(grid=grid),
        ),
        "outputs": convert.outputs_table(picked.measurement),
        "reload": reload_table(export(picked.conversion, layer, statistics), layer, picked.conversion, statistics),
    }  # fmt: skip


def _column(bits: int, act_order: bool, output: int, moment: int) -> Table:
    weights = synthetic_layer(out=4, width=16).wide
    seen = calibrate(synthetic_inputs("prose", 256, width=16))
    grid = Grid(bits, granularity="channel")
    fixed = plan(seen.hessian, grid, fit(weights, grid), act_order=act_order)
    state = start(weights)
    for _ in range(moment):
        state, _ = step(state, fixed)
    after, event = step(state, fixed)
    return column_table(event, state.weights, after.codes.astype(np.float64) - grid.middle, after.weights, output)


CHAPTERS: dict[str, Callable[..., Shown]] = {
    "error_budget": error_budget, "integer_matmul": integer_matmul, "calibration": calibration,
}  # fmt: skip
