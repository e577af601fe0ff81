"""The drafter's toy: laws, bias, walk, collisions, labels, order; by enumeration, with torch and published numbers."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.drafter_confidence import context_table, label, label_table, means
from mechanisms.drafter_order import LOCKS, TEMPERATURES, leads, order_table, turning_point
from mechanisms.drafter_pairs import collisions, draft_law, pair_table, two_cities
from mechanisms.drafter_published import PUBLISHED, published_points, published_summary
from mechanisms.drafter_toy import ANCHORS, LOOKUP, OUTPUT, STRENGTHS, VOCABULARY, bias, corrected, marginal
from mechanisms.drafter_walk import DRAWS, walk
from mechanisms.dspark_drafter import bias_table, block_table, law_table, size_table
from mechanisms.quantity import Quantity, as_fraction
from mechanisms.table import Table
from mechanisms.values.dspark_drafter import VALUES
from tests import oracle_drafter
from tests.oracle_drafter_tex import agrees
from tests.oracle_rejection import SEEDED

CASES = list(product(range(3), (1, 2), (0, 3, 8)))
SOME = [STRENGTHS[i] for i in (0, 3, 8)]


def every_table() -> Iterator[Table]:
    """Each kind of table at the ends of its controls and between."""
    for anchor, strength in product(("to", "New"), SOME):
        for event in walk(anchor, strength, DRAWS["first"])[2:]:
            yield bias_table(event.previous)
            yield law_table(anchor, event.position, event.previous, strength)
        pairs, rows = pair_table(anchor, 2, strength), label_table(anchor, "York", strength)
        contexts = context_table(anchor, strength)
        yield from (pairs, collisions(pairs), rows, label(rows), contexts, means(contexts))
    for lock, temperature in product(LOCKS, TEMPERATURES[::5]):
        rows = order_table(temperature, lock)
        yield from (rows, leads(rows))
    for place in PUBLISHED[::3]:
        points = published_points(place)
        yield from (points, published_summary(points, place))
    yield size_table()


def test_substituted_formulas_denote_their_cells() -> None:
    """Each cell's formula with its numbers, read back from LaTeX, is the cell; so is its exact fraction."""
    seen: set[str] = set()
    for table in every_table():
        assert all(isinstance(q, Quantity) and q.id.startswith("dspark_drafter.") for q in table.columns)
        for quantity, row in product(table.columns, range(len(table.rows))):
            assert agrees(table, row, quantity), (table.id, quantity.name, table.explain(row, quantity.name))
            seen.add(quantity.id)
    assert len(seen) > 45


@pytest.mark.parametrize(("anchor", "place", "strength"), CASES)
def test_collisions_are_those_of_all_listed_blocks(anchor: int, place: int, strength: int) -> None:
    """The probability of a pair without a city, by formula, is the sum over 216 blocks."""
    at = oracle_drafter.ANCHORS[anchor]
    found = collisions(pair_table(VOCABULARY[at], place, STRENGTHS[strength]))
    laws = (oracle_drafter.draft(at, 0), oracle_drafter.draft(at, strength), oracle_drafter.target(at))
    for name, law in zip(("clash_parallel", "clash_headed", "clash_target"), laws, strict=True):
        assert sum(law.values()) == 1
        assert found.value(0, name) == oracle_drafter.clash(law, place - 1)


