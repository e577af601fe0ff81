"""Speed-up, conventions, prices and published tables against enumerations and printed figures."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.economics_conventions import EXAMPLES, bonus_split, reconcile
from mechanisms.economics_lists import InvalidList, read_list
from mechanisms.economics_price import break_even, price
from mechanisms.economics_published import TABLE_1, TABLE_4, leviathan_table_1, leviathan_table_4
from mechanisms.expression import evaluate_array
from mechanisms.quantity import as_fraction, decimal_text
from mechanisms.speculation_economics import SPEED, TIME, TOKENS, best, costs_of, speed_curve
from mechanisms.table import Table
from mechanisms.values.speculation_economics import VALUES
from tests.oracle_economics import SEEDED, TABLES, mean_accepted, number

RATE = st.fractions(0, 1, max_denominator=40)


def cell(table: Table, name: str, row: int = 0) -> Fraction:
    value = table.value(row, name)
    assert value is not None
    return as_fraction(value)


@pytest.mark.parametrize("name", TABLES)
def test_substituted_formulas_denote_their_cells(name: str) -> None:
    """Each cell's formula with its numbers, evaluated by a reader of LaTeX, is the cell."""
    for table in TABLES[name]():
        for quantity in table.columns:
            for row in range(len(table.rows)):
                line, value = table.explain(row, quantity.name).substituted, table.value(row, quantity.name)
                if value is None or quantity.expression is None:
                    assert value is not None or "=" not in line or "undefined" in line or r"\frac" in line
                    continue
                if isinstance(value, Fraction):
                    assert number(line) == value, (table.id, quantity.name, row, line)
                else:
                    assert math.isclose(number(line), value, rel_tol=2e-6, abs_tol=2e-6), (table.id, line)


@given(RATE, st.integers(0, 8))
@SEEDED
def test_tokens_are_the_mean_over_all_fates(rate: Fraction, gamma: int) -> None:
    """τ is one more than the mean number of drafts before the first rejection, over all 2^γ fates."""
    table = speed_curve(rate, Fraction(0), costs_of("constant", gamma))
    assert cell(table, "tokens_per_round", gamma) == 1 + mean_accepted([rate] * gamma)
    assert cell(table, "accepted_tokens", gamma) == mean_accepted([rate] * gamma)


def test_tokens_equal_the_closed_form() -> None:
    """SymPy's (1 − α^(γ+1))/(1 − α), and γ + 1 where α = 1."""
    a = sp.Symbol("a")
    for gamma in range(13):
        closed = sp.cancel((1 - a ** (gamma + 1)) / (1 - a))
        for rate in ("0", "1/3", "0.95", "1"):
            ours = cell(speed_curve(Fraction(rate), Fraction(0), costs_of("constant")), "tokens_per_round", gamma)
            assert ours == Fraction(str(sp.sympify(closed).subs(a, sp.Rational(rate))))


def test_leviathan_table_1_recomputes() -> None:
    """All six rows of the paper's Table 1: operations and speed round to what is printed."""
    table = leviathan_table_1()
    for row, (_, _, operations, speed) in enumerate(TABLE_1):
        assert decimal_text(cell(table, "operations", row), 2) == operations
        assert decimal_text(cell(table, "speedup", row), 2) == speed
        assert cell(table, "operations_printed", row) == Fraction(operations)
        assert cell(table, "speedup_printed", row) == Fraction(speed)


def test_leviathan_table_4_recomputes_up_to_rounded_inputs() -> None:
    """Expected speed-ups agree within 0.07, as α and c have two places; best γ as in the survey of sources."""
    table = leviathan_table_4()
    wanted = (9, 9, 6, 6, 6, 4, 7, 7, 4, 5, 4, 3)
    for row, (*_, expected, measured) in enumerate(TABLE_4):
        assert abs(cell(table, "speedup", row) - Fraction(expected)) < Fraction(7, 100)
        assert cell(table, "measured_printed", row) == Fraction(measured)
        assert cell(table, "best_draft_length", row) == wanted[row]


def test_two_calculators_with_one_input() -> None:
    """α = 0.8, γ = 4, c = 0.1: 2.401 with the bonus token, 1.687 without; they differ by 1/1.4 = 5/7."""
    split = bonus_split(Fraction("0.8"), 4, Fraction("0.1"))
    assert decimal_text(cell(split, "with_bonus"), 3) == "2.401"
    assert decimal_text(cell(split, "without_bonus"), 3) == "1.687"
    assert cell(split, "bonus_term") == cell(split, "with_bonus") - cell(split, "without_bonus") == Fraction(5, 7)
    assert decimal_text(100 * (cell(split, "bonus_ratio") - 1), 0) == "42"


@pytest.mark.parametrize("e", EXAMPLES, ids=[e.id for e in EXAMPLES])
def test_conventions_by_hand(e: object) -> None:
    """Each convention from the powers of α added up one by one."""
    rate, gamma, cost = e.rate, e.gamma, e.cost  # type: ignore[attr-defined]
    tokens = sum((rate**i for i in range(gamma + 1)), Fraction(0))
    wanted = [tokens / (gamma * cost + 1), (tokens - 1) / (gamma * cost + 1), tokens / ((gamma + 1) * cost + 1),
              tokens / (gamma * cost + Fraction("1.2"))]  # fmt: skip
    assert list(reconcile(rate, gamma, cost).column("speedup")) == wanted


