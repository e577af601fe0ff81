"""Small float formats against ml_dtypes and torch over every binary16 number, and against hand-worked code points."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.error_budget import Scheme, ranges
from mechanisms.formats_floats import (
    E2M1,
    E4M3,
    E5M2,
    FORMATS,
    SPECIALS,
    MiniFloat,
    code_points,
    decode,
    encode,
    round_array,
)
from mechanisms.formats_overflow import overflow
from mechanisms.formats_regions import float_regions, integer_region
from tests.oracle_quant import SEEDED

DTYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn}
TORCH = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
HALVES = np.arange(65536, dtype=np.uint16).view(np.float16)
FINITE = HALVES[np.isfinite(HALVES)]
IDS = [f.id for f in FORMATS]


def other_cast(form: MiniFloat, halves: np.ndarray) -> np.ndarray:
    """ml_dtypes' cast; numpy warns where a number becomes NaN, which is one of the things compared here."""
    with np.errstate(invalid="ignore"):
        return halves.astype(DTYPES[form.id])


def as_float(value: Fraction | str) -> float:
    return float(value)


@pytest.mark.parametrize("form", FORMATS, ids=IDS)
def test_code_points_equal_ml_dtypes(form: MiniFloat) -> None:
    """Every code decodes to the number, NaN or infinity that ml_dtypes finds in it."""
    wanted = np.arange(form.codes, dtype=np.uint8).view(DTYPES[form.id]).astype(np.float64)
    np.testing.assert_array_equal([as_float(decode(form, code)) for code in range(form.codes)], wanted)


@pytest.mark.parametrize("form", FORMATS, ids=IDS)
def test_cast_of_every_half_equals_ml_dtypes(form: MiniFloat) -> None:
    """All 65,536 binary16 inputs round as ml_dtypes rounds them: without saturation in FP8, with it in E2M1.

    Infinities in E2M1 become 6 in both; NaN has no code there and is left out.
    """
    halves = HALVES[~np.isnan(HALVES)] if form is E2M1 else HALVES
    wanted = other_cast(form, halves).astype(np.float64)
    found = round_array(form, halves.astype(np.float64), saturate=form is E2M1)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("form", FORMATS, ids=IDS)
@pytest.mark.parametrize("saturate", [True, False], ids=["saturate", "special"])
def test_exact_encoding_equals_the_array_cast(form: MiniFloat, saturate: bool) -> None:
    """Encoding rationals one by one gives the numbers of the array search, for every finite binary16 input."""
    found = [as_float(decode(form, encode(form, Fraction(float(x)), saturate=saturate))) for x in FINITE]
    np.testing.assert_array_equal(found, round_array(form, FINITE.astype(np.float64), saturate=saturate))


def test_codes_equal_ml_dtypes() -> None:
    """The codes themselves agree, signs of rounded-off numbers included; −0 as an input has no rational."""
    for form in (E4M3, E5M2):
        wanted = other_cast(form, FINITE).view(np.uint8)
        for x, code in zip(FINITE[::7], wanted[::7], strict=True):
            found = encode(form, Fraction(float(x)), saturate=False)
            if form is E4M3 and decode(form, found) == "nan":
                assert code % 128 == found % 128 == 127
            elif x != 0:
                assert found == code


@pytest.mark.parametrize("form", [E4M3, E5M2], ids=["e4m3", "e5m2"])
def test_cast_of_every_half_equals_torch(form: MiniFloat) -> None:
    """torch casts as we do with saturation in E4M3 (infinities become 448) and without it in E5M2."""
    wanted = torch.from_numpy(HALVES.copy()).to(TORCH[form.id]).double().numpy()
    np.testing.assert_array_equal(round_array(form, HALVES.astype(np.float64), saturate=form is E4M3), wanted)


def test_overflow_is_the_only_difference_of_the_two_casts() -> None:
    """torch 2.13 and ml_dtypes differ in E4M3 exactly where a number rounds beyond 448, above 464."""
    torch_cast = torch.from_numpy(HALVES.copy()).to(TORCH["e4m3"]).double().numpy()
    other = other_cast(E4M3, HALVES).astype(np.float64)
    differ = ~((torch_cast == other) | (np.isnan(torch_cast) & np.isnan(other)))
    np.testing.assert_array_equal(differ, np.abs(HALVES.astype(np.float64)) > 464)
    assert [decode(E4M3, encode(E4M3, Fraction(x), saturate=False)) for x in (464, 465)] == [448, "nan"]
    assert [decode(E4M3, encode(E4M3, Fraction(x))) for x in (464, 465, 10**9)] == [448] * 3


def test_specials() -> None:
    """Infinities saturate or stay; NaN stays; E2M1 has neither."""
    assert [decode(E5M2, encode(E5M2, x, saturate=False)) for x in SPECIALS] == ["nan", "inf", "-inf"]
    assert [decode(E5M2, encode(E5M2, x)) for x in ("inf", "-inf")] == [57344, -57344]
    assert [decode(E4M3, encode(E4M3, x, saturate=False)) for x in SPECIALS] == ["nan"] * 3
    assert [decode(E4M3, encode(E4M3, x)) for x in ("inf", "-inf")] == [448, -448]
    assert decode(E2M1, encode(E2M1, "-inf", saturate=False)) == -6
    with pytest.raises(ValueError, match="NaN"):
        encode(E2M1, "nan")
    for code in (-1, 16):
        with pytest.raises(ValueError, match="code"):
            decode(E2M1, code)


