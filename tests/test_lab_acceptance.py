"""The torch twin of accepting and correcting against the exact mechanism and against transformers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from transformers.generation.logits_process import TopPLogitsWarper
from transformers.generation.utils import _speculative_sampling

from gpu_demos.acceptance import Laws, Sampling, draw, residual, verify
from mechanisms.distribution import Pair
from mechanisms.rejection_ledger import ledger
from mechanisms.rejection_walk import verify_round

SIZE = 5
NAMES = tuple("ABCDE")


def law(parts: list[int]) -> tuple[Fraction, ...]:
    """64ths: exact in binary, and so are their sums."""
    edges = [0, *sorted(parts), 64]
    return tuple(Fraction(b - a, 64) for a, b in pairwise(edges))


def tensor(rows: list[tuple[Fraction, ...]]) -> torch.Tensor:
    return torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64)


laws = st.lists(st.integers(0, 64), min_size=SIZE - 1, max_size=SIZE - 1).map(law)
uniforms = st.integers(0, 1023).map(lambda n: Fraction(2 * n + 1, 2048))


@settings(max_examples=300, deadline=None)
@given(
    pairs=st.lists(st.tuples(laws, laws), min_size=1, max_size=4),
    us=st.lists(uniforms, min_size=10, max_size=10),
)
def test_round_equals_the_exact_mechanism(
    pairs: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]], us: list[Fraction]
) -> None:
    """Same uniforms, same drafts, same decisions, same last token as `mechanisms.rejection_walk.verify_round`.

    Uniforms are odd 2048ths, so that no sum of 64ths is hit exactly after a division by a residual's total.
    """
    k = len(pairs)
    exact = verify_round(
        [Pair(NAMES, p, q) for p, q in pairs],
        draft_uniforms=us[:k], accept_uniforms=us[k : 2 * k], correction_uniform=us[-1], bonus_uniform=us[-1],
    )  # fmt: skip
    q = Laws(tensor([q for _, q in pairs]))
    drafted = [q.draw(i, float(u)) for i, u in enumerate(us[:k])]
    assert tuple(NAMES[d] for d in drafted) == exact.drafts
    p = Laws(tensor([p for p, _ in pairs] + [pairs[-1][0]]))
    found = verify(p, q, drafted, [float(u) for u in (*us[k : 2 * k], us[-1])])
    output = [*drafted[: found.accepted], found.token]
    assert tuple(NAMES[t] for t in output) == exact.output and found.last == exact.last
    assert found.accepted == exact.accepted_tokens and len(found.uniforms) == len(exact.steps)


@given(p=laws, q=laws)
def test_residual_equals_the_ledger(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> None:
    """[p − q]₊ of the ledger, exactly: 64ths are exact in float64."""
    exact = [float(cell) for cell in ledger(Pair(NAMES, p, q)).column("correction_mass")]  # type: ignore[arg-type]
    assert residual(tensor([p])[0], tensor([q])[0]).tolist() == exact


@given(p=laws, draft=st.integers(0, SIZE - 1), u=uniforms, last=uniforms)
def test_sure_laws_equal_one_hot_rows(p: tuple[Fraction, ...], draft: int, u: Fraction, last: Fraction) -> None:
    """A law stored as one token decides as the row with a single 1, on either side and on both."""
    hot = torch.eye(SIZE, dtype=torch.float64)
    numbers = [float(u), float(last)]
    rows = tensor([p, p])
    assert verify(Laws(rows), Laws(sure=[draft]), [draft], numbers) == verify(
        Laws(rows), Laws(hot[[draft]]), [draft], numbers
    )
    best = [int(rows[0].argmax()), 0]
    short = verify(Laws(sure=best), Laws(sure=[draft]), [draft], numbers)
    assert short == verify(Laws(hot[best]), Laws(hot[[draft]]), [draft], numbers)
    assert short.token == (0 if draft == best[0] else best[0])


def test_law_equals_transformers() -> None:
    """Two drafts on random laws: output counts of ours and of `_speculative_sampling` come from one law.

    4,000 rounds each, chi-square of homogeneity over first token and accepted count at 1e-6, seeds fixed.
    """
    generator = torch.Generator().manual_seed(5)
    p = torch.rand(3, SIZE, generator=generator, dtype=torch.float64).softmax(-1)
    q = (3 * torch.rand(2, SIZE, generator=generator, dtype=torch.float64)).softmax(-1)
    counts = np.zeros((2, SIZE, 3))
    torch.manual_seed(6)
    for _ in range(4000):
        drafted = [draw(q[i], u) for i, u in enumerate(torch.rand(2, generator=generator).tolist())]
        found = verify(Laws(p), Laws(q), drafted, torch.rand(3, generator=generator).tolist())
        counts[0, [*drafted[: found.accepted], found.token][0], found.accepted] += 1
        ids = torch.tensor([[0, *drafted]])
        tokens, matches = _speculative_sampling(ids, q.log()[None], 2, p.log()[None])
        counts[1, int(tokens[0, 0]), int(matches)] += 1
    table = counts.reshape(2, -1)
    table = table[:, table.sum(0) >= 10]
    assert table.shape[1] >= 10
    assert stats.chi2_contingency(table).pvalue > 1e-6


@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("vocabulary", [40, 3000])
def test_nucleus_equals_transformers(top_p: float, vocabulary: int) -> None:
    """The same tokens stay as in TopPLogitsWarper after the same temperature; a wide vocabulary takes both ways of
    sorting, the flat one needs more than the likeliest 512."""
    logits = torch.randn(4, vocabulary, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    warped = TopPLogitsWarper(top_p)(None, logits / 0.7) if top_p < 1 else logits / 0.7  # type: ignore[arg-type]
    found = Sampling(0.7, top_p).laws(logits).probabilities
    torch.testing.assert_close(found, warped.softmax(-1), rtol=1e-12, atol=1e-15)


def test_greedy_is_the_likeliest_token() -> None:
    """Temperature 0 is sure of the largest logit, the first of equal ones."""
    assert Sampling().laws(torch.tensor([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])).sure == [1, 0]


def test_draw_never_leaves_the_support() -> None:
    """u next to 1 gives the last token with mass, u = 0 the first, also where float32 weights do not sum to 1."""
    weights = torch.tensor([0.0, *[0.1] * 10, 0.0])
    assert draw(weights, 0.0) == 1
    assert draw(weights, 1 - 2**-53) == 10


def test_equal_laws_never_correct() -> None:
    """Where rounding refuses although nothing is left to correct with, the draft is accepted, not an error."""
    q = torch.tensor([[0.5, 0.5]])
    p = torch.tensor([[0.5 - 1e-7, 0.5 - 1e-7], [1.0, 0.0]])
    found = verify(Laws(p), Laws(q), [0], [1 - 1e-9, 0.5])
    assert (found.accepted, found.last) == (1, "bonus")


def test_impossible_draft_is_refused() -> None:
    """A token that its own law gives no mass cannot have been drawn from it."""
    with pytest.raises(ValueError, match="draft probabilities"):
        verify(Laws(sure=[0, 0]), Laws(torch.tensor([[1.0, 0.0]])), [1], [0.5, 0.5])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((-1.0, 1.0), "temperature"), ((float("nan"), 1.0), "temperature"), ((1.0, 0.0), "top_p"), ((1.0, 1.1), "top_p")],
)
def test_bad_sampling_is_refused(arguments: tuple[float, float], name: str) -> None:
    """The message names the argument."""
    with pytest.raises(ValueError, match=f"^{name}="):
        Sampling(*arguments)
