"""Losses and comparisons: against torch autograd, scipy, whole-number arithmetic and published numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import entropy

from mechanisms.mtp_cases import CASES, SEED_DRAFTS, Case, Drafts
from mechanisms.mtp_lambda import BATCH, CHOICES, means, positions
from mechanisms.mtp_losses import LOSSES, bare_gradient, gradients, values
from mechanisms.mtp_pair import curve, draft_totals, flip, masses, preferences, preferred
from mechanisms.mtp_race import race
from mechanisms.mtp_search import search
from mechanisms.mtp_vanish import SUPPORTS, VOCABULARIES, vanishing
from tests.oracle_mtp import SEEDED, alpha, autograd, cases, hybrid, kl, nla, tv
from tests.test_mtp_step import EXACT, floats, of

TORCH = {"kl": kl, "tv": tv, "nla": nla, "hybrid": hybrid}
DECAYS = st.sampled_from([Fraction(x) for x in ("0", "0.5", "1", "3", "10")])
Law = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


@SEEDED
@given(cases(), DECAYS)
def test_losses_and_gradients_equal_autograd(law: Law, decay: Fraction) -> None:
    """Value and gradient of KL, TV, −ln α and the hybrid, whose weight is detached, to 1e-12."""
    table = gradients(of(law), decay=decay)
    sums = values(table, decay=decay)
    share = autograd(alpha, *law)[0]
    for loss, name in (
        ("kl", "kl_divergence"),
        ("tv", "total_variation"),
        ("nla", "nla_loss"),
        ("hybrid", "hybrid_loss"),
    ):
        value, gradient = autograd(TORCH[loss], *law, *((float(decay),) if loss == "hybrid" else ()))
        scale = 1 / share if loss == "nla" else 1.0  # −ln α of a tiny α loses digits in double precision
        assert floats(sums, name) == pytest.approx([value], abs=EXACT * max(1, scale))
        assert floats(table, f"{loss}_gradient") == pytest.approx(gradient, abs=EXACT * scale)
    assert floats(sums, "kl_weight") == pytest.approx([math.exp(-float(decay) * share)], abs=EXACT)


def test_ties_count_as_neither_side() -> None:
    """Where q(v) = p(v) the sign is 0: torch's gradients of |q − p| and of min(p, q), which splits a tie in halves."""
    law = ((Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)), (Fraction(0),) * 3)
    table = gradients(of(law))
    assert table.column("side") == (0, -1, 1)
    for loss in ("tv", "nla", "hybrid"):
        assert floats(table, f"{loss}_gradient") == pytest.approx(autograd(TORCH[loss], *law)[1], abs=EXACT)


def test_weight_is_not_differentiated() -> None:
    """With the gradient through λ the result would be another one; ours is the detached one."""
    case = CASES["three"]
    target = torch.tensor([float(x) for x in case.p], dtype=torch.float64)
    logits = torch.tensor([float(x) for x in case.z], dtype=torch.float64, requires_grad=True)
    weight = torch.exp(-3 * alpha(target, logits))
    (weight * kl(target, logits) + (1 - weight) * tv(target, logits)).backward()
    assert logits.grad is not None
    ours = floats(gradients(case), "hybrid_gradient")
    assert max(abs(a - b) for a, b in zip(ours, logits.grad.tolist(), strict=True)) > 0.01
    assert ours == pytest.approx(autograd(hybrid, case.p, case.z)[1], abs=EXACT)


@SEEDED
@given(cases(), st.sampled_from(LOSSES))
def test_array_gradients_equal_the_tables(law: Law, loss: str) -> None:
    """The closed forms on arrays are the tables' columns, in double precision; a second batch row changes nothing."""
    table = gradients(of(law))
    p, z = (np.array([float(x) for x in row]) for row in law)
    found = bare_gradient(loss, p, np.stack([z, z + 1]))
    scale = 1 / autograd(alpha, *law)[0] if loss == "nla" else 1.0
    for row in found:
        assert row.tolist() == pytest.approx(floats(table, f"{loss}_gradient"), abs=EXACT * scale)


