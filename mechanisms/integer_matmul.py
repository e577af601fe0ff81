"""One output of a quantized matrix product, as four sums of integers.

Teaches: that the product of two shifted codes splits into a sum that depends on both inputs, two sums that depend on
one, and a constant; so the multiplier array never sees a zero point. Leaves out: how wide the sum must be
(`integer_matmul_accumulator`) and how it becomes a code again (`integer_matmul_requantize`). Does not know where the
codes come from; they are integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechanisms.expression import total
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Table, tabulate

TOPIC = "integer_matmul"
_MODULE = f"mechanisms.{TOPIC}"
MAX_TERMS = 12  # a ledger that fits a screen
CODE_LIMIT = 2**15  # codes are small integers; anything larger is a typing error


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


def _count(name: str, tex: str, source: str, expression: Any = None, index: str = "") -> Quantity:
    return Quantity(_id(name), tex, source, expression, index=index, counts=True)


X_CODE = given(_id("activation_code"), "q_x", "chosen", counts=True)
W_CODE = given(_id("weight_code"), "q_w", "chosen", counts=True)
X_ZERO = given(_id("activation_zero_point"), "z_x", "chosen", index="", counts=True)
W_ZERO = given(_id("weight_zero_point"), "z_w", "chosen", index="", counts=True)
TERMS = given(_id("terms"), "K", "chosen", index="", counts=True)
_qx, _qw, _zx, _zw, _k = (signed(q) for q in (X_CODE, W_CODE, X_ZERO, W_ZERO, TERMS))

PRODUCT = _count("code_product", "m", "jacob2018 Eq. 8", _qx * _qw, "v")
X_SHIFTED = _count("activation_shifted", "u_x", "jacob2018 Eq. 1", _qx - _zx, "v")
W_SHIFTED = _count("weight_shifted", "u_w", "jacob2018 Eq. 1", _qw - _zw, "v")
TERM = _count("shifted_product", "t", "jacob2018 Eq. 4", signed(X_SHIFTED) * signed(W_SHIFTED), "v")
LEDGER = (X_ZERO, W_ZERO, X_CODE, W_CODE, PRODUCT, X_SHIFTED, W_SHIFTED, TERM)

SUM_PRODUCTS = _count("sum_products", "S_{xw}", "jacob2018 Eq. 7", total(_qx * _qw))
SUM_X = _count("sum_activations", "S_x", "jacob2018 Eq. 8", total(_qx))
SUM_W = _count("sum_weights", "S_w", "jacob2018 Eq. 8", total(_qw))
WEIGHT_SHIFT = _count("weight_shift_term", "B", "jacob2018 Eq. 7", _zw * signed(SUM_X))
ACTIVATION_SHIFT = _count("activation_shift_term", "C", "jacob2018 Eq. 7", _zx * signed(SUM_W))
CONSTANT = _count("constant_term", "D", "jacob2018 Eq. 7", _k * _zx * _zw)
RESULT = _count(
    "accumulated", "A", "jacob2018 Eq. 7",
    signed(SUM_PRODUCTS) - signed(WEIGHT_SHIFT) - signed(ACTIVATION_SHIFT) + signed(CONSTANT),
)  # fmt: skip
DIRECT = _count("accumulated_directly", "A'", "jacob2018 Eq. 4", total((_qx - _zx) * (_qw - _zw)))
DIFFERENCE = _count("difference", r"\Delta", "derived", signed(RESULT) - signed(DIRECT))
SUMS = (
    X_ZERO, W_ZERO, TERMS, SUM_PRODUCTS, SUM_X, SUM_W,
    WEIGHT_SHIFT, ACTIVATION_SHIFT, CONSTANT, RESULT, DIRECT, DIFFERENCE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """Codes and zero points of one dot product. q_x, q_w: (K,) integers; K in 1 … 12, all below 2^15 in size."""

    q_x: tuple[int, ...]
    q_w: tuple[int, ...]
    z_x: int = 0
    z_w: int = 0

    def __post_init__(self) -> None:
        if len(self.q_x) != len(self.q_w):
            raise ValueError(f"q_x has {len(self.q_x)} codes, q_w {len(self.q_w)}: they must be equally long")
        if not 1 <= len(self.q_x) <= MAX_TERMS:
            raise ValueError(f"q_x has {len(self.q_x)} codes: 1 … {MAX_TERMS} are allowed")
        for name, codes in (("q_x", self.q_x), ("q_w", self.q_w), ("z_x", (self.z_x,)), ("z_w", (self.z_w,))):
            if any(abs(code) > CODE_LIMIT for code in codes):
                raise ValueError(f"{name}={codes}: codes lie within ±{CODE_LIMIT}")


PRESET = Case(q_x=(12, 200, 90, 143), q_w=(-7, 3, 5, -2), z_x=110, z_w=-1)


def ledger(case: Case) -> Table:
    """One row per term k: the raw product of the codes and the product of the shifted codes.

    m = q_x q_w, u_x = q_x − z_x, u_w = q_w − z_w, t = u_x u_w.

    >>> ledger(PRESET).column("shifted_product")[0]
    Fraction(588, 1)

    Source: jacob2018, Eq. 4.
    """
    n = len(case.q_x)
    columns = {
        X_ZERO.name: _exact([case.z_x] * n), W_ZERO.name: _exact([case.z_w] * n),
        X_CODE.name: _exact(case.q_x), W_CODE.name: _exact(case.q_w),
    }  # fmt: skip
    rows = [f"k={i + 1}" for i in range(n)]
    return tabulate(_id("ledger"), LEDGER, rows, columns, function=f"{_MODULE}.ledger")


def sums(case: Case, name: str = "") -> Table:
    """The four sums in one row, their combination, and the same number without splitting.

    A = Σ q_x q_w − z_w Σ q_x − z_x Σ q_w + K z_x z_w; Δ = A − Σ (q_x − z_x)(q_w − z_w), which is 0.

    >>> sums(PRESET).value(0, "accumulated"), sums(PRESET).value(0, "difference")
    (Fraction(795, 1), Fraction(0, 1))

    Source: jacob2018, Eq. 7.
    """
    row = {
        X_ZERO.name: _exact([case.z_x]), W_ZERO.name: _exact([case.z_w]), TERMS.name: _exact([len(case.q_x)]),
    }  # fmt: skip
    return tabulate(_id("sums"), SUMS, (name,), row, function=f"{_MODULE}.sums", over=ledger(case))


def _exact(codes: Sequence[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(code) for code in codes)
