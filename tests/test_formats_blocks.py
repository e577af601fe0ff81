"""Block formats against stored results of torchao, compressed-tensors, bitsandbytes, and against gguf, ml_dtypes."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import gguf
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.formats_blocks import Blocks, e8m0_decode, e8m0_encode, mx_exponent, mxfp4, nvfp4
from mechanisms.formats_compare import FORMATS, bell, nf4, scaled_float, through
from mechanisms.formats_floats import E2M1, E4M3, E5M2, decode, encode
from mechanisms.formats_nf4 import CODE, double_quantized, nf4_block, nf4_index, quantile_code
from tests.oracle_quant import SEEDED, VECTORS

CASES: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "quant" / "cases.json").read_text(encoding="utf-8")
)  # made by produce.py beside it
MX_FORMS = {"torch.float4_e2m1fn_x2": E2M1, "torch.float8_e4m3fn": E4M3, "torch.float8_e5m2": E5M2}
FLOAT32 = 2.0**-22  # a few roundings of binary32, relative


def exact(numbers: list[float]) -> list[Fraction]:
    return [Fraction(x) for x in numbers]


def clear(x: Fraction, scale: Fraction) -> bool:
    """Whether x/s lies away from a tie by more than what binary32 may blur."""
    return abs((x / scale) % 1 - Fraction(1, 2)) > Fraction(1, 10**4)


def close(found: tuple[Fraction, ...], wanted: list[float]) -> None:
    np.testing.assert_allclose([float(y) for y in found], wanted, rtol=FLOAT32, atol=1e-9)


@pytest.mark.parametrize("case", CASES["affine"], ids=lambda c: f"b{c['bits']}-g{c['group']}-sym{c['symmetric']}")
def test_affine_equals_torchao(case: dict[str, Any]) -> None:
    """Scales, zero points, codes and values are torchao's: it rounds x/s first and adds the zero point then, as we do.

    Codes within 1e-4 of a tie are not compared: torchao multiplies by binary32(1/s).
    """
    scheme = Scheme(bits=case["bits"], group=case["group"], symmetric=case["symmetric"])
    compared = 0
    for x, scales, zeros, codes, back in zip(
        *(case[k] for k in ("x", "scale", "zero", "codes", "restored")), strict=True
    ):
        values = exact(x)
        groups, table = ranges(values, scheme), quantize(values, scheme)
        close(tuple(g.value(0, "scale") for g in groups), scales)  # type: ignore[arg-type]
        if not scheme.symmetric:
            assert [g.value(0, "zero_point") for g in groups] == np.ravel(zeros).tolist()
        for i, v in enumerate(values):
            if clear(v, table.value(i, "scale")):  # type: ignore[arg-type]
                compared += 1
                assert table.value(i, "code") == codes[i]
                assert float(table.value(i, "restored")) == pytest.approx(back[i], rel=FLOAT32, abs=1e-9)  # type: ignore[arg-type]
    assert compared > 56  # of 64


@pytest.mark.parametrize("case", CASES["signed_affine"], ids=lambda c: f"b{c['bits']}")
def test_signed_asymmetric_codes_are_ours_less_half(case: dict[str, Any]) -> None:
    """compressed-tensors counts from −2^(b−1), and rounds x/s + z: codes are ours less 2^(b−1), away from ties."""
    scheme = Scheme(bits=case["bits"], group=case["group"], symmetric=False)
    half, compared = 2 ** (case["bits"] - 1), 0
    for x, zeros, codes, back in zip(*(case[k] for k in ("x", "zero", "codes", "restored")), strict=True):
        values = exact(x)
        table = quantize(values, scheme)
        assert [g.value(0, "zero_point") - half for g in ranges(values, scheme)] == zeros  # type: ignore[operator]
        for i, v in enumerate(values):
            if clear(v, table.value(i, "scale")):  # type: ignore[arg-type]
                compared += 1
                assert table.value(i, "code") - half == codes[i]  # type: ignore[operator]
                assert float(table.value(i, "restored")) == pytest.approx(back[i], rel=FLOAT32, abs=1e-9)  # type: ignore[arg-type]
    assert compared > 56  # of 64


@pytest.mark.parametrize("case", CASES["mx"], ids=lambda c: f"{c['form'][6:]}-{c['rule']}")
def test_mx_equals_torchao_bit_for_bit(case: dict[str, Any]) -> None:
    """Exponents and values of every block are torchao's, for both scale rules and three element formats."""
    form = MX_FORMS[case["form"]]
    for x, exponents, back in zip(case["x"], case["exponents"], case["restored"], strict=True):
        done = mxfp4(exact(x), case["rule"], form=form)
        assert list(done.scales) == [Fraction(2) ** e for e in exponents]
        assert [float(y) for y in done.restored] == back


