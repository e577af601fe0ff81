"""Calibrated quantization of one linear layer y = W x, from the baseline to a comparison of methods.

Teaches: four stages, baseline, statistics, conversion and measurement, and one table in which every method is judged by
the same numbers. Leaves out: what the error does to a model. Does not know whether the calibration vectors are like
those that will come; `domains` shows what happens when they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.calibration_convert import METHODS, Conversion, Recipe, convert
from mechanisms.calibration_gptq import Event
from mechanisms.calibration_layer import Floats, Layer
from mechanisms.calibration_measure import Measurement, measure
from mechanisms.calibration_statistics import Statistics, calibrate
from mechanisms.calibration_transform import Trial
from mechanisms.expression import REAL, total
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

TOPIC = "calibration"
_MODULE = f"mechanisms.{TOPIC}"


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


def _float(name: str, tex: str, source: str, expression: Any = None, **more: Any) -> Quantity:
    return Quantity(_id(name), tex, source, expression, kind="float", **more)


WEIGHTS = given(_id("weights"), "n", "chosen", counts=True)
CODE_BITS = Quantity(_id("code_bits"), "B_q", "derived", unit="bit", counts=True)
SCALE_BITS = Quantity(_id("scale_bits"), "B_s", "derived", unit="bit", counts=True)
ZERO_BITS = Quantity(_id("zero_point_bits"), "B_z", "derived", unit="bit", counts=True)
TRANSFORM_BITS = Quantity(_id("transform_bits"), "B_T", "derived", unit="bit", counts=True)
EFFECTIVE = Quantity(
    _id("effective_bits"), r"b_{\mathrm{eff}}", "derived",
    (CODE_BITS.sym + SCALE_BITS.sym + ZERO_BITS.sym + TRANSFORM_BITS.sym) / WEIGHTS.sym, unit="bit",
)  # fmt: skip
ENERGY = _float("energy", r"\overline{\lVert Wx\rVert^2}", "derived")
TRACE = _float("trace", r"\operatorname{tr}(EHE^{\top})", "nagel2020adaround Eq. 7")
MEASURED = _float("measured", r"\overline{\lVert Ex\rVert^2}", "derived")
GAP = _float("identity_gap", r"\gamma", "derived", sp.Abs(TRACE.sym / MEASURED.sym - 1), defined=MEASURED.sym > 0)
RELATIVE = _float("relative_error", r"\rho", "derived", TRACE.sym / ENERGY.sym, defined=ENERGY.sym > 0)
HELD_ENERGY = _float("held_out_energy", r"\overline{\lVert Wx'\rVert^2}", "derived")
HELD = _float("held_out", r"\overline{\lVert Ex'\rVert^2}", "derived")
HELD_RELATIVE = _float(
    "held_out_error", r"\rho'", "derived", HELD.sym / HELD_ENERGY.sym, defined=HELD_ENERGY.sym > 0
)  # fmt: skip
ACTIVATION = _float("activation_error", r"\rho'_{\mathrm{a}}", "xiao2022smoothquant Eq. 1")
WEIGHT_ERROR = _float("weight_error", r"\overline{e^2}", "derived")
COMPARISON = (
    WEIGHTS, CODE_BITS, SCALE_BITS, ZERO_BITS, TRANSFORM_BITS, EFFECTIVE, WEIGHT_ERROR, ENERGY, TRACE, MEASURED, GAP,
    RELATIVE, HELD_ENERGY, HELD, HELD_RELATIVE, ACTIVATION,
)  # fmt: skip

OUTPUT_ERROR = _float("output_error", "e", "derived")
OUTPUT_SHARE = _float("output_share", "h", "derived", OUTPUT_ERROR.sym / total(OUTPUT_ERROR.sym))
ALPHA = given(_id("alpha"), r"\alpha", "lin2023awq Eq. 5")
ALPHA_ERROR = _float("sweep_error", r"L(\alpha)", "lin2023awq Eq. 4")

MATCHED = _float("matched_domain", r"\rho_{\mathrm{same}}", "derived")
CROSSED = _float("other_domain", r"\rho_{\mathrm{other}}", "derived")
DAMAGE = _float("domain_damage", r"\kappa", "derived", CROSSED.sym / MATCHED.sym, defined=MATCHED.sym > 0)

CURRENT = _float("current_weight", "w", "frantar2022gptq §3.1")
INVERSE = _float("inverse_entry", r"[H^{-1}]_{q}", "frantar2022gptq Eq. 3")
COLUMN_ERROR = _float("column_error", "e_q", "frantar2022gptq Eq. 2", index="")
PIVOT = _float("pivot", r"[H^{-1}]_{qq}", "frantar2022gptq Eq. 2", index="")
_g, _e, _w = (signed(q) for q in (INVERSE, COLUMN_ERROR, CURRENT))
PUSH = _float("push", r"\delta", "frantar2022gptq Eq. 2", -_e / PIVOT.sym * _g)
CORRECTED = _float("corrected_weight", "w'", "frantar2022gptq Eq. 2", _w + signed(PUSH))
STEP = (CURRENT, COLUMN_ERROR, PIVOT, INVERSE, PUSH, CORRECTED)


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One method: what it made and what that costs."""

    method: str
    conversion: Conversion
    measurement: Measurement


def recipe_of(method: str, base: Recipe) -> Recipe:
    """`base` with the transform and rounding of a named method. Raises ValueError for an unknown one."""
    if method not in METHODS:
        raise ValueError(f"method={method!r}: must be one of {tuple(METHODS)}")
    transform, rounding = METHODS[method]
    return replace(base, transform=transform, rounding=rounding)


