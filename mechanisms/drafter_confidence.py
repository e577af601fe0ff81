"""What the confidence head is taught to predict: the acceptance of one draft, given that all before it passed.

Teaches: the label c* = 1 − ½‖q − p‖₁ is the acceptance rate of this place after this prefix; it depends on the token
before, never on the token itself. Leaves out: the head's own network, and how labels are weighted in training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import sympy as sp

from mechanisms.drafter_toy import TARGET, VOCABULARY, corrected, known, marginal
from mechanisms.dspark_drafter import TOPIC
from mechanisms.expression import total
from mechanisms.quantity import Quantity, as_fraction, given
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.drafter_confidence"
PLACE = 2  # the first place whose label depends on a drafted token

TARGET_LAW = given(f"{TOPIC}.target_probability", "p", "chosen")
DRAFT_LAW = Quantity(f"{TOPIC}.draft_probability", "q", "dspark2026 §3.1")
KEPT = Quantity(f"{TOPIC}.kept_mass", "d", "leviathan2022 §A.1", sp.Min(TARGET_LAW.sym, DRAFT_LAW.sym))
GAP = Quantity(f"{TOPIC}.law_gap", r"\delta", "dspark2026 Eq. 8", sp.Abs(DRAFT_LAW.sym - TARGET_LAW.sym))
LABELS = (TARGET_LAW, DRAFT_LAW, KEPT, GAP)

LABEL = Quantity(f"{TOPIC}.label", r"c^*", "dspark2026 Eq. 8", 1 - total(GAP.sym) / 2, index="")
RATE = Quantity(f"{TOPIC}.acceptance_rate", r"\alpha", "leviathan2022 §3.2", total(KEPT.sym), index="")
BOTH = (LABEL, RATE)

ARRIVES = Quantity(f"{TOPIC}.arrives", "s", "derived", index="x")  # first token drafted and accepted
PLAIN = Quantity(f"{TOPIC}.label_parallel", r"c^*_{\parallel}", "dspark2026 Eq. 8", index="x")
GUIDED = Quantity(f"{TOPIC}.label_headed", r"c^*_{\lambda}", "dspark2026 Eq. 8", index="x")
CONTEXTS = (ARRIVES, PLAIN, GUIDED)
MEAN_PLAIN = Quantity(
    f"{TOPIC}.mean_parallel", r"\bar c_{\parallel}", "derived", total(ARRIVES.sym * PLAIN.sym) / total(ARRIVES.sym),
    index="",
)  # fmt: skip
MEAN_GUIDED = Quantity(
    f"{TOPIC}.mean_headed", r"\bar c_{\lambda}", "derived", total(ARRIVES.sym * GUIDED.sym) / total(ARRIVES.sym),
    index="",
)  # fmt: skip
MEANS = (MEAN_PLAIN, MEAN_GUIDED)


def label_table(anchor: str, previous: str, strength: Fraction) -> Table:
    """Target and draft at the second place after one particular first token, token by token.

    d = min(p, q), δ = |q − p|. previous: the first token; strength: λ, a multiple of 1/4.

    >>> str(label_table("to", "New", Fraction(0)).value(2, "kept_mass"))
    '5401/10000'

    Source: dspark2026, Eq. 8; leviathan2022, §A.1.
    """
    rows: Mapping[str, Sequence[Cell]] = {
        TARGET_LAW.name: TARGET[known(previous)], DRAFT_LAW.name: corrected(anchor, PLACE, previous, strength),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.labels", LABELS, VOCABULARY, rows, function=f"{_MODULE}.label_table")


def label(rows: Table) -> Table:
    """The label both ways: c* = 1 − ½ Σ|q − p| and α = Σ min(p, q).

    >>> found = label(label_table("to", "New", Fraction(0)))
    >>> found.value(0, "label") == found.value(0, "acceptance_rate") == Fraction(6001, 10000)
    True

    Source: dspark2026, Eq. 8; leviathan2022, §3.2.
    """
    return tabulate(f"{TOPIC}.label_value", BOTH, ("",), {}, function=f"{_MODULE}.label", over=rows)


def _label(anchor: str, previous: str, strength: Fraction) -> Fraction:
    return as_fraction(label(label_table(anchor, previous, strength)).value(0, LABEL.name) or Fraction(0))


def context_table(anchor: str, strength: Fraction) -> Table:
    """For each first token: how often it is drafted and kept, and the label of the second place after it.

    >>> [str(x) for x in context_table("to", Fraction(1)).column("arrives")[:2]]
    ['57/100', '19/50']

    Source: dspark2026, Eq. 8.
    """
    first = marginal(anchor, 1)
    kept = [min(p, q) for p, q in zip(TARGET[anchor], first, strict=True)]
    rows: Mapping[str, Sequence[Cell]] = {
        ARRIVES.name: kept,
        PLAIN.name: [_label(anchor, x, Fraction(0)) for x in VOCABULARY],
        GUIDED.name: [_label(anchor, x, strength) for x in VOCABULARY],
    }
    return tabulate(f"{TOPIC}.contexts", CONTEXTS, VOCABULARY, rows, function=f"{_MODULE}.context_table")


def means(contexts: Table) -> Table:
    """Conditional acceptance of the second place, averaged over the first tokens that survive: Σ s c* / Σ s.

    >>> round(float(means(context_table("New", Fraction(1))).value(0, "mean_headed")), 4)
    0.7617

    Source: derived.
    """
    return tabulate(f"{TOPIC}.means", MEANS, ("",), {}, function=f"{_MODULE}.means", over=contexts)
