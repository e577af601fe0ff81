"""How many products a signed accumulator of a given width can hold.

Teaches: that the width is a question of the worst case, that a given case may still fit, and what wraps when it does
not. Codes are two's complement integers of a given width, zero points are not part of the running sum.
Leaves out: saturating accumulators, but for the one that many processors have (`saturating_pairs`); the others wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import sympy as sp

from mechanisms.integer_matmul import TOPIC
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

CodeType = Literal["int4", "uint4", "int8", "uint8", "int16"]
CODE_RANGES: dict[CodeType, tuple[int, int]] = {
    "int4": (-8, 7), "uint4": (0, 15), "int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1),
}  # fmt: skip
WIDTHS = (16, 32, 64)


def _whole(name: str, tex: str, expression: Any = None, unit: str = "1", **more: Any) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, unit=unit, index="", counts=True, **more)


WIDTH = given(f"{TOPIC}.accumulator_bits", "b", "chosen", unit="bit", index="", counts=True)
TOP = _whole("largest_product", r"m_{\max}")
BOTTOM = _whole("smallest_product_size", r"\left|m_{\min}\right|")
CEILING = _whole("largest_sum", r"A_{\max}", 2 ** (WIDTH.sym - 1) - 1)
FLOOR = _whole("smallest_sum_size", r"\left|A_{\min}\right|", 2 ** (WIDTH.sym - 1))
FIRST_TOP = _whole("first_overflow_above", "K_+", sp.floor(CEILING.sym / TOP.sym) + 1, "term")
FIRST_BOTTOM = _whole("first_overflow_below", "K_-", sp.floor(FLOOR.sym / BOTTOM.sym) + 1, "term")
FIRST = _whole("first_overflow", r"K^*", sp.Min(FIRST_TOP.sym, FIRST_BOTTOM.sym), "term")
SIGNED_COLUMNS = (WIDTH, TOP, BOTTOM, CEILING, FLOOR, FIRST_TOP, FIRST_BOTTOM, FIRST)
UNSIGNED_COLUMNS = (WIDTH, TOP, CEILING, FIRST_TOP, _whole("first_overflow", r"K^*", FIRST_TOP.sym, "term"))


def product_range(x: CodeType, w: CodeType) -> tuple[int, int]:
    """Least and largest product of two codes: the extremes lie at the ends of both ranges. Source: derived.

    >>> product_range("uint8", "int8")
    (-32640, 32385)
    """
    products = [a * b for a in CODE_RANGES[x] for b in CODE_RANGES[w]]
    return min(products), max(products)


def overflow_table(x: CodeType, w: CodeType, widths: Sequence[int] = WIDTHS) -> Table:
    """One row per accumulator width: the first number of terms K* whose worst case does not fit.

    K₊ = ⌊A_max / m_max⌋ + 1 with all products at their maximum, K₋ = ⌊|A_min| / |m_min|⌋ + 1 with all at their
    minimum, K* = min(K₊, K₋); any fewer terms fit whatever the codes are. Two unsigned types have no K₋.

    >>> overflow_table("int8", "int8").value(1, "first_overflow")
    Fraction(131072, 1)

    Source: derived from two's complement; jacob2018, §2.3, for the 32-bit choice.
    """
    low, high = product_range(x, w)
    columns = SIGNED_COLUMNS if low < 0 else UNSIGNED_COLUMNS
    given_columns = {
        WIDTH.name: tuple(Fraction(b) for b in widths),
        TOP.name: (Fraction(high),) * len(widths),
        BOTTOM.name: (Fraction(-low),) * len(widths),
    }
    names = [f"int{b}" for b in widths]
    function = "mechanisms.integer_matmul_accumulator.overflow_table"
    return tabulate(f"{TOPIC}.overflow", columns, names, given_columns, function=function)


def wrap(value: int, bits: int) -> int:
    """`value` modulo 2^bits, read as two's complement.

    >>> wrap(32768, 16), wrap(-32769, 16)
    (-32768, 32767)

    Source: derived.
    """
    if bits < 1:
        raise ValueError(f"bits={bits}: must be at least 1")
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


@dataclass(frozen=True, slots=True)
class Sum:
    """State: terms added so far, the sum as it is and as a register of `bits` bits holds it."""

    bits: int
    terms: int = 0
    true: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class Added:
    """Event: what was added, the sums after it, and whether this addition left the range of the register."""

    term: int
    product: int
    true: int
    held: int
    wrapped: bool


def step(state: Sum, product: int) -> tuple[Sum, Added]:
    """Add one product. `wrapped` compares with the register's own content, so a wrapped sum may come back.

    >>> step(Sum(16, 1, 32767, 32767), 1)[1].held
    -32768

    Source: derived from two's complement.
    """
    exact = state.held + product
    held, true = wrap(exact, state.bits), state.true + product
    after = Sum(state.bits, state.terms + 1, true, held)
    return after, Added(after.terms, product, true, held, held != exact)


def accumulate(products: Sequence[int], bits: int) -> tuple[Added, ...]:
    """All additions in order. The last `held` is the true sum iff that one fits, whatever wrapped on the way."""
    state, events = Sum(bits), list[Added]()
    for product in products:
        state, event = step(state, product)
        events.append(event)
    return tuple(events)


def saturate(value: int, bits: int) -> int:
    """`value` cut to the range of a signed register. Source: derived."""
    return min(max(value, -(1 << (bits - 1))), (1 << (bits - 1)) - 1)


def saturating_pairs(q_x: Sequence[int], q_w: Sequence[int]) -> int:
    """Σ q_x q_w as x86 without VNNI adds it: neighbours' products in 16 bits, saturated, then everything in 32 bits.

    q_x in 0 … 255, q_w in −128 … 127; right for every K once |q_w| ≤ 64, as 2 · 255 · 64 < 2^15.

    >>> saturating_pairs([255, 255], [127, 127]), 2 * 255 * 127
    (32767, 64770)

    Source: Intel, instruction VPMADDUBSW; onnxruntime, quantization guide, on its U8S8 kernels.
    """
    products = [a * b for a, b in zip(q_x, q_w, strict=True)]
    return sum(saturate(sum(products[i : i + 2]), 16) for i in range(0, len(products), 2))
