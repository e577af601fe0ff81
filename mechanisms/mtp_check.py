"""The gradient of KL without its formula: raise one logit, lower it, and divide the difference of the losses.

Teaches: a central difference misses the gradient by a part of h² when h is large, and by rounding when h is small.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from mechanisms.expression import REAL, entropy_term, total
from mechanisms.mtp_boosting import DRAFT, GRADIENT, LOGIT, TARGET, TOPIC, g, p, quantity, z
from mechanisms.mtp_cases import Case
from mechanisms.mtp_nodes import ln
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

WIDTHS = tuple(Fraction(1, 10**k) for k in range(13))
WIDTH = given(f"{TOPIC}.width", "h", "chosen", index="")
_h = WIDTH.sym


def _loss_at(shift: Any) -> Any:
    """KL(p‖softmax) with one logit moved: Σ p ln p − Σ p z − p h + ln(Σ e^z − e^z + e^(z+h)); no gradient in sight."""
    moved = total(sp.exp(z)) - sp.exp(z) + sp.exp(z + shift)
    return total(entropy_term(p, sp.S.One)) - total(p * z) - p * shift + ln(moved)


QUOTIENT = quantity("difference_quotient", r"\hat g", "derived", (_loss_at(_h) - _loss_at(-_h)) / (2 * _h))
MISS = quantity("quotient_error", r"\epsilon", "derived", signed(QUOTIENT) - g)
DOUBLE = quantity("double_quotient", r"\hat g_{64}", "ieee754 binary64")
DOUBLE_MISS = quantity("double_error", r"\epsilon_{64}", "derived", signed(DOUBLE) - g)
CHECK: tuple[Quantity, ...] = (
    TARGET, LOGIT, DRAFT, WIDTH, QUOTIENT, GRADIENT, MISS, DOUBLE, DOUBLE_MISS,
)  # fmt: skip


def check(case: Case, *, width: Fraction) -> Table:
    """Gradient by central differences beside q − p, in fifty digits and in double precision.

    ĝ(v) = (L(z + h e_v) − L(z − h e_v)) / 2h. width: h > 0.

    >>> from mechanisms.mtp_cases import CASES
    >>> table = check(CASES["seed"], width=Fraction(1, 1000))
    >>> round(float(table.value(0, "difference_quotient")), 6), float(table.value(0, "quotient_error")) < 1e-8
    (-0.225557, True)

    Source: derived; the double-precision column is computed by numpy step by step.
    """
    if width <= 0:
        raise ValueError(f"width={width}: must be positive")
    rows: dict[str, tuple[Cell, ...]] = {
        TARGET.name: case.p, LOGIT.name: case.z, WIDTH.name: (width,) * len(case.p),
        DOUBLE.name: tuple(REAL.mpf(x) for x in double_quotients(case, float(width))),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.check", CHECK, case.tokens, rows, function="mechanisms.mtp_check.check")


def double_quotients(case: Case, width: float) -> tuple[float, ...]:
    """The same quotients as a program would compute them: every operation rounded to double precision."""
    target, logits = np.array([float(x) for x in case.p]), np.array([float(x) for x in case.z])

    def loss(values: Any) -> float:
        scores = values - values.max()
        log_draft = scores - np.log(np.exp(scores).sum())
        used = target > 0
        return float(np.sum(target[used] * (np.log(target[used]) - log_draft[used])))

    step = np.eye(len(logits)) * width
    return tuple((loss(logits + row) - loss(logits - row)) / (2 * width) for row in step)
