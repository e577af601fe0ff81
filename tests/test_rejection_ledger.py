"""The ledger and its totals against enumeration, torch, transformers, mpmath and scipy."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from transformers.generation.utils import _speculative_sampling

from mechanisms.distribution import Pair, blend
from mechanisms.quantity import as_fraction
from mechanisms.rejection_ledger import blends, ledger, summary, two_draft_length
from mechanisms.rejection_presets import PRESETS
from tests.oracle_rejection import (
    SEEDED,
    Law,
    completed,
    emitted,
    independent,
    keep_chance,
    leftover,
    rounds,
    total_variation,
    two_laws,
)


def pair_of(p: Law, q: Law) -> Pair:
    return Pair(tuple(f"t{i}" for i in range(len(p))), tuple(p), tuple(q))


def random_laws(seed: int, tokens: int) -> tuple[np.ndarray, np.ndarray, Pair]:
    """Two float laws with some zeros, and the same numbers as an exact pair."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 50, (2, tokens)) * rng.integers(0, 2, (2, tokens))
    weights[:, rng.integers(tokens)] += 1
    p, q = ([Fraction(int(w), int(row.sum())) for w in row] for row in weights)
    return np.array([float(x) for x in p]), np.array([float(x) for x in q]), pair_of(p, q)


def run_transformers(
    monkeypatch: pytest.MonkeyPatch, p: np.ndarray, q: np.ndarray, draft: int, u: float
) -> tuple[bool, torch.Tensor]:
    """Its verdict on one draft at a given uniform, and the law from which it would draw the next token."""
    seen: list[torch.Tensor] = []

    def note(weights: torch.Tensor, num_samples: int) -> torch.Tensor:
        seen.append(weights.clone())
        return torch.zeros((1, 1), dtype=torch.long)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "rand_like", lambda like: torch.full_like(like, u))
        patch.setattr(torch, "multinomial", note)
        target = torch.stack([torch.tensor(p)] * 2).log()[None]
        _, accepted = _speculative_sampling(torch.tensor([[0, draft]]), torch.tensor(q).log()[None, None], 1, target)
    return bool(accepted), seen[0].flatten()