def test_mx_equals_gguf_away_from_ties() -> None:
    """gguf's MXFP4 has our FLOOR scale; at a tie it takes the smaller magnitude, so ties are left out."""
    x = np.array([row[:32] for row in CASES["mx"][0]["x"]], dtype=np.float32)
    back = gguf.quants.dequantize(
        gguf.quants.quantize(x, gguf.GGMLQuantizationType.MXFP4), gguf.GGMLQuantizationType.MXFP4
    )
    middles, compared = [Fraction(t) for t in ("1/4", "3/4", "5/4", "7/4", "5/2", "7/2", "5")], 0
    for row, wanted in zip(x.tolist(), back.tolist(), strict=True):
        done = mxfp4(exact(row))
        for v, y, w in zip(exact(row), done.restored, wanted, strict=True):
            if abs(v / done.scales[0]) not in middles:
                compared += 1
                assert float(y) == w
    assert compared > 150  # of 192


def test_nvfp4_equals_two_libraries() -> None:
    """Both scale conventions give the stored values; torchao keeps block scales normal, compressed-tensors does not."""
    for name, subnormal in (("nvfp4_torchao", False), ("nvfp4_compressed", True)):
        rows = CASES[name]["x"]
        done = nvfp4([Fraction(v) for row in rows for v in row], subnormal_scales=subnormal)
        close(done.restored, [v for row in CASES[name]["restored"] for v in row])


def test_nvfp4_least_block_scale_by_hand() -> None:
    """With tensor scale 1, a block up to 6·2^−9 keeps its subnormal scale; held at 2^−6 its 3/4 ties to 1."""
    values = [Fraction(2688)] * 16 + [Fraction(6, 2**9)]
    assert nvfp4(values).restored[-1] == Fraction(6, 2**9) and nvfp4(values).scales == (448, Fraction(1, 512))
    assert nvfp4(values, subnormal_scales=False).restored[-1] == Fraction(1, 64)
    assert nvfp4([*values[:16], Fraction(1, 2**12)]).scales[1] == 0  # too small for any scale: the block is lost


def test_nf4_equals_bitsandbytes() -> None:
    """The code table is the published one, binary32 for binary32; indices, scales and values are bitsandbytes'."""
    case = CASES["nf4"]
    assert [np.float32(float(y)) for y in CODE] == [np.float32(y) for y in case["code"]]
    values = exact(case["x"])
    blocks = [nf4_block(values[i : i + 64]) for i in range(0, len(values), 64)]
    assert [float(scale) for scale, _, _ in blocks] == case["scales"]
    assert [i for _, indices, _ in blocks for i in indices] == case["indices"]
    close(nf4(values), case["restored"])


def test_nf4_levels_are_normal_quantiles() -> None:
    """Each level, times the largest quantile, cuts off the tail mass of the construction; 2e-7 is binary32's share."""
    np.testing.assert_allclose(quantile_code(), [float(y) for y in CODE], atol=2e-7)
    top = stats.norm.ppf(0.9677083)
    masses = stats.norm.cdf(np.array([float(y) for y in CODE]) * top)
    np.testing.assert_allclose(masses[8:], np.linspace(0.5, 0.9677083, 9)[1:], atol=1e-6)
    np.testing.assert_allclose(masses[:8], np.linspace(1 - 0.9677083, 0.5, 8), atol=1e-6)


def test_nf4_edges() -> None:
    """A midpoint takes the lower index, a block of zeros index 7; beyond the block's maximum there is no index."""
    middles = [(a + b) / 2 for a, b in pairwise(CODE)]
    assert [nf4_index(m) for m in middles] == list(range(15))
    assert nf4_block([Fraction(0)] * 3) == (0, (7, 7, 7), (0, 0, 0))
    with pytest.raises(ValueError, match="share"):
        nf4_index(Fraction(2))
    with pytest.raises(ValueError, match="values"):
        nf4_block([])
    with pytest.raises(ValueError, match="scales"):
        double_quantized([])


def test_double_quantization_moves_scales_by_half_a_step() -> None:
    """Scales come back within half a step of the second grid, equal ones exactly; one block keeps its scale."""
    scales = [Fraction(n, 7) for n in (3, 9, 4, 30)]
    mean, step, back = double_quantized(scales)
    assert mean == sum(scales) / 4 and step == (scales[3] - mean) / 127
    assert all(abs(a - b) <= step / 2 for a, b in zip(scales, back, strict=True))
    assert double_quantized([Fraction(5)] * 3)[2] == (5, 5, 5)
    values = list(bell(64))
    assert nf4(values, double=True) == nf4(values)


