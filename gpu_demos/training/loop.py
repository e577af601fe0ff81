"""The training of a head: steps, checkpoints, log, and a budget of wall-clock time; and the loss of the MTP head.

A run that is stopped, by its budget or by force, goes on from its last checkpoint and ends with bit for bit the same
weights (on the same machine and number of threads): all randomness comes from the seed and the number of the step.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch

from gpu_demos.drafters.mtp import MtpHead
from gpu_demos.training import checkpoint
from gpu_demos.training.corpus import Corpus, Shard
from gpu_demos.training.losses import lk_hybrid
from gpu_demos.training.recipe import MtpConfig
from gpu_demos.training.recursion import unroll
from gpu_demos.training.streamed import mean_kl_and_acceptance

LOG = "log.jsonl"
MIXING_STREAM = 7919  # keeps the draws of mixing apart from those of the batches


class Config(Protocol):
    """What the loop wants to know of a run; a recipe has more for its loss."""

    @property
    def steps(self) -> int: ...
    @property
    def batch(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def clip(self) -> float: ...
    def rate_at(self, step: int) -> float: ...
    def entry(self) -> dict[str, Any]: ...


Loss = Callable[[Any, Shard, torch.Tensor, Any, int], tuple[torch.Tensor, dict[str, list[float]]]]
"""(head, shard, rows, config, step) -> loss and figures of this batch; random only by seed and step."""


def train(
    head: torch.nn.Module,
    corpus: Corpus,
    config: Config,
    folder: Path,
    *,
    loss: Loss | None = None,
    minutes: float = float("inf"),
    save_minutes: float = 2.0,
    report: Callable[[dict[str, Any]], None] = lambda line: None,
) -> bool:
    """Train `head` in place, from the folder's checkpoint where there is one; True when all steps are done.

    loss: that of the head's kind, by default the MTP head's.
    `minutes` is a budget of wall-clock time for this call; when it is over a checkpoint is written and False returned.
    Raises ValueError for a checkpoint of another run, and FloatingPointError where a loss is no longer a number.
    """
    optimizer = torch.optim.AdamW(head.parameters(), lr=config.rate, betas=(0.9, 0.95), weight_decay=0.0)
    start = _restore(head, optimizer, config, folder)
    end, saved = time.monotonic() + 60 * minutes, time.monotonic()
    for step in range(start, config.steps):
        if time.monotonic() > end:
            _save(head, optimizer, config, folder, step)
            return False
        line = one_step(head, optimizer, corpus, config, step, loss or batch_loss)
        with (folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        report(line)
        if time.monotonic() - saved > 60 * save_minutes:
            _save(head, optimizer, config, folder, step + 1)
            saved = time.monotonic()
    _save(head, optimizer, config, folder, config.steps)
    return True


def one_step(
    head: torch.nn.Module, optimizer: torch.optim.Optimizer, corpus: Corpus, config: Config, step: int, measure: Loss
) -> dict[str, Any]:
    """One update; returns the loss and the figures of this batch."""
    shard, rows = corpus.batch(step, size=config.batch, seed=config.seed)
    for group in optimizer.param_groups:
        group["lr"] = config.rate_at(step)
    optimizer.zero_grad(set_to_none=True)
    loss, parts = measure(head, shard, rows, config, step)
    if not bool(torch.isfinite(loss)):
        raise FloatingPointError(f"step {step}: the loss is {float(loss.detach())}; a lower --rate may help")
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(head.parameters(), config.clip)
    optimizer.step()
    return {
        "step": step,
        "loss": float(loss.detach()),
        "rate": config.rate_at(step),
        "gradient_norm": float(norm),
        **parts,
    }


def batch_loss(
    head: MtpHead, shard: Shard, rows: torch.Tensor, config: MtpConfig, step: int
) -> tuple[torch.Tensor, dict[str, list[float]]]:
    """Weighted mean over depths of the mean loss over scored positions; depth k counts `depth_decay`^(k − 1)."""
    recipe, depths = config.behaviour, config.depths_at(step)
    generator = torch.Generator().manual_seed(config.seed * MIXING_STREAM + step) if recipe.mixing else None
    states, tokens = shard.states[rows].to(head.project.weight.dtype), shard.tokens[rows]
    lm_rows = head.lm_rows.to(torch.bfloat16 if config.products == "bf16" else head.lm_rows.dtype)
    with torch.autocast(states.device.type, torch.bfloat16, enabled=config.products == "bf16"):
        guesses = unroll(head, states, tokens, depths=depths, generator=generator)
    scored = shard.scored(written=recipe.written)[rows]
    total, share = torch.zeros(()), sum(config.depth_decay**k for k in range(depths))
    parts: dict[str, list[float]] = {"kl": [], "alpha": []}
    for depth, guess in enumerate(guesses, start=1):
        at = scored.clone()
        at[:, :depth] = False  # no guess of this depth exists there
        wanted = states[at], shard.log_normalizer[rows][at]
        kl, alpha = mean_kl_and_acceptance(guess[at], *wanted, lm_rows, both=recipe.loss == "lk")
        loss = lk_hybrid(kl, alpha) if recipe.loss == "lk" else kl
        total = total + config.depth_decay ** (depth - 1) / share * loss
        parts["kl"].append(round(float(kl.detach()), 5))
        parts["alpha"].append(round(float(alpha.detach()), 5))
    return total, parts


def _save(head: torch.nn.Module, optimizer: torch.optim.Optimizer, config: Config, folder: Path, step: int) -> None:
    entry = {"config": config.entry(), "step": step, "head": head.state_dict(), "optimizer": optimizer.state_dict()}
    checkpoint.save(folder, entry)


def _restore(head: torch.nn.Module, optimizer: torch.optim.Optimizer, config: Config, folder: Path) -> int:
    """Load what there is and return the step to begin with; lines of the log beyond it are dropped."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = checkpoint.load(folder, config.entry())
    step = int(entry["step"]) if entry else 0
    if entry:
        if not torch.equal(entry["head"]["draft_ids"], head.state_dict()["draft_ids"].cpu()):
            raise ValueError(f"{folder}: its checkpoint drafts other tokens; take another folder for this run")
        head.load_state_dict(entry["head"])
        optimizer.load_state_dict(entry["optimizer"])
    log = folder / LOG
    if log.exists():
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        partial = log.with_suffix(".part")
        partial.write_text("".join(lines[:step]), encoding="utf-8")
        partial.replace(log)
    return step
