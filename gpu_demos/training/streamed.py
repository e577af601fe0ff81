"""Means of KL and acceptance over many positions and a large vocabulary, a few positions at a time.

Logits of a batch are hundreds of megabytes, and every step of a loss reads and writes them: on a processor that takes
longer than the products. Here the logits of a few positions are made, their loss and its gradient are taken while they
lie in the cache, and only the gradient at the guessed states is kept. The rows of the LM head are frozen and get none.
"""

from __future__ import annotations

from typing import Any

import torch

from gpu_demos.training.losses import acceptance_rate, forward_kl

POSITIONS = 128  # at a time: few enough for the cache, and enough for quick products


def mean_kl_and_acceptance(
    guesses: torch.Tensor, states: torch.Tensor, normalizers: torch.Tensor, rows: torch.Tensor, *, both: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Means over positions of `forward_kl` and `acceptance_rate`, with their gradients at `guesses`.

    guesses, states: (n, d) of the head and of the target; normalizers: (n,) of the target's full softmax; rows: (R, d)
    of the LM head, in the dtype of the products. n >= 1. Without `both` the acceptance rate gives no gradient.
    """
    return _Means.apply(guesses, states, normalizers, rows, both)  # type: ignore[no-any-return]  # torch names no type here


class _Means(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, guesses: torch.Tensor, states: torch.Tensor, normalizers: torch.Tensor, rows: torch.Tensor, both: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        count, sums = len(guesses), torch.zeros(2, device=guesses.device)
        slopes = [torch.zeros_like(guesses) for _ in range(2)]
        with torch.autocast(guesses.device.type, enabled=False):
            for first in range(0, count, POSITIONS):
                part = slice(first, first + POSITIONS)
                logits = (guesses[part].to(rows.dtype) @ rows.T).float()
                target = (states[part].to(rows.dtype) @ rows.T).float() - normalizers[part, None]
                for i, measure in enumerate((forward_kl, acceptance_rate)):
                    with torch.set_grad_enabled(both or measure is forward_kl):
                        free = logits.detach().requires_grad_()
                        total = measure(target, free).sum()
                    sums[i] += total.detach()
                    if total.requires_grad:
                        (slope,) = torch.autograd.grad(total, free)
                        slopes[i][part] = (slope.to(rows.dtype) @ rows / count).to(guesses.dtype)
        ctx.save_for_backward(*slopes)
        return sums[0] / count, sums[1] / count

    @staticmethod
    def backward(ctx: Any, *above: torch.Tensor) -> tuple[torch.Tensor, None, None, None, None]:
        kl, alpha = ctx.saved_tensors
        return above[0].to(kl.dtype) * kl + above[1].to(kl.dtype) * alpha, None, None, None, None
