"""The batch scheduler against brute force, against Algorithm 1 as printed, and its fast twin against both."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.dspark_batch import (
    MOST_ALLOCATIONS,
    allocation_table,
    alone_best,
    count_allocations,
    single_table,
    sum_table,
)
from mechanisms.dspark_presets import CURVES, REQUESTS
from mechanisms.dspark_scheduler import admissions, early_stop, path_best, schedule
from tests.bench_scheduler import measure
from tests.oracle_dspark import algorithm_one, brute_force, survivals

CASES = 300
WIDTH = 3


def case(seed: int) -> tuple[list[list[Fraction]], list[Fraction]]:
    """One to four requests of one to three drafts. Quarters and sixteenths: float64 holds every Θ exactly, so that
    even ties are the same in both arithmetics. Every third curve has steps, every third is a sawtooth."""
    rng = random.Random(seed)
    batch = [[Fraction(rng.randint(0, 4), 4) for _ in range(rng.randint(1, WIDTH))] for _ in range(rng.randint(1, 4))]
    most = sum(1 + len(c) for c in batch)
    shape = seed % 3
    speed, curve = 64, []
    for b in range(most):
        if shape == 0:
            speed = max(1, speed - rng.randint(0, 4))
        elif shape == 1 and b % 3 == 0:
            speed = max(1, speed - rng.randint(0, 24))
        elif shape == 2:
            speed = rng.randint(1, 64)
        curve.append(Fraction(speed, 16))
    return batch, curve


@pytest.mark.parametrize("seed", range(CASES))
def test_scheduler_equals_brute_force_and_the_printed_algorithm(seed: int) -> None:
    """Global: the same Θ as every allocation tried, with lengths that reach it. Early stop: the same lengths and Θ as
    the algorithm line by line."""
    batch, curve = case(seed)
    sps = [Fraction(0), *curve]
    path = admissions(batch, curve)
    most, choices = brute_force(batch, sps)
    best = path[path_best(path)]
    assert best.throughput == most and best.lengths in choices
    kept, theta = algorithm_one([survivals(c) for c in batch], sps)
    stop = path[early_stop(path)]
    assert (list(stop.lengths), stop.throughput) == (kept, theta)
    assert theta <= most


@pytest.mark.parametrize("seed", range(CASES))
def test_fast_scheduler_equals_the_path(seed: int) -> None:
    """On batches of equal width the array version decides exactly as the step-by-step one, both ways."""
    batch, curve = case(seed)
    wide = [(c + [Fraction(0)] * WIDTH)[:WIDTH] for c in batch]
    curve = curve + [Fraction(1, 16)] * (len(wide) * (1 + WIDTH) - len(curve))
    path = admissions(wide, curve)
    for early, place in ((True, early_stop(path)), (False, path_best(path))):
        found = schedule(np.array(wide, dtype=float), np.array(curve, dtype=float), early=early)
        point = path[place]
        assert (tuple(found.lengths), found.positions) == (point.lengths, point.positions)
        assert (Fraction(found.throughput), Fraction(found.tokens)) == (point.throughput, point.tokens)


def test_fast_scheduler_on_a_large_batch() -> None:
    """4,096 requests of eight drafts with random float rates: Θ and lengths are those of the printed algorithm."""
    rng = np.random.default_rng(0)
    rates = rng.beta(4, 1, (4096, 8))
    sps = 1 / (1 + np.arange(1, 4096 * 9 + 1) / 9000)
    kept, theta = algorithm_one([survivals(c) for c in rates.tolist()], [0.0, *sps.tolist()])
    found = schedule(rates, sps, early=True)
    assert found.lengths.tolist() == kept and found.throughput == pytest.approx(theta, rel=1e-12)
    assert 0 < sum(kept) < 4096 * 8
    assert schedule(rates, sps).throughput >= found.throughput


def test_published_batch_by_hand() -> None:
    """Smooth: both rules end at (2, 0) with 3.4028. Steps: early stop stays at (0, 0) with 2, the best is 2.651."""
    found = {}
    for name, curve in CURVES.items():
        path = admissions(REQUESTS, curve)
        found[name] = [(path[i].lengths, path[i].throughput) for i in (early_stop(path), path_best(path))]
    assert found["smooth"] == [((2, 0), Fraction("3.4028"))] * 2
    assert found["step"] == [((0, 0), 2), ((3, 2), Fraction("2.651"))]


def test_ties_do_not_raise_the_throughput() -> None:
    """Θ = 1, 21/16, 21/16: the second admission is no rise, so both versions stop before it (worked by hand)."""
    chain, curve = [Fraction(1, 2), Fraction(1, 2)], [Fraction(1), Fraction(7, 8), Fraction(3, 4)]
    path = admissions([chain], curve)
    assert [p.throughput for p in path] == [1, Fraction(21, 16), Fraction(21, 16)]
    assert early_stop(path) == path_best(path) == 1
    for early in (True, False):
        assert schedule(np.array([chain], dtype=float), np.array(curve, dtype=float), early=early).lengths.tolist() == [
            1
        ]


def test_separate_optima_do_not_add() -> None:
    """Alone 2.8012 at three and 1.7848 at two; their sum 4.586 is not attainable, together they give 3.1812."""
    table = sum_table(REQUESTS, CURVES["smooth"])
    assert [table.value(0, n) for n in ("promised", "together", "joint_best")] == [
        Fraction("4.586"), Fraction("3.1812"), Fraction("3.4028"),
    ]  # fmt: skip
    assert list(alone_best(REQUESTS, CURVES["smooth"]).column("alone_length")) == [3, 2]


@pytest.mark.parametrize("seed", range(40))
def test_allocation_table_equals_brute_force(seed: int) -> None:
    """Every allocation with its Θ; the marked ones are those of the brute force, as many as the product of lengths."""
    batch, curve = case(seed)
    if count_allocations(batch) > MOST_ALLOCATIONS:
        with pytest.raises(ValueError, match="at most 256"):
            allocation_table(batch, curve)
        return
    table = allocation_table(batch, curve)
    most, choices = brute_force(batch, [Fraction(0), *curve])
    marked = [row for row, best in zip(table.rows, table.column("is_best"), strict=True) if best]
    assert marked == [f"({', '.join(map(str, c))})" for c in choices]
    assert max(table.column("throughput")) == most  # type: ignore[type-var]
    assert len(table.rows) == count_allocations(batch)


def test_single_table_is_a_batch_of_one() -> None:
    """One request alone has the same Θ as an allocation table with R = 1."""
    alone, whole = (f([REQUESTS[0]] if f is allocation_table else REQUESTS[0], CURVES["step"])
                    for f in (single_table, allocation_table))  # fmt: skip
    assert alone.column("alone_throughput") == whole.column("throughput")


@pytest.mark.parametrize(
    ("batch", "curve", "match"),
    [([], [1], "empty"), ([[Fraction(1, 2)]], [1], "reach 2"), ([[Fraction(1, 2)]], [1, 0], "positive"),
     ([[Fraction(2)]], [1, 1], "must lie in")],
    ids=["no-request", "short-curve", "zero-speed", "chance"],
)  # fmt: skip
def test_bad_batches_are_refused(batch: list[list[Fraction]], curve: list[int], match: str) -> None:
    """Each fault is a ValueError that says what is needed."""
    with pytest.raises(ValueError, match=match):
        admissions(batch, [Fraction(x) for x in curve])


@pytest.mark.parametrize(
    ("conditional", "sps"),
    [(np.zeros((0, 3)), [1.0]), (np.zeros(3), [1.0] * 6), (np.array([[np.nan]]), [1.0, 1.0]),
     (np.array([[1.5]]), [1.0, 1.0]), (np.array([[0.5]]), [1.0]), (np.array([[0.5]]), [1.0, -1.0])],
    ids=["empty", "flat", "nan", "above-one", "short", "negative"],
)  # fmt: skip
def test_bad_arrays_are_refused(conditional: np.ndarray, sps: list[float]) -> None:
    """Wrong shapes, values that are no probabilities and curves that end early are ValueErrors."""
    with pytest.raises(ValueError, match=r"conditional|sps"):
        schedule(conditional, np.array(sps))


def test_zero_survival_is_never_admitted() -> None:
    """A draft that cannot survive takes no place, whatever the curve pays for it."""
    path = admissions([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], [Fraction(b) for b in range(1, 7)])
    assert [p.lengths for p in path] == [(0, 0), (0, 1)]
    found = schedule(np.array([[0.0, 1.0], [1.0, 0.0]]), np.arange(1.0, 7.0))
    assert found.lengths.tolist() == [0, 1]


def test_array_scheduler_is_much_faster_than_a_loop() -> None:
    """4,096 requests of eight drafts: at least twenty times the plain loop, measured in one process on one batch."""
    array, loop = measure(repeats=3)
    assert loop / array >= 20
