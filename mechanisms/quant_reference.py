"""The size, step and grid tables of the recap document in the shape of their reference files.

Columns ending in `_printed` repeat what a document prints: they are data (`QUOTED`), not results. What is computed
beside them is `status`, which says whether our value, rounded to the printed places, is the printed one; where a table
has no such column, a printed value that ours contradicts is left out. One more number is data: the mean of the Monte
Carlo row of `recap_nf4_vs_int4`, whose draws the file alone does not allow to repeat. It is passed on only where our
integral lies within five of its standard errors; elsewhere ours is given, and differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from mechanisms.formats_bits import LAYOUTS, effective_bits
from mechanisms.quant_blocks import block_errors
from mechanisms.quant_bytes import LLAMA_70B, SEVEN_BILLION, sparse_bits, weight_bytes
from mechanisms.quant_gaussian import best_clip, gaussian_error, levels_of
from mechanisms.quant_steps import Convention, outlier_step, variance_factor
from mechanisms.quantity import as_fraction, decimal_text, exact_text
from mechanisms.table import Cell, Table

Row = Mapping[str, str]
STEP_NAMES: dict[Convention, str] = {
    "levels": "2^b-1 steps over the range", "symmetric": "symmetric, 2*qmax steps", "cells": "2^b steps over the range"
}  # fmt: skip
FACTOR_NAMES: dict[Convention, str] = {"cells": "2^b steps", "levels": "2^b-1 steps", "symmetric": "2*qmax steps"}
CLIP_NAMES: dict[Convention, str] = {
    "cells": "16 levels, outer edge c, step 2c/16",
    "levels": "16 levels, outer level c, step 2c/15",
    "symmetric": "15 levels symmetric, step c/7",
}
FORMAT_NAMES = (
    "INT4 g128, FP16 scale, INT4 zero", "INT4 g32, FP16 scale, INT4 zero", "INT4 g256, FP16 scale, INT4 zero",
    "MXFP4, 8-bit scale per 32", "NVFP4, 8-bit scale per 16", "NF4, FP32 scale per 64",
    "NF4 double quantization, 8-bit per 64 and FP32 per 256 blocks", "KIVI 4 bit, FP16 scale and zero per 32",
    "KIVI 2 bit, FP16 scale and zero per 32",
)  # fmt: skip
GRID_NAMES = (
    "NF4", "INT4 symmetric, 15 levels (-7..7)/7", "16 equal levels from -1 to 1", "INT4 (-8..7)/8, absmax/8",
    "INT4 asymmetric min-max, 16 levels",
)  # fmt: skip
# What the documents print, by table and row; an empty text is a row that they do not have.
QUOTED: dict[str, tuple[str, ...]] = {
    "weight_gigabytes": ("14", "7.0", "3.5"),
    "bits": ("4.156", "4.625", "4.08", "4.25", "4.5", "", "4.127", "", ""),
    "ratio": ("3.85", "3.46", "3.9", "", "", "", "", "3.2", ""),
    "step": ("1.33", "", "", "0.08", "", "", "2", "", "", "", "", ""),
    "deviation": ("0.38", "", "", "", "", "", "0.58", "", "", "", "", ""),
    "factor": ("256", "", "", "4", "", "", "4", "", ""),
    "gb": ("141", "70.6", "", "39.8", "", "", "", "88", "", ""),
    "nf4": ("", "30", "", "", ""),
}
PRINTED_SHARE = Fraction(5, 8)  # of the bytes, which the recap document gives 2:4 sparsity in 16 bits
MONTE_CARLO, STANDARD_ERROR = Fraction("0.008028232046"), Fraction("0.000002404")


def places(cell: Cell, places: int = 6) -> str:
    assert cell is not None
    return decimal_text(cell, places).replace("−", "-")


def exact(cell: Cell) -> str:
    assert cell is not None
    return exact_text(as_fraction(cell)).replace("−", "-")


def get(table: Table, name: str, row: int = 0) -> Fraction:
    cell = table.value(row, name)
    assert cell is not None
    return as_fraction(cell)


def status(*pairs: tuple[str, Fraction]) -> str:
    """`ok` where every printed value is ours at its own number of places, `derived` where nothing is printed."""
    quoted = [(text, value) for text, value in pairs if text]
    agree = all(places(value, len(text.partition(".")[2])) == text for text, value in quoted)
    return ("ok" if agree else "mismatch") if quoted else "derived"


def _gigabytes() -> Iterator[Row]:
    for bits, printed in zip((16, 8, 4), QUOTED["weight_gigabytes"], strict=True):
        table = weight_bytes(SEVEN_BILLION, Fraction(bits))
        gb = get(table, "weight_gigabytes")
        yield {"parameters": str(SEVEN_BILLION), "bits": str(bits), "gb_printed": printed, "gb_exact": exact(gb),
               "gib_12dp": places(table.value(0, "weight_gibibytes"), 12), "status": status((printed, gb))}  # fmt: skip


def _effective_bits() -> Iterator[Row]:
    for name, stored, bits, ratio in zip(FORMAT_NAMES, LAYOUTS, QUOTED["bits"], QUOTED["ratio"], strict=False):
        table = effective_bits(stored)
        value, times = get(table, "effective_bits"), get(table, "compression_ratio")
        yield {
            "format": name, "payload_bits": str(stored.payload_bits), "scale_bits": str(stored.scale_bits),
            "zero_bits": str(stored.zero_bits), "group": str(stored.group),
            "second_level_bits_exact": exact(stored.second_level_bits), "bits_printed": bits,
            "bits_exact": exact(value), "bits_12dp": places(value, 12), "ratio_printed": ratio,
            "ratio_exact": exact(times), "ratio_12dp": places(times, 12),
            "metadata_of_payload_12dp": places(table.value(0, "metadata_of_payload"), 12),
            "metadata_of_total_12dp": places(table.value(0, "metadata_of_total"), 12),
            "status": status((bits, value), (ratio, times)),
        }  # fmt: skip


def _outlier_step() -> Iterator[Row]:
    cases: list[tuple[int, int, Convention]] = [(k, bits, c) for k in (10, 15) for bits in (4, 8) for c in STEP_NAMES]
    for (k, bits, c), step, deviation in zip(cases, QUOTED["step"], QUOTED["deviation"], strict=True):
        table = outlier_step(Fraction(k), bits, c)
        size, spread = get(table, "step"), get(table, "rounding_deviation")
        rms = gaussian_error(levels_of(Fraction(k), bits, c)).value(0, "gaussian_rms") if bits == 4 else None
        yield {
            "outlier_sigma": str(k), "bits": str(bits), "convention": STEP_NAMES[c],
            "steps": exact(table.value(0, "steps")), "step_printed": step, "step_exact": exact(size),
            "step_12dp": places(size, 12), "std_printed": deviation, "uniform_std_12dp": places(spread, 12),
            "gaussian_rms_12dp": "" if rms is None else places(rms, 12),
            "status": status((step, size), (deviation, spread)),
        }  # fmt: skip


def _variance_factor() -> Iterator[Row]:
    widths = ((8, 4), (4, 3), (8, 7))
    cases: list[tuple[int, int, Convention]] = [(*width, c) for width in widths for c in FACTOR_NAMES]
    for (bits, fewer, c), printed in zip(cases, QUOTED["factor"], strict=True):
        factor = get(variance_factor(bits, fewer, c), "variance_factor")
        shown = "" if status((printed, factor)) == "mismatch" else printed
        yield {"from_bits": str(bits), "to_bits": str(fewer), "convention": FACTOR_NAMES[c], "factor_printed": shown,
               "factor_exact": exact(factor), "factor_12dp": places(factor, 12)}  # fmt: skip


def _gaussian_clip() -> Iterator[Row]:
    for c, name in CLIP_NAMES.items():
        table = best_clip(4, c)
        yield {"grid": name, "best_clip": places(table.value(0, "best_clip"), 4),
               "mse": places(table.value(0, "least_error"))}  # fmt: skip


def _nf4() -> Iterator[Row]:
    table = block_errors()
    base = get(table, "block_error")
    for i, (name, printed) in enumerate(zip(GRID_NAMES, QUOTED["nf4"], strict=True)):
        value, drawn = get(table, "block_error", i), table.rows[i] == "min_max"
        if drawn and abs(value - MONTE_CARLO) <= 5 * STANDARD_ERROR:
            value = MONTE_CARLO
        yield {
            "grid": name, "block": "64", "mse_12dp": places(value, 12),
            "nf4_lower_by_percent": places(100 * (1 - base / value)), "printed": printed,
            "method": "Monte Carlo" if drawn else "numerical integration",
            "standard_error": places(STANDARD_ERROR, 9) if drawn else "",
        }  # fmt: skip


def _weight_bytes() -> Iterator[Row]:
    linear, rest, every = LLAMA_70B.linear_weights, LLAMA_70B.other_weights, LLAMA_70B.weights
    metadata = get(effective_bits(LAYOUTS[0]), "metadata_per_value")
    dense = sparse_bits(16)
    cases = {
        "BF16": weight_bytes(every, Fraction(16)),
        "FP8, every weight": weight_bytes(every, Fraction(8)),
        "FP8, embedding, head and norms BF16": weight_bytes(linear, Fraction(8), kept=rest),
        "W4A16 g128, embedding, head and norms BF16":
            weight_bytes(linear, Fraction(4), metadata=metadata, kept=rest),
        "W4A16 g128, every weight": weight_bytes(every, Fraction(4), metadata=metadata),
        "2:4 BF16 at 9/16, every weight": weight_bytes(every, dense),
        "2:4 BF16 at 9/16, embedding, head and norms dense": weight_bytes(linear, dense, kept=rest),
        "2:4 BF16 at the printed 5/8 of 141": weight_bytes(every, PRINTED_SHARE * 16),
        "2:4 FP8 at 5/8, every weight": weight_bytes(every, sparse_bits(8)),
        "2 bit payload": weight_bytes(every, Fraction(2)),
    }  # fmt: skip
    for (case, table), printed in zip(cases.items(), QUOTED["gb"], strict=True):
        gb, judged = get(table, "weight_gigabytes"), "wrong ratio"
        if "printed" not in case or dense == PRINTED_SHARE * 16:
            judged = status((printed, gb))
        yield {
            "case": case, "bytes_exact": exact(table.value(0, "weight_bytes")), "gb_printed": printed,
            "gb_12dp": places(gb, 12), "ratio_to_bf16_12dp": places(table.value(0, "ratio_to_16_bit"), 12),
            "status": judged,
        }  # fmt: skip


RECAP: dict[str, Callable[[], Iterator[Row]]] = {
    "weight_gigabytes": _gigabytes,
    "recap_effective_bits": _effective_bits,
    "recap_outlier_step": _outlier_step,
    "recap_variance_factor": _variance_factor,
    "recap_gaussian_clip": _gaussian_clip,
    "recap_nf4_vs_int4": _nf4,
    "recap_weight_bytes": _weight_bytes,
}
