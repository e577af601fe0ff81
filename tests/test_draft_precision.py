"""The audit of the draft-precision article: its table, other draft lengths, latency, against enumeration and search."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.draft_precision import DRAFTS, NAMES, half_unit, matrix, needed_rate
from mechanisms.precision_free import free_verification
from mechanisms.precision_latency import MODELS, Model, common, implied, speedups
from mechanisms.precision_survives import break_even
from mechanisms.precision_window import by_window
from mechanisms.quantity import as_fraction
from mechanisms.table import Table
from tests.oracle_precision import PRINTED, enumerated, float_tokens, mean_tokens, root
from tests.oracle_rejection import SEEDED


def number(table: Table, row: int, name: str) -> Fraction:
    cell = table.value(row, name)
    assert cell is not None
    return as_fraction(cell)


def test_printed_figures_are_those_of_the_article() -> None:
    """The records hold what a second reading of the article gave."""
    table = matrix()
    for i, (name, row) in enumerate(PRINTED.items()):
        assert NAMES[i] == name
        names = {"memory_printed": "memory", "step_printed": "step", "tokens_printed": "tokens",
                 "speedup_printed": "speedup", "code_rate": "code", "chat_rate": "chat"}  # fmt: skip
        for ours, theirs in names.items():
            assert number(table, i, ours) == Fraction(str(row[theirs]))


def test_tokens_equal_the_enumeration() -> None:
    """E is the mean over all thirty-two verdicts of five drafts, for both rates and their mean."""
    table = matrix()
    for i in range(3):
        for rate, tokens in (("code_rate", "tokens_code"), ("chat_rate", "tokens_chat"),
                             ("mean_rate", "tokens_at_mean_rate")):  # fmt: skip
            assert number(table, i, tokens) == mean_tokens(number(table, i, rate), 5)
        assert 2 * number(table, i, "tokens_mean") == number(table, i, "tokens_code") + number(table, i, "tokens_chat")


def test_no_mixture_reaches_the_printed_tokens() -> None:
    """The printed tokens exceed the larger scenario by more than forty half units, in every row; and stay below the
    bound, which runs that are all good or all bad attain."""
    table = matrix()
    for i in range(3):
        assert number(table, i, "tokens_code") > number(table, i, "tokens_chat")
        assert number(table, i, "excess_over_code") > 40 * half_unit("3.82")
        rate = number(table, i, "code_rate")
        assert number(table, i, "upper_bound") == rate * mean_tokens(Fraction(1), 5) + (1 - rate) * mean_tokens(
            Fraction(0), 5
        )
        assert number(table, i, "tokens_printed") < number(table, i, "upper_bound")


@pytest.mark.parametrize("window", range(1, 13))
def test_needed_rate_is_the_root_of_the_polynomial(window: int) -> None:
    """The rate is numpy's only root of 1 + α + … + α^K − N in [0, 1], to 1e-9; none where N lies outside [1, K + 1]."""
    for draft in DRAFTS:
        tokens, found = float(draft.tokens), needed_rate(Fraction(draft.tokens), window)
        roots = [r.real for r in np.roots([1.0] * window + [1.0 - tokens]) if abs(r.imag) < 1e-9 and 0 <= r.real <= 1]
        assert (found is None) == (not roots) == (tokens > window + 1)
        if found is not None:
            assert float(found) == pytest.approx(roots[0], abs=1e-9)


def test_needed_rate_at_its_ends() -> None:
    """One token needs rate 0, K + 1 tokens rate 1; fewer than one is impossible, no draft an error."""
    assert float(needed_rate(Fraction(1), 3) or 0) == pytest.approx(0, abs=1e-40)
    assert float(needed_rate(Fraction(4), 3) or 0) == pytest.approx(1, abs=1e-40)
    assert needed_rate(Fraction(1, 2), 3) is None
    with pytest.raises(ValueError, match="window=0"):
        needed_rate(Fraction(2), 0)


