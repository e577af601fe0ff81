"""Bytes of the draft model from its public shape, and what reading them once costs.

Teaches: that a printed memory figure has a lower bound which anybody can compute, and that a draft step is mostly one
reading of the weights. Leaves out: cache, activations and buffers of the runtime; the article may count some of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.draft_precision import DRAFTS, MEMORY, NAMES, STEP, TABLE, derived, half_unit, id_of, printed_cells
from mechanisms.formats_bits import effective_bits, layout
from mechanisms.quant_bytes import CODES, GB, GIB, KEPT, META, METADATA, PAYLOAD, QUANTIZED, REST, WEIGHTS
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import Quantity, as_fraction, given
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.precision_memory"
SHAPE = "qwen25 config.json"


@dataclass(frozen=True, slots=True)
class Shape:
    """A Qwen2-shaped model: head tied to the embedding, biases on queries, keys and values."""

    vocabulary: int = 151936
    hidden: int = 1536
    layers: int = 28
    intermediate: int = 8960
    kv_width: int = 256


def _size(name: str, tex: str) -> Quantity:
    return Quantity(id_of(name), tex, SHAPE, kind="quoted", index="", counts=True)


V, H, LAYERS, M, G = (
    _size("vocabulary", "V"), _size("hidden", "h"), _size("layers", "n"), _size("intermediate", "m"),
    _size("kv_width", "g"),
)  # fmt: skip
_v, _h, _n, _m, _g = (q.sym for q in (V, H, LAYERS, M, G))


def _count(name: str, tex: str, expression: Any) -> Quantity:
    return derived(name, tex, expression, index="", counts=True)


EMBEDDING = _count("embedding_weights", r"P_{\mathrm{emb}}", _v * _h)
LINEAR = _count("linear_weights", r"P_{\mathrm{lin}}", _n * (2 * _h**2 + 2 * _h * _g + 3 * _h * _m))
BIASES = _count("bias_weights", r"P_{\mathrm{bias}}", _n * (_h + 2 * _g))
NORMS = _count("norm_weights", r"P_{\mathrm{norm}}", (2 * _n + 1) * _h)
ALL = _count("all_weights", "P", EMBEDDING.sym + LINEAR.sym + BIASES.sym + NORMS.sym)
PARAMETERS = (V, H, LAYERS, M, G, EMBEDDING, LINEAR, BIASES, NORMS, ALL)


def parameters(shape: Shape | None = None) -> Table:
    """Parameters of the draft, part by part, in one row.

    Matrices of a layer: 2h² + 2hg + 3hm; biases h + 2g; norms 2h, one more at the end; the head is the embedding.

    >>> parameters().value(0, "all_weights")
    Fraction(1543714304, 1)

    Source: qwen25, config.json; the sum is ours.
    """
    found = shape or Shape()
    fields = ("vocabulary", "hidden", "layers", "intermediate", "kv_width")
    row = {q.name: (Fraction(getattr(found, f)),) for q, f in zip((V, H, LAYERS, M, G), fields, strict=True)}
    return tabulate(id_of("parameters"), PARAMETERS, ("",), row, function=f"{_MODULE}.parameters")


UNIT = given(id_of("memory_half"), "h_M", "chosen", unit="GB", index="")
PRINTED = Quantity(id_of("memory_printed"), "M", TABLE, kind="quoted", unit="GB", index="")
OTHER = derived("other_gigabytes", "x", PRINTED.sym - GB.sym, unit="GB", index="")
WITHIN = derived(
    "memory_reached", "r", is_zero(sp.Max(0, sp.Abs(PRINTED.sym - GB.sym) - UNIT.sym)), index="", counts=True
)  # fmt: skip
READINGS = ("bf16", "fp8_every", "fp8_kept", "int4_kept", "int4_every", "int4_bare")
COLUMNS = (
    QUANTIZED, PAYLOAD, METADATA, KEPT, CODES, META, REST, WEIGHTS, GB, GIB, PRINTED, UNIT, OTHER, WITHIN
)  # fmt: skip


def memory() -> Table:
    """Six readings of "the draft at this precision": bytes of the weights beside the printed gigabytes.

    B = N(b + b_meta)/8 + 2·N₁₆; reached is 1 where the printed figure is ours rounded.

    >>> memory().column("memory_reached") == (0,) * 6
    True

    Source: derived; the shape is qwen25's, bits of a group of 128 with an FP16 scale and a 4-bit zero point.
    """
    found = parameters()
    every, linear = (as_fraction(found.value(0, n) or 0) for n in ("all_weights", "linear_weights"))
    meta = as_fraction(effective_bits(layout("int4_g128_zero")).value(0, "metadata_per_value") or 0)
    none, bf16, fp8, int4 = Fraction(0), *(d.memory for d in DRAFTS)
    rows = (
        (every, Fraction(16), none, none, bf16),
        (every, Fraction(8), none, none, fp8),
        (linear, Fraction(8), none, every - linear, fp8),
        (linear, Fraction(4), meta, every - linear, int4),
        (every, Fraction(4), meta, none, int4),
        (every, Fraction(4), none, none, int4),
    )
    names = (QUANTIZED, PAYLOAD, METADATA, KEPT)
    cells = {q.name: tuple(Fraction(row[i]) for row in rows) for i, q in enumerate(names)}  # type: ignore[arg-type]
    cells |= {PRINTED.name: tuple(Fraction(row[4]) for row in rows)}
    cells |= {UNIT.name: tuple(half_unit(str(row[4])) for row in rows)}
    return tabulate(id_of("memory"), COLUMNS, READINGS, cells, function=f"{_MODULE}.memory")


DEVICE = Quantity(id_of("bandwidth"), "W", "h100 memory bandwidth", kind="quoted", unit="TB/s", index="")
FLOOR = derived("reading_ms", r"t_{\mathrm{read}}", MEMORY.sym / DEVICE.sym, unit="ms")
REST_OF_STEP = derived("other_ms", r"t_{\mathrm{rest}}", STEP.sym - FLOOR.sym, unit="ms")
SHARE = derived("reading_share", r"\rho", 100 * FLOOR.sym / STEP.sym, unit="%")
IMPLIED = derived("implied_bandwidth", r"W^*", MEMORY.sym / STEP.sym, unit="TB/s")
READING = (MEMORY, STEP, DEVICE, FLOOR, REST_OF_STEP, SHARE, IMPLIED)
H100_TB_PER_S = Fraction("3.35")


def reading(bandwidth: Fraction = H100_TB_PER_S) -> Table:
    """What reading the printed memory once takes, and how much of the printed step that explains.

    t_read = M/W (gigabytes over terabytes a second are milliseconds). bandwidth: W > 0 in TB/s.

    >>> round(float(reading().value(0, "reading_ms")), 3)
    0.955

    Source: derived; bandwidth from h100, times and sizes from the article.
    """
    if bandwidth <= 0:
        raise ValueError(f"bandwidth={bandwidth}: must be positive")
    found = printed_cells()
    cells = {q.name: found[q.name] for q in (MEMORY, STEP)} | {DEVICE.name: (bandwidth,) * len(DRAFTS)}
    return tabulate(id_of("reading"), READING, NAMES, cells, function=f"{_MODULE}.reading")
