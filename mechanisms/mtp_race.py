"""Gradient descent under each loss from the same logits: how the acceptance rate grows step by step.

Teaches: a loss is judged by what it does to α, not by its own value, and its own minimum may be reached slowly. Steps
are computed in double precision from the closed forms of `mtp_losses`. Leaves out: optimisers other than plain descent.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechanisms.expression import REAL
from mechanisms.mtp_boosting import STEP, TOPIC, quantity
from mechanisms.mtp_cases import Case
from mechanisms.mtp_losses import LOSSES, Floats, bare_gradient
from mechanisms.table import Cell, Table, tabulate

LENGTH = 40
UNDER = {
    loss: quantity(f"acceptance_under_{loss}", rf"\alpha_{{\mathrm{{{tex}}}}}", "derived", index="t")
    for loss, tex in zip(LOSSES, ("KL", "TV", "log", "hyb"), strict=True)
}


def paths(loss: str, case: Case, rates: Sequence[Fraction], *, steps: int = LENGTH) -> Floats:
    """Acceptance rate at each step for each step size: (rates, steps + 1). Source: derived."""
    target = np.array([float(x) for x in case.p])
    logits = np.tile(np.array([float(x) for x in case.z]), (len(rates), 1))
    size = np.array([[float(r)] for r in rates])
    found: list[Floats] = []
    for _ in range(steps + 1):
        scores = np.exp(logits - logits.max(axis=-1, keepdims=True))
        found.append(np.minimum(target, scores / scores.sum(axis=-1, keepdims=True)).sum(axis=-1))
        logits = logits - size * bare_gradient(loss, target, logits)
    return np.stack(found, axis=-1)


def race(case: Case, rates: Sequence[Fraction], *, steps: int = LENGTH) -> tuple[Table, ...]:
    """One table per step size, one row per step: α after that many steps under KL, TV, −ln α and the hybrid (η_λ = 3).

    >>> from mechanisms.mtp_cases import CASES
    >>> (table,) = race(CASES["seed"], [Fraction(1, 5)])
    >>> round(float(table.value(1, "acceptance_under_kl")), 6)
    0.796336

    Source: derived; z ← z − η g with the gradients of lk2026.
    """
    every = {loss: paths(loss, case, rates, steps=steps) for loss in LOSSES}
    names = tuple(str(t) for t in range(steps + 1))
    tables: list[Table] = []
    for i in range(len(rates)):
        rows: dict[str, Sequence[Cell]] = {STEP.name: [Fraction(t) for t in range(steps + 1)]}
        rows |= {UNDER[loss].name: [REAL.mpf(float(x)) for x in every[loss][i]] for loss in LOSSES}
        columns = (STEP, *UNDER.values())
        tables.append(tabulate(f"{TOPIC}.race", columns, names, rows, function="mechanisms.mtp_race.race"))
    return tuple(tables)