@pytest.mark.parametrize("scenario", ["code", "chat"])
@pytest.mark.parametrize("window", range(1, 13))
def test_no_draft_length_reaches_the_printed_tokens(window: int, scenario: str) -> None:
    """No K from one to twelve gives a printed value, within the rounding of both; gap and limit are those of floats."""
    table = by_window(window, scenario)  # type: ignore[arg-type]
    for i, row in enumerate(PRINTED.values()):
        law = enumerated(Fraction(str(row[scenario])), window)
        assert number(table, i, "tokens") == 1 + sum(j * chance for j, chance in law.items())
        near = [sum((row[scenario] + s) ** k for k in range(window + 1)) for s in (-0.0005, 0.0005)]
        assert number(table, i, "tokens_reached") == int(
            near[0] <= row["tokens"] + 0.005 and near[1] >= row["tokens"] - 0.005
        )
        assert number(table, i, "tokens_reached") == 0
        assert float(number(table, i, "limit")) == pytest.approx(sum(row[scenario] ** k for k in range(300)))
        assert float(number(table, i, "gap")) == pytest.approx(row["tokens"] - float(number(table, i, "tokens")))


def test_int4_never_reaches_its_tokens() -> None:
    """At 61.2 percent even endless drafts give fewer than the printed 2.65 tokens: 250/97."""
    assert number(by_window(5, "code"), 2, "limit") == Fraction(250, 97) < Fraction("2.645")
    with pytest.raises(ValueError, match="scenario"):
        by_window(5, "both")  # type: ignore[arg-type]


def _float_speedup(row: dict[str, float], tokens: float, target: float, price: float, step_shift: float = 0) -> float:
    return tokens * target / (5 * (row["step"] + step_shift) + price * target)


def _target_of(row: dict[str, float], tokens: float, goal: float, price: float, step_shift: float) -> float:
    """The time at which the speedup is the goal, by search."""
    return root(lambda x: _float_speedup(row, tokens, x, price, step_shift) - goal, 1e-6, 1e6)


@pytest.mark.parametrize("price", ["1", "1.1", "1.25"])
@pytest.mark.parametrize("model", MODELS)
def test_implied_target_gives_back_the_speedup(model: Model, price: str) -> None:
    """The speedup at the implied time is the printed one, found again by search; its bounds are those of the corners of
    the box that rounding allows."""
    table, v = implied(model, Fraction(price)), float(price)
    for i, row in enumerate(PRINTED.values()):
        assert float(number(table, i, "tokens")) == pytest.approx(float_tokens(model, row), abs=1e-12)
        found = []
        for ds, dt, da in product((-0.005, 0, 0.005), (-0.05, 0, 0.05), (-1, 0, 1)):
            tokens = float_tokens(model, row, 0.0005 * da, 0.005 * da)
            goal = row["speedup"] + ds
            if tokens <= v * goal:
                continue
            found.append((ds, dt, da, _target_of(row, tokens, goal, v, dt)))
        middle = [t for ds, dt, da, t in found if ds == dt == da == 0]
        shown = table.value(i, "implied_target")
        assert (shown is None) == (not middle)
        if shown is not None:
            assert float(as_fraction(shown)) == pytest.approx(middle[0], rel=1e-9)
        assert (table.value(i, "implied_low") is None) == (not found)
        if found:
            assert float(number(table, i, "implied_low")) == pytest.approx(min(t for *_, t in found), rel=1e-9)
        if len(found) == 27:
            assert float(number(table, i, "implied_high")) == pytest.approx(max(t for *_, t in found), rel=1e-9)


def test_published_findings_about_one_target() -> None:
    """Only the two averaged readings leave one target time: about 93.1 to 94.5 ms and 96.2 to 100.1 ms."""
    found = {m: common(m) for m in MODELS}
    assert [m for m, t in found.items() if t.value(0, "one_target_possible") == 1] == ["mean", "mean_rate"]
    for model, low, high in (("mean", "93.11", "94.49"), ("mean_rate", "96.17", "100.09")):
        table = found[cast(Model, model)]
        assert f"{float(number(table, 0, 'common_low')):.2f}" == low
        assert f"{float(number(table, 0, 'common_high')):.2f}" == high


