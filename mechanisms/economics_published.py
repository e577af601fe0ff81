"""Published speed-up tables beside our own calculation from their inputs.

Teaches: two tables of Leviathan et al. follow from the formula, up to the rounding of their inputs; measured speed-ups
do not. The printed figures are quoted; whatever stands beside them is computed here.
"""

from __future__ import annotations

from fractions import Fraction

from mechanisms.economics_nodes import geometric
from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import COST, LENGTH, RATE, TOPIC, best_row, costs_of, speed_curve
from mechanisms.table import Table, tabulate

TABLE_1 = (  # α, γ, operations, speed
    ("0.6", 2, "1.53", "1.96"), ("0.7", 3, "1.58", "2.53"), ("0.8", 2, "1.23", "2.44"),
    ("0.8", 5, "1.63", "3.69"), ("0.9", 2, "1.11", "2.71"), ("0.9", 10, "1.60", "6.86"),
)  # fmt: skip
TABLE_4 = (  # task and temperature, draft, γ, α, c, expected, measured
    ("EnDe 0", "small", 7, "0.75", "0.02", "3.2", "3.4"), ("EnDe 0", "base", 7, "0.80", "0.04", "3.3", "2.8"),
    ("EnDe 0", "large", 7, "0.82", "0.11", "2.5", "1.7"), ("EnDe 1", "small", 7, "0.62", "0.02", "2.3", "2.6"),
    ("EnDe 1", "base", 5, "0.68", "0.04", "2.4", "2.4"), ("EnDe 1", "large", 3, "0.71", "0.11", "2.0", "1.4"),
    ("CNNDM 0", "small", 5, "0.65", "0.02", "2.4", "3.1"), ("CNNDM 0", "base", 5, "0.73", "0.04", "2.6", "3.0"),
    ("CNNDM 0", "large", 3, "0.74", "0.11", "2.0", "2.2"), ("CNNDM 1", "small", 5, "0.53", "0.02", "1.9", "2.3"),
    ("CNNDM 1", "base", 3, "0.55", "0.04", "1.8", "2.2"), ("CNNDM 1", "large", 3, "0.56", "0.11", "1.6", "1.7"),
)  # fmt: skip


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


def _quoted(name: str, tex: str, where: str, **more: str) -> Quantity:
    return Quantity(_id(name), tex, f"leviathan2022 {where}", kind="quoted", **more)  # type: ignore[arg-type]


OPS_COST = given(_id("operations_cost"), r"\hat{c}", "chosen", index="")
TOKENS = Quantity(
    _id("tokens_per_round"), r"\tau", "leviathan2022 Eq. 1", geometric(RATE.sym, LENGTH.sym), unit="token", index="k"
)  # fmt: skip
OPS = Quantity(
    _id("operations"), "o", "leviathan2022 Theorem 3.11",
    (LENGTH.sym * OPS_COST.sym + LENGTH.sym + 1) / TOKENS.sym, unit="×", index="k",
)  # fmt: skip
SPEED = Quantity(
    _id("speedup"), "S", "leviathan2022 Theorem 3.8", TOKENS.sym / (LENGTH.sym * COST.sym + 1), unit="×", index="k"
)  # fmt: skip
OPS_PRINTED = _quoted("operations_printed", r"o^{\text{p}}", "Table 1", unit="×", index="k")
SPEED_PRINTED = _quoted("speedup_printed", r"S^{\text{p}}", "Table 1", unit="×", index="k")
FIRST = (RATE, LENGTH, COST, OPS_COST, TOKENS, OPS, OPS_PRINTED, SPEED, SPEED_PRINTED)
EXPECTED = _quoted("expected_printed", r"S^{\text{p}}", "Table 4", unit="×", index="k")
MEASURED = _quoted("measured_printed", r"S^{\text{m}}", "Table 4", unit="×", index="k")
OVER = Quantity(
    _id("measured_over_computed"), "r", "derived", MEASURED.sym / SPEED.sym, index="k"
)  # fmt: skip
BEST = Quantity(_id("best_draft_length"), r"\gamma^{*}", "derived", index="k", counts=True)
FOURTH = (RATE, LENGTH, COST, TOKENS, SPEED, EXPECTED, MEASURED, OVER, BEST)


def leviathan_table_1() -> Table:
    """Six settings with a free draft, c = ĉ = 0: operations o = (γĉ + γ + 1)/τ and speed S = τ/(γc + 1).

    >>> str(leviathan_table_1().value(0, "speedup"))
    '49/25'

    Source: leviathan2022, Table 1.
    """
    zero = [Fraction(0)] * len(TABLE_1)
    values = {
        RATE.name: [Fraction(a) for a, *_ in TABLE_1], LENGTH.name: [Fraction(g) for _, g, *_ in TABLE_1],
        COST.name: zero, OPS_COST.name: zero, OPS_PRINTED.name: [Fraction(o) for _, _, o, _ in TABLE_1],
        SPEED_PRINTED.name: [Fraction(s) for *_, s in TABLE_1],
    }  # fmt: skip
    names = tuple(f"α {a}, γ {g}" for a, g, *_ in TABLE_1)
    function = "mechanisms.economics_published.leviathan_table_1"
    return tabulate(_id("leviathan_table_1"), FIRST, names, values, function=function)


def leviathan_table_4() -> Table:
    """Twelve settings of T5-XXL: the formula, the printed expectation, what was measured, and the best γ.

    >>> leviathan_table_4().value(2, "best_draft_length")
    Fraction(6, 1)

    Source: leviathan2022, Table 4; α and c are printed with two places.
    """
    rows = [(Fraction(a), Fraction(g), Fraction(c)) for _, _, g, a, c, *_ in TABLE_4]
    best = [best_row(speed_curve(a, c, costs_of("constant", 20))) for a, _, c in rows]
    values = {
        RATE.name: [a for a, _, _ in rows], LENGTH.name: [g for _, g, _ in rows], COST.name: [c for *_, c in rows],
        EXPECTED.name: [Fraction(r[5]) for r in TABLE_4], MEASURED.name: [Fraction(r[6]) for r in TABLE_4],
        BEST.name: [Fraction(b) for b in best],
    }  # fmt: skip
    names = tuple(f"{task}, {draft}" for task, draft, *_ in TABLE_4)
    function = "mechanisms.economics_published.leviathan_table_4"
    return tabulate(_id("leviathan_table_4"), FOURTH, names, values, function=function)
