"""Two drafts of one teacher: which of them each loss prefers, and where the hybrid changes its mind.

Teaches: a lower KL may come with a lower acceptance rate, and the hybrid's weight decides which of the two it follows.
Leaves out: how a draft gets there; these are fixed distributions, not a training run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy as sp

from mechanisms.expression import REAL, Real, entropy_term, real, total
from mechanisms.mtp_boosting import ACCEPTANCE, DRAFT, KL, PINSKER, TARGET, TOPIC, TV, p, q, quantity, whole
from mechanisms.mtp_cases import Drafts
from mechanisms.mtp_losses import DECAY, HYBRID, NLA, WEIGHT
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.mtp_pair"
DECAYS = tuple(Fraction(k, 2) for k in range(21))
LOSS_ROWS = ("kl", "reverse", "tv", "nla", "hybrid")
FARTHEST, SCAN = 40, 160  # decays up to 40 are searched for a change of mind, in steps of a quarter

GIVEN_DRAFT = given(f"{TOPIC}.draft_probability", "q", "chosen")
SHARED = Quantity(f"{TOPIC}.shared_mass", "d", "leviathan2022 §A.1", sp.Min(p, q))
TERM = quantity("kl_term", "k", "derived", entropy_term(p, q), unit="nat")
MASSES = (TARGET, GIVEN_DRAFT, SHARED, TERM)
EXACT_ACCEPTANCE = Quantity(ACCEPTANCE.id, ACCEPTANCE.symbol, ACCEPTANCE.source, total(sp.Min(p, q)), index="")
EXACT_TV = Quantity(TV.id, TV.symbol, TV.source, total(sp.Abs(p - q)) / 2, index="")
REVERSE = whole("reverse_kl", r"\mathrm{KL}'", "derived", total(entropy_term(q, p)), unit="nat")
DRAFT_TOTALS = (KL, EXACT_ACCEPTANCE, EXACT_TV, PINSKER, REVERSE, NLA, DECAY, WEIGHT, HYBRID)
TOTAL_OF = {"kl": KL.name, "reverse": REVERSE.name, "tv": TV.name, "nla": NLA.name, "hybrid": HYBRID.name}

LOSS_A = quantity("loss_a", r"L_{\mathrm{A}}", "derived", index="L")
LOSS_B = quantity("loss_b", r"L_{\mathrm{B}}", "derived", index="L")
LEAD = quantity("lead", r"\Delta", "derived", LOSS_A.sym - LOSS_B.sym, index="L")
PREFERENCES = (LOSS_A, LOSS_B, LEAD)


def masses(drafts: Drafts, which: str) -> Table:
    """One row per token of draft "a" or "b": teacher, draft, what they share, its term of KL. Source: derived."""
    law = {"a": drafts.a, "b": drafts.b}[which]
    rows = {TARGET.name: drafts.p, DRAFT.name: law}
    return tabulate(f"{TOPIC}.masses_{which}", MASSES, drafts.tokens, rows, function=f"{_MODULE}.masses")


def draft_totals(table: Table, *, decay: Fraction, name: str = "") -> Table:
    """Every loss of one draft: KL both ways, TV with its bound, −ln α and the hybrid.

    >>> from mechanisms.mtp_cases import SEED_DRAFTS
    >>> done = draft_totals(masses(SEED_DRAFTS, "a"), decay=Fraction(3))
    >>> done.value(0, "acceptance_rate"), round(float(done.value(0, "hybrid_loss")), 4)
    (Fraction(891, 1000), 0.1289)

    Source: lk2026, §3–4; leviathan2022, §3.2.
    """
    rows = {DECAY.name: (decay,)}
    return tabulate(
        f"{TOPIC}.draft", DRAFT_TOTALS, (name,), rows, function=f"{_MODULE}.draft_totals", over=table
    )  # fmt: skip


def preferences(a: Table, b: Table, names: Sequence[str] = LOSS_ROWS) -> Table:
    """Each loss of both drafts and their difference: negative means that A is preferred. Source: derived."""
    rows = {
        LOSS_A.name: [_real(a.value(0, TOTAL_OF[r])) for r in LOSS_ROWS],
        LOSS_B.name: [_real(b.value(0, TOTAL_OF[r])) for r in LOSS_ROWS],
    }
    return tabulate(f"{TOPIC}.preferences", PREFERENCES, tuple(names), rows, function=f"{_MODULE}.preferences")


def _real(cell: Cell) -> Any:
    return real(cell) if isinstance(cell, Fraction) else cell


def preferred(table: Table, row: int) -> str:
    """Which draft this loss prefers: "a", "b" or "tie". Source: derived."""
    lead: Any = table.value(row, LEAD.name)
    return "tie" if lead == 0 else "a" if lead < 0 else "b"


def _draft_columns(letter: str) -> tuple[Quantity, ...]:
    """Acceptance, KL, λ and hybrid loss of one draft, indexed by its letter."""
    up, low = letter.upper(), letter
    alpha = quantity(f"acceptance_{low}", rf"\alpha_{{\mathrm{{{up}}}}}", "leviathan2022 §3.2", index="", kind="exact")
    kl = quantity(f"kl_{low}", rf"\mathrm{{KL}}_{{\mathrm{{{up}}}}}", "derived", index="", unit="nat")
    weight = quantity(f"weight_{low}", rf"\lambda_{{\mathrm{{{up}}}}}", "lk2026 §3–4", sp.exp(-DECAY.sym * alpha.sym),
                      index="")  # fmt: skip
    loss = quantity(
        f"hybrid_{low}", rf"L_{{\lambda,\mathrm{{{up}}}}}", "lk2026 §3–4",
        weight.sym * kl.sym + (1 - weight.sym) * (1 - alpha.sym), index="",
    )  # fmt: skip
    return alpha, kl, weight, loss


_A, _B = _draft_columns("a"), _draft_columns("b")
GAP = quantity("hybrid_gap", r"\Delta", "derived", _A[3].sym - _B[3].sym, index="")
CURVE = (DECAY, *_A, *_B, GAP)


def curve(drafts: Drafts, decays: Sequence[Fraction | Real] = DECAYS, *, found: bool = False) -> Table:
    """The hybrid loss of both drafts for each decay, one row each; `found`: decays are solutions.

    Source: lk2026, §3–4.
    """
    n = len(decays)
    rows: dict[str, Sequence[Cell]] = {DECAY.name: list(decays)}
    for letter, columns in (("a", _A), ("b", _B)):
        done = draft_totals(masses(drafts, letter), decay=Fraction(1))
        rows[columns[0].name] = [done.value(0, ACCEPTANCE.name)] * n
        rows[columns[1].name] = [done.value(0, KL.name)] * n
    names = tuple(f"{float(x):.4g}" for x in decays)
    columns = (replace(DECAY, kind="float", source="derived"), *CURVE[1:]) if found else CURVE
    return tabulate(f"{TOPIC}.curve", columns, names, rows, function=f"{_MODULE}.curve")


def flip(drafts: Drafts) -> Table | None:
    """The smallest decay at which the hybrid values both drafts alike, as a row of `curve`; None where there is none.

    Found by halving an interval in fifty digits, for decays up to 40.

    >>> from mechanisms.mtp_cases import SEED_DRAFTS
    >>> round(float(flip(SEED_DRAFTS).value(0, "decay")), 4)
    1.7017

    Source: derived.
    """
    scan = [Fraction(FARTHEST * k, SCAN) for k in range(SCAN + 1)]
    gaps = curve(drafts, scan).column(GAP.name)
    for i, (left, right) in enumerate(pairwise(gaps)):
        if left is None or right is None or (left == 0 and right == 0):
            continue
        if left * right <= 0:
            return curve(drafts, [_root(drafts, real(scan[i]), real(scan[i + 1]))], found=True)
    return None


def _root(drafts: Drafts, low: Real, high: Real) -> Real:
    row = curve(drafts, [low])
    a, ka, b, kb = (_real(row.value(0, q.name)) for q in (_A[0], _A[1], _B[0], _B[1]))

    def gap(decay: Real) -> Real:
        first, second = REAL.exp(-decay * a), REAL.exp(-decay * b)
        return first * ka + (1 - first) * (1 - a) - second * kb - (1 - second) * (1 - b)

    start = gap(low)
    for _ in range(180):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(middle) * start > 0 else (low, middle)
    return high
