"""Four losses on one draft position, and their gradients in the logits, side by side.

Teaches: KL pulls every token by q − p; TV and −ln α know only on which side of p each token lies; the hybrid mixes the
first two with a weight that falls as the acceptance rate rises and through which no gradient flows. Where q(v) = p(v)
the sign is 0, as automatic differentiation has it. Leaves out: many positions (`mtp_lambda`), temperature.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from mechanisms.expression import entropy_term, evaluate_array, total
from mechanisms.mtp_boosting import ACCEPTANCE, DRAFT, KL, LOGIT, TARGET, TOPIC, TV, p, q, quantity, whole
from mechanisms.mtp_cases import Case
from mechanisms.mtp_nodes import ln, sign
from mechanisms.quantity import given, signed
from mechanisms.table import Table, tabulate

LOSSES = ("kl", "tv", "nla", "hybrid")
DEFAULT_DECAY = Fraction(3)
Floats = NDArray[np.float64]
_TABLE, _LEMMA = "lk2026 §3–4", "lk2026 §3–4"

DECAY = given(f"{TOPIC}.decay", r"\eta_\lambda", "chosen", index="")
SIDE = quantity("side", "s", _TABLE, sign(q - p))
_s, _decay = signed(SIDE), DECAY.sym
GRAD_KL = quantity("kl_gradient", r"g_{\mathrm{KL}}", _TABLE, q - p)
GRAD_TV = quantity("tv_gradient", r"g_{\mathrm{TV}}", _TABLE, q * (_s - total(q * _s)) / 2)
GRAD_NLA = quantity("nla_gradient", r"g_{\alpha}", _TABLE, signed(GRAD_TV) / total(sp.Min(p, q)))
WEIGHT = whole("kl_weight", r"\lambda", _LEMMA, sp.exp(-_decay * total(sp.Min(p, q))))
_kl, _tv = signed(GRAD_KL), signed(GRAD_TV)
GRAD_HYBRID = quantity("hybrid_gradient", r"g_{\lambda}", _LEMMA, WEIGHT.sym * _kl + (1 - WEIGHT.sym) * _tv)
GRADIENTS = (TARGET, LOGIT, DRAFT, SIDE, GRAD_KL, GRAD_TV, GRAD_NLA, DECAY, WEIGHT, GRAD_HYBRID)

NLA = whole("nla_loss", r"L_{\alpha}", _LEMMA, -ln(total(sp.Min(p, q))), unit="nat")
HYBRID = whole(
    "hybrid_loss", r"L_{\lambda}", _LEMMA,
    WEIGHT.sym * total(entropy_term(p, q)) + (1 - WEIGHT.sym) * total(sp.Abs(p - q)) / 2,
)  # fmt: skip
VALUES = (KL, TV, ACCEPTANCE, NLA, DECAY, WEIGHT, HYBRID)


def gradients(case: Case, *, decay: Fraction = DEFAULT_DECAY) -> Table:
    """One row per token: on which side of p it lies, and its gradient under each loss.

    g_KL = q − p, g_TV = ½ q (s − Σ q s), g_α = g_TV/α, g_λ = λ g_KL + (1 − λ) g_TV, λ = exp(−η_λ α) held fixed.

    >>> from mechanisms.mtp_cases import CASES
    >>> row = gradients(CASES["seed"])
    >>> [round(float(row.value(0, n)), 6) for n in ("kl_gradient", "tv_gradient", "nla_gradient")]
    [-0.225557, -0.244458, -0.315657]

    Source: lk2026, §3–4.
    """
    if decay < 0:
        raise ValueError(f"decay={decay}: must not be negative")
    rows = {TARGET.name: case.p, LOGIT.name: case.z, DECAY.name: (decay,) * len(case.p)}
    return tabulate(f"{TOPIC}.gradients", GRADIENTS, case.tokens, rows, function="mechanisms.mtp_losses.gradients")


def values(table: Table, *, decay: Fraction = DEFAULT_DECAY, name: str = "") -> Table:
    """All losses of one draft in one row; `table` holds p and q. Source: lk2026, §3–4."""
    rows = {DECAY.name: (decay,)}
    return tabulate(f"{TOPIC}.losses", VALUES, (name,), rows, function="mechanisms.mtp_losses.values", over=table)


def bare_gradient(loss: str, target: Floats, logits: Floats, *, decay: float = 3.0) -> Floats:
    """The same closed forms on arrays, (…, V), in double precision: for descents of many steps. Source: lk2026."""
    if loss not in LOSSES:
        raise ValueError(f"loss={loss!r}: must be one of {LOSSES}")
    scores = np.exp(logits - logits.max(axis=-1, keepdims=True))
    given_values: dict[str, Any] = {
        TARGET.name: target, DRAFT.name: scores / scores.sum(axis=-1, keepdims=True), DECAY.name: decay,
    }  # fmt: skip
    return np.asarray(evaluate_array(_flat(loss), given_values), dtype=np.float64)


@cache
def _flat(loss: str) -> sp.Basic:
    """A gradient over p, q and η_λ alone."""
    found: Any = {"kl": GRAD_KL, "tv": GRAD_TV, "nla": GRAD_NLA, "hybrid": GRAD_HYBRID}[loss].expression
    put: Sequence[Any] = (GRAD_KL, GRAD_TV, WEIGHT, SIDE)
    for other in put:
        found = found.xreplace({other.sym: other.expression, signed(other): other.expression})
    return found
