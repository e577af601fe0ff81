"""Two steps of text: a head that guesses the second token alone against a draft that knows the first.

Teaches: a head that does not see the first token learns the marginal law of the second, whose overlap with the
conditional laws shrinks as the tokens depend on each other. Leaves out: how heads are trained, longer texts. The
marginal law need not be the best law to offer: with unequal first tokens another one may overlap more.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.expression import total
from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import TOPIC, check
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.economics_markov"
COUPLINGS = tuple(Fraction(i, 20) for i in range(21))
FIRST = ("of", "no")
SECOND = ("course", "problem")
FIRST_LAW = (Fraction(1, 2), Fraction(1, 2))


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


START = given(_id("first_probability"), r"\pi", "chosen", index="x")
COUPLING = given(_id("coupling"), r"\kappa", "chosen", index="")
COURSE = Quantity(_id("conditional_one"), "P_1", "derived", index="x")
PROBLEM = Quantity(_id("conditional_two"), "P_2", "derived", 1 - COURSE.sym, index="x")
MARGINAL_1 = Quantity(_id("marginal_one"), "m_1", "derived", total(START.sym * COURSE.sym), index="")
MARGINAL_2 = Quantity(_id("marginal_two"), "m_2", "derived", total(START.sym * PROBLEM.sym), index="")
HEADS = Quantity(
    _id("overlap_marginal"), "h", "derived", sp.Min(COURSE.sym, MARGINAL_1.sym) + sp.Min(PROBLEM.sym, MARGINAL_2.sym),
    index="x",
)  # fmt: skip
KNOWS = Quantity(
    _id("overlap_conditional"), "k", "derived", sp.Min(COURSE.sym, COURSE.sym) + sp.Min(PROBLEM.sym, PROBLEM.sym),
    index="x",
)  # fmt: skip
ROWS = (START, COUPLING, COURSE, PROBLEM, MARGINAL_1, MARGINAL_2, HEADS, KNOWS)
RATE_HEADS = Quantity(_id("second_rate_marginal"), r"\alpha_h", "derived", total(START.sym * HEADS.sym), index="")
TOKENS_HEADS = Quantity(_id("tokens_marginal"), r"\tau_h", "derived", 2 + RATE_HEADS.sym, unit="token", index="")
RATE_KNOWS = Quantity(_id("second_rate_conditional"), r"\alpha_k", "derived", total(START.sym * KNOWS.sym), index="")
TOKENS_KNOWS = Quantity(_id("tokens_conditional"), r"\tau_k", "derived", 2 + RATE_KNOWS.sym, unit="token", index="")
TOTALS = (RATE_HEADS, TOKENS_HEADS, RATE_KNOWS, TOKENS_KNOWS)


def two_steps(coupling: Fraction, first: Fraction = FIRST_LAW[0]) -> Table:
    """For each first token, the second token's law and its overlap with what either draft offers.

    P(course | of) = ½ + κ/2, P(course | no) = ½ − κ/2; an independent head offers m = Σ π P, the other draft P itself.
    coupling: κ in [0, 1]; first: probability of "of", in [0, 1].

    >>> str(two_steps(Fraction(1)).value(0, "overlap_marginal"))
    '1/2'

    Source: derived.
    """
    check("coupling", coupling, 0, 1)
    check("first", first, 0, 1)
    half = coupling / 2
    values = {
        START.name: (first, 1 - first), COUPLING.name: (coupling, coupling),
        COURSE.name: (Fraction(1, 2) + half, Fraction(1, 2) - half),
    }  # fmt: skip
    return tabulate(_id("two_steps"), ROWS, FIRST, values, function=f"{_MODULE}.two_steps")


def two_step_totals(table: Table) -> Table:
    """Acceptance of the second draft and tokens per round; the first draft is the target's own law, so it passes.

    >>> two_step_totals(two_steps(Fraction(1))).value(0, "tokens_marginal")
    Fraction(5, 2)

    Source: derived.
    """
    return tabulate(
        _id("two_step_totals"), TOTALS, ("",), {}, function=f"{_MODULE}.two_step_totals", over=table
    )  # fmt: skip
