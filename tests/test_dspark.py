"""The survival chain, its cost and its tables against outcomes that are counted one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.dspark import MOST_POSITIONS, cap_table, law_table, substitution_table, summary_table, survival_table
from mechanisms.dspark import survivals as chances_of
from mechanisms.dspark_cost import best_length, cost_table
from mechanisms.dspark_presets import CHAINS, DRAFT_TIME, FIXED_TIME, VERIFY
from mechanisms.dspark_recompute import count_rounds, count_table, counted_caps, mean_table
from mechanisms.quantity import Quantity, as_fraction
from mechanisms.table import Table
from mechanisms.verify import REFERENCE, compare
from mechanisms.verify_dspark import TABLES as REFERENCES
from tests.oracle_dspark import CHAINS as RANDOM
from tests.oracle_dspark import lengths_law
from tests.oracle_dspark_tables import TABLES, value
from tests.oracle_rejection import SEEDED

PRINTED = [Fraction(c) for c in ("0.9", "0.8", "0.6", "0.4")]
TIMES = st.integers(1, 40).map(lambda n: Fraction(n, 10))


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_tables_agree(name: str) -> None:
    """Each reference file of the chapter, cell by cell."""
    found = compare(name, REFERENCES[name](), REFERENCE / f"{name}.csv")
    assert found.differences == () and found.cells > 20


def test_reference_files_are_all_covered() -> None:
    """Every dspark file in the folder has a table here."""
    assert {p.stem for p in REFERENCE.glob("dspark_*.csv") if not p.stem.startswith("dspark_drafter")} == set(
        REFERENCES
    )


@SEEDED
@given(RANDOM)
def test_chain_equals_the_enumeration(chain: list[Fraction]) -> None:
    """Law, expected tokens, accepted length and every cap are those of all 2^K patterns."""
    law = lengths_law(chain)
    found = law_table(chain)
    assert list(found.column("ends_here")) == [law[i] for i in range(len(chain) + 1)]
    tokens = sum(w * (i + 1) for i, w in law.items())
    whole = summary_table(chain)
    assert whole.value(0, "tokens_per_round") == tokens == survival_table(chain).value(len(chain), "expected_tokens")
    assert whole.value(0, "accepted_tokens") == tokens - 1
    for m, capped in enumerate(cap_table(chain).column("capped_tokens")):
        assert capped == sum(w * min(i + 1, m) for i, w in law.items())


@SEEDED
@given(RANDOM.filter(bool))
def test_constant_rates_equal_the_enumeration(chain: list[Fraction]) -> None:
    """The yield of a constant rate is that of a chain of equal c, and the errors are differences to the true one."""
    table = substitution_table(chain)
    true = as_fraction(summary_table(chain).value(0, "tokens_per_round"))
    for row in range(3):
        rate = as_fraction(table.value(row, "rate_used"))
        constant = sum(w * (i + 1) for i, w in lengths_law([rate] * len(chain)).items())
        assert table.value(row, "tokens_if_constant") == constant
        assert table.value(row, "token_error") == constant - true
        assert table.value(row, "relative_error") == (constant - true) / true


def test_published_numbers() -> None:
    """0.9, 0.72, 0.432, 0.1728 and 3.2248 tokens; best lengths 4 on curve A and 2 on curve B (audited document, §7)."""
    assert [str(s) for s in chances_of(PRINTED)] == ["1", "9/10", "18/25", "54/125", "108/625"]
    assert summary_table(PRINTED).value(0, "tokens_per_round") == Fraction("3.2248")
    found = {x: cost_table(PRINTED, v, draft=DRAFT_TIME, fixed=FIXED_TIME) for x, v in VERIFY.items()}
    assert {x: best_length(t) for x, t in found.items()} == {"A": 4, "B": 2}


@SEEDED
@given(RANDOM, st.lists(TIMES, min_size=1, max_size=7), TIMES, TIMES)
def test_cost_equals_plain_arithmetic(
    chain: list[Fraction], verify: list[Fraction], draft: Fraction, fixed: Fraction
) -> None:
    """Rates from the enumerated law, and every length that reaches the largest is marked."""
    table = cost_table(chain, verify, draft=draft, fixed=fixed)
    speeds = []
    for k in range(min(len(chain) + 1, len(verify))):
        tokens = sum(w * (i + 1) for i, w in lengths_law(chain[:k]).items())
        speeds.append(tokens / (fixed + verify[k] + (draft if k else 0)))
    assert list(table.column("token_rate")) == speeds
    assert [bool(x) for x in table.column("is_best")] == [s == max(speeds) for s in speeds]
    assert best_length(table) == speeds.index(max(speeds))


def test_undefined_positions_need_a_dead_prefix() -> None:
    """A c may be missing behind a zero only, and stays undefined there while its survival is 0."""
    table = survival_table(CHAINS["dead"])
    assert table.value(4, "conditional_acceptance") is None and table.value(4, "prefix_survival") == 0
    assert summary_table(CHAINS["dead"]).value(0, "mean_conditional") is None
    with pytest.raises(ValueError, match="position 2 is undefined"):
        survival_table((Fraction(1, 2), None))


@pytest.mark.parametrize(
    ("chain", "match"),
    [
        ((Fraction(11, 10),), r"11/10 at position 1"),
        ((Fraction(1), Fraction(-1, 10)), r"-1/10 at position 2"),
        ((Fraction(1),) * (MOST_POSITIONS + 1), "17 positions"),
    ],
    ids=["above-one", "negative", "long"],
)
def test_bad_chains_are_refused(chain: tuple[Fraction, ...], match: str) -> None:
    """Each fault is a ValueError that names position and value."""
    for use in (chances_of, survival_table, summary_table, law_table, cap_table):
        with pytest.raises(ValueError, match=match):
            use(chain)


@pytest.mark.parametrize(
    ("verify", "draft", "fixed"),
    [((), 0, 0), ((1, 0), 0, 0), ((1, -1), 0, 0), ((1,), -1, 0), ((1,), 0, -1)],
    ids=["empty", "zero", "negative", "draft", "fixed"],
)
def test_bad_costs_are_refused(verify: tuple[int, ...], draft: int, fixed: int) -> None:
    """Times of verification are positive, the others not negative."""
    with pytest.raises(ValueError, match=r"verify|draft"):
        cost_table(PRINTED, [Fraction(v) for v in verify], draft=Fraction(draft), fixed=Fraction(fixed))


def test_ten_thousand_vectors() -> None:
    """The grid gives 1000, 1800, 2880, 2592 and 1728 rounds, mean 3.2248, and every cap exactly."""
    steps = list(count_rounds(PRINTED))
    assert [done for done, _ in steps] == list(range(500, 10001, 500))
    counts = steps[-1][1]
    assert [counts[i] for i in range(5)] == [1000, 1800, 2880, 2592, 1728]
    table = count_table(PRINTED, counts)
    assert set(table.column("rounds_difference")) == {0}
    assert (
        mean_table(table).value(0, "counted_tokens") == mean_table(table).value(0, "exact_tokens") == Fraction("3.2248")
    )
    assert set(counted_caps(PRINTED, counts).column("capped_difference")) == {0}


def test_grid_is_exact_for_tenths_only() -> None:
    """A third is no multiple of a tenth: 3 of 10 midpoints lie below it, and the difference shows."""
    *_, (_, counts) = count_rounds([Fraction(1, 3)])
    assert counts == {1: 3, 0: 7}
    assert count_table([Fraction(1, 3)], counts).value(1, "rounds_difference") == Fraction(-1, 3)


def test_grid_is_made_of_midpoints() -> None:
    """A uniform of exactly 0.95 is not below 0.95, and 0.05 not below 0.05: 9 and 0 of 10 pass."""
    for c, passed in ((Fraction(19, 20), 9), (Fraction(1, 20), 0)):
        *_, (_, counts) = count_rounds([c])
        assert counts[1] == passed


@pytest.mark.parametrize("chain", [[], [Fraction(1, 2)] * 5], ids=["empty", "long"])
def test_enumeration_is_bounded(chain: list[Fraction]) -> None:
    """No position, or more than four, is refused before anything runs."""
    with pytest.raises(ValueError, match="must be 1 … 4"):
        next(count_rounds(chain))


def cells_of(name: str) -> Iterator[tuple[Table, Quantity, int]]:
    for table in TABLES[name]():
        for quantity in table.columns:
            yield from ((table, quantity, row) for row in range(len(table.rows)))


@pytest.mark.parametrize("name", TABLES)
def test_substituted_formulas_denote_their_cells(name: str) -> None:
    """Each cell's formula with its numbers, evaluated by a reader of LaTeX, is the cell."""
    seen = 0
    for table, quantity, row in cells_of(name):
        cell, told = table.value(row, quantity.name), table.explain(row, quantity.name)
        assert told.source and told.function and told.unit
        if cell is None or " = " not in told.substituted or r"\infty" in told.substituted:
            continue
        if quantity.kind == "simulated" and quantity.expression is None:
            continue
        found, seen = value(told.substituted), seen + 1
        if isinstance(cell, Fraction) and quantity.kind not in ("float", "simulated"):
            assert found == cell, (table.id, quantity.name, row, told.substituted)
        else:
            assert math.isclose(found, as_fraction(cell), rel_tol=1e-5, abs_tol=1e-6), (quantity.name, told.substituted)
    assert seen > (8 if name != "versions" else 5)