@pytest.mark.parametrize(
    ("form", "largest", "least_normal", "least"),
    [(E4M3, "448", "1/64", "1/512"), (E5M2, "57344", "1/16384", "1/65536"), (E2M1, "6", "1", "1/2")],
    ids=IDS,
)
def test_published_limits(form: MiniFloat, largest: str, least_normal: str, least: str) -> None:
    """Largest, least normal and least number are those commonly given for these formats."""
    assert form.largest == Fraction(largest)
    assert decode(form, 2**form.fraction_bits) == Fraction(least_normal) and decode(form, 1) == Fraction(least)


def test_ties_go_to_the_even_code() -> None:
    """Halfway points of E2M1 and two of E4M3, worked by hand; half the least number becomes 0."""
    ties = {"1/4": "0", "3/4": "1", "5/4": "1", "7/4": "2", "5/2": "2", "7/2": "4", "5": "4"}
    assert {t: str(decode(E2M1, encode(E2M1, Fraction(t)))) for t in ties} == ties
    assert [decode(E4M3, encode(E4M3, Fraction(x))) for x in (17, 19)] == [16, 20]
    assert encode(E4M3, Fraction(1, 1024)) == 0 and encode(E4M3, Fraction(-1, 1024)) == 128


@SEEDED
@given(st.sampled_from(FORMATS), st.fractions(-600, 600))
def test_encoding_takes_a_nearest_number(form: MiniFloat, x: Fraction) -> None:
    """No code point lies closer than the chosen one."""
    numbers = [v for v in (decode(form, c) for c in range(form.codes)) if isinstance(v, Fraction)]
    chosen = decode(form, encode(form, x))
    assert isinstance(chosen, Fraction) and abs(chosen - x) == min(abs(v - x) for v in numbers)
    assert encode(form, chosen) in (encode(form, x), encode(form, x) % (form.codes // 2))


def test_code_table_explains_a_subnormal() -> None:
    """Code 3 of E4M3 is 3/8 of the least normal number; NaN is an undefined cell."""
    table = code_points(E4M3)
    assert table.explain(3, "code_point").exact == "3/512" and table.value(127, "code_point") is None
    assert r"\max\left(1, E(v)\right)" in table.explain(3, "code_point").general
    assert table.rows[0x7E] == "7e" and code_points(E2M1).rows[15] == "f"


@pytest.mark.parametrize("form", FORMATS, ids=IDS)
def test_regions_hold_the_worst_errors(form: MiniFloat) -> None:
    """In every region the largest errors over a fine sample are those of the table; the sample holds its midpoints."""
    table = float_regions(form)
    for row in range(len(table.rows)):
        low, high, spacing, worst, relative = (table.value(row, q.name) for q in table.columns)
        points = [low + (high - low) * Fraction(i, 64) for i in range(64) if low + i]  # type: ignore[operator]
        errors = [abs(decode(form, encode(form, x)) - x) for x in points]  # type: ignore[operator]
        assert max(errors) == worst == spacing / 2  # type: ignore[operator]
        assert max(e / x for e, x in zip(errors, points, strict=True)) <= relative  # type: ignore[operator]
        first = low + spacing / 2  # type: ignore[operator]
        assert abs(decode(form, encode(form, first)) - first) / first == relative  # type: ignore[operator]


def test_integer_region_is_half_a_step() -> None:
    """An integer grid has one absolute error; below half a step all of a value is lost."""
    scale = ranges([Fraction(1)], Scheme(bits=4))[0].value(0, "scale")
    table = integer_region(scale, 7)  # type: ignore[arg-type]
    assert (table.value(0, "worst_error"), table.value(0, "worst_relative_error")) == (Fraction(1, 14), 1)
    with pytest.raises(ValueError, match="scale"):
        integer_region(Fraction(0), 7)


@pytest.mark.parametrize("saturate", [True, False], ids=["saturate", "strict"])
def test_overflow_table_equals_ml_dtypes(saturate: bool) -> None:
    """Without saturation each row is ml_dtypes' cast; with it, the input is clipped to the largest number first. The
    tie at the limit goes to the even code: the largest number in E4M3, infinity in E5M2."""
    table = overflow(saturate=saturate)
    for row, name in enumerate(table.rows):
        x, result = table.value(row, "cast_input"), table.value(row, "cast_result")
        dtype = DTYPES[name.split()[0]]
        most = float(ml_dtypes.finfo(dtype).max)
        with np.errstate(invalid="ignore"):
            wanted = np.float64(np.float32(np.clip(float(x), -most, most) if saturate else float(x)).astype(dtype))
        assert math.isnan(wanted) if result is None else float(result) == wanted, name
        assert (
            float(table.value(row, "overflow_limit")) == most + (most - float(np.nextafter(dtype(most), dtype(0)))) / 2
        )
    told = [overflow(saturate=False).value(row, "cast_result") for row in (0, 1, 3, 5)]
    assert told == [448, None, math.inf, -math.inf]
