"""Bytes of a model's weights, part by part: what is quantized, its metadata, what stays in 16 bits, and the cache.

Teaches: that a gigabyte is not a gibibyte, and that "70 GB" and "40 GB" may count different parts. Leaves out:
workspace and activations, padding, and how the cache size comes about (chapter `kv_cache`); it is a number here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechanisms.error_budget import TOPIC
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.quant_bytes"


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


@dataclass(frozen=True, slots=True)
class Shape:
    """A Llama-shaped model: sizes of its matrices; the output head is its own matrix (untied)."""

    hidden: int
    layers: int
    intermediate: int
    kv_width: int
    vocabulary: int

    @property
    def linear_weights(self) -> int:
        """Weights of the matrices inside the layers: Q, O; K, V; gate, up, down."""
        h = self.hidden
        return self.layers * (2 * h * h + 2 * h * self.kv_width + 3 * h * self.intermediate)

    @property
    def other_weights(self) -> int:
        """Embedding, head, two norms a layer and the last norm."""
        return 2 * self.vocabulary * self.hidden + (2 * self.layers + 1) * self.hidden

    @property
    def weights(self) -> int:
        return self.linear_weights + self.other_weights


LLAMA_70B = Shape(hidden=8192, layers=80, intermediate=28672, kv_width=1024, vocabulary=128256)  # Llama-3.1-70B
SEVEN_BILLION = 7 * 10**9  # the round number of the source document
CACHE_128K = 2 * 80 * 1024 * 2 * 2**17  # 16-bit keys and values of LLAMA_70B for one sequence of 131,072 tokens

QUANTIZED = given(_id("quantized_weights"), r"N_{\mathrm{q}}", "chosen", index="", counts=True)
KEPT = given(_id("kept_weights"), r"N_{\mathrm{16}}", "chosen", index="", counts=True)
PAYLOAD = given(_id("payload_bits"), "b", "chosen", unit="bit", index="")
METADATA = given(_id("metadata_per_value"), r"b_{\mathrm{meta}}", "chosen", unit="bit", index="")
CACHE = given(_id("cache_bytes"), r"B_{\mathrm{KV}}", "chosen", unit="B", index="", counts=True)


def _bytes(name: str, tex: str, expression: object) -> Quantity:
    return Quantity(_id(name), tex, "derived", expression, unit="B", index="", counts=True)  # type: ignore[arg-type]


CODES = _bytes("code_bytes", r"B_{\mathrm{codes}}", QUANTIZED.sym * PAYLOAD.sym / 8)
META = _bytes("metadata_bytes", r"B_{\mathrm{meta}}", QUANTIZED.sym * METADATA.sym / 8)
REST = _bytes("kept_bytes", r"B_{\mathrm{16}}", 2 * KEPT.sym)
WEIGHTS = _bytes("weight_bytes", r"B_{\mathrm{w}}", CODES.sym + META.sym + REST.sym)
TOTAL = _bytes("total_bytes", "B", WEIGHTS.sym + CACHE.sym)
GB = Quantity(_id("weight_gigabytes"), r"\mathrm{GB}", "derived", WEIGHTS.sym / 10**9, unit="GB", index="")
GIB = Quantity(_id("weight_gibibytes"), r"\mathrm{GiB}", "derived", WEIGHTS.sym / 2**30, unit="GiB", index="")
FULL_RATIO = Quantity(
    _id("ratio_to_16_bit"), "r", "derived", 2 * (QUANTIZED.sym + KEPT.sym) / WEIGHTS.sym, unit="×", index=""
)
TOTAL_RATIO = Quantity(
    _id("total_ratio"), r"r_{\mathrm{total}}", "derived",
    (2 * (QUANTIZED.sym + KEPT.sym) + CACHE.sym) / TOTAL.sym, unit="×", index="",
)  # fmt: skip
COLUMNS = (
    QUANTIZED, KEPT, PAYLOAD, METADATA, CACHE, CODES, META, REST, WEIGHTS, TOTAL, GB, GIB, FULL_RATIO, TOTAL_RATIO
)  # fmt: skip


def weight_bytes(
    quantized: int,
    bits: Fraction,
    *,
    metadata: Fraction = Fraction(0),
    kept: int = 0,
    cache: int = 0,
    name: str = "",
) -> Table:
    """Bytes of `quantized` weights at `bits` plus metadata, of `kept` weights at 16 bits, and of a given cache.

    B_w = N_q·(b + b_meta)/8 + 2·N_16. bits: of a code; may be a fraction (2:4 sparsity). metadata: bits per weight.

    >>> weight_bytes(SEVEN_BILLION, Fraction(4)).value(0, "weight_gigabytes")
    Fraction(7, 2)

    Source: derived.
    """
    if min(quantized, kept, cache, metadata) < 0 or bits <= 0 or quantized + kept == 0:
        raise ValueError(
            f"quantized={quantized}, bits={bits}, metadata={metadata}, kept={kept}, cache={cache}: "
            "must not be negative, bits positive, and there must be a weight"
        )
    row = {
        QUANTIZED.name: (Fraction(quantized),), KEPT.name: (Fraction(kept),), PAYLOAD.name: (Fraction(bits),),
        METADATA.name: (Fraction(metadata),), CACHE.name: (Fraction(cache),),
    }  # fmt: skip
    return tabulate(_id("bytes"), COLUMNS, (name,), row, function=f"{_MODULE}.weight_bytes")


def sparse_bits(value_bits: int) -> Fraction:
    """Bits per weight of 2:4 sparsity: two values and two 2-bit places for four weights, (2v + 4)/4.

    >>> sparse_bits(16) / 16, sparse_bits(8) / 8
    (Fraction(9, 16), Fraction(5, 8))

    Source: derived.
    """
    if value_bits < 1:
        raise ValueError(f"value_bits={value_bits}: must be at least 1")
    return Fraction(2 * value_bits + 2 * 2, 4)
