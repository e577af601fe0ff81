"""How good a block head is on held-out text: acceptance per place, as `acceptance.Scores`.

Every block reads what a real one has: the target's states before the anchor, and the anchor. The tokens before a place
are those of the text, so place k is conditional on the k − 1 before it, along text that the target wrote. Anchors whose
whole block does not lie in the text, or whose block holds a token that cannot be drafted before its last place, are
left out of acceptance from there on: no round gets that far, which counts as 0 in tokens per round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from gpu_demos.drafters.block import BlockHead
from gpu_demos.training.acceptance import Floats, Scores
from gpu_demos.training.block_loss import blocks, run
from gpu_demos.training.corpus import Corpus, Shard


@torch.inference_mode()
def block_scores(
    head: BlockHead,
    lm_head: torch.Tensor,
    corpus: Corpus,
    *,
    every: int = 16,
    temperatures: Sequence[float] = (1.0, 0.6),
) -> list[Scores]:
    """Scores of each shard, anchors `every` tokens apart in the part that the model wrote.

    lm_head: (V, d) of the target. temperatures: of both softmaxes, above 0. Texts without a valid draft at some place
    are left out.
    """
    return [_shard(head, lm_head, shard, every, temperatures) for shard in corpus.shards]


def _shard(head: BlockHead, lm_head: torch.Tensor, shard: Shard, every: int, temperatures: Sequence[float]) -> Scores:
    texts = len(shard.tokens)
    sums: dict[float, Floats] = {t: np.zeros((texts, head.size)) for t in temperatures}
    rounds: dict[float, Floats] = {t: np.zeros(texts) for t in temperatures}
    greedy, greedy_rounds = np.zeros((texts, head.size)), np.zeros(texts)
    drafts, anchors = np.zeros((texts, head.size)), np.zeros(texts)
    for place in range(shard.prompt, shard.tokens.shape[1] - head.size, every):
        found = blocks(head, shard, torch.arange(texts), torch.full((texts, 1), place))
        logits = head.logits(run(head, found), found.previous)[:, 0].float()
        target = (found.states[:, 0] @ lm_head.T).float()
        whole = shard.lengths > place + head.size
        valid = (found.valid[:, 0] & whole[:, None]).double().numpy()
        drafts += valid
        anchors += whole.double().numpy()
        for t in temperatures:
            p = (target[..., head.draft_ids] / t - (target / t).logsumexp(-1, keepdim=True)).exp()
            alpha = torch.minimum(p, (logits / t).softmax(-1)).sum(-1).double().numpy() * valid
            sums[t] += alpha
            rounds[t] += whole.numpy() * (1 + alpha.cumprod(1).sum(1))
        same = (target.argmax(-1) == head.draft_ids[logits.argmax(-1)]).double().numpy() * valid
        greedy += same
        greedy_rounds += whole.numpy() * (1 + same.cumprod(1).sum(1))
    kept = (drafts > 0).all(1)
    drafts, anchors = drafts[kept], anchors[kept]
    return Scores(
        shard.domain, shard.temperature, {t: v[kept] / drafts for t, v in sums.items()}, greedy[kept] / drafts,
        {t: v[kept] / anchors for t, v in rounds.items()}, greedy_rounds[kept] / anchors,
    )  # fmt: skip
