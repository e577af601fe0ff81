"""The four sums, the accumulator, requantization and a whole layer against torch, ONNX Runtime, NumPy and Fraction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.integer_matmul import PRESET, Case, ledger, sums
from mechanisms.integer_matmul_accumulator import (
    CODE_RANGES,
    CodeType,
    accumulate,
    overflow_table,
    product_range,
    saturating_pairs,
    wrap,
)
from mechanisms.integer_matmul_layer import four_sums, run_layer
from mechanisms.integer_matmul_requantize import fixed_point, requantize, requantize_exact, requantize_table
from mechanisms.quantity import as_fraction
from mechanisms.values.integer_matmul import VALUES
from tests.oracle_calibration import cases

CODE, ZERO = st.integers(-128, 127), st.integers(-128, 255)


@given(st.lists(st.tuples(st.integers(0, 255), CODE), min_size=1, max_size=12), ZERO, ZERO)
def test_sums_equal_the_shifted_product(codes: list[tuple[int, int]], z_x: int, z_w: int) -> None:
    """Both ways of the table equal NumPy's int64 product of the shifted codes, and their difference is exactly 0."""
    case = Case(tuple(a for a, _ in codes), tuple(b for _, b in codes), z_x, z_w)
    wanted = int((np.array(case.q_x) - z_x) @ (np.array(case.q_w) - z_w))
    table = sums(case)
    assert table.value(0, "accumulated") == table.value(0, "accumulated_directly") == wanted
    assert table.value(0, "difference") == 0
    assert sum(as_fraction(t) for t in ledger(case).column("shifted_product")) == wanted


def test_sums_of_the_preset_by_hand() -> None:
    """12·−7 + 200·3 + 90·5 + 143·−2 = 680; Σq_x = 445; Σq_w = −1; 680 + 445 + 110 − 440 = 795 (worked by hand)."""
    table = sums(PRESET)
    names = ("sum_products", "sum_activations", "sum_weights", "constant_term", "accumulated")
    assert [table.value(0, n) for n in names] == [680, 445, -1, -440, 795]
    text = table.explain(0, "sum_products").substituted
    assert text.startswith("S_{xw} = 12") and r"\left(-7\right)" in text


@pytest.mark.parametrize(
    ("q_x", "q_w"), [((1,), (1, 2)), ((), ()), ((1,) * 13, (1,) * 13), ((2**15 + 1,), (0,))],
    ids=["lengths", "empty", "long", "large"],
)  # fmt: skip
def test_bad_case_is_refused(q_x: tuple[int, ...], q_w: tuple[int, ...]) -> None:
    """Unequal, empty, too long or too large codes are errors."""
    with pytest.raises(ValueError, match="q_x"):
        Case(q_x, q_w)


@pytest.mark.parametrize("seed", range(5))
def test_int8_product_equals_torch(seed: int) -> None:
    """Without zero points the sums are torch._int_mm's int32 result."""
    rng = np.random.default_rng(seed)
    n, k, m = (int(v) for v in rng.integers(1, 70, 3))
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((n, k), (k, m)))
    wanted = torch._int_mm(torch.tensor(a), torch.tensor(b))
    assert (four_sums(a.astype(np.int64), b.astype(np.int64), 0, 0) == wanted.numpy()).all()


@pytest.mark.parametrize("case", [c for c in cases("matmul_integer") if c["top"] == 63], ids=range(3))
def test_zero_points_equal_onnxruntime(case: dict) -> None:
    """ONNX Runtime's MatMulInteger with both zero points, as stored, with and without precomputed column sums."""
    a, b = np.array(case["a"]), np.array(case["b"])
    for known in (None, b.sum(axis=0)):
        assert (four_sums(a, b, case["za"], case["zb"], weight_sums=known) == np.array(case["y"])).all()


@pytest.mark.parametrize("case", [c for c in cases("matmul_integer") if c["top"] == 127], ids=range(2))
def test_saturating_pairs_equal_onnxruntime_on_avx2(case: dict) -> None:
    """With 8-bit weights its stored result (AVX2, no VNNI) is not the product, but ours with saturated pairs."""
    a, b, za, zb = np.array(case["a"]), np.array(case["b"]), case["za"], case["zb"]
    raw = np.array([[saturating_pairs(row.tolist(), column.tolist()) for column in b.T] for row in a])
    ours = raw - zb * a.sum(axis=1, keepdims=True) - za * b.sum(axis=0) + a.shape[1] * za * zb
    assert (ours == np.array(case["y"])).all()
    assert (four_sums(a, b, za, zb) != np.array(case["y"])).any()


