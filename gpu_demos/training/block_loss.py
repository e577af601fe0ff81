"""Blocks out of a written text, and the loss of the block head on them.

0.1 cross-entropy to the token of the text, 0.9 L1 distance of the draft's law to the target's, 1.0 cross-entropy of
the confidence to its label; place k weighs e^{−(k−1)/4}. L1 is the whole sum (0 … 2), over the full vocabulary: tokens
that cannot be drafted have q = 0. The label is c* = 1 − ½‖q − p‖₁ = Σ min(p, q), the acceptance rate of the place
whatever token is drawn, and no gradient flows through it. The tokens before are those of the text.
Source: dspark2026, §3.3 and Eq. 7–8; deepspec modeling/dspark/loss.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

from gpu_demos.drafters.block import MIDDLE, NONE, BlockHead
from gpu_demos.training.block_recipe import BlockConfig
from gpu_demos.training.corpus import Shard
from gpu_demos.training.losses import acceptance_rate

ANCHOR_STREAM = 104_729  # keeps the draws of anchors apart from those of the batches


@dataclass(frozen=True, slots=True)
class Blocks:
    """A blocks of each of B texts. anchors, places: (B, A) token and position; read: (B, A, 2, d) of the position
    before; taps: (B, T, 3, d). previous, following: (B, A, γ) the tokens before (NONE at first) and at each draft;
    states: (B, A, γ, d) and log_normalizer: (B, A, γ) of the target there; valid: (B, A, γ), see `blocks`.
    """

    anchors: torch.Tensor
    places: torch.Tensor
    read: torch.Tensor
    taps: torch.Tensor
    previous: torch.Tensor
    following: torch.Tensor
    states: torch.Tensor
    log_normalizer: torch.Tensor
    valid: torch.Tensor


def blocks(head: BlockHead, shard: Shard, rows: torch.Tensor, places: torch.Tensor) -> Blocks:
    """The blocks behind the anchors at `places`, (B, A), each at least 1, of the texts `rows`.

    A draft is valid while it lies in the text and everything drafted before it could be drafted: the contiguous prefix
    that a real round can reach.
    """
    dtype = head.start.dtype
    tokens, states, taps = shard.tokens[rows], shard.states[rows], shard.taps[rows]
    at = places[..., None] + torch.arange(head.size)  # the target's position that speaks of draft k
    inside = at + 1 < shard.lengths[rows][:, None, None]
    at = at.clamp(max=tokens.shape[1] - 2)
    text = torch.arange(len(rows))[:, None, None]
    previous, following = tokens[text, at], tokens[text, at + 1]
    before = (text[..., 0], places - 1)
    anchors, previous = previous[..., 0], functional.pad(previous[..., 1:], (1, 0), value=NONE)
    known = head.row_of[previous[..., 1:]] < len(head.draft_ids)
    reached = functional.pad(known, (1, 0), value=True).long().cumprod(-1).bool()
    return Blocks(
        anchors, places, torch.stack((states[before], taps[before][..., MIDDLE, :]), -2).to(dtype),
        taps.to(dtype), previous, following, states[text, at].to(dtype), shard.log_normalizer[rows][text, at],
        inside & reached,
    )  # fmt: skip


def drawn_places(shard: Shard, rows: torch.Tensor, *, count: int, seed: int, step: int) -> torch.Tensor:
    """(B, count) anchors, uniform over the tokens from the prompt's last on that have a token after them."""
    generator = torch.Generator().manual_seed((seed * ANCHOR_STREAM + step) % 2**63)
    first, last = max(shard.prompt - 1, 1), shard.lengths[rows][:, None] - 2
    share = torch.rand(len(rows), count, generator=generator, dtype=torch.float64)
    return (first + (share * (last - first + 1).clamp(min=1)).long()).long()


def run(head: BlockHead, found: Blocks) -> torch.Tensor:
    """(B, A, γ, d): the head's states of these blocks."""
    return head(found.read, found.anchors, found.places, *head.context(found.taps))


def block_loss(
    head: BlockHead, shard: Shard, rows: torch.Tensor, config: BlockConfig, step: int
) -> tuple[torch.Tensor, dict[str, list[float]]]:
    """The weighted loss of a batch, and per place the means of acceptance rate and of predicted confidence."""
    places = drawn_places(shard, rows, count=config.anchors, seed=config.seed, step=step)
    found = blocks(head, shard, rows, places)
    hidden = run(head, found)
    at = found.valid
    weight = torch.exp(-torch.arange(head.size) / config.decay).expand(at.shape)[at]
    logits = head.logits(hidden[at], found.previous[at]).float()
    wanted = (found.states[at] @ head.lm_rows.T).float() - found.log_normalizer[at][:, None]
    alpha = acceptance_rate(wanted, logits)
    sure = head.confidence_logits(hidden[at], found.previous[at]).float()
    label = head.row_of[found.following[at]]
    cross = functional.cross_entropy(logits, label, ignore_index=len(head.draft_ids), reduction="none")
    held = functional.binary_cross_entropy_with_logits(sure, alpha.detach().clamp(0, 1), reduction="none")
    parts = config.cross_entropy * cross + config.distance * 2 * (1 - alpha) + config.confidence * held
    figures = {"alpha": _per_place(alpha, at), "confidence": _per_place(sure.sigmoid(), at)}
    return (weight * parts).sum() / weight.sum(), figures


def _per_place(values: torch.Tensor, at: torch.Tensor) -> list[float]:
    """Mean of the values at each place k; at: (B, A, γ), its true entries in the order of `values`."""
    place = at.nonzero()[:, -1]
    sums = torch.zeros(at.shape[-1]).index_add_(0, place, values.detach())
    return [round(float(x), 5) for x in sums / torch.bincount(place, minlength=at.shape[-1]).clamp(min=1)]