@pytest.mark.parametrize("model", MODELS)
def test_speedups_and_intervals_tell_the_same(model: Model) -> None:
    """A printed speedup is reached exactly where the time lies in the interval that `implied` gives."""
    for price in (Fraction(1), Fraction(5, 4)):
        bounds = implied(model, price)
        for target in (20, 43, 54, 55, 66, 90, 93, 94, 95, 99, 120, 170, 240, 260):
            table = speedups(model, Fraction(target), price)
            for i, row in enumerate(PRINTED.values()):
                low, high = bounds.value(i, "implied_low"), bounds.value(i, "implied_high")
                inside = (
                    low is not None and as_fraction(low) <= target and (high is None or as_fraction(high) >= target)
                )
                assert number(table, i, "speedup_reached") == int(inside), (target, i)
                wanted = _float_speedup(row, float_tokens(model, row), target, float(price))
                assert float(number(table, i, "speedup")) == pytest.approx(wanted, rel=1e-12)


def test_bad_latency_arguments() -> None:
    """A model, price or time that cannot be is an error that names it."""
    with pytest.raises(ValueError, match="model='x'"):
        implied("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="price=0"):
        common("mean", Fraction(0))
    with pytest.raises(ValueError, match="target=0"):
        speedups("mean", Fraction(0))


def test_common_interval_is_undefined_without_a_bound() -> None:
    """Where verification costs more than the tokens are worth, no time serves, and none is invented."""
    assert common("printed", Fraction(3, 2)).cells == ((None,), (None,), (None,))


def test_free_verification_solves_the_linear_system() -> None:
    """numpy's solution of S(Kt + C) = N·T for two rows with the third as a check; 1.805 is printed as 1.81."""
    table = free_verification()
    rows = list(PRINTED.values())
    system = [[r["tokens"], -r["speedup"]] for r in rows[:2]]
    right = [r["speedup"] * 5 * r["step"] for r in rows[:2]]
    target, verify = np.linalg.solve(np.array(system), np.array(right))
    assert float(number(table, 0, "free_target")) == pytest.approx(target, rel=1e-9)
    assert float(number(table, 0, "free_verification")) == pytest.approx(verify, rel=1e-9)
    third = rows[2]["tokens"] * target / (5 * rows[2]["step"] + verify)
    assert float(number(table, 0, "predicted_int4")) == pytest.approx(third, rel=1e-9)
    assert abs(third - rows[2]["speedup"]) < 0.005


@SEEDED
@given(st.sampled_from(MODELS), st.integers(10, 300), st.sampled_from([Fraction(1), Fraction(5, 4)]))
def test_break_even_step_makes_both_equally_fast(model: Model, target: int, price: Fraction) -> None:
    """With the break-even step in place of its own, a draft's speedup is that of BF16, exactly."""
    table, all_rows = break_even(model, Fraction(target), price), speedups(model, Fraction(target), price)
    bf16 = number(all_rows, 0, "speedup")
    for i in (0, 1):
        tokens, step = number(all_rows, i + 1, "tokens"), number(table, i, "break_even_step")
        assert tokens * target / (5 * step + price * target) == bf16
        own = number(all_rows, i + 1, "speedup")
        assert number(table, i, "pays") == int(own >= bf16)
        assert number(table, i, "margin") == step - number(all_rows, i + 1, "step_printed")


def test_a_free_int4_draft_loses_at_the_implied_time() -> None:
    """At 93.5 ms the speedup of an INT4 draft that costs nothing is E, and BF16's is larger; at 43 ms it is not."""
    for target, free_wins in ((Fraction("93.5"), False), (Fraction(43), True)):
        table = speedups("mean", target)
        assert (number(table, 2, "tokens") > number(table, 0, "speedup")) == free_wins
        assert (number(break_even("mean", target), 1, "break_even_step") > 0) == free_wins


def test_eight_bits_pay_under_every_reading() -> None:
    """With a verification of one pass the FP8 step is short enough from 20 to 270 ms under every reading of the tokens;
    a long pass with a dear verification undoes it."""
    for model in MODELS:
        for target in range(20, 271, 10):
            assert number(break_even(model, Fraction(target)), 0, "pays") == 1
    assert number(break_even("code", Fraction(270), Fraction(3, 2)), 0, "pays") == 0
