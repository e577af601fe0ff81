"""The source document's experiment: its printed lines, a second program, and where it is no theorem."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.error_budget import Scheme, quantize
from mechanisms.quant_floats import FloatProblem, float_map
from mechanisms.quant_lab import grouping, lab, lab_summary, nested, outlier, scale_of, tie_distance, ties
from mechanisms.quant_nodes import RULES, Rounding
from mechanisms.quant_presets import LAB, LAST_VALUES, SLIDER_BITS, widget
from mechanisms.quant_script import script
from mechanisms.quant_summary import errors
from tests.oracle_quant import SEEDED, VECTORS


def run(source: str) -> list[str]:
    """Lines that a clean interpreter prints: no site packages, no environment."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", source], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_lab_equals_the_printed_lines() -> None:
    """Restored values to four places and RMSE to six are what the document's listing prints (seed audit, C5)."""
    printed = {
        4: ([-1.0, -0.4286, 0.0, 0.2857, 0.8571], 0.034017),
        8: ([-1.0, -0.3701, 0.0394, 0.2913, 0.8268], 0.001589),
    }
    for bits, (values, rmse) in printed.items():
        assert [round(float(y), 4) for y in lab(bits).column("restored")] == values  # type: ignore[arg-type]
        assert round(float(lab_summary(bits).value(0, "root_mean_squared_error")), 6) == rmse  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", RULES)
def test_script_prints_our_table(rule: Rounding) -> None:
    """The generated program prints the same codes, values, errors and means in an interpreter without packages."""
    values = [*LAB, Fraction(1, 3), Fraction(-5, 14)]
    lines = run(script(values, [2, 4, 8], rule))
    wanted, means = ["bits,index,x,q,restored,error"], []
    for bits in (2, 4, 8):
        table = quantize(values, Scheme(bits=bits, rule=rule))
        for i, x in enumerate(values):
            cells = [table.value(i, name) for name in ("code", "restored", "error")]
            wanted.append(",".join(map(str, [bits, i, x, *cells])))
        row = errors(table)
        mean, root = row.value(0, "mean_squared_error"), float(row.value(0, "root_mean_squared_error"))  # type: ignore[arg-type]
        means.append(f"{bits} bits: scale {table.value(0, 'scale')}, MSE {mean}, RMSE {root:.6f}")
    assert lines == wanted + means


def test_script_handles_zeros_and_refuses_nonsense() -> None:
    """Zeros run through; no values, no widths, one bit and unknown rules are ValueErrors."""
    assert run(script([Fraction(0)], [4]))[-1] == "4 bits: scale 0, MSE 0, RMSE 0.000000"
    for arguments in (([], [4]), ([Fraction(1)], []), ([Fraction(1)], [1]), ([Fraction(1)], [4], "up")):
        with pytest.raises(ValueError):
            script(*arguments)  # type: ignore[arg-type]


@SEEDED
@given(VECTORS, st.integers(2, 8))
def test_float_map_equals_the_exact_one(values: list[Fraction], bits: int) -> None:
    """On ordinary numbers floats give the exact codes away from ties, and the exact errors to 1e-12."""
    table, done = quantize(values, Scheme(bits=bits)), float_map([float(v) for v in values], bits)
    assert not [p for p in done.problems if p.code != "square_underflow"]
    scale = scale_of(values, Scheme(bits=bits))
    for i, v in enumerate(values):
        if not scale or tie_distance(v, scale) > Fraction(1, 10**9):
            assert done.codes[i] == table.value(i, "code")
    assert done.scale == pytest.approx(float(scale), rel=1e-15)


def test_float_failures_are_named() -> None:
    """NaN, infinities, nothing, values too small for a scale and errors too large or small to square are problems."""
    nan, inf = math.nan, math.inf
    assert float_map([], 4).problems == (FloatProblem("empty"),)
    assert float_map([1.0, nan, -inf], 4).problems == (FloatProblem("not_a_number", 1), FloatProblem("infinite", 2))
    assert float_map([0.0, -0.0], 4) == float_map([0.0, 0.0], 4) and float_map([0.0], 4).rmse == 0.0
    assert not float_map([0.0], 4).problems
    assert float_map([5e-324], 4).problems == (FloatProblem("scale_underflow"),)
    assert float_map([1e300], 4).rmse == 0.0 and not float_map([1e300], 4).problems
    big = float_map([1e300, 3e299], 4)
    assert big.problems == (FloatProblem("square_overflow", 1),) and big.rmse is None and len(big.codes) == 2
    small = float_map([1e-200, 3e-201], 4)
    assert small.rmse == 0.0 and FloatProblem("square_underflow", 1) in small.problems and small.restored[1] != 3e-201
    assert FloatProblem("scale_subnormal") in float_map([2e-323], 4).problems
    sums = float_map([1e155, 1.2e154, 1.2e154], 2)  # each error squared is 1.44e308, their sum is too large
    assert sums.rmse is None and sums.problems == (FloatProblem("square_overflow"),)
    with pytest.raises(ValueError, match="bits"):
        float_map([1.0], 1)


