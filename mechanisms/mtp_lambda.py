"""The hybrid's weight λ computed per token, per depth or per batch: three public programs, three losses.

Teaches: λ = exp(−η_λ α) of an average is not the average of λ, so "the same loss" differs between programs on one
batch. Positions have two tokens each, so that a row holds all it needs. Leaves out: masks and the weights of depths.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.expression import entropy_term, total
from mechanisms.mtp_boosting import TOPIC, quantity, whole
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

_FUNCTION = "mechanisms.mtp_lambda"
# depth, p(A), q(A): a first depth that is mostly right and a second one that is not
BATCH = tuple((d, Fraction(a), Fraction(b)) for d, a, b in (
    (1, "0.9", "0.85"), (1, "0.6", "0.62"), (1, "0.75", "0.4"),
    (2, "0.9", "0.3"), (2, "0.5", "0.45"), (2, "0.99", "0.2"),
))  # fmt: skip
PER_TOKEN, PER_DEPTH, PER_BATCH, FIXED = "speculators", "modelopt", "specforge", "nemospeech"
DEFAULTS = {PER_TOKEN: Fraction(3), PER_DEPTH: Fraction(3), PER_BATCH: Fraction(1)}
CHOICES = ("defaults", "1", "3", "10")


def _position(name: str, tex: str, source: str, expression: Any = None, **more: Any) -> Quantity:
    return quantity(name, tex, source, expression, **{"index": "i", **more})


DEPTH = _position("depth", "k", "chosen", kind="given", counts=True)
SECOND = _position("is_second", "b", "derived", DEPTH.sym - 1, kind="exact", counts=True)
P_FIRST = _position("first_target", "p_1", "chosen", kind="given")
Q_FIRST = _position("first_draft", "q_1", "chosen", kind="given")
_p, _q, _b = P_FIRST.sym, Q_FIRST.sym, SECOND.sym
P_OTHER = _position("other_target", "p_2", "derived", 1 - _p, kind="exact")
Q_OTHER = _position("other_draft", "q_2", "derived", 1 - _q, kind="exact")
RATE = _position("acceptance_rate", r"\alpha", "leviathan2022 §3.2", 1 - sp.Abs(_p - _q), kind="exact")
KL = _position(
    "kl_divergence", r"\mathrm{KL}", "lk2026 §3–4",
    sp.Add(entropy_term(_p, _q), entropy_term(P_OTHER.sym, Q_OTHER.sym), evaluate=False), unit="nat",
)  # fmt: skip
_a, _kl = RATE.sym, KL.sym
_DECAY = {n: given(f"{TOPIC}.decay_{n}", rf"\eta_{{{i}}}", "chosen", index="") for i, n in enumerate(DEFAULTS, 1)}
DEPTH_RATE = _position(
    "depth_acceptance", r"\bar\alpha_k", "derived",
    _b * total(_b * _a) / total(_b) + (1 - _b) * total((1 - _b) * _a) / total(1 - _b), kind="exact",
)  # fmt: skip
SIZE = given(f"{TOPIC}.positions", "n", "chosen", index="", counts=True)
BATCH_RATE = whole("batch_acceptance", r"\bar\alpha", "derived", total(_a) / SIZE.sym, kind="exact")
_L = {PER_TOKEN: _a, PER_DEPTH: DEPTH_RATE.sym, PER_BATCH: BATCH_RATE.sym}
WEIGHTS = {
    n: _position(f"weight_{n}", rf"\lambda_{{{i}}}", f"{n}2026", sp.exp(-_DECAY[n].sym * _L[n]))
    for i, n in enumerate(DEFAULTS, 1)
}
LOSSES = {
    n: _position(f"loss_{n}", f"L_{{{i}}}", f"{n}2026", w.sym * _kl + (1 - w.sym) * (1 - _a))
    for i, (n, w) in enumerate(WEIGHTS.items(), 1)
}
HALF = _position("loss_nemospeech", "L_{4}", "nemospeech2026", (_kl + 1 - _a) / 2)
COLUMNS = (
    DEPTH, SECOND, P_FIRST, P_OTHER, Q_FIRST, Q_OTHER, RATE, KL, SIZE, DEPTH_RATE, BATCH_RATE, *_DECAY.values(),
    *WEIGHTS.values(), *LOSSES.values(), HALF,
)  # fmt: skip
MEANS = tuple(
    whole(f"mean_{n}", rf"\bar L_{{{i}}}", q.source, total(q.sym) / SIZE.sym)
    for i, (n, q) in enumerate({**LOSSES, FIXED: HALF}.items(), 1)
)


def positions(choice: str = "defaults", batch: Sequence[tuple[int, Fraction, Fraction]] = BATCH) -> Table:
    """One row per position: its acceptance rate and KL, three weights, three losses, and the one with λ = 1/2.

    λ_1 = exp(−η α_i), λ_2 = exp(−η mean of α over the depth), λ_3 = exp(−η mean of α over the batch).
    choice: "defaults" for each program's own decay, else one decay for all. batch: depths 1 and 2, both present.

    >>> table = positions("3")
    >>> [round(float(table.value(0, f"weight_{n}")), 4) for n in ("speculators", "modelopt", "specforge")]
    [0.0578, 0.0758, 0.1262]

    Source: speculators2026, modelopt2026 and specforge2026 for the three ways; the batch is ours.
    """
    if choice not in CHOICES:
        raise ValueError(f"choice={choice!r}: must be one of {CHOICES}")
    if {d for d, _, _ in batch} != {1, 2}:
        raise ValueError("batch: must hold positions of depth 1 and of depth 2")
    n = len(batch)
    rows = {
        DEPTH.name: [Fraction(d) for d, _, _ in batch], P_FIRST.name: [a for _, a, _ in batch],
        Q_FIRST.name: [b for _, _, b in batch], SIZE.name: [Fraction(n)] * n,
        **{_DECAY[k].name: [v if choice == "defaults" else Fraction(choice)] * n for k, v in DEFAULTS.items()},
    }  # fmt: skip
    names = tuple(f"{d}·{i}" for i, (d, _, _) in enumerate(batch, 1))
    return tabulate(f"{TOPIC}.positions", COLUMNS, names, rows, function=f"{_FUNCTION}.positions")


def means(table: Table) -> Table:
    """The mean loss of the batch under each program, in one row. Source: as in `positions`."""
    rows = {SIZE.name: table.column(SIZE.name)[:1]}
    return tabulate(f"{TOPIC}.means", (SIZE, *MEANS), ("",), rows, function=f"{_FUNCTION}.means", over=table)
