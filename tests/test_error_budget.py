"""The affine map against a search over all codes, torch, hand-worked numbers and its own promises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.error_budget import Scheme, quantize, ranges, restored
from mechanisms.expression import evaluate_array
from mechanisms.quant_nodes import RULES, Rounding
from mechanisms.quant_presets import LAB, TIES
from tests.oracle_quant import SEEDED, SMALL, VECTORS, decimal_round, nearest_levels, symmetric_levels

HALVES: dict[Rounding, bool | None] = {"half_even": None, "half_up": True, "half_away": False}
BITS = st.integers(2, 8)


def column(values: list[Fraction], scheme: Scheme, name: str) -> tuple[Fraction, ...]:
    return quantize(values, scheme).column(name)  # type: ignore[return-value]


@SEEDED
@given(VECTORS, BITS, st.sampled_from(RULES))
def test_symmetric_map_takes_a_nearest_level(values: list[Fraction], bits: int, rule: Rounding) -> None:
    """Every restored value is one of the levels that lie closest to the original, whatever the tie rule."""
    levels = symmetric_levels(values, bits)
    for x, y in zip(values, restored(values, Scheme(bits=bits, rule=rule)), strict=True):
        assert y in nearest_levels(x, levels)


@pytest.mark.parametrize("rule", RULES)
def test_tie_rules_equal_the_decimal_module(rule: Rounding) -> None:
    """On exact halves the codes are those of Python's decimal rounding modes."""
    halves = [Fraction(n, 2) for n in range(-13, 14)]
    codes = column([*halves, Fraction(7)], Scheme(bits=4, rule=rule), "code")[:-1]
    assert list(codes) == [decimal_round(n, HALVES[rule]) for n in range(-13, 14)]


@SEEDED
@given(VECTORS, BITS, st.sampled_from(RULES), st.booleans(), st.integers(1, 4))
def test_error_is_at_most_half_a_step(
    values: list[Fraction], bits: int, rule: Rounding, symmetric: bool, group: int
) -> None:
    """Without a clip no error of a symmetric map exceeds s/2; a rounded zero point may add as much at the ends."""
    table = quantize(values, Scheme(bits=bits, rule=rule, symmetric=symmetric, group=group))
    for e, s in zip(table.column("error"), table.column("scale"), strict=True):
        assert abs(e) <= (s / 2 if symmetric else s)  # type: ignore[operator, arg-type]


@SEEDED
@given(VECTORS, BITS, st.sampled_from(RULES))
def test_symmetric_map_is_idempotent(values: list[Fraction], bits: int, rule: Rounding) -> None:
    """What was restored once is restored unchanged: max-abs keeps the largest value, so the grid stays."""
    scheme = Scheme(bits=bits, rule=rule)
    once = restored(values, scheme)
    assert restored(once, scheme) == once


@SEEDED
@given(VECTORS, BITS, st.sampled_from(RULES), st.booleans())
def test_map_is_monotone(values: list[Fraction], bits: int, rule: Rounding, symmetric: bool) -> None:
    """Within one group a larger value never gets a smaller code, and 0 is always restored as 0."""
    scheme = Scheme(bits=bits, rule=rule, symmetric=symmetric)
    pairs = sorted(zip([*values, Fraction(0)], column([*values, Fraction(0)], scheme, "code"), strict=True))
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)
    assert restored([*values, Fraction(0)], scheme)[-1] == 0


@SEEDED
@given(VECTORS, BITS, st.sampled_from(RULES[::2]))
def test_odd_rules_are_odd(values: list[Fraction], bits: int, rule: Rounding) -> None:
    """Half to even and half away treat both signs alike; half up does not, as the next test shows."""
    scheme = Scheme(bits=bits, rule=rule)
    assert restored([-x for x in values], scheme) == tuple(-y for y in restored(values, scheme))


def test_half_up_is_not_odd() -> None:
    """−1/2 goes up to 0, 1/2 goes up to 1."""
    assert column(list(TIES), Scheme(rule="half_up"), "code")[2:4] == (0, 1)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 8])