@SEEDED
@given(cases())
def test_gradients_sum_to_zero(law: Law) -> None:
    """No loss moves all logits together."""
    table = gradients(of(law))
    share = autograd(alpha, *law)[0]
    for loss in LOSSES:
        assert abs(sum(floats(table, f"{loss}_gradient"))) < 1e-15 / share


def test_published_reversal() -> None:
    """A and B of the source document and every loss of the checked notes: KL prefers B, TV and −ln α prefer A."""
    a, b = (draft_totals(masses(SEED_DRAFTS, w), decay=Fraction(3)) for w in "ab")
    wanted = {"kl_divergence": (0.396864, 0.091516), "acceptance_rate": (0.891, 0.8), "nla_loss": (0.1154, 0.2231),
              "kl_weight": (0.0690, 0.0907), "hybrid_loss": (0.1289, 0.1902),
              "pinsker_bound": (0.445457, 0.213911)}  # fmt: skip
    for name, (left, right) in wanted.items():
        assert floats(a, name) + floats(b, name) == pytest.approx([left, right], abs=6e-5)
    found = preferences(a, b)
    assert [preferred(found, i) for i in range(5)] == ["b", "b", "a", "a", "a"]
    one = preferences(*(draft_totals(masses(SEED_DRAFTS, w), decay=Fraction(1)) for w in "ab"))
    assert preferred(one, 4) == "b" and floats(one, "loss_a")[4] == pytest.approx(0.2271, abs=5e-5)


def test_flip_equals_brentq() -> None:
    """SciPy's root finder, on the loss written with its own entropy, finds the same decay; both losses agree there."""
    p, a, b = (np.array([float(x) for x in law]) for law in (SEED_DRAFTS.p, SEED_DRAFTS.a, SEED_DRAFTS.b))

    def loss(q: np.ndarray, decay: float) -> float:
        share = float(np.minimum(p, q).sum())
        return math.exp(-decay * share) * float(entropy(p, q)) + (1 - math.exp(-decay * share)) * (1 - share)

    root = brentq(lambda d: loss(a, d) - loss(b, d), 1, 3, xtol=1e-14)
    found = flip(SEED_DRAFTS)
    assert found is not None
    assert floats(found, "decay") == pytest.approx([root], abs=1e-12)
    assert abs(floats(found, "hybrid_gap")[0]) < 1e-40
    below, above = curve(SEED_DRAFTS, [Fraction(17, 10), Fraction(18, 10)]).column("hybrid_gap")
    assert below is not None and above is not None and below > 0 > above


def test_no_flip_where_one_draft_is_better() -> None:
    """A draft with less KL and more acceptance is preferred at every decay; equal drafts are a tie, not a flip."""
    same = Drafts(("A", "B"), (Fraction(1, 2),) * 2, (Fraction(2, 5), Fraction(3, 5)), (Fraction(1, 5), Fraction(4, 5)))
    assert flip(same) is None
    equal = Drafts(same.tokens, same.p, same.a, same.a)
    assert flip(equal) is None
    tables = [draft_totals(masses(equal, w), decay=Fraction(3)) for w in "ab"]
    assert preferred(preferences(*tables), 4) == "tie"


@pytest.mark.parametrize("support", SUPPORTS)
def test_vanishing_gradients_equal_autograd(support: int) -> None:
    """The lengths for every vocabulary are those of autograd on vectors of that size."""
    table = vanishing(support)
    for i, size in enumerate(VOCABULARIES):
        p = torch.zeros(size, dtype=torch.float64)
        p[:support] = 1 / support
        for name, loss in (("kl_length", kl), ("tv_length", tv), ("nla_length", nla)):
            z = torch.zeros(size, dtype=torch.float64, requires_grad=True)
            loss(p, z).backward()
            assert z.grad is not None
            assert floats(table, name)[i] == pytest.approx(float(z.grad.norm()), rel=1e-10)
            if name != "nla_length":
                assert floats(table, name.replace("length", "on"))[i] == pytest.approx(float(z.grad[0]), rel=1e-10)


