"""Counting draws: scipy's chi-square test, the closed form of Wilson's interval, seeds, a control that must fail."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import mechanisms.rejection_sampling as sampling
from mechanisms.distribution import Pair
from mechanisms.quantity import as_fraction
from mechanisms.rejection_counts import counts_table, fit_table
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_rules import RULE_IDS, output_law, rule, verdict
from mechanisms.rejection_sampling import Check, check, draw_chunks, wilson

PAIR = PRESETS["argmax_agrees_tv_large"]
# A true hypothesis fails at 1e-6 with chance 1e-6 a seed: 2e-5 for 20 seeds, once for all as the seeds are fixed.
ALARM = 1e-6


@pytest.mark.parametrize("preset", ["argmax_agrees_tv_large", "zero_in_draft", "top_k_draft", "heavy_tail"])
def test_statistic_equals_scipy(preset: str) -> None:
    """Chi-square and p-value equal scipy.stats.chisquare on the same counts, to 1e-9, relative."""
    done = check(PRESETS[preset], rule("exact"), 2000, seed=3)
    observed = [r.count for r in done.rows]
    wanted = stats.chisquare(observed, [float(r.target) * 2000 for r in done.rows])
    assert sum(observed) == 2000 and done.degrees == len(observed) - 1 and done.impossible == 0
    assert done.chi_square == pytest.approx(wanted.statistic, rel=1e-9)
    assert float(done.p_value) == pytest.approx(wanted.pvalue, rel=1e-9)  # type: ignore[arg-type]
    assert done.smallest_expected == pytest.approx(2000 * min(float(r.target) for r in done.rows))


def test_rows_without_mass_do_not_count() -> None:
    """A token that p forbids and that is not emitted takes no part in the test: two tokens, one degree of freedom."""
    done = check(PRESETS["disjoint"], rule("exact"), 2000, seed=3)
    wanted = stats.chisquare([done.rows[1].count, done.rows[2].count], [1200, 800])
    assert (done.degrees, done.rows[0].count, done.accepted) == (1, 0, 0)
    assert float(done.p_value) == pytest.approx(wanted.pvalue, rel=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "n"), [(0, 10), (10, 10), (3, 10), (1, 10**6), (999, 1000), (1, 1)])
def test_wilson_equals_the_closed_form(count: int, n: int) -> None:
    """The interval is (p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n) with z = 1.959964 (Wilson 1927)."""
    z, share = 1.959963984540054, count / n
    middle, spread = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    wanted = ((middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n))
    assert wilson(count, n) == pytest.approx(wanted, abs=1e-12)


def test_wilson_of_a_published_case() -> None:
    """81 of 263 give 0.2553 to 0.3662 (Newcombe 1998, Table I, method 3)."""
    assert [round(x, 4) for x in wilson(81, 263)] == [0.2553, 0.3662]


def test_seed_decides_the_counts() -> None:
    """Equal seeds give equal results, unlike seeds give others."""
    assert check(PAIR, rule("exact"), 5000, seed=1) == check(PAIR, rule("exact"), 5000, seed=1)
    assert check(PAIR, rule("exact"), 5000, seed=1).rows != check(PAIR, rule("exact"), 5000, seed=2).rows


@pytest.mark.parametrize("id", RULE_IDS)
def test_counts_follow_the_exact_law(id: str) -> None:
    """Counts of every rule fit its own exact output law and accepted share at 1e-6 (8 rules x 2 tests: 1.6e-5)."""
    law = output_law(PAIR, rule(id))
    done = check(PAIR, rule(id), 20_000, seed=11)
    exact = [float(x) for x in law.column("output_law")]  # type: ignore[arg-type]
    live = [i for i, x in enumerate(exact) if x]
    assert sum(done.rows[i].count for i in live) == 20_000
    if len(live) > 1:
        assert stats.chisquare([done.rows[i].count for i in live], [exact[i] * 20_000 for i in live]).pvalue > ALARM
    share = float(verdict(law).value(0, "accepted_share"))  # type: ignore[arg-type]
    assert stats.binomtest(done.accepted, 20_000, share).pvalue > ALARM


@pytest.mark.parametrize("seed", range(20), ids=lambda s: f"seed{s}")
def test_exact_rule_passes_and_the_control_fails(seed: int) -> None:
    """At N = 10,000 the exact rule passes at 1e-6 and correcting from p is refused at 1e-6.

    False alarms: 1e-6 a seed. Misses: the control's distance is 0.25, so chi-square is about 2,600 on 2 degrees.
    """
    exact, control = (check(PAIR, rule(id), 10_000, seed=seed) for id in ("exact", "no_residual"))
    assert exact.p_value is not None and exact.p_value > ALARM
    assert control.p_value is not None and control.p_value < ALARM
    assert control.chi_square > 1000


def drawn(chunk: int, draws: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, list[int]]:
    """Counts of all chunks together, and the size of each."""
    with monkeypatch.context() as patch:
        patch.setattr(sampling, "CHUNK", chunk)
        parts = list(draw_chunks(PAIR, rule("exact"), draws, rng=np.random.default_rng(seed)))
    return sum((part for part, _ in parts), np.zeros(3, dtype=np.int64)), [int(part.sum()) for part, _ in parts]


def test_chunks_do_not_change_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws in chunks of any size add up to their number and fit p at 1e-6 each (3e-6); a last part may be short."""
    p = np.array([float(x) for x in PAIR.p])
    for chunk, sizes in ((700, [700] * 14 + [200]), (5000, [5000, 5000]), (10**6, [10_000])):
        counts, found = drawn(chunk, 10_000, 5, monkeypatch)
        assert found == sizes
        assert stats.chisquare(counts, p * 10_000).pvalue > ALARM


