"""How many drafts to propose: the speedup for every draft length at two times of a target pass.

Teaches: that "cut K below 60 % acceptance" has no answer before somebody says how long a target pass takes. Leaves out:
an acceptance that changes along the chain, and a verification that costs more for more drafts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.draft_precision import derived, expected_tokens, id_of
from mechanisms.expression import largest
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.precision_choice"
MOST = 8  # drafts per round in the table
SHORT, LONG = Fraction(43), Fraction("93.5")  # what the printed tokens of two rows need, and what all speedups need

RATE = given(id_of("chosen_rate"), r"\alpha", "chosen", index="")
STEP = given(id_of("chosen_step"), "t", "chosen", unit="ms", index="")
LENGTH = given(id_of("draft_length"), "K", "chosen", index="", counts=True)
_a, _t, _k = RATE.sym, STEP.sym, LENGTH.sym
TOKENS = derived(
    "tokens", "E", expected_tokens(_a, _k), unit="token", index="K", source="leviathan2022 Eq. 1"
)  # fmt: skip


def _at(which: str, mark: str) -> tuple[Quantity, Quantity, Quantity]:
    target = given(id_of(f"target_{which}"), f"T_{mark}", "chosen", unit="ms", index="")
    speedup: Any = derived(
        f"speedup_{which}", f"S_{mark}", TOKENS.sym * target.sym / (_k * _t + target.sym), unit="×", index="K",
        source="leviathan2022 §3.3",
    )  # fmt: skip
    best = derived(
        f"best_{which}", f"b_{mark}", is_zero(sp.Add(largest(speedup.sym), -speedup.sym, evaluate=False)), index="K",
        counts=True,
    )  # fmt: skip
    return target, speedup, best


COLUMNS = (RATE, STEP, LENGTH, TOKENS, *_at("short", "1"), *_at("long", "2"))


def choices(rate: Fraction, step: Fraction, short: Fraction = SHORT, long: Fraction = LONG, most: int = MOST) -> Table:
    """Speedup for K = 0 … most at two times of a target pass, the best one marked with 1.

    E = (1 − α^(K+1))/(1 − α), S = E·T/(Kt + T). rate: α in [0, 1); step: t ≥ 0 in ms; short, long: T > 0 in ms.

    >>> choices(Fraction("0.6"), Fraction("4.2")).column("best_short").index(1)
    3

    Source: leviathan2022, Eq. 1 and §3.3.
    """
    if not 0 <= rate < 1:
        raise ValueError(f"rate={rate}: must lie in [0, 1); at 1 every further draft is kept")
    if step < 0 or min(short, long) <= 0 or most < 0:
        raise ValueError(f"step={step}, short={short}, long={long}, most={most}: times positive, step may be 0")
    rows = range(most + 1)
    constants = {RATE: rate, STEP: step, COLUMNS[4]: short, COLUMNS[7]: long}
    cells = {q.name: (x,) * len(rows) for q, x in constants.items()}
    cells[LENGTH.name] = tuple(Fraction(k) for k in rows)
    return tabulate(id_of("choices"), COLUMNS, tuple(map(str, rows)), cells, function=f"{_MODULE}.choices")


BEST_SHORT = derived("best_length_short", "K_1", largest(LENGTH.sym * COLUMNS[6].sym), index="", counts=True)
BEST_LONG = derived("best_length_long", "K_2", largest(LENGTH.sym * COLUMNS[9].sym), index="", counts=True)
TOP_SHORT = derived("top_short", "S_1^*", largest(COLUMNS[5].sym), unit="×", index="")
TOP_LONG = derived("top_long", "S_2^*", largest(COLUMNS[8].sym), unit="×", index="")


def best(table: Table) -> Table:
    """The best draft length and its speedup at both times, from a table of `choices`. Ties go to the longer chain.

    Source: derived.
    """
    columns = (BEST_SHORT, TOP_SHORT, BEST_LONG, TOP_LONG)
    return tabulate(id_of("best"), columns, ("",), {}, function=f"{_MODULE}.best", over=table)
