"""Tables of the pipeline's stages that are not comparisons: baseline, statistics, one GPTQ step, reloaded artifact.

Teaches: what is pinned down before a change, which channels stand out, and that a loaded artifact is byte for byte
what was measured. Leaves out: how methods compare (`calibration`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechanisms.calibration import (
    COLUMN_ERROR,
    CORRECTED,
    CURRENT,
    ENERGY,
    INVERSE,
    PIVOT,
    PUSH,
    TOPIC,
    TRACE,
)
from mechanisms.calibration_artifact import Artifact, load
from mechanisms.calibration_convert import Conversion
from mechanisms.calibration_gptq import Event
from mechanisms.calibration_layer import Baseline, Floats, Layer
from mechanisms.calibration_statistics import Statistics, mean_squared
from mechanisms.expression import REAL
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.calibration_report"
CHANNELS = 12  # shown of a layer; the largest first


def _float(name: str, tex: str, source: str = "derived", **more: object) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, kind="float", **more)  # type: ignore[arg-type]


def _count(name: str, tex: str) -> Quantity:
    return given(f"{TOPIC}.{name}", tex, "chosen", index="", counts=True)


OUTPUTS, INPUTS, VECTORS, HELD_VECTORS = (
    _count("outputs", "m"), _count("inputs", "d"), _count("vectors", "n"), _count("held_out_vectors", "n'")
)  # fmt: skip
BASE_ENERGY = Quantity(ENERGY.id, ENERGY.symbol, "derived", index="", kind="float")

LOW, HIGH = _float("low", r"\min x"), _float("high", r"\max x")
LARGEST = _float("largest", r"\max|x|", "xiao2022smoothquant Eq. 4")
MEAN_SIZE = _float("mean_size", r"\overline{|x|}", "lin2023awq §3.2")
MOMENT = _float("second_moment", r"H_{jj}", "frantar2022gptq §3")
PEAKED = Quantity(
    f"{TOPIC}.peak_over_mean", r"\max|x|/\overline{|x|}", "derived", LARGEST.sym / MEAN_SIZE.sym, kind="float",
    defined=MEAN_SIZE.sym > 0,
)  # fmt: skip
CHANNEL = (LARGEST, MEAN_SIZE, PEAKED, MOMENT, LOW, HIGH)

ROUNDED = _float("rounded_weight", r"\hat w", "frantar2022gptq §3.1")
CODE = Quantity(f"{TOPIC}.code", "q", "frantar2022gptq §3.1", counts=True)
COLUMNS = (CURRENT, CODE, ROUNDED, COLUMN_ERROR, PIVOT, INVERSE, PUSH, CORRECTED)

PAYLOAD = Quantity(f"{TOPIC}.payload_bytes", "P", "derived", index="", unit="byte", counts=True)
MANIFEST = Quantity(f"{TOPIC}.manifest_bytes", "J", "derived", index="", unit="byte", counts=True)
CODES_CHANGED = Quantity(f"{TOPIC}.codes_changed", r"\#\{q\neq q'\}", "derived", index="", counts=True)
LARGEST_CHANGE = _float("largest_change", r"\max|\hat w-\hat w'|", index="")
TRACE_BEFORE = Quantity(TRACE.id, TRACE.symbol, TRACE.source, index="", kind="float")
TRACE_AFTER = _float("trace_reloaded", r"\operatorname{tr}(E'HE'^{\top})", index="")
RELOADED = (PAYLOAD, MANIFEST, CODES_CHANGED, LARGEST_CHANGE, TRACE_BEFORE, TRACE_AFTER)


def _real(value: float) -> Cell:
    return REAL.mpf(float(value))


def baseline_table(found: Baseline, vectors: int, held_out: int, name: str = "") -> Table:
    """Sizes and the mean squared output of the untouched layer, in one row. Source: derived."""
    row: dict[str, tuple[Cell, ...]] = {
        OUTPUTS.name: (Fraction(found.shape[0]),), INPUTS.name: (Fraction(found.shape[1]),),
        VECTORS.name: (Fraction(vectors),), HELD_VECTORS.name: (Fraction(held_out),),
        BASE_ENERGY.name: (_real(found.mean_squared_output),),
    }  # fmt: skip
    columns = (OUTPUTS, INPUTS, VECTORS, HELD_VECTORS, BASE_ENERGY)
    return tabulate(f"{TOPIC}.baseline", columns, (name,), row, function=f"{_MODULE}.baseline_table")


def statistics_table(found: Statistics, channels: int = CHANNELS) -> Table:
    """The channels with the largest activations, in falling order of max|x|, equal ones in their own order.

    A channel that is always large has a peak of a few means; one that is large for a few vectors has a peak of many.

    Source: as `calibration_statistics.calibrate`.
    """
    order = np.argsort(-found.largest, kind="stable")[:channels]
    columns = {
        quantity.name: tuple(_real(v) for v in values[order])
        for quantity, values in (
            (LARGEST, found.largest), (MEAN_SIZE, found.mean_size), (MOMENT, np.diag(found.hessian)),
            (LOW, found.low), (HIGH, found.high),
        )
    }  # fmt: skip
    names = tuple(f"x{j + 1}" for j in order)
    return tabulate(f"{TOPIC}.statistics", CHANNEL, names, columns, function=f"{_MODULE}.statistics_table")


def column_table(event: Event, before: Floats, codes: Floats, values: Floats, output: int) -> Table:
    """One GPTQ step for one output, all columns: before (out, in) weights ahead of the step; codes, values: (out, in)
    after it, counted from the zero point. Settled columns have no row of H⁻¹ left, free ones no code yet.

    δ_j = −e_q / [H⁻¹]_qq · [H⁻¹]_qj, w' = w + δ.

    Source: frantar2022gptq, Eq. 2.
    """
    width = before.shape[1]
    open_ = {j: float(g) for j, g in zip(event.free, event.inverse_row[1:], strict=True)}
    settled = [j not in open_ for j in range(width)]
    columns: dict[str, tuple[Cell, ...]] = {
        CURRENT.name: tuple(_real(before[output, j]) for j in range(width)),
        CODE.name: tuple(Fraction(int(codes[output, j])) if s else None for j, s in enumerate(settled)),
        ROUNDED.name: tuple(_real(values[output, j]) if s else None for j, s in enumerate(settled)),
        COLUMN_ERROR.name: (_real(event.error[output]),) * width,
        PIVOT.name: (_real(event.inverse_row[0]),) * width,
        INVERSE.name: tuple(_real(open_[j]) if j in open_ else None for j in range(width)),
    }  # fmt: skip
    names = tuple(f"j={j + 1}" for j in range(width))
    return tabulate(f"{TOPIC}.column", COLUMNS, names, columns, function=f"{_MODULE}.column_table")


def reload_table(
    artifact: Artifact, layer: Layer, made: Conversion, statistics: Statistics, name: str = ""
) -> Table:  # fmt: skip
    """Sizes of an artifact, and what differs between the conversion that was measured and the one that is loaded.

    Raises ArtifactError where the artifact is refused. Source: derived.
    """
    again = load(artifact, layer)
    row: dict[str, tuple[Cell, ...]] = {
        PAYLOAD.name: (Fraction(len(artifact.payload)),), MANIFEST.name: (Fraction(len(artifact.manifest)),),
        CODES_CHANGED.name: (Fraction(int((again.codes != made.codes).sum())),),
        LARGEST_CHANGE.name: (_real(np.abs(again.weights - made.weights).max()),),
        TRACE_BEFORE.name: (_real(mean_squared(made.weights - layer.wide, statistics.hessian)),),
        TRACE_AFTER.name: (_real(mean_squared(again.weights - layer.wide, statistics.hessian)),),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.reload", RELOADED, (name,), row, function=f"{_MODULE}.reload_table")
