"""From conditional acceptance to what a round yields: the survival chain.

Teaches: that the chain rule alone gives the chance of each prefix, that the expected output is the sum of these
chances, and why one average rate must not stand for all of them. Rows are counted from 0: row 0 is the token that the
target adds in any case, so its chance is 1. Leaves out: where c comes from, what a position costs (`dspark_cost`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import sympy as sp

from mechanisms.dspark_nodes import power_sum
from mechanisms.expression import share, total
from mechanisms.quantity import Quantity, as_fraction, given, signed
from mechanisms.table import Table, tabulate

TOPIC = "dspark"
MODULE = f"mechanisms.{TOPIC}"
PAPER = "dspark2026 Algorithm 1"
MOST_POSITIONS = 16
Chain = tuple[Fraction | None, ...]  # c_1 … c_K; None where no prefix gets that far, so that c has no meaning


def quantity(name: str, tex: str, expression: sp.Basic | None = None, source: str = "derived", **more: Any) -> Quantity:
    """A quantity of this chapter."""
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, **more)


CONDITIONAL = given(f"{TOPIC}.conditional_acceptance", "c", "chosen", index="j")
SO_FAR = quantity("survival_so_far", r"S^{\leftarrow}", index="j")
SURVIVAL = quantity("prefix_survival", "S", share(SO_FAR.sym, CONDITIONAL.sym), PAPER, index="j")
TOKENS_SO_FAR = quantity("tokens_so_far", r"\tau^{\leftarrow}", unit="token", index="j")
TOKENS = quantity("expected_tokens", r"\tau", TOKENS_SO_FAR.sym + SURVIVAL.sym, PAPER, unit="token", index="j")
CHAIN = (CONDITIONAL, SO_FAR, SURVIVAL, TOKENS_SO_FAR, TOKENS)

LENGTH = given(f"{TOPIC}.draft_length", "K", "chosen", unit="token", index="", counts=True)
ALL_TOKENS = quantity("tokens_per_round", r"\tau", total(SURVIVAL.sym), PAPER, unit="token", index="")
ACCEPTED = quantity("accepted_tokens", r"\mathrm{E}[L]", total(SURVIVAL.sym) - 1, unit="token", index="")
MEAN = quantity(
    "mean_conditional", r"\bar c", (total(CONDITIONAL.sym) - 1) / LENGTH.sym, index="", defined=LENGTH.sym > 0
)
PER_DRAFT = quantity(
    "accepted_per_proposed", r"\hat\alpha", ACCEPTED.sym / LENGTH.sym, index="", defined=LENGTH.sym > 0
)
SUMMARY = (LENGTH, ALL_TOKENS, ACCEPTED, MEAN, PER_DRAFT)

RATE = quantity("rate_used", "a", index="")
TRUE = quantity("true_tokens", r"\tau", unit="token", index="")
CONSTANT = quantity(
    "tokens_if_constant", r"\tau_a", power_sum(RATE.sym, LENGTH.sym), "leviathan2022 Eq. 1", unit="token", index=""
)
OFF = quantity("token_error", r"\tau_a-\tau", signed(CONSTANT) - signed(TRUE), unit="token", index="")
RELATIVE = quantity("relative_error", r"\varepsilon", signed(OFF) / TRUE.sym, index="")
SUBSTITUTION = (RATE, LENGTH, CONSTANT, TRUE, OFF, RELATIVE)
RULES = ("mean", "per_draft", "first")

COUNT = given(f"{TOPIC}.accepted_count", "L", "chosen", unit="token", index="", counts=True)
REACHED = quantity("reached", "S", index="L")
NEXT = quantity("next_reached", r"S^{\rightarrow}", index="L")
ENDS = quantity("ends_here", r"\Pr", REACHED.sym - NEXT.sym, "leviathan2022 §3.1", index="L")
EMITTED = quantity("tokens_emitted", "N", COUNT.sym + 1, unit="token", index="L", counts=True)
LAW = (COUNT, REACHED, NEXT, ENDS, EMITTED)

CAP = given(f"{TOPIC}.output_cap", "m", "chosen", unit="token", index="", counts=True)
ADDED = quantity("chance_of_last", r"S_{m-1}", index="")
CAPPED_SO_FAR = quantity("capped_so_far", r"\mathrm{E}^{\leftarrow}", unit="token", index="")
CAPPED = quantity("capped_tokens", r"\mathrm{E}[\min(N,m)]", CAPPED_SO_FAR.sym + ADDED.sym, unit="token", index="")
CAPS = (CAP, ADDED, CAPPED_SO_FAR, CAPPED)


def check_chain(chain: Sequence[Fraction | None]) -> None:
    """Raise ValueError unless every c lies in [0, 1], None stands only behind a zero, and there are at most 16."""
    alive = True
    if len(chain) > MOST_POSITIONS:
        raise ValueError(f"chain has {len(chain)} positions: at most {MOST_POSITIONS}")
    for j, c in enumerate(chain, 1):
        if c is None and alive:
            raise ValueError(f"chain: c at position {j} is undefined, but that position is reached")
        if c is not None and not 0 <= c <= 1:
            raise ValueError(f"chain: c={c} at position {j} must lie in [0, 1]")
        alive = alive and c != 0


def survivals(chain: Sequence[Fraction | None]) -> tuple[Fraction, ...]:
    """S_0 = 1, S_j = c_j S_{j−1}; 0 from the first zero on. Source: dspark2026, Algorithm 1.

    >>> [str(s) for s in survivals((Fraction(9, 10), Fraction(0), None))]
    ['1', '9/10', '0', '0']
    """
    check_chain(chain)
    return tuple(accumulate(chain, lambda s, c: s * c if s and c is not None else Fraction(0), initial=Fraction(1)))


def survival_table(chain: Sequence[Fraction | None]) -> Table:
    """Rows 0 … K: S_j = S_{j−1} c_j and the expected tokens of a round that verifies j drafts.

    >>> t = survival_table([Fraction(c) for c in ("0.9", "0.8", "0.6", "0.4")])
    >>> str(t.value(4, "expected_tokens"))
    '4031/1250'

    Source: dspark2026, Algorithm 1; the chain rule needs no independence of the positions.
    """
    found = survivals(chain)
    sums = tuple(accumulate(found))
    columns = {
        CONDITIONAL.name: (Fraction(1), *chain), SO_FAR.name: (Fraction(1), *found[:-1]),
        TOKENS_SO_FAR.name: (Fraction(0), *sums[:-1]),
    }  # fmt: skip
    rows = [str(j) for j in range(len(found))]
    return tabulate(f"{TOPIC}.survival", CHAIN, rows, columns, function=f"{MODULE}.survival_table")


def summary_table(chain: Sequence[Fraction | None], name: str = "") -> Table:
    """τ = Σ S_j, E[L] = τ − 1, and the two averages that are often quoted instead. Source: dspark2026, Algorithm 1."""
    row = {LENGTH.name: (Fraction(len(chain)),)}
    over = survival_table(chain)
    return tabulate(f"{TOPIC}.summary", SUMMARY, (name,), row, function=f"{MODULE}.summary_table", over=over)


def substitution_table(chain: Sequence[Fraction | None]) -> Table:
    """What the round would yield if one rate a stood at every position: Σ_{i≤K} a^i against τ.

    Rows: the mean of c, accepted over drafted, c_1 everywhere. Source: leviathan2022, Eq. 1 for the constant rate.
    """
    whole, n = summary_table(chain), len(RULES)
    rates = (whole.value(0, MEAN.name), whole.value(0, PER_DRAFT.name), chain[0] if chain else None)
    columns = {
        RATE.name: rates, LENGTH.name: (Fraction(len(chain)),) * n,
        TRUE.name: (as_fraction(whole.value(0, ALL_TOKENS.name) or Fraction(0)),) * n,
    }  # fmt: skip
    return tabulate(f"{TOPIC}.substitution", SUBSTITUTION, RULES, columns, function=f"{MODULE}.substitution_table")


def law_table(chain: Sequence[Fraction | None]) -> Table:
    """How many drafts are accepted: P(L) = S_L − S_{L+1}, and S_K for all of them. Source: leviathan2022, §3.1.

    >>> [str(x) for x in law_table([Fraction(1, 2), Fraction(1, 2)]).column("ends_here")]
    ['1/2', '1/4', '1/4']
    """
    found = survivals(chain)
    columns = {
        COUNT.name: tuple(Fraction(i) for i in range(len(found))), REACHED.name: found,
        NEXT.name: (*found[1:], Fraction(0)),
    }  # fmt: skip
    rows = [str(i) for i in range(len(found))]
    return tabulate(f"{TOPIC}.rejection_law", LAW, rows, columns, function=f"{MODULE}.law_table")


def cap_table(chain: Sequence[Fraction | None], beyond: int = 2) -> Table:
    """E[min(N, m)] for m = 0 … K + beyond: only m tokens are left to write, and no token ends the text early.

    E[min(N, m)] = Σ_{j<m} S_j: the m-th token comes with chance S_{m−1}, and never once m > K + 1. Source: derived.
    """
    found = survivals(chain)
    added = (Fraction(0), *found, *[Fraction(0)] * (beyond - 1))
    columns = {
        CAP.name: tuple(Fraction(m) for m in range(len(added))), ADDED.name: added,
        CAPPED_SO_FAR.name: (Fraction(0), *tuple(accumulate(added))[:-1]),
    }  # fmt: skip
    rows = [str(m) for m in range(len(added))]
    return tabulate(f"{TOPIC}.cap", CAPS, rows, columns, function=f"{MODULE}.cap_table")
