"""Pasted lists: equal to the ledger where they are short, exact or honestly float, bounded where they are long."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.distribution import InvalidInput, Pair, split_list
from mechanisms.quantity import as_fraction
from mechanisms.rejection_ledger import summary
from mechanisms.rejection_lists import MAX_LIST, list_summary, read_lists
from tests.oracle_rejection import SEEDED, Law, laws, shares, two_laws

EXACT = ("acceptance_rate", "rejection_probability", "correction_total", "largest_error")
# A denominator for each list that no product of 512 bits holds: a prime for each of 100 tokens.
PRIMES = [n for n in range(2, 600) if all(n % d for d in range(2, math.isqrt(n) + 1))][:100]
UNLIKE = shares([Fraction(1, n) for n in PRIMES])
PLAIN = [Fraction(1, 100)] * 100


def text_of(law: Law) -> str:
    return " ".join(str(x) for x in law)


@SEEDED
@given(two_laws(1, 6))
def test_short_lists_equal_the_ledger(both: tuple[Law, Law]) -> None:
    """Totals of two pasted lists are those of the ledger, exactly; KL to 1e-12, as its sum is float64."""
    p, q = both
    ours = list_summary(*read_lists(text_of(p), text_of(q)))
    wanted = summary(Pair(tuple(map(str, range(len(p)))), tuple(p), tuple(q)))
    for name in EXACT:
        assert ours.value(0, name) == wanted.value(0, name)
    assert [q.kind for q in ours.columns] == ["exact"] * 4 + ["float"]
    kl = wanted.value(0, "kl_divergence")
    assert float(ours.value(0, "kl_divergence")) == pytest.approx(float(kl), abs=1e-12)  # type: ignore[arg-type]


@SEEDED
@given(laws(5), st.integers(0, 8), st.integers(1, 1000))
def test_normalising_divides_by_the_sum(law: Law, places: int, factor: int) -> None:
    """With `normalise` any multiple of a law, printed as decimals or fractions, stands for the law that it sums to."""
    counts = [int(x * 840 * factor) for x in law]
    if not any(counts):
        return
    decimals = " ".join(f"{c // 10**places}.{c % 10**places:0{places}d}" if places else str(c) for c in counts)
    wanted = shares(counts)
    for text in (decimals, " ".join(f"{c}/7" for c in counts), ",".join(f"{c}e-{places}" for c in counts)):
        (p, q) = read_lists(text, text, normalise=True)
        assert [Fraction(x, p.whole) for x in p.parts] == wanted == [Fraction(x, q.whole) for x in q.parts]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["0.5 0.25\n0.25", "0.5,0.25;0.25", "0.5，0.25；0.25", "0.5、0.25\t 0.25 ", "\n1/2, 1/4 ,,1/4"],
    ids=["blanks", "ascii", "full-width", "enumeration", "repeated"],
)
def test_separators(text: str) -> None:
    """Blanks, commas, semicolons, their full-width forms and enumeration commas separate numbers."""
    assert len(split_list(text)) == 3
    p, _ = read_lists(text, "0.5 0.25 0.25")
    assert [Fraction(x, p.whole) for x in p.parts] == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("p", "q", "found"),
    [
        ("0.5 0.5", "1", [("lengths_differ", "q", None, "2 ≠ 1")]),
        ("", "1", [("empty", "p", None, "")]),
        ("0.5 x y", "1 0 nan", [("not_a_number", "p", 1, "x"), ("not_finite", "q", 2, "nan")]),
        ("0.5 0.4", "-1 2", [("sum_not_one", "p", None, "9/10"), ("negative", "q", 0, "-1")]),
        ("0 0", "0.5 0.50001", [("no_mass", "p", None, ""), ("sum_not_one", "q", None, "100001/100000")]),
        ("1 " * (MAX_LIST + 1), "1", [("too_many", "p", None, "200001")]),
        ("1", "0 " * (MAX_LIST + 1), [("too_many", "q", None, "200001")]),
        ("0.5 0." + "5" * 41, "1 0", [("too_precise", "p", 1, "0." + "5" * 22)]),
    ],
    ids=["lengths", "empty", "fields", "sum-and-sign", "mass", "many-p", "many-q", "precise"],
)
def test_problems_of_lists(p: str, q: str, found: list[tuple[str, str, int | None, str]]) -> None:
    """Each list names its first bad number or what is wrong with it as a whole; nothing is normalised unasked."""
    with pytest.raises(InvalidInput) as error:
        read_lists(p, q)
    assert [(x.code, x.column, x.row, x.detail) for x in error.value.problems] == found


@pytest.mark.parametrize("normalise", [False, True], ids=["as-is", "normalise"])
def test_no_mass_cannot_be_normalised(normalise: bool) -> None:
    """Zeros are refused, with `normalise` too."""
    with pytest.raises(InvalidInput, match="no_mass"):
        read_lists("0 0", "0 1", normalise=normalise)


@pytest.mark.parametrize(
    ("p", "q"), [(UNLIKE, UNLIKE[::-1]), (UNLIKE, PLAIN), (PLAIN, UNLIKE)], ids=["both", "target", "draft"]
)
def test_huge_denominators_become_floats(p: Law, q: Law) -> None:
    """Where a common denominator exceeds 512 bits the totals are float64, say so, and are right to 1e-12."""
    assert math.lcm(*(x.denominator for x in UNLIKE)).bit_length() > 512
    raw = [" ".join(f"1/{n}" for n in PRIMES), " ".join(f"1/{n}" for n in PRIMES[::-1]), text_of(PLAIN)]
    names = {id(law): raw[i] for i, law in ((0, UNLIKE), (2, PLAIN))}
    ours = list_summary(*read_lists(names.get(id(p), raw[1]), names.get(id(q), raw[1]), normalise=True))
    assert {c.kind for c in ours.columns} == {"float"}
    alpha = float(sum(min(a, b) for a, b in zip(p, q, strict=True)))
    kl = math.fsum(float(a) * math.log(a / b) for a, b in zip(p, q, strict=True))
    wanted = (alpha, 1 - alpha, 1 - alpha, 0.0, kl)
    assert [float(c[0]) for c in ours.cells] == pytest.approx(wanted, abs=1e-12)  # type: ignore[arg-type]


def test_longest_lists_are_exact() -> None:
    """200,000 tokens keep exact totals: a uniform target and a draft on its first half share one half.

    No time is asserted; the sum of all numbers has one denominator, so each token costs a few integer operations.
    """
    n = MAX_LIST
    p, q = read_lists("0.000005 " * n, "0.00001," * (n // 2) + "0 " * (n // 2))
    table = list_summary(p, q)
    assert [table.value(0, name) for name in EXACT] == [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2), 0]
    assert table.value(0, "kl_divergence") == math.inf
    assert (p.parts == [1] * n and p.whole == n) or Fraction(p.parts[0], p.whole) == Fraction(1, n)
    swapped = list_summary(q, p)
    assert abs(as_fraction(swapped.value(0, "kl_divergence")) - Fraction(math.log(2))) < Fraction(1, 10**12)  # type: ignore[arg-type]


def test_sums_of_long_lists_are_not_written_out() -> None:
    """The formula of a total keeps its sum sign, with the number of tokens as its limit."""
    table = list_summary(*read_lists("0.25 0.75", "0.5 0.5"))
    assert table.explain(0, "acceptance_rate").substituted == r"\alpha = \sum_{v=1}^{2} d(v)"
    assert table.explain(0, "acceptance_rate").exact == "3/4"