def test_reference_files_are_what_the_oracle_writes() -> None:
    """The stored tables are those of the enumeration, so that neither can drift alone."""
    for name, rows in oracle_drafter.FILES.items():
        with (oracle_drafter.REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            assert list(csv.DictReader(file)) == list(rows())


@pytest.mark.parametrize("anchor", ANCHORS)
def test_laws_are_torchs_softmax_of_logits_and_bias(anchor: str) -> None:
    """softmax(ln 2 · (U + λB)) of float64 tensors, with B as the product of two matrices, is the exact law."""
    w1 = torch.tensor([LOOKUP[v] for v in VOCABULARY], dtype=torch.float64)
    w2 = torch.tensor([OUTPUT[v] for v in VOCABULARY], dtype=torch.float64).T
    assert torch.equal(w1 @ w2, torch.tensor(oracle_drafter.BIAS, dtype=torch.float64))
    for position, strength in product((2, 3), STRENGTHS):
        logits = torch.log2(torch.tensor([float(m) for m in marginal(anchor, position)], dtype=torch.float64))
        for x, previous in enumerate(VOCABULARY):
            whole = math.log(2) * (logits + float(strength) * (w1 @ w2)[x])
            exact = [float(q) for q in corrected(anchor, position, previous, strength)]
            assert torch.allclose(torch.softmax(whole, 0), torch.tensor(exact, dtype=torch.float64), atol=1e-14)
            shown = law_table(anchor, position, previous, strength)
            for have, want in zip(shown.column("logit"), logits.tolist(), strict=True):
                assert have is not None and math.isclose(float(have), want, rel_tol=1e-14)


def test_bias_rows_are_those_written_out() -> None:
    """The table's two products and their sum are the matrix of the oracle; without a previous token all are zero."""
    for previous, row in zip(VOCABULARY, oracle_drafter.BIAS, strict=True):
        assert list(bias_table(previous).column("bias")) == row
    assert set(bias_table(None).column("bias")) == {0}


def test_two_cities_by_hand() -> None:
    """Shares .6 and .4: .6 · .4 each way, .48 together, .36 + .16 match; two masks for three drafts."""
    found = two_cities(Fraction(3, 5))
    assert [found.value(0, n) for n in ("one_way", "either_way")] == [Fraction(24, 100), Fraction(48, 100)]
    assert found.value(0, "matched") == Fraction(36 + 16, 100) and block_table().value(0, "masks") == 2


def test_labels_are_torchs_total_variation() -> None:
    """1 − ½‖q − p‖₁ in float64, and Σ min(p, q), which must be the same number exactly."""
    for anchor, previous, strength in product(ANCHORS, VOCABULARY, SOME):
        rows = label_table(anchor, previous, strength)
        p, q = (
            torch.tensor([float(x) for x in rows.column(n) if x is not None], dtype=torch.float64)
            for n in ("target_probability", "draft_probability")
        )
        found = label(rows)
        assert found.value(0, "label") == found.value(0, "acceptance_rate")
        assert math.isclose(float(as_fraction(found.value(0, "label") or 0)), 1 - torch.dist(p, q, 1).item() / 2)


def test_marginals_are_a_matrix_power() -> None:
    """The backbone's rows are the rows of powers of the transition matrix, and those of the listed blocks."""
    chain = torch.tensor(oracle_drafter.CHAIN, dtype=torch.float64) / 100
    for anchor, position in product(ANCHORS, (1, 2, 3)):
        row = torch.linalg.matrix_power(chain, position)[VOCABULARY.index(anchor)]
        exact = marginal(anchor, position)
        assert torch.allclose(row, torch.tensor([float(x) for x in exact], dtype=torch.float64))
        listed = oracle_drafter.target(VOCABULARY.index(anchor))
        assert [oracle_drafter.at(listed, position - 1, v) for v in range(6)] == list(exact)


@SEEDED
@given(st.sampled_from(ANCHORS), st.sampled_from(STRENGTHS), st.lists(st.integers(0, 99), min_size=3, max_size=3))
def test_walk_draws_what_its_laws_say(anchor: str, strength: Fraction, ticks: list[int]) -> None:
    """Every drawn token covers its uniform in the running sums of the law; the block grows by one token a draw."""
    events = walk(anchor, strength, [Fraction(n, 100) for n in ticks])
    assert [e.kind for e in events] == ["input", "pass", "draw", "lookup", "draw", "lookup", "draw"]
    for event in events:
        if event.kind != "draw" or event.uniform is None:
            continue
        assert len(event.drafted) == len(event.parallel) == event.position
        law = corrected(anchor, event.position, event.previous or anchor, strength)
        at = VOCABULARY.index(event.drafted[-1])
        assert sum(law[:at]) <= event.uniform < sum(law[: at + 1])
    if strength == 0:
        assert events[-1].drafted == events[-1].parallel


def test_draws_show_what_they_are_made_for() -> None:
    """After `to`, the first two draws collide without the head and not with it; the third never does."""
    for name, (plain, headed) in {
        "first": (("New", "Angeles", "."), ("New", "York", ".")),
        "second": (("Los", "York", "."), ("Los", "Angeles", ".")),
        "third": (("New", "York", "."), ("New", "York", ".")),
    }.items():
        last = walk("to", Fraction(1), DRAWS[name])[-1]
        assert (last.parallel, last.drafted) == (plain, headed)


def test_strength_zero_is_the_parallel_draft_and_more_is_not_better() -> None:
    """Collisions fall with the bias for good, acceptance only up to a point; after a known word it falls at once."""
    at = [collisions(pair_table("to", 1, s)).value(0, "clash_headed") for s in STRENGTHS]
    assert at == sorted(at, key=lambda x: -float(as_fraction(x or 0))) and len(set(at)) == len(at)
    mean = {a: [means(context_table(a, s)).value(0, "mean_headed") for s in STRENGTHS] for a in ANCHORS}
    as_floats = {a: [float(as_fraction(x or 0)) for x in row] for a, row in mean.items()}
    assert as_floats["to"].index(max(as_floats["to"])) == 3
    assert as_floats["New"].index(max(as_floats["New"])) == 0
    assert draft_law("to", 3, Fraction(0)) == marginal("to", 3)


def test_published_flip_of_two_products() -> None:
    """(.9, .6) and (.7, .8): .540 < .560 before, .495 > .467 after T₂ = 2; in closed form √6 and 2/3 say the same."""
    rows = order_table(Fraction(2))
    assert rows.column("product_before") == (Fraction(54, 100), Fraction(56, 100))
    a, b = (float(as_fraction(x or 0)) for x in rows.column("product_after"))
    assert (round(a, 3), round(b, 3)) == (0.495, 0.467)
    assert math.isclose(a, 0.9 * math.sqrt(1.5) / (1 + math.sqrt(1.5))) and math.isclose(b, 0.7 * 2 / 3)
    both = leads(order_table(Fraction(2), "both"))
    assert both.value(0, "lead_after") > 0  # type: ignore[operator]


@pytest.mark.parametrize("lock", LOCKS)
def test_turning_point_is_where_both_draw_level(lock: str) -> None:
    """A root finder that was not written here finds the same temperature."""
    from scipy.optimize import brentq

    def lead(t: float) -> float:
        def f(c: float) -> float:
            return 1 / (1 + math.exp(-math.log(c / (1 - c)) / t))

        first = (f(0.9), f(0.7)) if lock == "both" else (0.9, 0.7)
        return first[0] * f(0.6) - first[1] * f(0.8)

    assert math.isclose(float(turning_point(lock)), brentq(lead, 1, 4, xtol=1e-12), rel_tol=1e-9)


def test_published_points_stand_as_read() -> None:
    """Spot values of the figure, all raw points below the diagonal, errors as printed."""
    assert [str(x) for x in published_points(1).column("point_before")[:2]] == ["327/1000", "119/250"]
    assert published_points(7).value(6, "seen_after") == Fraction(987, 1000)
    for place in PUBLISHED:
        points = published_points(place)
        assert all(x is not None and x > 0 for x in points.column("excess_before"))
        found = published_summary(points, place)
        assert found.value(0, "quoted_error_after") < found.value(0, "quoted_error_before")  # type: ignore[operator]


def test_sizes_by_hand() -> None:
    """49,152² = 2,415,919,104 and 2 · 49,152 · 256 = 25,165,824: one ninety-sixth."""
    sizes = size_table()
    assert (sizes.value(1, "full_table"), sizes.value(1, "two_factors")) == (2_415_919_104, 25_165_824)
    assert sizes.value(1, "size_ratio") == Fraction(1, 96) and sizes.value(0, "size_ratio") == Fraction(2, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: marginal("x", 1), "token"),
        (lambda: marginal("to", 4), "position"),
        (lambda: bias("to", "x"), "token"),
        (lambda: corrected("to", 2, "New", Fraction(1, 3)), "strength"),
        (lambda: law_table("to", 1, "New", Fraction(0)), "previous"),
        (lambda: law_table("to", 2, None, Fraction(0)), "previous"),
        (lambda: walk("to", Fraction(1), [Fraction(1)] * 3), "uniforms"),
        (lambda: walk("to", Fraction(1), [Fraction(0)]), "uniforms"),
        (lambda: pair_table("to", 3, Fraction(0)), "position"),
        (lambda: order_table(Fraction(0)), "temperature"),
        (lambda: order_table(Fraction(1), "x"), "lock"),
        (lambda: two_cities(Fraction(2)), "share"),
        (lambda: published_points(2), "place"),
        (lambda: published_summary(published_points(1), 2), "place"),
    ],
)
def test_impossible_arguments_are_named(call: object, name: str) -> None:
    """A ValueError names the argument."""
    with pytest.raises(ValueError, match=name):
        call()  # type: ignore[operator]


def test_quoted_values_are_cells() -> None:
    """Every number that the lesson quotes is a defined cell whose derivation can be opened."""
    for id, make in VALUES.items():
        table, row, name = make()
        assert table.value(row, name) is not None and table.explain(row, name).decimal, id
        assert id.startswith("dspark_drafter.")
