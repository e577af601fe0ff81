"""The search for reversals: whole-number comparisons and counts against SciPy's divergence."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from mechanisms.mtp_cases import Drafts
from mechanisms.mtp_search import GRAINS, _compositions, count_table, is_reversal, log_free, report, search
from tests.oracle_mtp import SEEDED, compositions
from tests.oracle_rejection import shares
from tests.test_mtp_step import floats


@st.composite
def drafts(draw: st.DrawFn) -> Drafts:
    n = draw(st.integers(2, 4))
    weights = st.lists(st.integers(1, 30), min_size=n, max_size=n).map(shares).map(tuple)
    return Drafts(tuple("ABCD"[:n]), draw(weights), draw(weights), draw(weights))


@SEEDED
@given(drafts())
def test_order_of_kl_without_logarithms(found: Drafts) -> None:
    """The whole-number comparison has the sign of the difference of SciPy's two divergences."""
    p, a, b = (np.array([float(x) for x in law]) for law in (found.p, found.a, found.b))
    gap = float(entropy(p, a) - entropy(p, b))
    if abs(gap) > 1e-12:
        assert log_free(found) == (1 if gap > 0 else -1)
    else:
        assert log_free(Drafts(found.tokens, found.p, found.a, found.a)) == 0


@pytest.mark.parametrize("tokens", [2, 3, 5, 8])
def test_search_reports_true_reversals_only(tokens: int) -> None:
    """Every kept pair is a reversal by whole numbers and by SciPy; the same seed finds the same ones."""
    found = search(tokens=tokens, draws=3000, rng=np.random.default_rng(4))
    again = search(tokens=tokens, draws=3000, rng=np.random.default_rng(4))
    assert found == again and found.kept
    for pair in found.kept:
        p, a, b = (np.array([float(x) for x in law]) for law in (pair.p, pair.a, pair.b))
        assert is_reversal(pair)
        assert entropy(p, a) > entropy(p, b) and np.minimum(p, a).sum() > np.minimum(p, b).sum()
    table = report(found.kept)
    assert table.column("verified") == (1,) * len(found.kept)
    assert min(floats(table, "kl_gain")) > 0 and min(floats(table, "rate_loss")) > 0
    counted = count_table(found)
    assert counted.value(0, "reversal_share") == Fraction(found.reversals, 3000)


def test_search_counts_what_scipy_counts() -> None:
    """Drawn again with the same seed and counted one by one with SciPy's divergence, the reversals are as many."""
    rng = np.random.default_rng(4)
    p, a, b = (_compositions(5, 1000, rng) / GRAINS for _ in range(3))
    hits = 0
    for target, first, second in zip(p, a, b, strict=True):
        gap = entropy(target, first) - entropy(target, second)
        shared = [round(float(np.minimum(target, q).sum()), 9) for q in (first, second)]
        hits += (gap > 0 and shared[0] > shared[1]) or (gap < 0 and shared[0] < shared[1])
    found = search(tokens=5, draws=1000, rng=np.random.default_rng(4))
    assert found.reversals == hits > 50


def test_drawn_laws_are_even() -> None:
    """Lists of three positive parts of 100 come up alike: the mean of each part is 100/3, within five errors."""
    rows = _compositions(3, 20_000, np.random.default_rng(3))
    assert (rows.sum(axis=1) == GRAINS).all() and rows.min() >= 1
    for part in rows.T:
        assert abs(part.mean() - GRAINS / 3) < 5 * part.std() / math.sqrt(len(rows))
    # the first part is n with probability (99 − n)/C(99, 2)
    ones = (rows[:, 0] == 1).mean()
    assert ones == pytest.approx(98 / compositions(100, 3), abs=5 * math.sqrt(0.02 / 20_000))