def test_vanishing_published() -> None:
    """k = 5: 0.4472, 4.47e-5, 0.4472 at V = 50,000 and 1.75e-5 at 128,000 (checked notes on the paper's argument)."""
    table = vanishing(5, [50_000, 128_000])
    assert floats(table, "kl_length") == pytest.approx([0.4472] * 2, abs=5e-5)
    assert floats(table, "tv_length") == pytest.approx([4.47e-5, 1.75e-5], abs=5e-8)
    assert floats(table, "nla_length") == pytest.approx([0.4472] * 2, abs=5e-5)


@pytest.mark.parametrize("choice", CHOICES)
def test_weights_per_token_depth_and_batch(choice: str) -> None:
    """The three ways written with torch: mean of exp, exp of the mean over a depth, exp of the mean over the batch."""
    table = positions(choice)
    p, q = (torch.tensor([[float(r[i]), 1 - float(r[i])] for r in BATCH], dtype=torch.float64) for i in (1, 2))
    share, divergence = torch.minimum(p, q).sum(-1), (p * (p / q).log()).sum(-1)
    decay = {"speculators": 3.0, "modelopt": 3.0, "specforge": 1.0}
    decay = decay if choice == "defaults" else dict.fromkeys(decay, float(choice))
    depth = torch.tensor([r[0] for r in BATCH])
    by_depth = torch.stack([share[depth == d].mean() for d in depth])
    wanted = {
        "speculators": (-decay["speculators"] * share).exp(),
        "modelopt": (-decay["modelopt"] * by_depth).exp(),
        "specforge": (-decay["specforge"] * share.mean()).exp().expand(len(share)),
        "nemospeech": torch.full((len(share),), 0.5, dtype=torch.float64),
    }
    done = means(table)
    for name, weight in wanted.items():
        loss = weight * divergence + (1 - weight) * (1 - share)
        assert floats(table, f"loss_{name}") == pytest.approx(loss.tolist(), abs=EXACT)
        assert floats(done, f"mean_{name}") == pytest.approx([float(loss.mean())], abs=EXACT)
        if name != "nemospeech":
            assert floats(table, f"weight_{name}") == pytest.approx(weight.tolist(), abs=EXACT)
    if choice != "defaults":
        assert len({round(x, 9) for n in wanted for x in floats(done, f"mean_{n}")}) == 4


@pytest.mark.parametrize("name", CASES)
def test_race_equals_torch(name: str) -> None:
    """Forty steps of torch.optim.SGD under each loss from each preset; 1e-9, as signs amplify rounding."""
    case: Case = CASES[name]
    (table,) = race(case, [Fraction(1, 5)])
    target = torch.tensor([float(x) for x in case.p], dtype=torch.float64)
    for loss in LOSSES:
        logits = torch.tensor([float(x) for x in case.z], dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.SGD([logits], lr=0.2)
        for t in range(len(table.rows)):
            assert floats(table, f"acceptance_under_{loss}")[t] == pytest.approx(alpha(target, logits).item(), abs=1e-9)
            optimiser.zero_grad()
            TORCH[loss](target, logits).backward()
            optimiser.step()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: gradients(CASES["seed"], decay=Fraction(-1)), "decay"),
        (lambda: bare_gradient("l2", np.ones(2), np.ones(2)), "loss"),
        (lambda: search(tokens=9, draws=1, rng=np.random.default_rng(0)), "tokens"),
        (lambda: vanishing(64), "support"),
        (lambda: positions("2"), "choice"),
        (lambda: positions("3", BATCH[:3]), "batch"),
    ],
)  # fmt: skip
def test_impossible_arguments_are_named(make: object, name: str) -> None:
    """A value that is not allowed is a ValueError that begins with its name."""
    with pytest.raises(ValueError, match=f"^{name}[=:]"):
        make()  # type: ignore[operator]