def test_codes_equal_torch_fake_quantize(bits: int, symmetric: bool) -> None:
    """torch.fake_quantize restores our values from our scale and zero point, on dyadic inputs that float32 holds.

    The scale is made a power of two, so that torch's multiplication with float32(1/s) is exact, ties included.
    """
    rng = np.random.default_rng(bits)
    top = 2 ** (bits - 1) - 1 if symmetric else 2**bits - 1
    for _ in range(20):
        values = [Fraction(int(n), 16) for n in rng.integers(-40, 41, 12)]
        if symmetric:
            values = [max(min(v, Fraction(top, 2)), Fraction(-top, 2)) for v in values] + [Fraction(top, 2)]
        else:
            below = int(rng.integers(0, top + 1))
            edge = (Fraction(-below, 2), Fraction(top - below, 2))
            values = [max(min(v, edge[1]), edge[0]) for v in values] + list(edge)
        scheme = Scheme(bits=bits, symmetric=symmetric)
        table = quantize(values, scheme)
        scale = table.value(0, "scale")
        assert scale == Fraction(1, 2)
        zero = 0 if symmetric else int(table.value(0, "zero_point"))  # type: ignore[arg-type]
        low = -top if symmetric else 0
        done = torch.fake_quantize_per_tensor_affine(torch.tensor([float(v) for v in values]), 0.5, zero, low, top)
        assert done.tolist() == [float(v) for v in table.column("restored")]  # type: ignore[arg-type]


def test_zero_point_equals_torch_observer() -> None:
    """torch's MinMaxObserver finds our asymmetric scale and zero point; 1e-6 is float32's precision.

    Its range holds 0 as ours does; vectors of one sign are among the cases.
    """
    rng = np.random.default_rng(5)
    for case in range(60):
        shift = (-3, 0, 3)[case % 3]
        values = [Fraction(int(n), 1000) + shift for n in rng.integers(-2000, 2000, 10)]
        observer = torch.ao.quantization.MinMaxObserver(dtype=torch.quint8, qscheme=torch.per_tensor_affine)
        observer(torch.tensor([float(v) for v in values]))
        scale, zero = observer.calculate_qparams()
        row = ranges(values, Scheme(bits=8, symmetric=False))[0]
        assert float(scale) == pytest.approx(float(row.value(0, "scale")), rel=1e-6)  # type: ignore[arg-type]
        place = row.value(0, "below_zero") / row.value(0, "scale")  # type: ignore[operator]
        if abs(place % 1 - Fraction(1, 2)) > Fraction(1, 10**4):  # nearer to a tie float32 decides by chance
            assert int(zero) == row.value(0, "zero_point")


@SEEDED
@given(VECTORS, BITS, st.integers(1, 5), st.booleans())
def test_groups_are_separate_vectors(values: list[Fraction], bits: int, group: int, symmetric: bool) -> None:
    """Quantizing in groups is quantizing each group by itself."""
    scheme = Scheme(bits=bits, group=group, symmetric=symmetric)
    alone = Scheme(bits=bits, symmetric=symmetric)
    parts = [values[i : i + group] for i in range(0, len(values), group)]
    assert restored(values, scheme) == tuple(y for part in parts for y in restored(part, alone))
    assert len(ranges(values, scheme)) == len(parts)


def test_zeros_and_tiny_values() -> None:
    """Zeros have scale 0 and come back; the least positive float is a value like any other; nothing is no vector."""
    zeros = quantize([Fraction(0)] * 3, Scheme())
    assert set(zeros.column("scale")) == set(zeros.column("code")) == set(zeros.column("restored")) == {0}
    tiny = Fraction(5e-324)
    assert restored([tiny], Scheme(bits=4)) == (tiny,) and quantize([tiny], Scheme(bits=4)).value(0, "code") == 7
    assert restored([Fraction(10) ** 300, Fraction(1)], Scheme()) == (Fraction(10) ** 300, 0)
    for symmetric in (True, False):
        with pytest.raises(ValueError, match="values"):
            quantize([], Scheme(symmetric=symmetric))
    assert restored([Fraction(2), Fraction(3)], Scheme(symmetric=False))[1] == 3
    assert quantize([Fraction(-2), Fraction(-3)], Scheme(symmetric=False)).value(1, "code") == 0