@given(RATE, st.fractions(0, 1, max_denominator=20))
@SEEDED
def test_a_gain_exists_exactly_if_the_rate_exceeds_the_cost(rate: Fraction, cost: Fraction) -> None:
    """Leviathan et al., Corollary: some draft is faster than none iff α > c, and one draft then gains (1+α)/(1+c)."""
    table = speed_curve(rate, cost, costs_of("constant"))
    assert (cell(best(table), "best_speedup") > 1) == (rate > cost)
    assert cell(table, "speedup", 1) == (1 + rate) / (1 + cost)


def test_longer_drafts_can_lose() -> None:
    """α = 0.6, c = 0.2 by hand: one draft 4/3, eight drafts below one."""
    table = speed_curve(Fraction("0.6"), Fraction("0.2"), costs_of("constant"))
    assert cell(table, "speedup", 1) == Fraction(4, 3)
    assert decimal_text(cell(table, "speedup", 8), 3) == "0.952"
    assert cell(best(table), "best_draft_length") == 2


def test_verification_is_paid_by_hand() -> None:
    """α = ½, c = 0.1: two drafts yield 1.75 tokens; at V = 2 the round lasts 2.2 steps, at V = 1 it lasts 1.2."""
    dear, cheap = (speed_curve(Fraction(1, 2), Fraction("0.1"), costs_of(c)) for c in ("square", "constant"))
    assert (cell(dear, "round_time", 2), cell(cheap, "round_time", 2)) == (Fraction("2.2"), Fraction("1.2"))
    assert (cell(dear, "speedup", 2), cell(cheap, "speedup", 2)) == (
        Fraction("1.75") / Fraction("2.2"),
        Fraction(35, 24),
    )
    assert [str(x) for x in costs_of("tiers")[3:9]] == ["1", "3/2", "3/2", "3/2", "3/2", "2"]
    assert costs_of("slope")[5] == Fraction("1.1")


def test_arrays_equal_the_table() -> None:
    """The same expressions on numpy arrays."""
    gamma = np.arange(13.0)
    for rate in (0.0, 0.5, 1.0):
        table = speed_curve(Fraction(str(rate)), Fraction("0.11"), costs_of("square"))
        values = {"acceptance_rate": rate, "draft_length": gamma, "draft_cost": 0.11,
                  "verification_cost": np.array([float(x) for x in costs_of("square")])}  # fmt: skip
        values["tokens_per_round"] = evaluate_array(TOKENS.expression, values)  # type: ignore[arg-type]
        values["round_time"] = evaluate_array(TIME.expression, values)  # type: ignore[arg-type]
        ours = evaluate_array(SPEED.expression, values)  # type: ignore[arg-type]
        assert np.allclose(ours, [float(x) for x in table.column("speedup")], rtol=1e-12)  # type: ignore[arg-type]


def test_price_by_hand() -> None:
    """Three milliseconds of draft and twelve of verification: 5 ms at three tokens, 15 at one."""
    assert [str(x) for x in price().column("ms_per_token")] == ["5", "15", "10", "15/2", "6", "15/4"]
    assert cell(break_even(), "break_even") == Fraction(3, 2)
    assert cell(price(), "price_speedup", 2) == 1


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: speed_curve(Fraction(2), Fraction(0), (Fraction(1),)), "rate"),
        (lambda: speed_curve(Fraction(1), Fraction(-1), (Fraction(1),)), "cost"),
        (lambda: speed_curve(Fraction(1), Fraction(0), ()), "verification"),
        (lambda: speed_curve(Fraction(1), Fraction(0), (Fraction(0),)), "verification"),
        (lambda: costs_of("x"), "curve"),
        (lambda: reconcile(Fraction(1), -1, Fraction(0)), "gamma"),
        (lambda: price(plain=Fraction(0)), "plain"),
        (lambda: price(draft=Fraction(-1)), "draft"),
        (lambda: price(counts=()), "counts"),
    ],
)
def test_bad_arguments_are_named(call: object, names: str) -> None:
    """A value out of range is a ValueError that names the argument."""
    with pytest.raises(ValueError, match=names):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "kind", "codes"),
    [
        ("", "rates", ["empty"]),
        ("0.5 1.5", "rates", ["above_one"]),
        ("nan x -1", "rates", ["not_finite", "not_a_number", "negative"]),
        ("1 " * 13, "rates", ["too_many"]),
        ("0 1", "costs", ["not_positive"]),
        ("1e9", "costs", ["too_large"]),
        ("1.5 13", "lengths", ["not_whole", "too_long_round"]),
        ("0." + "1" * 60, "rates", ["too_precise"]),
    ],
)
def test_lists_are_refused_with_reasons(text: str, kind: str, codes: list[str]) -> None:
    """Every fault of a list is found, in order."""
    with pytest.raises(InvalidList) as caught:
        read_list(text, kind)  # type: ignore[arg-type]
    assert [f.code for f in caught.value.faults] == codes


def test_lists_are_read_exactly() -> None:
    """Decimals, ratios, full-width digits and any separator."""
    assert read_list("0.1；1/3，１", "rates") == (Fraction(1, 10), Fraction(1, 3), Fraction(1))


@pytest.mark.parametrize(("id", "make"), VALUES.items(), ids=list(VALUES))
def test_quoted_values_are_cells(id: str, make: object) -> None:
    """Every number that the lesson quotes is a defined cell whose derivation can be opened."""
    table, row, name = make()  # type: ignore[operator]
    assert table.value(row, name) is not None and table.explain(row, name).decimal
    assert id.startswith("speculation_economics.")
