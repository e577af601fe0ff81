"""Losses of a draft position against the target's distribution, on a draft vocabulary that is only a part of it.

`target_log` holds the target's log-probabilities of the R draft tokens under the *full* softmax, so they may sum to
less than 1: no draft can win the rest. Every function gives one number per position; means and weights are the
caller's. Source: lk2026, §3–4; with a cut vocabulary KL needs a renormalised target, the acceptance rate does not.
"""

from __future__ import annotations

import math

import torch

DECAY = 3.0  # η of the hybrid loss, the paper's default


def acceptance_rate(target_log: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """α = Σ min(p, q). target_log, logits: (…, R) -> (…,).

    >>> p = torch.tensor([0.8, 0.1, 0.1]); q = torch.tensor([0.6, 0.2, 0.2])
    >>> round(float(acceptance_rate(p.log(), q.log())), 6)
    0.8

    Source: leviathan2022, §3.2.
    """
    return torch.minimum(target_log.exp(), logits.softmax(-1)).sum(-1)


def forward_kl(target_log: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """KL(p̃ ‖ q) in nats, p̃ the target renormalised on the draft. (…, R) -> (…,). Source: lk2026."""
    kept = target_log.log_softmax(-1)
    return (kept.exp() * (kept - logits.log_softmax(-1))).sum(-1)


def lk_hybrid(kl: torch.Tensor, alpha: torch.Tensor, *, decay: float = DECAY) -> torch.Tensor:
    """λ KL + (1 − λ)(1 − α) with λ = exp(−η ᾱ), no gradient through λ. kl, alpha: (…,) of positions, or their means.

    ᾱ is the acceptance rate averaged over all that is given: one λ for a depth of the draft, as in the paper (other
    code takes one for each token). Raises ValueError for a negative decay. Source: lk2026, §4.
    """
    if decay < 0:
        raise ValueError(f"decay={decay} must not be negative")
    blend = math.exp(-decay * float(alpha.detach().mean()))
    return blend * kl + (1 - blend) * (1 - alpha)
