"""Pairs, blends and what people type: every problem code, and nothing that is repaired in silence."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.distribution import (
    MAX_NAME,
    MAX_TOKENS,
    Code,
    InvalidInput,
    Pair,
    Problem,
    normalised,
    read_column,
    read_names,
    read_number,
    read_pair,
)
from tests.oracle_rejection import SEEDED, Law, laws, two_laws

NUMBERS = {
    "0.4": "2/5", "4e-1": "2/5", "1/3": "1/3", " 2 / 6 ": "1/3", ".5": "1/2", "1.": "1", "+1": "1", "00.50": "1/2",
    "-0": "0", "0/7": "0", "1E2": "100", "０．２５": "1/4", "１／４": "1/4", "＋０.５": "1/2", "　0.5　": "1/2",
    "５ｅ－１": "1/2", "1e-99": f"1/{10**99}",
}  # fmt: skip
REFUSED = {
    "": "empty", "   ": "empty", "　": "empty", "nan": "not_finite", "NaN": "not_finite", "inf": "not_finite",
    "-Infinity": "not_finite", "＋∞": "not_finite", "−∞": "not_finite", "1/0": "not_finite", "0/0": "not_finite",
    "-0.1": "negative", "−0.1": "negative", "－１": "negative", "-1/3": "negative", "x": "not_a_number",
    "0,5": "not_a_number", "1/3/2": "not_a_number", "1_000": "not_a_number", "0x1": "not_a_number",
    "--1": "not_a_number",
    "5%": "not_a_number", "1 2": "not_a_number", "e5": "not_a_number", ".": "not_a_number", "1.2.3": "not_a_number",
    "10²": "not_a_number", "1/": "not_a_number", "1e400": "too_precise", "1e-400": "too_precise",
    "1e999999999999": "too_precise", "0." + "1" * 41: "too_precise", "1/" + "3" * 41: "too_precise",
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NUMBERS.items(), ids=[f"'{t}'" for t in NUMBERS])
def test_numbers_are_read_exactly(text: str, value: str) -> None:
    """Decimals, exponents, ratios and their full-width forms become the rational that they denote."""
    assert read_number(text) == Fraction(value)


@pytest.mark.parametrize(("text", "code"), REFUSED.items(), ids=[f"'{t[:20]}'" for t in REFUSED])
def test_bad_numbers_name_their_problem(text: str, code: str) -> None:
    """What is no usable number gives the code of what is wrong."""
    assert read_number(text) == code


@pytest.mark.parametrize("unit", ["9", "0.", ".", "1/", "e9", "-", "∞", "１", " ", "½"], ids=repr)
def test_a_million_characters_are_refused(unit: str) -> None:
    """A text of 10⁶ characters gives a code; no pattern backtracks over it and no huge power is formed."""
    assert read_number(unit * (10**6 // len(unit))) in get_args(Code)


@SEEDED
@given(st.fractions(0, 1, max_denominator=10**12), st.integers(0, 30))
def test_numbers_round_trip(x: Fraction, places: int) -> None:
    """A ratio, and a decimal with any number of places, come back as they were printed."""
    assert read_number(str(x)) == x
    whole = int(x * 10**places)
    assert read_number(f"{whole}e-{places}") == Fraction(whole, 10**places)
    text = str(whole).zfill(places + 1)
    assert read_number(f"{text[: len(text) - places]}.{text[len(text) - places :]}") == Fraction(whole, 10**places)


@SEEDED
@given(two_laws(1, MAX_TOKENS))
def test_pairs_round_trip(both: tuple[Law, Law]) -> None:
    """A pair read from its own fractions is the same pair."""
    names = tuple(f"词{i}" for i in range(len(both[0])))
    p, q = ([str(x) for x in law] for law in both)
    assert read_pair([f" {n} " for n in names], p, q) == Pair(names, tuple(both[0]), tuple(both[1]))


def codes(error: pytest.ExceptionInfo[InvalidInput]) -> list[tuple[str, str, int | None]]:
    return [(p.code, p.column, p.row) for p in error.value.problems]


@pytest.mark.parametrize(
    ("names", "p", "q", "found"),
    [
        ("A B", "0.5 0.6", "0.5 0.5", [("sum_not_one", "p", None)]),
        ("A B", "0.5 0.5", "0.33 0.66", [("sum_not_one", "q", None)]),
        ("A B", "0 0", "0 1", [("no_mass", "p", None)]),
        ("A B", "x -1", "nan 0.5", [("not_a_number", "p", 0), ("negative", "p", 1), ("not_finite", "q", 0)]),
        ("A A", "1 0", "1e999 0", [("name_repeated", "token", 1), ("too_precise", "q", 0)]),
        (f"A {'B' * 25}", "1 0", "1 0", [("name_too_long", "token", 1)]),
        ("A B", "1 0", "1", [("lengths_differ", "q", None)]),
        ("A", "1 0", "1 0", [("lengths_differ", "q", None)]),
        ("", "", "", [("empty", "p", None), ("empty", "q", None)]),
        ("T " * 13, "1 " * 13, "1", [("too_many", "p", None), ("lengths_differ", "q", None)]),
    ],
    ids=[
        "sum-p",
        "sum-q",
        "no-mass",
        "fields",
        "name-and-field",
        "long-name",
        "short-q",
        "short-names",
        "nothing",
        "many",
    ],
)
def test_problems_of_a_pair(names: str, p: str, q: str, found: list[tuple[str, str, int | None]]) -> None:
    """Every problem is reported with its column and row, at once."""
    with pytest.raises(InvalidInput) as error:
        read_pair(names.split(), p.split(), q.split())
    repeated = [c for c in codes(error) if c[0] == "name_repeated" and found[0][0] == "too_many"]
    assert [c for c in codes(error) if c not in repeated] == found


def test_every_code_is_reachable() -> None:
    """No code is declared that no input produces."""
    seen = set(REFUSED.values())
    seen |= {p.code for p in read_names(["", "x" * 25, "a", "a"])}
    for texts in (["0.3"], ["0"]):
        seen |= {p.code for p in read_column(texts, "p")[1]}
    for p, q, least in ((["1"] * 13, ["1"] * 13, 1), (["1"], ["1", "0"], 1), (["1"], ["1"], 2)):
        with pytest.raises(InvalidInput) as error:
            read_pair(["a"], p, q, least=least)
        seen |= {p.code for p in error.value.problems}
    assert seen == set(get_args(Code))


def test_names_are_compared_without_blanks() -> None:
    """Names that differ in outer blanks only are repeated; 24 characters are allowed and 25 are not."""
    assert read_names([" A", "A ", "B"]) == (Problem("name_repeated", "token", 1, "A"),)
    assert read_names(["x" * MAX_NAME]) == ()
    assert read_names(["x" * (MAX_NAME + 1), " "]) == (
        Problem("name_too_long", "token", 0, "x" * MAX_NAME), Problem("name_empty", "token", 1),
    )  # fmt: skip


@SEEDED
@given(laws(4), st.fractions(-1, 1, max_denominator=1000).filter(lambda x: x != 0))
def test_nothing_is_normalised_silently(law: Law, off: Fraction) -> None:
    """A column whose sum is off by anything is refused, and the numbers come back untouched."""
    moved = [law[0] + abs(off), *law[1:]]
    good, problems = read_column([str(x) for x in moved], "p")
    assert list(good) == moved and [p.code for p in problems] == ["sum_not_one"]
    assert sum(normalised(moved)) == 1 and normalised(moved)[1] * (1 + abs(off)) == law[1]


def test_sum_is_told_in_a_comparable_form() -> None:
    """A short sum is quoted exactly, a long one as its difference from 1, and an enormous one without overflow."""

    def detail(*texts: str) -> str:
        return read_column(texts, "p")[1][0].detail

    assert detail("0.5", "0.6") == "11/10"
    assert detail("1", "1e-30") == "1 + 1e-30"
    assert detail("0.5", f"0.4{'9' * 30}") == "1 − 1e-31"
    assert len(detail("9" * 40 + "e99", "1e-99")) < 2 * MAX_NAME


def test_normalising_nothing_is_an_error() -> None:
    """Zeros cannot be scaled to a law."""
    with pytest.raises(ValueError, match="sum to 0"):
        normalised([Fraction(0)] * 3)


HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("tokens", "p", "q"),
    [("AB", (HALF, HALF), (HALF,)), ("", (), ()), ("AB", (HALF, HALF), (HALF, HALF / 2)), ("AB", (2, -1), (1, 0))],
    ids=["short", "empty", "sum", "negative"],
)  # fmt: skip
def test_pair_checks_itself(tokens: str, p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> None:
    """A pair of unlike lengths, without tokens, with a wrong sum or a negative value cannot be built."""
    with pytest.raises(ValueError):
        Pair(tuple(tokens), p, q)


def test_classes_split_into_equal_tokens() -> None:
    """A class of m tokens splits into m equal parts; the favourite is the likeliest single token, first on a tie."""
    pair = Pair(("A", "B"), (Fraction(2, 5), Fraction(3, 5)), (Fraction(1, 4), Fraction(3, 4)), (1, 3))
    single = pair.single()
    assert single.tokens == ("A", "B#1", "B#2", "B#3") and single.multiplicity == (1, 1, 1, 1)
    assert single.p == (Fraction(2, 5), *[Fraction(1, 5)] * 3) and single.q == (Fraction(1, 4),) * 4
    assert pair.labels == ("A", "B ×3")
    assert (pair.favourite("p"), pair.favourite("q")) == (0, 0)
