"""The records of one command while they are collected, and the quantities that all experiments on texts share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpu_demos.measure.laws import Scores
from gpu_demos.measure.statistics import Floats, bootstrap_half_width, half_width, mcnemar, p99
from gpu_demos.measure.tasks import Item
from gpu_demos.record import Record, Spread, dump

RESULTS = Path(__file__).parents[1] / "results"


class Sheet:
    """Collects records of one topic; `shared` as `provenance` gives it, dtype that of the model."""

    def __init__(self, topic: str, shared: Mapping[str, Any], dtype: str) -> None:
        self.topic, self.shared, self.dtype = topic, shared, dtype
        self.records: list[Record] = []

    def add(self, name: str, value: float, unit: str, spread: float | None, samples: int, **at: str) -> None:
        """spread: half of a 95 % interval; None for a number without chance, the same in every repetition."""
        width = Spread(spread, "ci95") if spread is not None else Spread(0.0, "range")
        self.records.append(
            Record(
                id=f"{self.topic}.{name}", at=at, value=value, unit=unit, spread=width, samples=samples,
                dtype=self.dtype, shape=(), **self.shared,
            )
        )  # fmt: skip

    def texts(self, found: Scores, baseline: Scores, **at: str) -> None:
        """Perplexity, its change, token KL and flips. Spread: over texts (tokens of one text are not independent)."""
        n, loss = len(found.loss), found.loss.mean(1)
        perplexity = float(np.exp(loss.mean()))
        self.add("perplexity", perplexity, "1", perplexity * half_width(loss), n, **at)
        change = loss - baseline.loss.mean(1)
        self.add("loss_change", float(change.mean()), "nat", half_width(change), n, **at)
        divergence = found.divergence.mean(1)
        self.add("kl_mean", float(divergence.mean()), "nat", half_width(divergence), n, **at)
        tail = bootstrap_half_width(found.divergence, p99)
        self.add("kl_p99", p99(found.divergence), "nat", tail, n, **at)
        flips = found.flipped.mean(1)
        self.add("top1_flips", float(flips.mean()), "1", half_width(flips), n, **at)

    def tasks(self, every: list[Item], chosen: list[int], baseline: list[int], **at: str) -> None:
        """Accuracy and McNemar's test against the baseline on the same items, for each task and size and over all."""
        right, before = (_right(every, x) for x in (chosen, baseline))
        kinds = sorted({(item.task, str(item.size)) for item in every})
        for task, size in (*kinds, ("all", "all")):
            part = np.array([task == "all" or (item.task, str(item.size)) == (task, size) for item in every])
            ours, theirs, where = right[part], before[part], {"task": task, "size": size, **at}
            lost, gained = int((theirs > ours).sum()), int((ours > theirs).sum())
            self.add("task_accuracy", float(ours.mean()), "1", half_width(ours), len(ours), **where)
            self.add("task_lost", lost, "1", None, len(ours), **where)
            self.add("task_gained", gained, "1", None, len(ours), **where)
            self.add("task_mcnemar_p", mcnemar(lost, gained), "1", None, len(ours), **where)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        dump(self.records, path)
        print(f"{len(self.records)} records in {path}")


def _right(every: list[Item], chosen: list[int]) -> Floats:
    return np.array([float(item.answer == c) for item, c in zip(every, chosen, strict=True)])