@pytest.mark.parametrize("seed", range(20), ids=lambda s: f"seed{s}")
def test_acceptance_and_residual_equal_transformers(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """transformers accepts just below our acceptance probability, rejects just above it, and corrects from our p'.

    Tolerance 1e-12: its softmax of float64 logarithms returns the probabilities to about 1e-16, relative.
    """
    p, q, pair = random_laws(seed, 7)
    table = ledger(pair)
    residual = table.column("residual")
    for draft in np.flatnonzero(q):
        a = float(table.value(int(draft), "acceptance_probability"))  # type: ignore[arg-type]
        assert run_transformers(monkeypatch, p, q, int(draft), a - 1e-12)[0] or a == 0
        accepted, law = run_transformers(monkeypatch, p, q, int(draft), a + 1e-12)
        assert accepted == (a == 1)
        if not accepted:
            wanted = torch.tensor([float(x) for x in residual], dtype=torch.float64)  # type: ignore[arg-type]
            torch.testing.assert_close(law, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("tokens", [1, 2, 7, 40])
def test_columns_equal_torch_float64(tokens: int) -> None:
    """Every column equals torch's own arithmetic; 1e-15 is four units in the last place of a probability."""
    for seed in range(5):
        p_array, q_array, pair = random_laws(100 + seed, tokens)
        p, q = torch.tensor(p_array), torch.tensor(q_array)
        gain = torch.relu(p - q)
        wanted = {
            "acceptance_probability": torch.where(q > 0, torch.clamp(p / q, max=1.0), torch.nan),
            "direct_mass": torch.minimum(p, q), "rejected_mass": torch.relu(q - p), "correction_mass": gain,
            "final_mass": p, "residual": gain / gain.sum(),
        }  # fmt: skip
        for name, column in wanted.items():
            ours = [math.nan if c is None else float(c) for c in ledger(pair).column(name)]  # type: ignore[arg-type]
            torch.testing.assert_close(
                torch.tensor(ours, dtype=torch.float64), column, rtol=1e-14, atol=1e-15, equal_nan=True
            )


@SEEDED
@given(two_laws())
def test_ledger_equals_enumeration(laws: tuple[Law, Law]) -> None:
    """The final mass is p, which is also what an enumeration of drafts and verdicts emits; q splits into d and x."""
    p, q = laws
    table = ledger(pair_of(p, q))
    kept = [keep_chance(a, b) if b else None for a, b in zip(p, q, strict=True)]
    assert list(table.column("acceptance_probability")) == kept
    assert list(table.column("residual")) == (leftover(p, q) or [None] * len(p))
    assert list(table.column("final_mass")) == p == emitted(q, lambda t: kept[t] or Fraction(0), leftover(p, q))
    for b, a, d, x in zip(q, kept, table.column("direct_mass"), table.column("rejected_mass"), strict=True):
        assert d == b * (a or 0) and x == b * (1 - (a or 0))


@SEEDED
@given(two_laws())
def test_summary_equals_total_variation(laws: tuple[Law, Law]) -> None:
    """Both rejection probabilities and 1 − α are the largest difference over all events; the error is 0."""
    p, q = laws
    table, distance = summary(pair_of(p, q)), total_variation(p, q)
    assert table.value(0, "rejection_probability") == table.value(0, "correction_total") == distance
    assert table.value(0, "acceptance_rate") == 1 - distance
    assert table.value(0, "largest_error") == 0
    bound = table.value(0, "pinsker_bound")
    assert bound == math.inf or as_fraction(bound) >= distance - Fraction(1, 10**45)  # type: ignore[arg-type]


@SEEDED
@given(two_laws())
def test_divergence_has_fifty_digits(laws: tuple[Law, Law]) -> None:
    """KL and Pinsker's bound agree with mpmath at 60 digits to 1e-45, and KL with scipy's float64 to 1e-12."""
    p, q = laws
    table = summary(pair_of(p, q))
    kl, bound = table.value(0, "kl_divergence"), table.value(0, "pinsker_bound")
    if any(a and not b for a, b in laws_zip(p, q)):
        assert kl == bound == math.inf and stats.entropy([float(x) for x in p], [float(x) for x in q]) == math.inf
        return
    exact = mpmath.MPContext()
    exact.dps = 60
    wanted = exact.mpf(0)
    for a, b in laws_zip(p, q):
        ratio = exact.mpf(a.numerator * b.denominator) / (a.denominator * b.numerator) if a else exact.mpf(1)
        wanted += exact.mpf(a.numerator) / a.denominator * exact.log(ratio)
    assert abs(exact.mpf(kl) - wanted) < exact.mpf(10) ** -45
    assert abs(exact.mpf(bound) ** 2 * 2 - wanted) < exact.mpf(10) ** -45
    assert float(kl) == pytest.approx(stats.entropy([float(x) for x in p], [float(x) for x in q]), abs=1e-12)  # type: ignore[arg-type]


def laws_zip(p: Law, q: Law) -> list[tuple[Fraction, Fraction]]:
    return list(zip(p, q, strict=True))


@SEEDED
@given(two_laws(), st.integers(1, 12))
def test_blends_fall_in_a_line(laws: tuple[Law, Law], steps: int) -> None:
    """The distance along a blend is (1 − w) times that at its start, down to 0."""
    p, q = laws
    start = total_variation(p, q)
    moved = blends(pair_of(p, q), steps)
    assert len(moved) == steps + 1 and moved[0].q == tuple(q) and moved[-1].q == tuple(p)
    for i, pair in enumerate(moved):
        assert pair.p == tuple(p) and total_variation(pair.p, pair.q) == start * (steps - i) / steps
        assert summary(pair).value(0, "rejection_probability") == start * (steps - i) / steps


def test_blend_rejects_bad_weights() -> None:
    """A weight outside [0, 1] is an error, and the ends are not."""
    pair = PRESETS["heavy_tail"]
    assert blend(pair, Fraction(0)) == pair and blend(pair, Fraction(1)).q == pair.p
    for weight in (Fraction(-1, 9), Fraction(10, 9)):
        with pytest.raises(ValueError, match="weight"):
            blend(pair, weight)


@SEEDED
@given(two_laws(2, 3))
def test_two_draft_length_equals_enumeration(laws: tuple[Law, Law]) -> None:
    """The law of the number of tokens follows from enumerating all rounds with two drafts."""
    p, q = laws
    outputs = rounds([p, p], [q, q], p)
    rate = summary(pair_of(p, q)).value(0, "acceptance_rate")
    assert isinstance(rate, Fraction)
    table = two_draft_length(rate)
    chances = [sum(w for out, w in outputs.items() if len(out) == n) for n in (1, 2, 3)]
    assert [table.value(0, name) for name in ("one_token", "two_tokens", "three_tokens")] == chances
    assert table.value(0, "tokens_per_round") == sum(len(out) * w for out, w in outputs.items())
    assert completed(outputs, 3, [p] * 3) == independent([p] * 3)


@pytest.mark.parametrize("rate", [Fraction(-1, 2), Fraction(3, 2)], ids=["negative", "above-one"])
def test_two_draft_length_rejects_no_rate(rate: Fraction) -> None:
    """A rate outside [0, 1] is an error."""
    with pytest.raises(ValueError, match="rate"):
        two_draft_length(rate)


@pytest.mark.parametrize(("alpha", "published"), [("0.6", "1.96"), ("0.8", "2.44"), ("0.9", "2.71")])
def test_tokens_per_round_equals_leviathan(alpha: str, published: str) -> None:
    """Expected tokens with two drafts are the speeds at no draft cost in Leviathan et al. 2022, Table 1."""
    rate = Fraction(alpha)
    assert two_draft_length(rate).value(0, "tokens_per_round") == Fraction(published) == (1 - rate**3) / (1 - rate)


def test_class_totals_equal_those_of_its_tokens() -> None:
    """128 equal tail tokens give the totals of their class; KL to 1e-45, because it is summed in another order."""
    pair = PRESETS["heavy_tail"]
    whole, parts = summary(pair), summary(pair.single())
    for column in whole.columns[:4]:
        assert whole.value(0, column.name) == parts.value(0, column.name)
    kl = [as_fraction(t.value(0, "kl_divergence")) for t in (whole, parts)]  # type: ignore[arg-type]
    assert abs(kl[0] - kl[1]) < Fraction(1, 10**45)
