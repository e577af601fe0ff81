"""How long each gradient is at the start of training: draft uniform over V tokens, teacher uniform over k of them.

Teaches: TV's gradient shrinks like 1/V, those of KL and −ln α do not, as the division by α = k/V restores the factor.
Leaves out: real initial drafts, which are not uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from mechanisms.mtp_boosting import TOPIC, quantity
from mechanisms.quantity import given
from mechanisms.table import Table, tabulate

SUPPORTS = (1, 5, 50)
VOCABULARIES = (64, 128, 256, 1024, 4096, 16384, 50_000, 65536, 128_000)
_SOURCE = "lk2026 §3–4"

SUPPORT = given(f"{TOPIC}.support_size", "k", "chosen", index="", counts=True)
VOCABULARY = given(f"{TOPIC}.vocabulary", "V", "chosen", index="", counts=True)
_k, _v = SUPPORT.sym, VOCABULARY.sym
RATE = quantity("acceptance_rate", r"\alpha", "leviathan2022 §3.2", _k / _v, index="", kind="exact")
KL_ON = quantity("kl_on", r"g_{\mathrm{KL}}", _SOURCE, 1 / _v - 1 / _k, index="", kind="exact")
TV_ON = quantity("tv_on", r"g_{\mathrm{TV}}", _SOURCE, -(1 - RATE.sym) / _v, index="", kind="exact")
KL_LENGTH = quantity("kl_length", r"\|g_{\mathrm{KL}}\|", _SOURCE, sp.sqrt(1 / _k - 1 / _v), index="")
TV_LENGTH = quantity("tv_length", r"\|g_{\mathrm{TV}}\|", _SOURCE, RATE.sym * KL_LENGTH.sym, index="")
NLA_LENGTH = quantity("nla_length", r"\|g_{\alpha}\|", _SOURCE, TV_LENGTH.sym / RATE.sym, index="")
COLUMNS = (VOCABULARY, SUPPORT, RATE, KL_ON, TV_ON, KL_LENGTH, TV_LENGTH, NLA_LENGTH)


def vanishing(support: int, vocabularies: Sequence[int] = VOCABULARIES) -> Table:
    """Gradient lengths of KL, TV and −ln α, one row per vocabulary size.

    ‖g_KL‖ = √(1/k − 1/V), ‖g_TV‖ = (k/V) ‖g_KL‖, ‖g_α‖ = ‖g_TV‖/α; the coordinate of a token of the teacher is
    1/V − 1/k for KL and −(1 − k/V)/V for TV. support: 1 ≤ k < V.

    >>> table = vanishing(5, [50000])
    >>> [round(float(table.value(0, n)), 7) for n in ("kl_length", "tv_length", "nla_length")]
    [0.4471912, 4.47e-05, 0.4471912]

    Source: lk2026, §3–4; exact lengths derived.
    """
    if support < 1 or any(v <= support for v in vocabularies):
        raise ValueError(f"support={support}: must be at least 1 and below every vocabulary size")
    rows = {
        VOCABULARY.name: [Fraction(v) for v in vocabularies],
        SUPPORT.name: [Fraction(support)] * len(vocabularies),
    }
    names = tuple(f"{v:,}" for v in vocabularies)
    return tabulate(f"{TOPIC}.vanishing", COLUMNS, names, rows, function="mechanisms.mtp_vanish.vanishing")
