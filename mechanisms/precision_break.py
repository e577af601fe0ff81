"""Where a chain of drafts breaks: the law of the number of accepted drafts at a constant rate.

Teaches: that "by step two" and "at step two" are different claims. Leaves out: rates that change along the chain.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.draft_precision import WINDOW, derived, id_of
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

CASES = {
    "int4_code": Fraction("0.612"), "int4_chat": Fraction("0.495"), "rounded": Fraction("0.61"),
    "bf16_code": Fraction("0.784"), "fp8_code": Fraction("0.769"),
}  # fmt: skip
RATE = given(id_of("chosen_rate"), r"\alpha", "chosen", index="")
ACCEPTED = given(id_of("accepted_tokens"), "j", "chosen", index="", counts=True)
MORE = Quantity(id_of("draft_follows"), "w", "derived", index="j", counts=True)  # 1 while another draft stands behind
_a, _j, _w = RATE.sym, ACCEPTED.sym, MORE.sym
SURVIVAL = derived("prefix_survival", "S", _a**_j, index="j", source="leviathan2022 §3.1")
CHANCE = derived(
    "break_probability", r"\Pr", _a**_j * (1 - _w * _a), index="j", source="leviathan2022 §3.1"
)  # fmt: skip
SO_FAR = derived("break_so_far", r"\Pr_{\le}", 1 - _w * _a ** (_j + 1), index="j")
COLUMNS = (RATE, ACCEPTED, MORE, SURVIVAL, CHANCE, SO_FAR)


def breaks(rate: Fraction, window: int = WINDOW) -> Table:
    """One row for each number j of accepted drafts; the last row is a round without a rejection.

    S(j) = α^j, Pr(j) = α^j(1 − wα), Pr(≤ j) = 1 − wα^(j+1), with w = 0 in the last row and 1 before.
    rate: α in [0, 1]; window: K ≥ 1.

    >>> breaks(Fraction("0.612")).value(0, "break_probability")
    Fraction(97, 250)

    Source: leviathan2022, §3.1.
    """
    if not 0 <= rate <= 1 or window < 1:
        raise ValueError(f"rate={rate}, window={window}: rate must lie in [0, 1], window be at least 1")
    rows = range(window + 1)
    cells = {
        RATE.name: (rate,) * len(rows),
        ACCEPTED.name: tuple(Fraction(j) for j in rows),
        MORE.name: tuple(Fraction(int(j < window)) for j in rows),
    }
    names = tuple(map(str, rows))
    return tabulate(id_of("breaks"), COLUMNS, names, cells, function="mechanisms.precision_break.breaks")


CLAIMED = Quantity(id_of("cube_printed"), "c", "draft_article findings", kind="contradicted", index="")
CUBE_RATE = Quantity(id_of("rate"), r"\alpha", "draft_article results table", kind="quoted", index="")
CUBE = derived("rate_cubed", r"\alpha^3", sp.Pow(CUBE_RATE.sym, 3), index="")


def cube() -> Table:
    """Three accepted drafts in a row, for the rate as the article rounds it and as its table prints it.

    >>> cube().value(0, "rate_cubed")
    Fraction(226981, 1000000)

    Source: derived; the printed product is the article's.
    """
    cells = {CLAIMED.name: (Fraction("0.22"),) * 2, CUBE_RATE.name: (CASES["rounded"], CASES["int4_code"])}
    columns = (CLAIMED, CUBE_RATE, CUBE)
    return tabulate(id_of("cube"), columns, ("0.61", "0.612"), cells, function="mechanisms.precision_break.cube")
