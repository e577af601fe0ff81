"""Where a head starts: as near to the target as one linear fit brings it.

The layer and the norm behind it are copies of the target's last ones. What remains is to feed that layer: a ridge
regression from (state, embedding of the next token) to the input that the target's own last layer has one position
later. It is solved exactly from the cached states, with no step of gradient descent.
"""

from __future__ import annotations

import torch

from gpu_demos.drafters.mtp import MtpHead
from gpu_demos.training.corpus import Corpus

RIDGE = 1e-3  # of the mean diagonal: the directions that the text never shows stay small


def copy_last_layer(head: MtpHead, last_layer: torch.nn.Module, final_norm: torch.nn.Module) -> None:
    """Give the head the target's last layer and final norm."""
    head.layer.load_state_dict(last_layer.state_dict())
    head.norm.load_state_dict(final_norm.state_dict())


def fit_projection(head: MtpHead, corpus: Corpus, *, positions: int = 100_000) -> float:
    """Set `project` by ridge regression on up to `positions` positions; returns the share of variance explained.

    Every position counts by 1/|target|²: the last layer begins with a norm, so directions matter and the few huge
    states of the first token would otherwise decide alone.
    """
    width = head.shape.width
    gram = torch.zeros(2 * width, 2 * width, dtype=torch.float64)
    cross = torch.zeros(2 * width, width, dtype=torch.float64)
    power, seen = 0.0, 0
    for shard in corpus.shards:
        if seen >= positions:
            break
        inside = shard.scored(written=False)[:, 1:]
        inputs = _inputs(head, shard.states[:, :-1][inside], shard.tokens[:, 1:][inside])
        wanted = shard.taps[:, 1:, -1][inside].float()
        scale = wanted.norm(dim=-1, keepdim=True).clamp_min(1e-6)
        inputs, wanted = inputs / scale * width**0.5, wanted / scale * width**0.5
        gram += (inputs.T @ inputs).double()
        cross += (inputs.T @ wanted).double()
        power, seen = power + float(wanted.double().square().sum()), seen + len(inputs)
    loaded = gram + RIDGE * gram.diagonal().mean() * torch.eye(2 * width, dtype=torch.float64)
    solution = torch.linalg.solve(loaded, cross)
    left = power - 2 * float((solution * cross).sum()) + float((solution * (gram @ solution)).sum())
    with torch.no_grad():
        head.project.weight.copy_(solution.T)
    return 1 - left / power


@torch.no_grad()
def _inputs(head: MtpHead, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """(n, 2 d) float32: what `project` sees."""
    dtype = head.project.weight.dtype
    embedded = head.embedding[tokens]
    return torch.cat((head.norm_state(states.to(dtype)), head.norm_embedding(embedded)), -1).float()
