"""Loss and gradient taken a few positions at a time equal those of the whole batch at once."""

import pytest
import torch

from gpu_demos.training.losses import acceptance_rate, forward_kl, lk_hybrid
from gpu_demos.training.streamed import POSITIONS, mean_kl_and_acceptance


def batch(count: int, *, width: int = 12, kept: int = 30, vocabulary: int = 50) -> tuple[torch.Tensor, ...]:
    """Guesses (with a gradient), states, their normalizer over the whole vocabulary, and the rows that are kept."""
    generator = torch.Generator().manual_seed(count)
    guesses, states = torch.randn(2, count, width, generator=generator).unbind()
    head = torch.randn(vocabulary, width, generator=generator)
    return guesses.requires_grad_(), states, (states @ head.T).logsumexp(-1), head[:kept]


@pytest.mark.parametrize("count", [1, POSITIONS, POSITIONS + 1, 3 * POSITIONS - 2])
@pytest.mark.parametrize("loss", ["kl", "lk"])
def test_it_is_the_loss_of_all_positions(count: int, loss: str) -> None:
    """Means and gradient against automatic differentiation through all logits at once; λ is one number for all."""
    guesses, states, normalizers, rows = batch(count)
    kl, alpha = mean_kl_and_acceptance(guesses, states, normalizers, rows)
    (lk_hybrid(kl, alpha) if loss == "lk" else kl).backward()
    found, guesses.grad = guesses.grad, None
    target, logits = states @ rows.T - normalizers[:, None], guesses @ rows.T
    each = forward_kl(target, logits), acceptance_rate(target, logits)
    assert float(kl.detach()) == pytest.approx(float(each[0].detach().mean()), rel=1e-5)
    assert float(alpha.detach()) == pytest.approx(float(each[1].detach().mean()), rel=1e-5)
    (lk_hybrid(*each) if loss == "lk" else each[0]).mean().backward()
    assert found is not None
    assert guesses.grad is not None
    assert torch.allclose(found, guesses.grad, rtol=1e-4, atol=1e-7)


def test_bf16_products_come_near() -> None:
    """Rows in bf16: the same numbers up to the rounding of products, in the dtype of the guesses."""
    guesses, states, normalizers, rows = batch(100)
    whole = mean_kl_and_acceptance(guesses, states, normalizers, rows)
    short = mean_kl_and_acceptance(guesses, states, normalizers, rows.bfloat16())
    assert [float(x.detach()) for x in short] == pytest.approx([float(x.detach()) for x in whole], rel=0.02)
    wanted, found = (torch.autograd.grad(kl, guesses)[0] for kl, _ in (whole, short))
    assert found.dtype == torch.float32
    assert float((found - wanted).norm() / wanted.norm()) < 0.02
