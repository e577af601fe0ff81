"""How good a head is on held-out text: acceptance per depth, under the inputs that a real draft would have.

At an anchor the text up to the next token is confirmed: depth 1 reads the target's states for all of it. Deeper drafts
read the head's own guesses for what lies beyond, and keys and values of confirmed positions stay those of depth 1, as
in decoding and unlike in training. The drafted tokens are those of the text (as if every earlier draft was accepted),
so a number of depth k is conditional on the acceptance of the k − 1 before it, along text that the target wrote.
Texts are independent, positions of one text are not: intervals are Student's over the means of texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats

from gpu_demos.drafters.mtp import MtpHead, Steps
from gpu_demos.training.corpus import Corpus, Shard

Floats = NDArray[np.float64]
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the anchors of each text. temperature: of the text. acceptance: softmax temperature -> (N, K) of
    Σ min(p, q). greedy: (N, K) whether both would choose one token. Tokens per round, (N,), count the bonus or the
    correction.
    """

    domain: str
    temperature: float
    acceptance: Mapping[float, Floats]
    greedy: Floats
    tokens_per_round: Mapping[float, Floats]
    greedy_tokens_per_round: Floats


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over texts with the half width of its 95 % interval."""

    mean: float
    half_width: float
    texts: int


def interval(values: Floats) -> Interval:
    """Student's interval of the mean. values: (N,), N >= 2, one for each text. Raises ValueError for fewer."""
    if len(values) < 2:
        raise ValueError(f"values: {len(values)} must be at least 2 texts")
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(float(values.mean()), float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1)) * error, len(values))


@torch.inference_mode()
def score(
    head: MtpHead, lm_head: torch.Tensor, corpus: Corpus, *, depths: int = 5, every: int = 16,
    temperatures: Sequence[float] = (1.0, 0.6),
) -> list[Scores]:  # fmt: skip
    """Scores of each shard, anchors `every` tokens apart in the part that the model wrote.

    lm_head: (V, d) of the target, for its full distribution. temperatures: applied to both sides, above 0.
    """
    return [_shard(head, lm_head, shard, depths, every, temperatures) for shard in corpus.shards]


def _shard(
    head: MtpHead, lm_head: torch.Tensor, shard: Shard, depths: int, every: int, temperatures: Sequence[float]
) -> Scores:
    sums: dict[float, Floats] = {t: np.zeros((len(shard.tokens), depths)) for t in temperatures}
    rounds: dict[float, Floats] = {t: np.zeros(len(shard.tokens)) for t in temperatures}
    greedy = np.zeros_like(sums[temperatures[0]])
    greedy_rounds, count = np.zeros(len(shard.tokens)), np.zeros(len(shard.tokens))
    for anchor, guesses in draft(head, shard, depths=depths, every=every):
        # The whole draft must lie inside the text: the target's word on it is known only there.
        used = (shard.lengths > anchor + depths + 1).numpy().astype(np.float64)
        states = shard.states[:, anchor + 1 : anchor + 1 + depths].to(lm_head.dtype)
        target, drafted = (states @ lm_head.T).float(), head.logits(guesses).float()
        for t in temperatures:
            p = (target[..., head.draft_ids] / t - (target / t).logsumexp(-1, keepdim=True)).exp()
            alpha = torch.minimum(p, (drafted / t).softmax(-1)).sum(-1).double().numpy()
            sums[t] += used[:, None] * alpha
            rounds[t] += used * (1 + alpha.cumprod(1).sum(1))
        same = (target.argmax(-1) == head.draft_ids[drafted.argmax(-1)]).double().numpy()
        greedy += used[:, None] * same
        greedy_rounds += used * (1 + same.cumprod(1).sum(1))
        count += used
    kept = count > 0
    each = count[kept]
    return Scores(
        shard.domain, shard.temperature, {t: v[kept] / each[:, None] for t, v in sums.items()},
        greedy[kept] / each[:, None], {t: v[kept] / each for t, v in rounds.items()}, greedy_rounds[kept] / each,
    )  # fmt: skip


def draft(head: MtpHead, shard: Shard, *, depths: int, every: int) -> Iterator[tuple[int, torch.Tensor]]:
    """(anchor, guessed states (N, K, d) of positions anchor + 1 … anchor + K) for every anchor of a shard, last first.

    The anchor is the last position whose state the target has computed.
    """
    states, tokens = shard.states.to(head.project.weight.dtype), shard.tokens
    rows, length = tokens.shape
    steps = Steps(head, rows, length)
    first = steps(states[:, :-1], tokens[:, 1:], [0] * rows)
    # Last first, because a draft writes over the positions behind its anchor.
    for anchor in reversed(range(shard.prompt - 1, length - depths - 1, every)):
        guesses = [first[:, anchor : anchor + 1]]
        for place in range(anchor + 1, anchor + depths):
            following = tokens[:, place + 1 : place + 2]
            guesses.append(steps(guesses[-1], following, [place] * rows))
        yield anchor, torch.cat(guesses, 1)
