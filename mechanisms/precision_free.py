"""The printed tokens with a verification time of their own: two free numbers, two rows to fix them, one row to test.

Teaches: that a table which one latency cannot explain is not refuted, because two can, and that three ratios fitted
with two numbers leave one check. Leaves out: rounding (`precision_latency` has it).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.draft_precision import DRAFTS, TABLE, WINDOW, K, derived, id_of
from mechanisms.quantity import Quantity, signed
from mechanisms.table import Cell, Table, tabulate

_NAMES = ("bf16", "fp8", "int4")


def _printed(field: str, tex: str, unit: str) -> tuple[Quantity, ...]:
    kind: Any = "contradicted" if field == "tokens" else "quoted"
    return tuple(
        Quantity(id_of(f"{field}_{n}"), rf"{tex}_{{\mathrm{{{n.upper()}}}}}", TABLE, unit=unit, index="", kind=kind)
        for n in _NAMES
    )


TOKENS, STEPS, SPEEDUPS = _printed("tokens", "N", "token"), _printed("step", "t", "ms"), _printed("speedup", "S", "×")
_n1, _n2, _n3 = (q.sym for q in TOKENS)
_t1, _t2, _t3 = (q.sym for q in STEPS)
_s1, _s2, _s3 = (q.sym for q in SPEEDUPS)
_difference = sp.Add(_t1, -_t2, evaluate=False)
TARGET = derived("free_target", "T", K.sym * _difference / (_n1 / _s1 - _n2 / _s2), unit="ms", index="")
VERIFY = derived("free_verification", "C", _n1 * TARGET.sym / _s1 - K.sym * _t1, unit="ms", index="")
RATIO = derived("free_price", "C/T", VERIFY.sym / TARGET.sym, unit="×", index="")
PREDICTED = derived(
    "predicted_int4", r"\hat S", _n3 * TARGET.sym / (K.sym * _t3 + signed(VERIFY.name)), unit="×", index=""
)  # fmt: skip
COLUMNS = (K, *TOKENS, *STEPS, *SPEEDUPS, TARGET, VERIFY, RATIO, PREDICTED)


def free_verification() -> Table:
    """T and C that give the BF16 and FP8 speedups exactly, and the speedup that they predict for INT4.

    S(Kt + C) = N·T for two rows; then S = N·T/(Kt + C) for the third.

    >>> str(free_verification().value(0, "free_target"))
    '384930/4187'

    Source: derived; the inputs are the article's.
    """
    row: dict[str, tuple[Cell, ...]] = {K.name: (Fraction(WINDOW),)}
    for field, columns in (("tokens", TOKENS), ("step", STEPS), ("speedup", SPEEDUPS)):
        row |= {q.name: (Fraction(getattr(d, field)),) for q, d in zip(columns, DRAFTS, strict=True)}
    return tabulate(id_of("free"), COLUMNS, ("",), row, function="mechanisms.precision_free.free_verification")
