"""Losses on a draft vocabulary against torch, against the exact mechanisms, and against hand-worked numbers."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from gpu_demos.training.losses import acceptance_rate, forward_kl, lk_hybrid
from mechanisms import mtp_boosting
from mechanisms.mtp_cases import CASES
from mechanisms.mtp_losses import bare_gradient


def random_pair(*, rows: int = 6, size: int = 9, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Target log-probabilities that sum to one, and logits, float64."""
    generator = torch.Generator().manual_seed(seed)
    both = torch.randn(2, rows, size, generator=generator, dtype=torch.float64) * 2
    return both[0].log_softmax(-1), both[1]


def hybrid(target: torch.Tensor, logits: torch.Tensor, **settings: float) -> torch.Tensor:
    return lk_hybrid(forward_kl(target, logits), acceptance_rate(target, logits), **settings)


def test_published_pairs() -> None:
    """KL prefers the second draft, acceptance and the hybrid at η = 3 the first, at η = 1 the second.

    Numbers by hand from p = (.8, .1, .1) and q = (.79, .209, .001) and (.6, .2, .2).
    """
    p = torch.tensor([0.8, 0.1, 0.1], dtype=torch.float64).log()
    drafts = [torch.tensor(q, dtype=torch.float64).log() for q in ([0.79, 0.209, 0.001], [0.6, 0.2, 0.2])]
    assert [float(acceptance_rate(p, q)) for q in drafts] == pytest.approx([0.891, 0.8])
    assert [float(forward_kl(p, q)) for q in drafts] == pytest.approx([0.3969, 0.0915], abs=5e-5)
    assert [float(hybrid(p, q)) for q in drafts] == pytest.approx([0.1289, 0.1902], abs=5e-5)
    assert [float(hybrid(p, q, decay=1)) for q in drafts] == pytest.approx([0.2271, 0.1513], abs=5e-5)


def test_kl_is_torchs() -> None:
    """With the whole vocabulary it equals torch's kl_div."""
    target, logits = random_pair()
    wanted = functional.kl_div(logits.log_softmax(-1), target, log_target=True, reduction="none").sum(-1)
    assert torch.allclose(forward_kl(target, logits), wanted, atol=1e-12)


def test_kl_on_a_part_renormalises_and_acceptance_does_not() -> None:
    """On a cut vocabulary KL compares shares within it; mass outside is lost to the acceptance rate."""
    target, logits = random_pair()
    cut, drafted = target[:, :5], logits[:, :5]
    p, q = target[:, :5].exp(), drafted.softmax(-1)
    assert torch.allclose(
        forward_kl(cut, drafted), torch.xlogy(p / p.sum(-1, keepdim=True), p / p.sum(-1, keepdim=True) / q).sum(-1)
    )
    full = torch.zeros_like(target)
    full[:, :5] = q
    assert torch.allclose(acceptance_rate(cut, drafted), 1 - (target.exp() - full).abs().sum(-1) / 2)


@pytest.mark.parametrize("name", sorted(CASES))
def test_acceptance_is_the_mechanism(name: str) -> None:
    """α, KL and the hybrid of every case of the chapter equal the exact tables."""
    case = CASES[name]
    table = mtp_boosting.state(case, case.z, rate=mtp_boosting.SEED_RATE)
    totals = mtp_boosting.totals(table)
    p = torch.tensor([float(x) for x in case.p], dtype=torch.float64)
    z = torch.tensor([float(x) for x in case.z], dtype=torch.float64)
    alpha, kl = float(totals.value(0, "acceptance_rate")), float(totals.value(0, "kl_divergence"))
    assert float(acceptance_rate(p.log(), z)) == pytest.approx(alpha, abs=1e-12)
    if bool((p > 0).all()):
        blend = math.exp(-3 * alpha)
        assert float(forward_kl(p.log(), z)) == pytest.approx(kl, abs=1e-12)
        assert float(hybrid(p.log(), z)) == pytest.approx(blend * kl + (1 - blend) * (1 - alpha), abs=1e-12)


@pytest.mark.parametrize(("loss", "mechanism"), [(forward_kl, "kl"), (hybrid, "hybrid")], ids=["kl", "lk"])
def test_gradient_is_the_mechanism(loss: object, mechanism: str) -> None:
    """Automatic differentiation gives the chapter's closed form, row by row (one row, one λ)."""
    target, logits = random_pair(rows=8)
    for p, z in zip(target, logits, strict=True):
        z = z.clone().requires_grad_(True)
        loss(p, z).backward()  # type: ignore[operator]
        wanted = bare_gradient(mechanism, p.exp().numpy(), z.detach().numpy())
        assert z.grad is not None
        np.testing.assert_allclose(z.grad.numpy(), wanted, atol=1e-12)


def test_blend_is_one_number_for_a_depth() -> None:
    """λ comes from the mean acceptance rate of all rows, and no gradient flows through it."""
    target, logits = random_pair()
    alpha, kl = acceptance_rate(target, logits), forward_kl(target, logits)
    blend = math.exp(-3 * float(alpha.mean()))
    assert torch.allclose(hybrid(target, logits), blend * kl + (1 - blend) * (1 - alpha))
    free = logits.clone().requires_grad_(True)
    fixed = logits.clone().requires_grad_(True)
    hybrid(target, free).sum().backward()
    (blend * forward_kl(target, fixed) + (1 - blend) * (1 - acceptance_rate(target, fixed))).sum().backward()
    assert free.grad is not None
    assert fixed.grad is not None
    assert torch.allclose(free.grad, fixed.grad)


def test_identical_laws_lose_nothing() -> None:
    """p = q: acceptance 1, KL and hybrid 0."""
    target, _ = random_pair()
    assert torch.allclose(acceptance_rate(target, target), torch.ones(6, dtype=torch.float64))
    assert float(forward_kl(target, target).abs().max()) < 1e-12
    assert float(hybrid(target, target).abs().max()) < 1e-12


def test_negative_decay_is_refused() -> None:
    """λ would exceed one."""
    with pytest.raises(ValueError, match="decay=-1"):
        hybrid(*random_pair(), decay=-1)
