"""Two tokens: every gradient as a function of the gap between the two logits.

Teaches: the losses differ in how hard they pull, never in the direction, as two logits can only move apart or together.
TV and −ln α let go where the draft is far off, KL does not. Leaves out: three and more tokens, where directions differ.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.mtp_boosting import TOPIC, quantity
from mechanisms.mtp_losses import DECAY, DEFAULT_DECAY
from mechanisms.mtp_nodes import ln, sign
from mechanisms.quantity import given, signed
from mechanisms.table import Table, tabulate

GAPS = tuple(range(-6, 7))
TARGETS = tuple(Fraction(x) for x in ("0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.99", "0.999"))
COLUMN = {"kl": "kl_pull", "tv": "tv_pull", "nla": "nla_pull", "hybrid": "hybrid_pull"}

TEACHER = given(f"{TOPIC}.first_target", "p_1", "chosen", index="")
GAP = given(f"{TOPIC}.logit_gap", r"\Delta z", "chosen", index="")
_p, _gap = TEACHER.sym, signed(GAP)
DRAFT = quantity("first_draft", "q_1", "derived", 1 / (1 + sp.exp(-_gap)), index="")
_q = DRAFT.sym
RATE = quantity("acceptance_rate", r"\alpha", "leviathan2022 §3.2", 1 - sp.Abs(_p - _q), index="")
KL_PULL = quantity("kl_pull", r"g_{\mathrm{KL}}", "lk2026 §3–4", _q - _p, index="")
TV_PULL = quantity("tv_pull", r"g_{\mathrm{TV}}", "lk2026 §3–4", _q * (1 - _q) * sign(_q - _p), index="")
NLA_PULL = quantity("nla_pull", r"g_{\alpha}", "lk2026 §3–4", signed(TV_PULL) / RATE.sym, index="")
WEIGHT = quantity("kl_weight", r"\lambda", "lk2026 §3–4", sp.exp(-DECAY.sym * RATE.sym), index="")
HYBRID_PULL = quantity(
    "hybrid_pull", r"g_{\lambda}", "lk2026 §3–4",
    WEIGHT.sym * signed(KL_PULL) + (1 - WEIGHT.sym) * signed(TV_PULL), index="",
)  # fmt: skip
BEST = quantity("best_gap", r"\Delta z^{*}", "derived", ln(_p / (1 - _p)), index="")
COLUMNS = (GAP, TEACHER, DRAFT, RATE, KL_PULL, TV_PULL, NLA_PULL, DECAY, WEIGHT, HYBRID_PULL, BEST)


def field(target: Fraction) -> Table:
    """Gradient in the first logit of two, for each whole gap z_1 − z_2 from −6 to 6; the second one's is its negative.

    q_1 = 1/(1 + e^(z_2 − z_1)), g_TV = q_1 (1 − q_1) sgn(q_1 − p_1). target: p_1 in (0, 1).

    >>> [round(float(field(Fraction("0.99")).value(0, n)), 4) for n in ("kl_pull", "tv_pull", "nla_pull")]
    [-0.9875, -0.0025, -0.1978]

    Source: lk2026, §3–4, for two tokens.
    """
    if not 0 < target < 1:
        raise ValueError(f"target={target}: must lie between 0 and 1")
    n = len(GAPS)
    rows = {GAP.name: [Fraction(x) for x in GAPS], TEACHER.name: [target] * n, DECAY.name: [DEFAULT_DECAY] * n}
    names = tuple(str(x).replace("-", "−") for x in GAPS)
    return tabulate(f"{TOPIC}.field", COLUMNS, names, rows, function="mechanisms.mtp_field.field")
