"""What a training of the MTP head does: the five recipes, and the settings that name a run."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal

Loss = Literal["kl", "lk"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """loss: forward KL or the LK hybrid. mixing: hidden-state mixing. written: learn from the text that the model wrote
    (on-policy) and not from the prompts as well. boosts: starts from a trained head instead of the target."""

    loss: Loss
    mixing: bool
    written: bool
    boosts: bool


RECIPES = MappingProxyType({
    "base": Recipe("kl", mixing=False, written=False, boosts=False),
    "kl": Recipe("kl", mixing=False, written=True, boosts=True),
    "kl_mixing": Recipe("kl", mixing=True, written=True, boosts=True),
    "lk": Recipe("lk", mixing=False, written=True, boosts=True),
    "lk_mixing": Recipe("lk", mixing=True, written=True, boosts=True),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class MtpConfig:
    """All that decides the weights. `base` is the hash of the target, `data` that of the text, `start` that of the head
    a boost begins with ("target" where it begins with the target's layer); `batch` counts texts; `products` is the
    dtype of matrix products, fp32 or bf16 (quicker where the processor has instructions for it)."""

    recipe: str
    base: str
    data: str
    start: str = "target"
    seed: int = 1
    steps: int = 1000
    batch: int = 8
    depths: int = 3
    one_depth_steps: int = 0
    rate: float = 1e-3
    warmup: float = 0.04
    clip: float = 1.0
    depth_decay: float = 0.8
    vocabulary: int = 8192
    products: str = "fp32"

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe={self.recipe!r} must be one of {', '.join(RECIPES)}")
        if RECIPES[self.recipe].boosts == (self.start == "target"):
            raise ValueError(f"start={self.start!r}: {self.recipe} must start from {self._origin}")
        if self.products not in ("fp32", "bf16"):
            raise ValueError(f"products={self.products!r} must be fp32 or bf16")
        for name in ("steps", "batch", "depths", "vocabulary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if not 0 <= self.warmup < 1 or self.rate <= 0 or self.clip <= 0 or not 0 < self.depth_decay <= 1:
            raise ValueError(f"{self}: warmup in [0, 1), rate and clip above 0, depth_decay in (0, 1]")

    @property
    def _origin(self) -> str:
        return "a trained head (--start)" if RECIPES[self.recipe].boosts else "the target"

    @property
    def behaviour(self) -> Recipe:
        return RECIPES[self.recipe]

    def depths_at(self, step: int) -> int:
        """One depth for the first `one_depth_steps`, then all: the recursion needs a head that guesses at all."""
        return 1 if step < self.one_depth_steps else self.depths

    def rate_at(self, step: int) -> float:
        return scheduled(self.rate, step, steps=self.steps, warmup=self.warmup)

    def entry(self) -> dict[str, Any]:
        return asdict(self)


def scheduled(rate: float, step: int, *, steps: int, warmup: float) -> float:
    """Linear warm-up over the share `warmup` of the steps, then a half cosine down to a tenth of `rate`."""
    rise = max(1, round(warmup * steps))
    if step < rise:
        return rate * (step + 1) / rise
    done = (step - rise) / max(1, steps - rise)
    return rate * (0.1 + 0.45 * (1 + math.cos(math.pi * done)))
