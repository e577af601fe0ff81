"""The settings that name a training of the block head."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gpu_demos.training.recipe import scheduled


@dataclass(frozen=True, slots=True)
class BlockConfig:
    """All that decides the weights. `base` is the hash of the target, `data` that of the text; a step takes `anchors`
    places of each of `batch` texts. Weights of the losses and their decay over places are the paper's, as is the
    rate. Source: dspark2026, §3.3 and the released configuration."""

    base: str
    data: str
    seed: int = 1
    steps: int = 600
    batch: int = 4
    anchors: int = 24
    size: int = 5
    rank: int = 96
    rate: float = 6e-4
    warmup: float = 0.04
    clip: float = 1.0
    vocabulary: int = 8192
    cross_entropy: float = 0.1
    distance: float = 0.9
    confidence: float = 1.0
    decay: float = 4.0

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "anchors", "rank", "vocabulary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if self.size < 2 or not 0 <= self.warmup < 1 or min(self.rate, self.clip, self.decay) <= 0:
            raise ValueError(f"{self}: size at least 2, warmup in [0, 1), rate, clip and decay above 0")
        if min(self.cross_entropy, self.distance, self.confidence) < 0:
            raise ValueError(f"{self}: no loss may have a negative weight")

    def rate_at(self, step: int) -> float:
        return scheduled(self.rate, step, steps=self.steps, warmup=self.warmup)

    def entry(self) -> dict[str, Any]:
        return asdict(self)