def test_progress_is_told_after_each_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The share done rises to exactly 1."""
    told: list[float] = []
    monkeypatch.setattr(sampling, "CHUNK", 40)
    check(PAIR, rule("exact"), 100, seed=1, progress=told.append)
    assert told == [0.4, 0.8, 1.0]


def test_impossible_outputs_are_infinite_evidence() -> None:
    """An output that p forbids makes chi-square infinite and p-value 0, also where p allows one token only."""
    done = check(PRESETS["disjoint"], rule("accept_all"), 50, seed=1)
    assert (done.impossible, done.chi_square, done.p_value, done.accepted) == (50, math.inf, 0, 50)
    sure = Pair(("A", "B"), (Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)))
    assert check(sure, rule("accept_all"), 50, seed=1).p_value == 0
    assert (check(sure, rule("exact"), 50, seed=1).p_value, check(sure, rule("exact"), 50, seed=1).degrees) == (None, 0)


def test_rounded_edges_send_no_draw_past_the_last_token() -> None:
    """Cumulative sums of float64 end at 1 on the last token that has mass, so that none without mass is drawn."""
    tenths = Pair(tuple("ABCDEFGHIJK"), (*[Fraction(1, 10)] * 10, Fraction(0)), (*[Fraction(1, 10)] * 10, Fraction(0)))

    class Last(np.random.Generator):
        def random(self, size: int) -> np.ndarray:  # type: ignore[override]
            return np.full(size, np.nextafter(1.0, 0.0))

    ((counts, accepted),) = draw_chunks(tenths, rule("exact"), 7, rng=Last(np.random.PCG64(0)))
    assert counts.tolist() == [0] * 9 + [7, 0] and accepted == 7


@pytest.mark.parametrize("draws", [0, -1, 10_000_001])
def test_bad_numbers_of_draws_are_errors(draws: int) -> None:
    """Fewer than one draw and more than ten million are ValueErrors."""
    with pytest.raises(ValueError, match="draws"):
        check(PAIR, rule("exact"), draws, seed=1)


def test_rejection_without_residual_is_an_error() -> None:
    """Half precision turns equal tiny probabilities into 0/0, which rejects where nothing is left to correct with."""
    tiny = Fraction(1, 10**8)
    pair = Pair(("A", "B"), (tiny, 1 - tiny), (tiny, 1 - tiny))
    with pytest.raises(ValueError, match="half_precision"):
        list(draw_chunks(pair, rule("half_precision"), 7, rng=FirstToken(np.random.PCG64(0))))


def test_uniforms_of_zero_never_reach_a_token_without_mass() -> None:
    """At u = 0 a token without mass is not drawn and an acceptance of 0 does not accept."""
    ((counts, accepted),) = draw_chunks(PRESETS["disjoint"], rule("exact"), 7, rng=FirstToken(np.random.PCG64(0)))
    assert (counts.tolist(), accepted) == ([0, 7, 0], 0)
    pair = PRESETS["disjoint"]
    back = Pair(pair.tokens, pair.q, pair.p)  # now the first token has no mass in the draft
    ((counts, accepted),) = draw_chunks(back, rule("accept_all"), 7, rng=FirstToken(np.random.PCG64(0)))
    assert (counts.tolist(), accepted) == ([0, 7, 0], 7)


class FirstToken(np.random.Generator):
    """Uniforms that are all 0."""

    def random(self, size: int) -> np.ndarray:  # type: ignore[override]
        return np.zeros(size)


def test_tables_repeat_the_check() -> None:
    """Counts, intervals, expected counts and terms of the table add up to the statistic of the check."""
    done = check(PRESETS["zero_in_draft"], rule("no_residual"), 1000, seed=2)
    table, fit = counts_table(done), fit_table(done)
    for i, row in enumerate(done.rows):
        cells = [table.value(i, n) for n in ("target_probability", "draws", "count", "frequency", "expected_count")]
        assert cells == [row.target, 1000, row.count, Fraction(row.count, 1000), row.target * 1000]
        assert (table.value(i, "interval_low"), table.value(i, "interval_high")) == (row.low, row.high)
    terms = [as_fraction(c) for c in table.column("chi_square_term") if c is not None]
    assert float(sum(terms)) == pytest.approx(done.chi_square, rel=1e-12)
    assert float(fit.value(0, "chi_square")) == pytest.approx(done.chi_square, rel=1e-12)  # type: ignore[arg-type]
    assert fit.value(0, "degrees_of_freedom") == 2
    assert fit.value(0, "accepted_per_proposed") == Fraction(done.accepted, 1000)
    missing: Check = replace(done, p_value=None)
    assert fit_table(missing).value(0, "p_value") is None