def compare(
    layer: Layer, *, calibration: Floats, held_out: Floats, methods: Sequence[str] = tuple(METHODS),
    base: Recipe | None = None, progress: Callable[[float], None] | None = None,
) -> tuple[Result, ...]:  # fmt: skip
    """Convert and measure with each method, all on the same grid and the same vectors.

    progress: called with the part done, also within long conversions; an exception raised there cancels.
    """
    statistics, results = calibrate(calibration), list[Result]()
    for i, method in enumerate(methods):

        def inner(part: float, done: int = i) -> None:
            if progress is not None:
                progress((done + part) / len(methods))

        made = convert(layer, statistics, recipe_of(method, base or Recipe()), progress=inner)
        found = measure(layer, made, calibration=calibration, held_out=held_out, statistics=statistics)
        results.append(Result(method, made, found))
        inner(1.0)
    return tuple(results)


def comparison_table(results: Iterable[Result]) -> Table:
    """All methods in one table: bits with everything counted, tr(E H Eᵀ) beside the measured mean, other vectors.

    Cells come from float64 arrays, so their kind is `float`; the counts of bits are exact.

    Source: nagel2020adaround, Eq. 7, for the quadratic form.
    """
    found = tuple(results)
    columns: dict[str, tuple[Cell, ...]] = {}
    for quantity, value in _CELLS.items():
        columns[quantity.name] = tuple(_cell(value(result)) for result in found)
    names = tuple(result.method for result in found)
    return tabulate(_id("comparison"), COMPARISON, names, columns, function=f"{_MODULE}.comparison_table")


_CELLS: dict[Quantity, Callable[[Result], int | float]] = {
    WEIGHTS: lambda r: r.conversion.codes.size,
    CODE_BITS: lambda r: r.conversion.code_bits,
    SCALE_BITS: lambda r: r.conversion.scale_bits,
    ZERO_BITS: lambda r: r.conversion.zero_point_bits,
    TRANSFORM_BITS: lambda r: r.conversion.transform.bits,
    WEIGHT_ERROR: lambda r: r.measurement.weight_error,
    ENERGY: lambda r: r.measurement.energy,
    TRACE: lambda r: r.measurement.trace,
    MEASURED: lambda r: r.measurement.measured,
    HELD_ENERGY: lambda r: r.measurement.held_out_energy,
    HELD: lambda r: r.measurement.held_out,
    ACTIVATION: lambda r: r.measurement.with_activations / (r.measurement.held_out_energy or 1.0),
}


def _cell(value: int | float) -> Cell:
    return Fraction(value) if isinstance(value, int) else REAL.mpf(value)


def outputs_table(measurement: Measurement) -> Table:
    """The held-out error of each output of the layer and its share of the sum. Source: derived."""
    errors = tuple(_cell(float(e)) for e in measurement.per_output)
    names = tuple(f"y{i + 1}" for i in range(len(errors)))
    row = {OUTPUT_ERROR.name: errors}
    return tabulate(
        _id("outputs"), (OUTPUT_ERROR, OUTPUT_SHARE), names, row, function=f"{_MODULE}.outputs_table"
    )  # fmt: skip


def sweep_table(trials: Sequence[Trial]) -> Table:
    """AWQ's sweep: each exponent and the error that rounding to nearest then has. Source: lin2023awq, Eq. 4 and 5."""
    columns = {
        ALPHA.name: tuple(Fraction(trial.alpha).limit_denominator(1000) for trial in trials),
        ALPHA_ERROR.name: tuple(_cell(trial.error) for trial in trials),
    }
    names = tuple(f"{trial.alpha:.2f}" for trial in trials)
    return tabulate(_id("sweep"), (ALPHA, ALPHA_ERROR), names, columns, function=f"{_MODULE}.sweep_table")


def step_table(event: Event, before: Floats, output: int) -> Table:
    """One GPTQ step for one output: what each free column gets. before: (out, in) weights ahead of the step.

    δ_j = −e_q / [H⁻¹]_qq · [H⁻¹]_qj, w' = w + δ.

    Source: frantar2022gptq, Eq. 2.
    """
    n = len(event.free)
    columns: dict[str, tuple[Cell, ...]] = {
        CURRENT.name: tuple(_cell(float(before[output, j])) for j in event.free),
        COLUMN_ERROR.name: (_cell(float(event.error[output])),) * n,
        PIVOT.name: (_cell(float(event.inverse_row[0])),) * n,
        INVERSE.name: tuple(_cell(float(g)) for g in event.inverse_row[1:]),
    }
    names = tuple(f"j={j + 1}" for j in event.free)
    return tabulate(_id("step"), STEP, names, columns, function=f"{_MODULE}.step_table")


def domains_table(
    layer: Layer, *, measured_on: Floats, same: Floats, other: Floats, methods: Sequence[str],
    base: Recipe | None = None,
) -> Table:  # fmt: skip
    """Each method calibrated on vectors of the same kind and on others, both measured on `measured_on`.

    κ = ρ_other / ρ_same; 1 for a method that does not look at activations. Source: derived.
    """
    errors: Mapping[str, list[Cell]] = {MATCHED.name: [], CROSSED.name: []}
    for vectors, cells in zip((same, other), errors.values(), strict=True):
        statistics: Statistics = calibrate(vectors)
        for method in methods:
            made = convert(layer, statistics, recipe_of(method, base or Recipe()))
            found = measure(layer, made, calibration=vectors, held_out=measured_on, statistics=statistics)
            cells.append(_cell(found.held_out / (found.held_out_energy or 1.0)))
    return tabulate(
        _id("domains"), (MATCHED, CROSSED, DAMAGE), tuple(methods), errors, function=f"{_MODULE}.domains_table"
    )  # fmt: skip
