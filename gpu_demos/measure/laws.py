"""What a changed model says about a text, token by token, beside what the baseline says.

Only the states under the LM head are kept of the baseline: the LM head is the same on both sides, and a full law of
49,152 probabilities for each token would be two hundred times as large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from gpu_demos.measure.paired import Floats
from gpu_demos.target import Target

Read = Callable[[torch.Tensor], torch.Tensor]  # (B, T) tokens -> (B, T, d) states after the final norm


@dataclass(frozen=True, slots=True)
class Scores:
    """One number for each predicted token, (N, T − 1): negative log-likelihood in nat, KL(baseline ‖ changed) in nat,
    and 1 where both models' most probable tokens differ."""

    loss: Floats
    divergence: Floats
    flipped: Floats

    def rows(self, chosen: list[int]) -> Scores:
        """The same for some of the texts."""
        return Scores(self.loss[chosen], self.divergence[chosen], self.flipped[chosen])


def plain(target: Target) -> Read:
    """One pass over the whole text with the target's own cache."""
    return lambda ids: target.run(ids, [0] * len(ids), target.new_cache(len(ids), ids.shape[1])).hidden


@torch.inference_mode()
def states(target: Target, ids: torch.Tensor, *, read: Read | None = None, rows: int = 8) -> torch.Tensor:
    """(N, T) tokens -> (N, T, d) states after the final norm, `rows` texts at a time. read: `plain` if not given."""
    read = read or plain(target)
    return torch.cat([read(part) for part in ids.split(rows)])


@torch.inference_mode()
def score(target: Target, ids: torch.Tensor, found: torch.Tensor, baseline: torch.Tensor) -> Scores:
    """Compare two (N, T, d) states of one text, both read by the target's LM head."""
    parts: list[tuple[Floats, ...]] = []
    for row in range(len(ids)):
        ours, theirs = (target.logits(x[row, :-1]).float().log_softmax(-1) for x in (found, baseline))
        loss = -ours.gather(1, ids[row, 1:, None])[:, 0]
        divergence = (theirs.exp() * (theirs - ours)).sum(-1)
        parts.append(tuple(x.double().cpu().numpy() for x in (loss, divergence, ours.argmax(-1) != theirs.argmax(-1))))
    return Scores(*(np.stack(column) for column in zip(*parts, strict=True)))