def test_e8m0_equals_ml_dtypes() -> None:
    """Every code and the rounding of positive binary16 numbers are those of ml_dtypes; 255 is NaN."""
    wanted = np.arange(255, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    assert [float(e8m0_decode(code)) for code in range(255)] == wanted.tolist()  # type: ignore[arg-type]
    assert e8m0_decode(255) is None
    halves = np.arange(1, 0x7C00, dtype=np.uint16).view(np.float16)
    codes = halves.astype(np.float32).astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
    assert [e8m0_encode(Fraction(float(x))) for x in halves] == codes.tolist()
    assert (e8m0_encode(Fraction(1, 2**200)), e8m0_encode(Fraction(2**200))) == (0, 254)
    for call in (lambda: e8m0_encode(Fraction(0)), lambda: e8m0_decode(256)):
        with pytest.raises(ValueError):
            call()


def test_scale_rules_by_hand() -> None:
    """Peaks 6, 7 and 7.9 have FLOOR exponent 0; EVEN lifts everything from 7 on. Zeros get the least scale."""
    peaks = [Fraction(t) for t in ("4", "6", "69/10", "7", "79/10", "8")]
    assert [mx_exponent(p, "floor") for p in peaks] == [0, 0, 0, 0, 0, 1]
    assert [mx_exponent(p, "even") for p in peaks] == [0, 0, 0, 1, 1, 1]
    assert mxfp4([Fraction(7)]).restored == (6,) and mxfp4([Fraction(7)], "even").restored == (8,)
    assert mxfp4([Fraction(0)] * 2) == Blocks((Fraction(1, 2**127),), (0, 0), (0, 0))
    assert nvfp4([Fraction(0)] * 20).restored == (0,) * 20 and len(nvfp4([Fraction(0)] * 20).scales) == 2
    for call in (lambda: mxfp4([]), lambda: nvfp4([]), lambda: mx_exponent(Fraction(-1), "floor")):
        with pytest.raises(ValueError):
            call()


@SEEDED
@given(VECTORS, st.sampled_from(["floor", "even"]))
def test_mx_blocks_are_scaled_numbers(values: list[Fraction], rule: Any) -> None:
    """Scaling a block by a power of two scales its result; no error exceeds half a spacing below the top."""
    done = mxfp4(values, rule)
    assert mxfp4([8 * v for v in values], rule).restored == tuple(8 * y for y in done.restored)
    for x, y in zip(values, done.restored, strict=True):
        assert abs(x - y) <= max(abs(x) / 4, done.scales[0] / 4)


@pytest.mark.parametrize("form", FORMATS, ids=[f.id for f in FORMATS])
def test_every_format_totals_what_it_stores(form: Any) -> None:
    """Errors are restored minus original, and the bits of 256 values are counted by hand."""
    values = bell()
    rows, totals = through(values, form)
    back = form.restore(values)
    assert rows.column("error") == tuple(y - x for x, y in zip(values, back, strict=True))
    assert totals.value(0, "mean_squared_error") == sum((y - x) ** 2 for x, y in zip(values, back, strict=True)) / 256
    stored = {
        "int8": 2064, "int4": 1040, "int4_g256": 1040, "int4_g128": 1056, "int4_g64": 1088, "int4_g32": 1152,
        "int4_g128_zero": 1064, "int4_g32_zero": 1184, "fp8_e4m3": 2080, "fp8_e5m2": 2080, "fp4_e2m1": 1056,
        "mxfp4_floor": 1088, "mxfp4_even": 1088, "nvfp4": 1184, "nf4": 1152, "nf4_double": 1120,
    }  # fmt: skip
    assert totals.value(0, "stored_bits") == stored[form.id]
    assert form.restore([Fraction(0)] * 64) == (0,) * 64


def test_bell_is_a_gaussian_with_an_outlier() -> None:
    """Without its last value the vector has the moments of a unit Gaussian; with it the order spreads the quantiles."""
    values = [float(v) for v in bell(256, None)]
    assert sorted(values) == sorted(round(float(q), 3) for q in stats.norm.ppf((np.arange(256) + 0.5) / 256))
    assert bell(256)[:255] == bell(256, None)[:255] and bell(256)[-1] == 8
    assert len(set(bell(128, None))) == 128
    for count in (32, 96):
        with pytest.raises(ValueError, match="count"):
            bell(count)


def test_scaled_float_keeps_the_largest_value() -> None:
    """The largest magnitude is restored exactly, others as the format rounds them at that scale."""
    values = [Fraction(-3), Fraction(1, 7)]
    done = scaled_float(values, E4M3)
    assert done[0] == -3
    assert done[1] == decode(E4M3, encode(E4M3, Fraction(448, 21))) * Fraction(3, 448)  # type: ignore[operator]
