"""How a number is printed: rounding against `decimal`, signs, infinities, fractions, LaTeX, and names."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import get_args

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.expression import REAL, Largest, Product, Total, real
from mechanisms.formula_tex import write_tex
from mechanisms.quantity import (
    Kind,
    Quantity,
    as_fraction,
    decimal_text,
    exact_text,
    is_infinite,
    number_tex,
    print_text,
    short_text,
    signed,
    symbol,
    text_tex,
)
from tests.oracle_rejection import SEEDED
from tests.oracle_tex import tex_number

TIES = st.builds(
    lambda n, places: (Fraction(2 * n + 1, 2 * 10**places), places), st.integers(-999, 999), st.integers(0, 8)
)
ANY = st.tuples(st.fractions(-1000, 1000, max_denominator=10**9), st.integers(0, 12))


@SEEDED
@given(st.one_of(TIES, ANY))
def test_rounding_is_half_to_even(case: tuple[Fraction, int]) -> None:
    """Fixed decimals are those of decimal.Decimal at 60 digits, ROUND_HALF_EVEN; every second case is a tie."""
    value, places = case
    with localcontext() as context:
        context.prec = 60
        wanted = (Decimal(value.numerator) / value.denominator).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    text = f"{abs(wanted):f}"
    assert decimal_text(value, places) == (f"−{text}" if wanted < 0 else text)


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [("0.5", 0, "0"), ("1.5", 0, "2"), ("2.5", 0, "2"), ("-0.5", 0, "0"), ("-1.5", 0, "−2"),
     ("0.0000005", 6, "0.000000"),
     ("0.0000015", 6, "0.000002"), ("-0.0000004", 6, "0.000000"), ("4/7", 6, "0.571429"),
     ("1e20", 2, "1" + "0" * 20 + ".00")],
)  # fmt: skip
def test_rounding_by_hand(value: str, places: int, text: str) -> None:
    """Ties go to the even neighbour, zero has no sign, and large numbers keep all digits."""
    assert decimal_text(Fraction(value), places) == text


def test_reals_are_rounded_from_all_their_digits() -> None:
    """A 50-digit real just above a tie rounds up, although float64 would take it for the tie."""
    above = real(Fraction(1, 2 * 10**6)) + REAL.mpf(10) ** -40
    assert decimal_text(above) == "0.000001" and float(above) == 5e-7
    assert as_fraction(-REAL.mpf(3) / 8) == Fraction(-3, 8) and as_fraction(REAL.mpf(2) ** 70) == 2**70
    assert as_fraction(7) == 7 and as_fraction(REAL.mpf(0)) == 0


@pytest.mark.parametrize(("value", "text"), [(REAL.inf, "∞"), (-REAL.inf, "−∞")], ids=["plus", "minus"])
def test_infinity_is_printed(value: object, text: str) -> None:
    """Infinities have a sign and no digits, everywhere."""
    count = Quantity("t.n", "n", "derived", counts=True)
    assert is_infinite(value) and not is_infinite(Fraction(10**400))  # type: ignore[arg-type]
    assert decimal_text(value) == short_text(value) == print_text(count, value) == text  # type: ignore[arg-type]
    assert tex_number(number_tex(text)) == (math.inf if text == "∞" else -math.inf)


@SEEDED
@given(st.fractions(-50, 50, max_denominator=5000))
def test_short_text_is_exact(value: Fraction) -> None:
    """A rational in a substituted line is written without loss, as text and as LaTeX."""
    text = short_text(value)
    assert Fraction(text.replace("−", "-")) == value == Fraction(exact_text(value).replace("−", "-"))
    assert ("/" in text) == ((value * 10**6).denominator != 1)
    assert tex_number(number_tex(text)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [("0", "0"), ("10", "10"), ("100", "100"), ("0.5", "0.5"), ("-2.50", "−2.5"), ("4/7", "4/7"), ("1e-6", "0.000001"),
     ("1e-7", "1/10000000")],
)  # fmt: skip
def test_short_text_by_hand(value: str, text: str) -> None:
    """Trailing zeros go, those of whole numbers stay, and what six places cannot hold is a fraction."""
    assert short_text(Fraction(value)) == text


def test_counts_are_bare_integers() -> None:
    """A count prints without decimals while it is whole; other quantities keep six places."""
    count, mass = (Quantity("t.n", "n", "derived", counts=c) for c in (True, False))
    assert [print_text(count, Fraction(x)) for x in ("7", "-7", "7/2")] == ["7", "−7", "3.500000"]
    assert print_text(mass, Fraction(7)) == "7.000000"
    assert print_text(mass, real(Fraction(1, 3))) == "0.333333"


@pytest.mark.parametrize("power", [7, 30, 320], ids=lambda p: f"1e-{p}")
def test_tiny_numbers_do_not_print_as_zero(power: int) -> None:
    """What six places would show as 0 keeps three significant digits, with its sign; 0 itself stays 0."""
    mass = Quantity("t.p", "p", "derived")
    for value in (Fraction(2, 3 * 10**power), real(Fraction(2, 3 * 10**power)), Fraction(-2, 3 * 10**power)):
        text = print_text(mass, value).replace("−", "-")
        assert abs(Fraction(text) / as_fraction(value) - 1) < Fraction(1, 100)
    assert print_text(mass, Fraction(0)) == "0.000000"
    assert print_text(mass, Fraction(1, 2 * 10**6)) in ("0.000000", "5e−7", "5.0e−7", "5.00e−7")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_known_kinds(kind: Kind) -> None:
    """Every kind of the wiki can be used."""
    assert Quantity("t.a", "a", "chosen", kind=kind).kind == kind


@pytest.mark.parametrize(
    ("id", "kind"), [("t.a", "guess"), ("t.a", ""), ("ta", "exact"), ("t.a.b", "exact")],
    ids=["unknown-kind", "no-kind", "no-topic", "two-dots"],
)  # fmt: skip
def test_bad_quantities_are_errors(id: str, kind: str) -> None:
    """An unknown kind, and an id that is not `<topic>.<name>`, are ValueErrors."""
    with pytest.raises(ValueError):
        Quantity(id, "a", "chosen", kind=kind)  # type: ignore[arg-type]


def test_symbols_carry_their_row() -> None:
    """A symbol has its index, the name of a row, or neither where it is one number of the table."""
    assert Quantity("t.a", "a", "chosen").tex() == "a(v)"
    assert Quantity("t.a", "a", "chosen").tex("x_1") == r"a(\text{x\_1})"
    assert Quantity("t.a", "a", "chosen", index="").tex("x") == "a"
    assert Quantity("t.a", "a", "chosen").sym == symbol("a")
    assert sp.Abs(symbol("a")) == symbol("a") and sp.Abs(signed("a")) != signed(Quantity("t.a", "a", "chosen"))


def test_text_is_escaped() -> None:
    """No character of a row name is a command of LaTeX."""
    assert text_tex("100% & $5_#{}") == r"\text{100\% \& \$5\_\#\{\}}"
    assert text_tex("词 ×2") == r"\text{词 ×2}"


a, b = symbol("a"), symbol("b")


@pytest.mark.parametrize(
    ("expression", "general", "written"),
    [
        (sp.Min(1, a / b), r"\min\left(1, \frac{a}{b}\right)", r"\min\left(1, \frac{2}{4}\right)"),
        (sp.Max(0, a - b), r"\max\left(0, a - b\right)", r"\max\left(0, 2 - 4\right)"),
        (Total(a), r"\sum_{v} a", "2 + 3"),
        (1 - Total(a), r"1 - \sum_{v} a", r"1 - \left(2 + 3\right)"),
        (b / Total(a), r"\frac{b}{\sum_{v} a}", r"\frac{4}{2 + 3}"),
        (Largest(sp.Abs(a - b)), r"\max_{v} \left|{a - b}\right|",
         r"\max\left(\left|{2 - 4}\right|,\; \left|{3 - 5}\right|\right)"),
        (a**2, "a^{2}", r"\left(2\right)^{2}"),
        (Product(1 - a), r"\prod_{v} \left(1 - a\right)", r"\left(1 - 2\right) \cdot \left(1 - 3\right)"),
    ],
    ids=["min", "max", "total", "one-minus-total", "over-total", "largest", "square", "product"],
)  # fmt: skip
def test_formulas_are_written_as_papers_do(expression: sp.Basic, general: str, written: str) -> None:
    """Constants come first, sums have brackets only where they need them, in symbols and in numbers."""
    numbers = {"a": "23", "b": "45"}
    assert write_tex(expression, lambda s, _: s, "ab") == general
    assert write_tex(expression, lambda s, r: numbers[s][r or 0], "ab", rows=2) == written


def test_measured_values_have_the_places_they_were_recorded_with() -> None:
    """No zeros that nobody measured; a tiny one keeps its power of ten, and the same number of another kind its six."""
    measured = Quantity("demo.time", "t", "derived", kind="measured")
    computed = Quantity("demo.time", "t", "derived", kind="float")
    texts = [
        (real("39.8"), "39.8", "39.800000"),
        (real("-0.0120"), "−0.012", "−0.012000"),
        (real("1.23e-9"), "1.23e−9", "1.23e−9"),
    ]
    for value, own, six in texts:
        assert (print_text(measured, value), print_text(computed, value)) == (own, six)
    assert print_text(measured, Fraction("0.38369")) == "0.383690"  # stored as a decimal: six places, as its column
