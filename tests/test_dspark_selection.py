"""Length policies: exact laws against an enumeration, the paper's example, and draws beside them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.dspark_presets import EXAMPLES, Example
from mechanisms.dspark_selection import POLICIES, Policy, distance, first_output, lengths, rates
from mechanisms.dspark_simulation import draw
from tests.oracle_dspark import CHANCES, first_token
from tests.oracle_rejection import SEEDED, total_variation, two_laws

SPEEDS = st.lists(st.integers(1, 20).map(lambda n: Fraction(n, 10)), min_size=3, max_size=3).map(tuple)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    p, q = draw(two_laws(2, 4))
    second = tuple(draw(CHANCES) for _ in p)
    return Example(tuple("ABCD"[: len(p)]), tuple(p), tuple(q), second, draw(SPEEDS))


@SEEDED
@given(examples())
def test_laws_equal_the_enumeration(example: Example) -> None:
    """Every policy's law is that of all outcomes; it sums to 1, and its distance is the largest over all events."""
    for policy in POLICIES:
        table = first_output(example, policy)
        law = list(table.column("first_output"))
        assert law == first_token(example.p, example.q, example.second, example.sps, policy)
        assert sum(law) == 1  # type: ignore[arg-type]
        assert distance(table).value(0, "distance") == total_variation(example.p, law)  # type: ignore[arg-type]


@SEEDED
@given(examples())
def test_policies_that_do_not_look_ahead_are_exact(example: Example) -> None:
    """Sampling the target and stopping at the first drop leave p as it is, whatever the numbers."""
    for policy in ("target", "first_drop"):
        assert first_output(example, policy).column("first_output") == example.p
        assert len({min(1, x) for x in lengths(example, policy)}) == 1  # the first draft never decides about itself


def test_appendix_of_the_paper() -> None:
    """Θ = 1, 0.9, then 1.134 after A and 0.81 after B; hindsight gives 0.85 and 0.15, early stop 0.7 and 0.3."""
    example = EXAMPLES["appendix"]
    table = rates(example)
    assert table.value(0, "first_acceptance") == Fraction("0.8")
    assert [[table.value(r, f"rate_{k}") for k in range(3)] for r in (0, 1)] == [
        [1, Fraction("0.9"), Fraction("1.134")], [1, Fraction("0.9"), Fraction("0.81")],
    ]  # fmt: skip
    assert lengths(example, "hindsight") == (2, 0) and lengths(example, "first_drop") == (0, 0)
    assert first_output(example, "hindsight").column("first_output") == (Fraction("0.85"), Fraction("0.15"))
    assert first_output(example, "first_drop").column("first_output") == (Fraction("0.7"), Fraction("0.3"))


def test_ties_go_to_the_shorter_length() -> None:
    """Θ = 1, 1, 1: neither policy verifies what brings nothing (worked by hand)."""
    half = (Fraction(1, 2), Fraction(1, 2))
    example = Example(("A", "B"), half, half, (Fraction(1), Fraction(1)), (Fraction(1), Fraction(1, 2), Fraction(1, 3)))
    assert lengths(example, "hindsight") == lengths(example, "first_drop") == (0, 0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_draws_tell_the_policies_apart(name: str) -> None:
    """20,000 draws reject hindsight at 1e-12 and neither exact policy at 1e-4 (seeds fixed); frequencies lie within
    four standard errors of the exact law."""
    for policy in POLICIES:
        found = draw(EXAMPLES[name], policy, 20_000, seed=5)
        assert sum(r.count for r in found.rows) == 20_000
        assert (found.p_value < 1e-12) == (policy == "hindsight")
        if policy != "hindsight":
            assert found.p_value > 1e-4
        for row, exact in zip(found.rows, first_output(EXAMPLES[name], policy).column("first_output"), strict=True):
            assert abs(row.count / 20_000 - float(exact)) < 4 * 0.5 / 20_000**0.5  # type: ignore[arg-type]


def test_draws_cover_every_path() -> None:
    """A draft with q above p is corrected, one of no mass never drafted, and a forbidden token never comes out."""
    example = Example(("x", "y", "z"), (Fraction(1, 2), Fraction(1, 2), Fraction(0)),
                      (Fraction(1, 5), Fraction(0), Fraction(4, 5)), (Fraction(1), Fraction(1), Fraction(1)),
                      (Fraction(1, 10), Fraction(1), Fraction(1)))  # fmt: skip
    found = draw(example, "first_drop", 5000, seed=2)
    assert found.impossible == 0 and found.p_value > 1e-3
    assert abs(found.accepted / 5000 - 0.2) < 0.03


@pytest.mark.parametrize(
    "change",
    [{"p": (Fraction(1),)}, {"p": (Fraction(1, 2), Fraction(1, 3))}, {"q": (Fraction(3, 2), Fraction(-1, 2))},
     {"second": (Fraction(2), Fraction(0))}, {"sps": (Fraction(1), Fraction(1))},
     {"sps": (Fraction(1), Fraction(0), Fraction(1))}, {"tokens": (), "p": (), "q": (), "second": ()}],
    ids=["short", "sum", "negative", "chance", "two-speeds", "zero-speed", "empty"],
)  # fmt: skip
def test_bad_examples_are_refused(change: dict) -> None:
    """Each fault is a ValueError that names the field."""
    good = {"tokens": ("A", "B"), "p": EXAMPLES["small"].p, "q": EXAMPLES["small"].q,
            "second": EXAMPLES["small"].second, "sps": EXAMPLES["small"].sps}  # fmt: skip
    with pytest.raises(ValueError, match=r"must|need"):
        Example(**{**good, **change})


@pytest.mark.parametrize("draws", [0, 1_000_001])
def test_draws_are_bounded(draws: int) -> None:
    with pytest.raises(ValueError, match="must lie in"):
        draw(EXAMPLES["small"], "hindsight", draws, seed=1)


def test_unknown_policy_is_refused() -> None:
    policy: Policy = "luck"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="policy='luck'"):
        lengths(EXAMPLES["small"], policy)