@pytest.mark.parametrize(
    ("word", "arguments"),
    [("bits", {"bits": 1}), ("clip_ratio", {"clip_ratio": Fraction(0)}), ("clip_ratio", {"clip_ratio": Fraction(2)}),
     ("group", {"group": 0}), ("group", {"group": (2, 0)}), ("rule", {"rule": "half_down"}),
     ("scale_bits", {"scale_bits": -1}), ("zero_bits", {"zero_bits": -1})],
    ids=["one-bit", "no-range", "wider-range", "empty-group", "empty-size", "unknown-rule", "scale-bits", "zero-bits"],
)  # fmt: skip
def test_bad_schemes_are_errors(word: str, arguments: dict[str, object]) -> None:
    """Arguments outside their range are ValueErrors that name them."""
    with pytest.raises(ValueError, match=word):
        Scheme(**arguments)  # type: ignore[arg-type]


def test_sizes_must_add_up() -> None:
    """Named group sizes cover the vector exactly; a number of values per group leaves a short last group."""
    assert Scheme(group=4).sizes(10) == (4, 4, 2) and Scheme().sizes(5) == (5,) and Scheme(group=9).sizes(5) == (5,)
    with pytest.raises(ValueError, match="add up"):
        Scheme(group=(2, 2)).sizes(5)


def test_clip_cuts_the_largest_value() -> None:
    """At half the range the scale halves and 1 comes back as 1/2; worked by hand for 4 bits."""
    values = [Fraction(1), Fraction(1, 14)]
    assert column(values, Scheme(clip_ratio=Fraction(1, 2)), "restored") == (Fraction(1, 2), Fraction(1, 14))
    wide = quantize([Fraction(-1), Fraction(2)], Scheme(symmetric=False, clip_ratio=Fraction(1, 2)))
    assert wide.column("scale") == (Fraction(1, 10),) * 2 and wide.column("zero_point") == (5, 5)
    assert wide.column("restored") == (Fraction(-1, 2), Fraction(1))


@SEEDED
@given(st.lists(SMALL, min_size=2, max_size=8), BITS, st.sampled_from(RULES), st.booleans())
def test_array_form_equals_the_table(values: list[Fraction], bits: int, rule: Rounding, symmetric: bool) -> None:
    """The same expressions give the codes on numpy arrays; values are kept away from ties, which floats may miss."""
    table = quantize(values, Scheme(bits=bits, rule=rule, symmetric=symmetric))
    arrays = {q.name: np.array([float(v) for v in c]) for q, c in zip(table.columns, table.cells, strict=True)}  # type: ignore[arg-type]
    steps = [x / s if s else Fraction(0) for x, s in zip(values, table.column("scale"), strict=True)]  # type: ignore[operator]
    clear = [abs(t % 1 - Fraction(1, 2)) > Fraction(1, 10**9) for t in steps]
    for name in ("code", "restored", "error"):
        expression = next(q.expression for q in table.columns if q.name == name)
        assert expression is not None
        found = evaluate_array(expression, arrays)
        np.testing.assert_allclose(found[clear], arrays[name][clear], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_array_form_has_the_same_ties(rule: Rounding) -> None:
    """Halves, which floats hold, get the same codes from numpy as from rationals."""
    table = quantize([*(Fraction(n, 2) for n in range(-13, 14)), Fraction(7)], Scheme(bits=4, rule=rule))
    arrays = {q.name: np.array([float(v) for v in c]) for q, c in zip(table.columns, table.cells, strict=True)}  # type: ignore[arg-type]
    expression = next(q.expression for q in table.columns if q.name == "code")
    assert expression is not None
    assert evaluate_array(expression, arrays).tolist() == list(table.column("code"))


def test_formulas_are_written_with_their_numbers() -> None:
    """The code's derivation shows quotient and bounds, the scale's the values it was taken from."""
    code = quantize(LAB, Scheme(bits=4)).explain(1, "code")
    inside = r"\operatorname{round}\left(\frac{x(v)}{s(v)}\right)"
    assert code.general == rf"q(v) = \operatorname{{clip}}\left({inside},\; - q_{{\max}},\; q_{{\max}}\right)"
    assert r"\frac{\left(-0.37\right)}{\frac{1}{7}}" in code.substituted and code.exact == "−3"
    scale = ranges(LAB, Scheme(bits=4))[0].explain(0, "peak")
    assert scale.substituted.startswith(r"m = \max\left(") and "0.83" in scale.substituted
    up = quantize(LAB, Scheme(bits=4, rule="half_up")).explain(1, "code").general
    away = quantize(LAB, Scheme(bits=4, rule="half_away")).explain(1, "code").general
    assert r"\lfloor" in up and r"\operatorname{sgn}" in away and r"\operatorname{sgn}" not in up
