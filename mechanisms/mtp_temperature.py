"""Forward KL at a temperature: teacher and draft are flattened before they are compared, and T² makes up for it.

Teaches: the gradient is T (q_T − p_T); without the factor T² it would be (q_T − p_T)/T and fade as T grows.
Leaves out: positions, masks and depths of the full training loss.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.expression import entropy_term, total
from mechanisms.mtp_boosting import LOGIT, RATE, SEED_RATE, TARGET, TOPIC, eta, p, quantity, whole, z
from mechanisms.mtp_cases import Case
from mechanisms.mtp_nodes import tempered
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Table, tabulate

TEMPERATURES = tuple(Fraction(x) for x in ("1", "1.5", "2", "3", "4", "8", "16"))
_SOURCE, _FUNCTION = "nemotron3ultra §3.4", "mechanisms.mtp_temperature"

HEAT = given(f"{TOPIC}.temperature", "T", "chosen", index="")
_t = HEAT.sym
SOFT_TARGET = quantity("soft_target", "p_T", _SOURCE, tempered(p, _t) / total(tempered(p, _t)))
SOFT_DRAFT = quantity("soft_draft", "q_T", _SOURCE, sp.exp(z / _t) / total(sp.exp(z / _t)))
_difference = SOFT_DRAFT.sym - SOFT_TARGET.sym
SOFT_GRADIENT = quantity("soft_gradient", "g_T", "derived", _t * _difference)
BARE_GRADIENT = quantity("bare_gradient", r"\tilde g_T", "derived", _difference / _t)
SOFT_NEXT = quantity("soft_next", "z'", "derived", z - eta * signed(SOFT_GRADIENT))
_next = sp.exp(signed(SOFT_NEXT))
SOFT_AFTER = quantity("draft_after", "q'", "derived", _next / total(_next))
COLUMNS: tuple[Quantity, ...] = (
    TARGET, LOGIT, HEAT, SOFT_TARGET, SOFT_DRAFT, SOFT_GRADIENT, BARE_GRADIENT, RATE, SOFT_NEXT, SOFT_AFTER,
)  # fmt: skip
SOFT_LOSS = whole("soft_loss", "L_T", _SOURCE, _t**2 * total(entropy_term(SOFT_TARGET.sym, SOFT_DRAFT.sym)), unit="nat")
SOFT_LENGTH = whole("soft_length", r"\|g_T\|", "derived",
                    sp.sqrt(total(signed(SOFT_GRADIENT) ** 2), evaluate=False))  # fmt: skip
BARE_LENGTH = whole("bare_length", r"\|\tilde g_T\|", "derived",
                    sp.sqrt(total(signed(BARE_GRADIENT) ** 2), evaluate=False))  # fmt: skip
AFTER_RATE = whole("acceptance_after", r"\alpha'", "leviathan2022 §3.2", total(sp.Min(p, SOFT_AFTER.sym)))
TOTALS = (HEAT, SOFT_LOSS, SOFT_LENGTH, BARE_LENGTH, AFTER_RATE)


def softened(case: Case, *, temperature: Fraction, rate: Fraction = SEED_RATE) -> Table:
    """One row per token: both laws at this temperature, the gradient with and without T², and one step.

    p_T ∝ p^(1/T), q_T = softmax(z/T), g_T = T (q_T − p_T), z' = z − η g_T. temperature, rate > 0.

    >>> from mechanisms.mtp_cases import CASES
    >>> [round(float(softened(CASES["seed"], temperature=Fraction(t)).value(0, "draft_after")), 6) for t in (1, 2, 4)]
    [0.596336, 0.599502, 0.600434]

    Source: nemotron3ultra, §3.4 for the loss; its gradient derived.
    """
    if temperature <= 0 or rate <= 0:
        raise ValueError(f"temperature={temperature}, rate={rate}: both must be positive")
    n = len(case.p)
    rows = {TARGET.name: case.p, LOGIT.name: case.z, HEAT.name: (temperature,) * n, RATE.name: (rate,) * n}
    return tabulate(f"{TOPIC}.softened", COLUMNS, case.tokens, rows, function=f"{_FUNCTION}.softened")


def soft_totals(table: Table) -> Table:
    """Loss, both lengths, and the acceptance rate after one step, in one row. Source: as in `softened`."""
    rows = {HEAT.name: table.column(HEAT.name)[:1]}
    return tabulate(f"{TOPIC}.soft_totals", TOTALS, ("",), rows, function=f"{_FUNCTION}.soft_totals", over=table)
