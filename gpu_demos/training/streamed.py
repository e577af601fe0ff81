"""Means of KL and acceptance over many positions and a large vocabulary, a few positions at a time.

Logits of a batch are hundreds of megabytes, and every step of a loss reads and writes them: on a processor that takes
longer than the products. Here the logits of a few positions are made, their loss and its gradient are taken while they
lie in the cache, and only the gradient at the guessed states is kept. The rows of the LM head are frozen and get none.
"""

from __future__ import annotations

from typing import Any

import torch

from gpu_demos.training.losses import acceptance_rate, forward_kl

POSITIONS = 32  # at a time: with 8,192 tokens a megabyte, what a core keeps near


def mean_kl_and_acceptance(
    guesses: torch.Tensor, states: torch.Tensor, normalizers: torch.Tensor, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Means over positions of `forward_kl` and `acceptance_rate`, each with its gradient at `guesses`.

    guesses, states: (n, d) of the head and of the target; normalizers: (n,) of the target's full softmax; rows: (R, d)
    of the LM head, in the dtype of the products. n >= 1.
    """
    return _Means.apply(guesses, states, normalizers, rows)  # type: ignore[no-any-return]  # torch names no type here


class _Means(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, guesses: torch.Tensor, states: torch.Tensor, normalizers: torch.Tensor, rows: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        count, sums = len(guesses), torch.zeros(2, device=guesses.device)
        slopes = [torch.empty_like(guesses), torch.empty_like(guesses)]
        with torch.autocast(guesses.device.type, enabled=False):
            for first in range(0, count, POSITIONS):
                part = slice(first, first + POSITIONS)
                logits = (guesses[part].to(rows.dtype) @ rows.T).float()
                target = (states[part].to(rows.dtype) @ rows.T).float() - normalizers[part, None]
                for i, measure in enumerate((forward_kl, acceptance_rate)):
                    with torch.enable_grad():
                        free = logits.detach().requires_grad_()
                        total = measure(target, free).sum()
                    (slope,) = torch.autograd.grad(total, free)
                    slopes[i][part] = (slope.to(rows.dtype) @ rows / count).to(guesses.dtype)
                    sums[i] += total.detach()
        ctx.save_for_backward(*slopes)
        return sums[0] / count, sums[1] / count

    @staticmethod
    def backward(ctx: Any, *above: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        kl, alpha = ctx.saved_tensors
        return above[0].to(kl.dtype) * kl + above[1].to(kl.dtype) * alpha, None, None, None