@pytest.mark.parametrize("w", CODE_RANGES)
@pytest.mark.parametrize("x", CODE_RANGES)
def test_first_overflow_is_tight(x: CodeType, w: CodeType) -> None:
    """K* worst-case products leave the register and K* − 1 do not, for every pair of types and every width."""
    low, high = product_range(x, w)
    found = overflow_table(x, w)
    for row, bits in enumerate((16, 32, 64)):
        first = int(as_fraction(found.value(row, "first_overflow")))
        worst = [low * first, high * first]
        assert any(wrap(v, bits) != v for v in worst)
        assert all(wrap(v * (first - 1) // first, bits) == v * (first - 1) // first for v in worst)


def test_first_overflow_of_int8() -> None:
    """128² · 2^17 = 2^31, one more than int32 holds; int16 fails at the second product already."""
    assert [overflow_table("int8", "int8").value(r, "first_overflow") for r in (0, 1)] == [2, 131072]
    assert overflow_table("uint8", "int8").value(1, "first_overflow") == 65794
    assert overflow_table("uint8", "uint8").explain(1, "first_overflow").substituted == "K^* = 33026"


@given(st.lists(st.integers(-(2**14), 2**14), max_size=30), st.sampled_from([16, 32]))
def test_register_equals_numpy(products: list[int], bits: int) -> None:
    """The held sums are those of a NumPy integer of that width; the last is true iff the true sum fits."""
    dtype = {16: np.int16, 32: np.int32}[bits]
    events = accumulate(products, bits)
    held = np.cumsum(np.array(products, dtype=dtype), dtype=dtype)
    assert [e.held for e in events] == held.tolist()
    assert [e.true for e in events] == np.cumsum(np.array(products, dtype=np.int64)).tolist()
    if events:
        fits = -(2 ** (bits - 1)) <= events[-1].true < 2 ** (bits - 1)
        assert (events[-1].held == events[-1].true) == fits


def test_wrap_on_the_way_may_heal() -> None:
    """32767 + 1 wraps and − 1 wraps back: the final sum is right although two additions left the range."""
    events = accumulate([32767, 1, -1], 16)
    assert [e.held for e in events] == [32767, -32768, 32767]
    assert [e.wrapped for e in events] == [False, True, True]


@given(st.fractions(Fraction(1, 10**6), 1000), st.integers(-(2**31), 2**31 - 1), st.integers(-128, 127))
def test_fixed_point_is_near_the_rational(multiplier: Fraction, accumulated: int, zero: int) -> None:
    """M₀ is a 31-bit integer within 2^−31 of M, relative; codes differ by at most one where A·M is below 2^30."""
    fixed = fixed_point(multiplier)
    assert 2**30 <= fixed.mantissa < 2**31
    assert abs(fixed.mantissa / Fraction(2) ** fixed.shift / multiplier - 1) <= Fraction(1, 2**31)
    clip = {"zero_point": zero, "low": -(2**50), "high": 2**50}  # wide enough never to clip: |A·M| < 2^41
    exact, ours = requantize_exact(accumulated, multiplier, **clip), requantize(accumulated, fixed, **clip)
    if abs(accumulated * multiplier) < 2**30:
        assert abs(exact - ours) <= 1
    scaled = accumulated * fixed.mantissa / Fraction(2) ** fixed.shift
    assert abs(ours - zero - scaled) <= Fraction(1, 2) and ours - zero - scaled != Fraction(-1, 2)


def test_tie_parts_exact_and_fixed_point() -> None:
    """795/10 = 79.5 goes up exactly; 1/10 as 1717986918/2^34 is less than 1/10, and 79.4999… goes down."""
    tables = {name.split(".")[1]: make() for name, make in VALUES.items()}
    cell = {name: table.value(row, column) for name, (table, row, column) in tables.items()}
    assert (cell["exact_code"], cell["fixed_point_code"]) == (80, 79)
    assert Fraction(1717986918, 2**34) < Fraction(1, 10) and (cell["mantissa"], cell["shift"]) == (1717986918, 34)
    for table, row, column in tables.values():
        assert table.explain(row, column).substituted


@pytest.mark.parametrize("bad", [{"x_scale": 0}, {"w_scale": -1}, {"y_scale": 0}, {"low": 5, "high": 4}], ids=str)
def test_bad_scales_are_refused(bad: dict) -> None:
    """Scales must be positive, the range must not be empty."""
    scales = {"x_scale": Fraction(1), "w_scale": Fraction(1), "y_scale": Fraction(1)}
    with pytest.raises(ValueError):
        requantize_table(1, **{**scales, **bad})


def test_layer_in_integers_is_the_dequantized_product() -> None:
    """y_integer equals the float64 product of the dequantized codes to 1e-12, so the codes alone make the error."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((9, 33)), rng.standard_normal((33, 5))
    run = run_layer(x, w)
    dequantized = run.activation.scale * (run.q_x - run.activation.zero_point) @ (run.weight_scale * run.q_w)
    np.testing.assert_allclose(run.y_integer, dequantized, rtol=1e-12, atol=1e-12)
    assert 0 < run.code_error < run.total_error < 0.05 * np.abs(run.y_float).max()
    exact = [[requantize_exact(int(a), Fraction(run.activation.scale) * Fraction(float(s)) / Fraction(run.output.scale),
                               zero_point=run.output.zero_point, low=-128, high=127)
              for a, s in zip(row, run.weight_scale, strict=True)] for row in run.accumulated]  # fmt: skip
    assert (np.array(exact) == run.y_code).all()


@pytest.mark.parametrize("x", [np.zeros((3, 4)), np.full((1, 4), -2.0)], ids=["zeros", "negative"])
def test_layer_edges(x: np.ndarray) -> None:
    """All-zero and one-signed inputs keep 0 exact: a zero activation adds nothing."""
    run = run_layer(x, np.eye(4))
    np.testing.assert_allclose(run.y_integer, x, atol=1e-12)


def test_bad_layers_are_refused() -> None:
    """Shapes that do not match, sides beyond 1024, and values that are not finite."""
    for x, w in (
        (np.ones((2, 3)), np.ones((2, 3))),
        (np.ones((1025, 1)), np.ones((1, 1))),
        (np.array([[np.nan]]),) * 2,
    ):
        with pytest.raises(ValueError):
            run_layer(x, w)
