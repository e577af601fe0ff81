"""Records that all experiments with a changed model share: it and the baseline read the same texts and answer the same
items, so that every difference is paired."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpu_demos.measure.common import SURE, Sheet, mean
from gpu_demos.measure.laws import Scores
from gpu_demos.measure.paired import bootstrap, mcnemar, p99
from gpu_demos.measure.subject import DTYPE
from gpu_demos.measure.tasks import Item
from gpu_demos.record import Spread


def add_texts(sheet: Sheet, found: Scores, baseline: Scores, at: dict[str, str]) -> None:
    """Perplexity, change of the loss, token KL, flips. Spreads are over texts: tokens of one text hang together."""
    add = partial(sheet.add, at=at, samples=len(found.loss), dtype=DTYPE)
    loss, wide = mean(found.loss.mean(1).tolist())
    perplexity = float(np.exp(loss))
    add("perplexity", perplexity, Spread(perplexity * wide.value, "ci95"))  # to first order
    add("loss_change", *mean((found.loss - baseline.loss).mean(1).tolist()), unit="nat")
    add("kl_mean", *mean(found.divergence.mean(1).tolist()), unit="nat")
    add("kl_p99", p99(found.divergence), bootstrap(found.divergence, p99), unit="nat")
    add("top1_flips", *mean(found.flipped.mean(1).tolist()))


def add_tasks(
    sheet: Sheet, every: Sequence[Item], chosen: Sequence[int], baseline: Sequence[int], at: dict[str, str]
) -> None:
    """Accuracy, and McNemar's test against the baseline, for each task and size and over all."""
    right, before = (_right(every, x) for x in (chosen, baseline))
    kinds = sorted({(item.task, str(item.size)) for item in every})
    for task, size in (*kinds, ("all", "all")):
        part = np.array([task == "all" or (item.task, str(item.size)) == (task, size) for item in every])
        ours, theirs = right[part], before[part]
        lost, gained = int((theirs & ~ours).sum()), int((ours & ~theirs).sum())
        add = partial(sheet.add, at={"task": task, "size": size, **at}, samples=len(ours), dtype=DTYPE)
        add("task_accuracy", *mean(ours.tolist()))
        add("task_lost", lost, SURE)
        add("task_gained", gained, SURE)
        add("task_mcnemar_p", mcnemar(lost, gained), SURE)


def _right(every: Sequence[Item], chosen: Sequence[int]) -> NDArray[np.bool_]:
    return np.array([item.answer == c for item, c in zip(every, chosen, strict=True)])
