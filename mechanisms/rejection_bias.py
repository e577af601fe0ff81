"""A greedy draft scored as if it had been sampled: what one published listing counts, and what it emits.

Teaches: three numbers that are all called acceptance and differ. Leaves out: the listing's other defects.
"""

from __future__ import annotations

import sympy as sp

from mechanisms.distribution import Pair
from mechanisms.expression import total
from mechanisms.quantity import Quantity
from mechanisms.rejection_ledger import TOPIC, p, q
from mechanisms.rejection_rules import FAVOURITE, LAW, output_law, rule
from mechanisms.table import Table, tabulate

_f = FAVOURITE.sym


def _quantity(name: str, tex: str, expression: sp.Basic, source: str = "derived") -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, index="")


STAR_TARGET = _quantity("star_target", "p^*", total(_f * p))
STAR_DRAFT = _quantity("star_draft", "q^*", total(_f * q))
COUNTED = _quantity("counted_by_listing", "a^*", sp.Min(1, STAR_TARGET.sym / STAR_DRAFT.sym))
SAMPLED = _quantity("acceptance_rate", r"\alpha", total(sp.Min(p, q)), "leviathan2022 §3.2")
POINT_MASS = _quantity("point_mass_acceptance", r"\alpha^*", STAR_TARGET.sym)
EMITTED = _quantity("star_emitted", "P^*", total(_f * LAW.sym))
DISTANCE = _quantity("distance", r"\mathrm{TV}", total(sp.Abs(LAW.sym - p)) / 2)
COLUMNS = (STAR_TARGET, STAR_DRAFT, COUNTED, SAMPLED, POINT_MASS, EMITTED, DISTANCE)


def greedy_law(pair: Pair) -> Table:
    """The law of the greedy draft scored with q, over which `greedy_bias` sums. Source: as `output_law`.

    Raises ValueError where the favourite is a class of equal tokens: then it is not one token.
    """
    return output_law(pair, rule("argmax_draft"))


def greedy_bias(pair: Pair, name: str = "") -> Table:
    """One row: p* and q* of the draft's favourite token, the acceptance that the listing counts, min(1, p*/q*), the
    acceptance of an honestly sampled draft, Σ min(p, q), that of the point mass it is, p*, and what comes out.

    Source: the listing of the draft-precision article; the arithmetic is ours.
    """
    function = "mechanisms.rejection_bias.greedy_bias"
    return tabulate(f"{TOPIC}.greedy_bias", COLUMNS, (name,), {}, function=function, over=greedy_law(pair))
