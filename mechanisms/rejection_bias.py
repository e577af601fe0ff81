"""A greedy draft scored as if it had been sampled: what one published listing counts, and what it emits.

Teaches: three numbers that are all called acceptance and differ. Leaves out: the listing's other defects.
"""

from __future__ import annotations

import sympy as sp

from mechanisms.distribution import Pair
from mechanisms.quantity import Quantity, given
from mechanisms.rejection_ledger import TOPIC, summary
from mechanisms.rejection_rules import output_law, rule, verdict
from mechanisms.table import Table, tabulate

STAR_TARGET = given(f"{TOPIC}.star_target", "p^*", "chosen", index="")
STAR_DRAFT = given(f"{TOPIC}.star_draft", "q^*", "chosen", index="")
COUNTED = Quantity(
    f"{TOPIC}.counted_by_listing", "a^*", "derived", sp.Min(1, STAR_TARGET.sym / STAR_DRAFT.sym), index=""
)
SAMPLED = given(f"{TOPIC}.acceptance_rate", r"\alpha", "leviathan2022 §3.2", index="")
POINT_MASS = Quantity(f"{TOPIC}.point_mass_acceptance", r"\alpha^*", "derived", STAR_TARGET.sym, index="")
EMITTED = given(f"{TOPIC}.star_emitted", "P^*", "derived", index="")
DISTANCE = given(f"{TOPIC}.distance", r"\mathrm{TV}", "derived", index="")
COLUMNS = (STAR_TARGET, STAR_DRAFT, COUNTED, SAMPLED, POINT_MASS, EMITTED, DISTANCE)


def greedy_bias(pair: Pair, name: str = "") -> Table:
    """One row: p* and q* of the draft's favourite token, the acceptance that the listing counts, min(1, p*/q*), the
    acceptance of an honestly sampled draft, Σ min(p, q), that of the point mass it is, p*, and what comes out.

    Raises ValueError where the favourite is a class of equal tokens: then it is not one token.
    Source: the listing of the draft-precision article; the arithmetic is ours.
    """
    star = pair.favourite("q")
    if pair.multiplicity[star] != 1:
        raise ValueError(f"{pair.tokens[star]!r} stands for {pair.multiplicity[star]} tokens: no single favourite")
    law = output_law(pair, rule("argmax_draft"))
    rows = {
        STAR_TARGET.name: (pair.p[star],),
        STAR_DRAFT.name: (pair.q[star],),
        SAMPLED.name: (summary(pair).value(0, "acceptance_rate"),),
        EMITTED.name: (law.value(star, "output_law"),),
        DISTANCE.name: (verdict(law).value(0, "distance"),),
    }
    return tabulate(f"{TOPIC}.greedy_bias", COLUMNS, (name,), rows, function="mechanisms.rejection_bias.greedy_bias")
