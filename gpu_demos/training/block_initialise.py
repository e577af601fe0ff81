"""Where a block head starts: two linear fits from the target, solved exactly from the kept states.

Layer and norm are copies of the target's last ones, and the fused context is at first the input of that layer, so that
keys and values of the context are the target's own. For each row a ridge regression maps (last state, middle tap,
anchor's embedding) to the input that the target's last layer has at the row's position. What the rows still miss is
then regressed on the embedding of the token before: its r main directions are the start of the Markov head.
"""

from __future__ import annotations

import torch

from gpu_demos.drafters.block import BlockHead
from gpu_demos.training.block_loss import Blocks, blocks, run
from gpu_demos.training.corpus import Corpus, Shard
from gpu_demos.training.initialise import RIDGE

CHUNK = 16  # texts at a time


def copy_target(head: BlockHead, last_layer: torch.nn.Module, final_norm: torch.nn.Module) -> None:
    """Give the head the target's last layer and final norm, and as context the input of that layer."""
    head.layer.load_state_dict(last_layer.state_dict())
    head.norm.load_state_dict(final_norm.state_dict())
    width = head.shape.width
    with torch.no_grad():
        head.fuse.weight.zero_()
        head.fuse.weight[:, -width:] = torch.eye(width)


@torch.no_grad()
def fit_start(head: BlockHead, corpus: Corpus, *, every: int = 1) -> list[float]:
    """Set `start` by ridge regression, anchors `every` tokens apart; per row the share of variance explained.

    Wanted inputs are scaled to one length, their mean: the last layer begins with a norm, and a few huge states would
    otherwise decide alone.
    """
    features = head.start.shape[-1]
    gram = torch.zeros(features, features, dtype=torch.float64)
    cross = torch.zeros(features, head.size * head.shape.width, dtype=torch.float64)
    power, length = torch.zeros(head.size, dtype=torch.float64), _typical(corpus)
    for shard in corpus.shards:
        for rows, places in _spread(head, shard, every):
            found = blocks(head, shard, rows, places)
            whole = _whole(head, shard, rows, places)
            x = head.features(found.read, found.anchors)[whole].float()
            at = (places[..., None] + torch.arange(head.size))[whole]
            text = torch.arange(len(rows))[:, None].expand(places.shape)[whole]
            wanted = shard.taps[rows][text[:, None], at, -1].float()
            wanted = wanted * (length / wanted.norm(dim=-1, keepdim=True).clamp_min(1e-6))
            gram += (x.T @ x).double()
            cross += (x.T @ wanted.flatten(1)).double()
            power += wanted.double().square().sum((0, 2))
    solution = torch.linalg.solve(_loaded(gram), cross)
    head.start.copy_(solution.T.view_as(head.start))
    gained = 2 * (solution * cross).sum(0) - (solution * (gram @ solution)).sum(0)
    return (gained.view(head.size, -1).sum(1) / power).tolist()


@torch.no_grad()
def fit_bias(head: BlockHead, corpus: Corpus, *, every: int = 16) -> None:
    """Set W₁ and W₂: from the embedding of the token before to what the rows behind the anchor's miss of the target's
    state, cut to the r directions in which the fit moves most."""
    width = head.shape.width
    gram = torch.zeros(width, width, dtype=torch.float64)
    cross = torch.zeros(width, width, dtype=torch.float64)
    for shard in corpus.shards:
        for rows, places in _spread(head, shard, every):
            found = blocks(head, shard, rows, places)
            missed, tokens = _missed(head, found)
            x = _embedded(head, tokens)
            gram += (x.T @ x).double()
            cross += (x.T @ missed).double()
    solution = torch.linalg.solve(_loaded(gram), cross)
    moved = solution.T @ gram @ solution
    rank = min(head.rank, width)
    main = torch.linalg.eigh(moved).eigenvectors[:, -rank:]
    first = (_embedded(head, head.draft_ids) @ (solution @ main).float()).to(head.start.dtype)
    second = head.lm_rows @ main.to(head.start.dtype)
    balance = (second.square().mean() / first.square().mean().clamp_min(1e-12)) ** 0.25
    for weight in (head.lookup.weight, head.bias.weight):
        weight.zero_()
    head.lookup.weight[: len(first), :rank] = first * balance
    head.bias.weight[:, :rank] = second / balance


def _missed(head: BlockHead, found: Blocks) -> tuple[torch.Tensor, torch.Tensor]:
    """(n, d) target's state minus the head's at the valid drafts behind the first, and the n tokens before them."""
    later = found.valid.clone()
    later[..., 0] = False
    return (found.states[later] - run(head, found)[later]).float(), found.previous[later]


def _embedded(head: BlockHead, tokens: torch.Tensor) -> torch.Tensor:
    embedding = head.embedding[tokens].float()
    return embedding / embedding.square().mean(-1, keepdim=True).add(head.shape.norm_eps).sqrt()


def _loaded(gram: torch.Tensor) -> torch.Tensor:
    return gram + RIDGE * gram.diagonal().mean() * torch.eye(len(gram), dtype=torch.float64)


def _typical(corpus: Corpus) -> float:
    """Mean length of the last layer's input behind the first token."""
    lengths = [shard.taps[:, 1:, -1].float().norm(dim=-1).flatten() for shard in corpus.shards]
    return float(torch.cat(lengths).mean())


def _spread(head: BlockHead, shard: Shard, every: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Texts in chunks, each with the same anchors `every` tokens apart in what the model wrote."""
    places = torch.arange(max(shard.prompt - 1, 1), shard.tokens.shape[1] - head.size, every)
    texts = torch.arange(len(shard.tokens)).split(CHUNK)
    return [(rows, places.expand(len(rows), -1)) for rows in texts]


def _whole(head: BlockHead, shard: Shard, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """(B, A) bool: blocks whose rows all have a position in the text."""
    return places + head.size <= shard.lengths[rows][:, None]
