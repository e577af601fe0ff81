"""Reading a case or a pair from what a reader typed: what is taken, what is named, and where."""

from __future__ import annotations

import doctest
import importlib
from fractions import Fraction
from pathlib import Path

import pytest

from mechanisms.mtp_cases import CASES
from mechanisms.mtp_read import BadInput, read_case, read_drafts

MODULES = sorted(p.stem for p in (Path(__file__).parents[1] / "mechanisms").glob("mtp_*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_worked_numbers_of_docstrings(name: str) -> None:
    """Every worked number in a docstring of the chapter is what its function returns."""
    assert doctest.testmod(importlib.import_module(f"mechanisms.{name}")).failed == 0


GOOD = (["A", "B"], ["0.8", "1/5"], ["0.1", "−0.2"])


def test_good_input_is_read() -> None:
    """Fractions, powers, full-width digits and three kinds of minus signs are taken; nothing is normalised."""
    assert read_case(*GOOD) == CASES["seed"]
    assert read_case([" A ", "B"], ["８e-1", ".2"], ["+0.1", "－1/5"]).z == (Fraction(1, 10), Fraction(-1, 5))
    assert read_drafts(["x", "y"], ["1/2", "1/2"], ["1/3", "2/3"], ["0.9", "0.1"]).a == (Fraction(1, 3), Fraction(2, 3))


@pytest.mark.parametrize(
    ("names", "p", "z", "wanted"),
    [
        (["A", "B"], ["nan", "0.2"], ["0", "0"], [("not_finite", "p", 0)]),
        (["A", "B"], ["", "0.2"], ["0", " "], [("empty", "p", 0), ("empty", "z", 1)]),
        (list("ABCDEFGHI"), ["1/9"] * 9, ["0"] * 9, [("too_many", "p", None)]),
        (["A"], ["1"], ["0"], [("too_few", "p", None)]),
        (["A", "B"], ["0.8", "0.3"], ["0", "0"], [("sum_not_one", "p", None)]),
        (["A", "B"], ["0", "0"], ["0", "0"], [("no_mass", "p", None)]),
        (["A", "B"], ["0.5", "0.5"], ["101", "-1e9"], [("too_large", "z", 0), ("too_large", "z", 1)]),
        (["A", "B"], ["0.5", "0.5"], ["inf", "-inf"], [("not_finite", "z", 0), ("not_finite", "z", 1)]),
        (["A", "B"], ["-0.5", "1.5"], ["0", "--1"], [("negative", "p", 0), ("negative", "z", 1)]),
        (["A", "B"], ["<b>", "1"], ["0", "9" * 60], [("not_a_number", "p", 0), ("too_precise", "z", 1)]),
        (["A", "A"], ["0.5", "0.5"], ["0", "0"], [("name_repeated", "token", 1)]),
        (["A", ""], ["0.5", "0.5"], ["0", "0"], [("name_empty", "token", 1)]),
        (["A", "B"], ["0.5", "0.5"], ["0"], [("lengths_differ", "p", None)]),
    ],
)  # fmt: skip
def test_bad_input_is_named(names: list[str], p: list[str], z: list[str], wanted: list[tuple[object, ...]]) -> None:
    """Each fault has its code and place, all of them at once, and quotes little of what was typed."""
    with pytest.raises(BadInput) as caught:
        read_case(names, p, z)
    assert [(x.code, x.column, x.row) for x in caught.value.problems] == wanted
    assert all(len(x.detail) <= 24 for x in caught.value.problems)


def test_bad_drafts_are_named() -> None:
    """A draft with a zero would have infinite KL; a second draft's sum is its own problem."""
    with pytest.raises(BadInput) as caught:
        read_drafts(["A", "B"], ["0.5", "0.5"], ["1", "0"], ["0.5", "0.6"])
    assert [(x.code, x.column, x.row) for x in caught.value.problems] == [("zero", "a", 1), ("sum_not_one", "b", None)]
