"""One draft position whose logits are trained against a frozen teacher: forward KL, its gradient, and the descent.

Teaches: that the gradient of KL(p‖softmax z) in the logits is q − p, and what a step does to the acceptance rate.
Leaves out: the network that makes the logits, sampling noise (the gradient is the exact expectation, so one step is
plain gradient descent although the source calls it SGD), and other losses (`mtp_losses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.expression import Value, entropy_term, real, total
from mechanisms.mtp_cases import Case
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

TOPIC = "mtp_boosting"
_MODULE = f"mechanisms.{TOPIC}"
SEED_RATE = Fraction(1, 5)
STEPS = 20
KL_SOURCE = "lk2026 §3–4"


def quantity(name: str, tex: str, source: str, expression: Any = None, **more: Any) -> Quantity:
    """A quantity of this chapter; fifty digits unless `kind` says otherwise."""
    settings: dict[str, Any] = {"kind": "float", **more}
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, **settings)


def whole(name: str, tex: str, source: str, expression: Any = None, **more: Any) -> Quantity:
    """A number of a whole table."""
    return quantity(name, tex, source, expression, index="", **more)


TARGET = given(f"{TOPIC}.target_probability", "p", "chosen")
LOGIT = quantity("logit", "z", "chosen")
RATE = given(f"{TOPIC}.learning_rate", r"\eta", "chosen", index="")
p, z, eta = TARGET.sym, signed(LOGIT), RATE.sym
DRAFT = quantity("draft_probability", "q", "derived", sp.exp(z) / total(sp.exp(z)))
q = DRAFT.sym
SHARED = quantity("shared_mass", "d", "leviathan2022 §A.1", sp.Min(p, q))
GRADIENT = quantity("gradient", "g", KL_SOURCE, q - p)
g = signed(GRADIENT)
NEXT = quantity("next_logit", "z'", "derived", z - eta * g)
STATE = (TARGET, LOGIT, DRAFT, SHARED, GRADIENT, RATE, NEXT)

KL = whole("kl_divergence", r"\mathrm{KL}", KL_SOURCE, total(entropy_term(p, q)), unit="nat")
ACCEPTANCE = whole("acceptance_rate", r"\alpha", "leviathan2022 §3.2", total(sp.Min(p, q)))
TV = whole("total_variation", r"\mathrm{TV}", KL_SOURCE, total(sp.Abs(p - q)) / 2)
NORM = whole("gradient_norm", r"\|g\|", "derived", sp.sqrt(total(g**2), evaluate=False))
PINSKER = whole("pinsker_bound", "B", "derived", sp.sqrt(KL.sym / 2, evaluate=False))
TOTALS = (KL, ACCEPTANCE, TV, PINSKER, NORM)


def state(case: Case, logits: Sequence[Cell], *, rate: Fraction) -> Table:
    """One row per token: teacher, logit, softmax, gradient of KL, and the logit after one step.

    q = softmax(z), g = q − p, z' = z − η g. logits: (V,) current ones; rate: the step size η > 0.

    >>> from mechanisms.mtp_cases import CASES
    >>> table = state(CASES["seed"], CASES["seed"].z, rate=Fraction(1, 5))
    >>> round(float(table.value(0, "draft_probability")), 6), round(float(table.value(0, "next_logit")), 6)
    (0.574443, 0.145111)

    Source: lk2026, §3–4 for the gradient; the numbers are those of the source document's table.
    """
    if rate <= 0:
        raise ValueError(f"rate={rate}: must be positive")
    n = len(case.tokens)
    rows: dict[str, Sequence[Cell]] = {TARGET.name: case.p, LOGIT.name: tuple(logits), RATE.name: (rate,) * n}
    return tabulate(f"{TOPIC}.state", STATE, case.tokens, rows, function=f"{_MODULE}.state")


def totals(table: Table, name: str = "") -> Table:
    """KL, acceptance rate, total variation, Pinsker's bound on it and the length of the gradient, in one row.

    α = Σ min(p, q) = 1 − TV, TV ≤ √(KL/2). Source: leviathan2022, §3.2; Pinsker's inequality.
    """
    return tabulate(f"{TOPIC}.totals", TOTALS, (name,), {}, function=f"{_MODULE}.totals", over=table)


def descent(case: Case, *, rate: Fraction, steps: int = STEPS) -> tuple[Table, ...]:
    """The states of gradient descent on KL, from the case's logits to `steps` steps later.

    >>> from mechanisms.mtp_cases import CASES
    >>> last = descent(CASES["seed"], rate=Fraction(1, 5))[-1]
    >>> round(float(last.value(0, "draft_probability")), 6)
    0.760416

    Source: derived; z ← z − η (q − p), repeated.
    """
    logits: Sequence[Cell] = [real(x) for x in case.z]
    found: list[Table] = []
    for _ in range(steps + 1):
        found.append(state(case, logits, rate=rate))
        logits = found[-1].column(NEXT.name)
    return tuple(found)


STEP = given(f"{TOPIC}.step", "t", "chosen", index="t", counts=True)
KL_AT = quantity("kl_divergence", r"\mathrm{KL}", KL_SOURCE, unit="nat", index="t")
ACCEPTANCE_AT = quantity("acceptance_rate", r"\alpha", "leviathan2022 §3.2", index="t")
NORM_AT = quantity("gradient_norm", r"\|g\|", "derived", index="t")
TRAJECTORY = (STEP, KL_AT, ACCEPTANCE_AT, NORM_AT)


def trajectory(states: Sequence[Table]) -> Table:
    """The totals of every state of a descent, one row per step. Source: derived; each row is `totals` of its state."""
    sums = [totals(s) for s in states]
    rows: dict[str, Sequence[Value | None]] = {
        STEP.name: [Fraction(i) for i in range(len(states))],
        **{name: [s.value(0, name) for s in sums] for name in (KL.name, ACCEPTANCE.name, NORM.name)},
    }
    names = tuple(str(i) for i in range(len(states)))
    return tabulate(f"{TOPIC}.trajectory", TRAJECTORY, names, rows, function=f"{_MODULE}.trajectory")
