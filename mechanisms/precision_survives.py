"""How fast a smaller draft must be to make up for the tokens it loses.

Teaches: that a lost token costs a share of the whole round, drafting and verification, while a faster draft saves only
its own part. Leaves out: what a smaller draft saves in memory or in other requests.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from mechanisms.draft_precision import NAMES, STEP, derived, id_of
from mechanisms.expression import Value
from mechanisms.precision_latency import PRICE, TARGET, K, Model, speedups
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

TOKENS = Quantity(id_of("tokens"), "E", "derived", index="d", unit="token")
BASE_TOKENS = Quantity(id_of("base_tokens"), r"E_{\mathrm{BF16}}", "derived", index="", unit="token")
BASE_STEP = given(id_of("base_step"), r"t_{\mathrm{BF16}}", "draft_article results table", index="", unit="ms")
_k, _T, _v = K.sym, TARGET.sym, PRICE.sym
SHARE = derived("tokens_share", r"\rho", TOKENS.sym / BASE_TOKENS.sym)
EVEN = derived(
    "break_even_step", r"t^*", (SHARE.sym * (_k * BASE_STEP.sym + _v * _T) - _v * _T) / _k, unit="ms"
)  # fmt: skip
MARGIN = derived("margin", "m", signed(EVEN.name) - STEP.sym, unit="ms")
PAYS = derived("pays", "b", is_zero(sp.Max(0, STEP.sym - signed(EVEN.name))), counts=True)
COLUMNS = (K, PRICE, TARGET, BASE_TOKENS, BASE_STEP, TOKENS, STEP, SHARE, EVEN, MARGIN, PAYS)


def break_even(model: Model, target: Fraction, price: Fraction = Fraction(1)) -> Table:
    """The step time at which FP8 and INT4 would be exactly as fast as BF16, from the tokens of a model.

    E/(Kt* + vT) = E₁₆/(Kt₁₆ + vT). A negative time means that not even a free draft would be as fast; pays is 1 where
    the printed step is short enough. target: T > 0 in ms; price: v > 0.

    >>> [round(float(x), 2) for x in break_even("mean", Fraction("93.5")).column("break_even_step")]
    [5.98, -1.15]

    Source: derived.
    """
    base = speedups(model, target, price)
    names = ("tokens", STEP.name)

    def at(name: str, row: int) -> Value:
        cell = base.value(row, name)
        assert cell is not None
        return cell

    cells: dict[str, tuple[Cell, ...]] = {
        K.name: base.column(K.name)[1:], PRICE.name: (price,) * 2, TARGET.name: (target,) * 2,
        BASE_TOKENS.name: (at("tokens", 0),) * 2, BASE_STEP.name: (at(STEP.name, 0),) * 2,
    }  # fmt: skip
    cells |= {name: tuple(at(name, row) for row in (1, 2)) for name in names}
    function = "mechanisms.precision_survives.break_even"
    return tabulate(id_of("break_even"), COLUMNS, NAMES[1:], cells, function=function)
