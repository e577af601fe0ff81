"""The head unrolled over its own guesses, for all positions of a text at once, with or without hidden-state mixing.

Everything is aligned by the position it speaks of: `states[k][:, j]` is what depth k holds as the state of position j,
with the target's own at k = 0. Depth k + 1 reads states[k] and the next token and gives states[k + 1] one position
later. Where a depth has no guess yet (the first k positions) the newest older one stands in, as in Megatron's code.
Without mixing, depth k reads guesses of depth k − 1 everywhere, also for confirmed tokens, whose states a draft would
have from the target: the mismatch that mixing softens (`mechanisms.mtp_mixing` counts it).
"""

from __future__ import annotations

import torch

from gpu_demos.drafters.mtp import MtpHead


def unroll(
    head: MtpHead, states: torch.Tensor, tokens: torch.Tensor, *, depths: int, generator: torch.Generator | None = None
) -> list[torch.Tensor]:
    """Guesses of depths 1 … `depths`: each (B, T, d), index j speaking of position j, valid for j >= its depth.

    states: (B, T, d) of the target; tokens: (B, T), tokens[:, j] at position j. generator: hidden-state mixing, each
    position reads a uniform draw from the target's state and those of all earlier depths; None: the newest.
    Source: Megatron-LM, multi_token_prediction, `_mix_hidden_state_history`; nemotron3ultra, §3.4.
    """
    following = torch.cat((tokens[:, 1:], tokens[:, -1:]), 1)  # the last position has no next token and is not used
    history, guesses = [states], []
    for _ in range(depths):
        read = history[-1] if generator is None else _draw(history, generator)
        guess = head(read[:, :-1], following[:, :-1])
        history.append(torch.cat((history[-1][:, :1], guess), 1))
        guesses.append(history[-1])
    return guesses


def _draw(history: list[torch.Tensor], generator: torch.Generator) -> torch.Tensor:
    rows, length, _ = history[0].shape
    choice = torch.randint(len(history), (rows, length, 1), generator=generator).to(history[0].device)
    mixed = history[0]
    for depth, states in enumerate(history[1:], start=1):
        mixed = torch.where(choice == depth, states, mixed)
    return mixed
