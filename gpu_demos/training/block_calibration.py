"""Sequential temperature scaling of a head's confidences, fitted and judged on real rounds of held-out texts.

The target continues held-out prompts, sampling at temperature 1, with whole blocks and no stop. Of every round the
confidences and the length of the accepted prefix are kept. Half of the texts fit the temperatures, the other half
judges them: rounds of one text are alike, so texts are split, not rounds. Source: dspark2026, §3.2.1; `mechanisms`
holds fit and error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from transformers import PreTrainedModel

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Round
from gpu_demos.drafters.block import BlockHead
from gpu_demos.drafters.block_drafter import BlockDrafter
from gpu_demos.target import Target
from gpu_demos.training.corpus import Corpus
from gpu_demos.training.text import taps
from mechanisms.drafter_metrics import calibration_error
from mechanisms.drafter_rounds import Rounds
from mechanisms.drafter_scaling import fit, products

TOKENS = 24  # written for each prompt
TOGETHER = 8  # prompts decoded at once


def calibration(head: BlockHead, model: PreTrainedModel, corpus: Corpus, *, rounds: int) -> dict[str, Any]:
    """Temperatures, and per place the calibration error of the predicted survival before and after, with numbers of
    rounds. rounds: about so many in all. Raises ValueError where a half has no whole round."""
    prompts = [shard.tokens[i, : shard.prompt].tolist() for i in range(_most(corpus)) for shard in corpus.shards]
    halves: list[list[tuple[list[float], list[bool]]]] = [[], []]
    for first in range(0, len(prompts), TOGETHER):
        if min(map(len, halves)) >= rounds / 2:
            break
        for number, found in enumerate(whole_rounds(head, model, prompts[first : first + TOGETHER], seed=first)):
            halves[number % 2].extend(found)
    fitted, judged = (_table(half) for half in halves)
    temperatures = fit(fitted)
    errors = {
        name: [calibration_error(predicted[:, k], judged.survived[:, k]) for k in range(head.size)]
        for name, predicted in (
            ("ece_before", products(judged.confidence)), ("ece_after", products(judged.confidence, temperatures)),
        )
    }  # fmt: skip
    counts = {"rounds_fitted": len(fitted.survived), "rounds_judged": len(judged.survived)}
    passed = [round(float(x), 5) for x in judged.survived.mean(0)]
    return {
        "sampling_temperature": 1.0, "temperatures": list(temperatures), **counts, "survived": passed,
        **{name: [round(x, 5) for x in values] for name, values in errors.items()},
    }  # fmt: skip


def whole_rounds(
    head: BlockHead, model: PreTrainedModel, prompts: list[list[int]], *, seed: int
) -> list[list[tuple[list[float], list[bool]]]]:
    """Per prompt its rounds with a whole block: the confidences of all places, and which prefixes survived."""
    drafter = BlockDrafter(head, taps(len(model.model.layers)))
    found: list[list[tuple[list[float], list[bool]]]] = [[] for _ in prompts]

    def keep(row: int, done: Round) -> None:
        if len(done.drafts) == head.size:
            found[row].append((list(drafter.confidences[row]), [k < done.accepted for k in range(head.size)]))

    decode(
        Target(model), prompts, drafter=drafter, drafts=head.size, max_tokens=TOKENS, sampling=Sampling(1.0),
        seeds=range(seed, seed + len(prompts)), on_round=keep,
    )  # fmt: skip
    return found


def _most(corpus: Corpus) -> int:
    return min(len(shard.tokens) for shard in corpus.shards)


def _table(half: list[tuple[list[float], list[bool]]]) -> Rounds:
    if not half:
        raise ValueError("rounds: no whole round was decoded; more texts or longer ones are needed")
    return Rounds(np.array([c for c, _ in half]), np.array([s for _, s in half]))