def test_document_program_fails_where_we_name_a_problem() -> None:
    """max-abs over 7 of the least positive float is 0.0 in Python, so that dividing by it raises."""
    scale = 5e-324 / 7
    with pytest.raises(ZeroDivisionError):
        _ = 5e-324 / scale
    assert (1e200 * 1e200, math.isinf(1e200 * 1e200)) == (math.inf, True)


def test_more_bits_can_be_worse() -> None:
    """[1, 3/7] has no error at 4 bits and RMSE 0.002386 at 8 (seed audit, C1)."""
    small, large = nested()
    assert small.value(0, "mean_squared_error") == 0
    assert round(float(large.value(0, "root_mean_squared_error")), 6) == 0.002386  # type: ignore[arg-type]


@SEEDED
@given(VECTORS, st.sampled_from([(2, 3), (2, 8), (3, 5), (4, 7), (3, 7)]))
def test_nested_grids_are_never_worse(values: list[Fraction], bits: tuple[int, int]) -> None:
    """Where 2^(b−1) − 1 divides that of the larger width, every level of the smaller grid is one of the larger."""
    small, large = nested(values, bits)
    assert large.value(0, "mean_squared_error") <= small.value(0, "mean_squared_error")  # type: ignore[operator]


def test_two_groups_can_be_worse_than_one() -> None:
    """Cutting the printed vector after two values raises the 4-bit RMSE to 0.039559 and costs 10.4 bits (C2)."""
    one, two = grouping(4, "one group"), grouping(4, "first two | last three")
    assert two.value(0, "mean_squared_error") > one.value(0, "mean_squared_error")  # type: ignore[operator]
    assert round(float(two.value(0, "root_mean_squared_error")), 6) == 0.039559  # type: ignore[arg-type]
    assert two.value(0, "effective_bits") == Fraction("10.4") and one.value(0, "effective_bits") == Fraction("7.2")


def test_outlier_swallows_the_others() -> None:
    """With one value at 100 the other four become 0 at 4 bits; numpy's rounding agrees at both widths."""
    for bits, place in product((4, 8), range(5)):
        table, whole, others = outlier(bits, place)
        x = np.array([float(v) for v in table.column("value")])  # type: ignore[arg-type]
        q = np.rint(x / (100 / (2 ** (bits - 1) - 1)))
        assert q.tolist() == list(table.column("code"))
        assert others.value(0, "rounded_to_zero") == int(np.sum(np.delete(q, place) == 0))
        assert whole.value(0, "values") == 5 and others.value(0, "values") == 4
    with pytest.raises(ValueError, match="place"):
        outlier(4, 5)


def test_slider_positions_stay_clear_of_ties() -> None:
    """No value of the slider vector comes within 1/64 of a tie, so that all three rules give one table."""
    for last, bits in product(LAST_VALUES, SLIDER_BITS):
        values = widget(last)
        scale = scale_of(values, Scheme(bits=bits))
        assert min(tie_distance(v, scale) for v in values) >= Fraction(1, 64)
        assert len({quantize(values, Scheme(bits=bits, rule=rule)).column("code") for rule in RULES}) == 1
    with pytest.raises(ValueError, match="scale"):
        tie_distance(Fraction(1), Fraction(0))


def test_tie_rules_share_an_error_and_differ_in_bias() -> None:
    """Six halves cost 6·(1/4)/7 under any rule; half up adds six halves upwards, (6/2)/7."""
    rows = [ties(rule)[1] for rule in RULES]
    assert {row.value(0, "mean_squared_error") for row in rows} == {Fraction(6, 28)}
    assert [row.value(0, "mean_error") for row in rows] == [0, Fraction(3, 7), 0]
