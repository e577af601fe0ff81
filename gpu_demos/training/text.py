"""The model writes the training text, and what it thought while writing is kept beside it.

One shard is one batch (a smaller one where it is held out): prompts of one domain and one side of the split, continued
by the model itself at one temperature. The same pass that samples a token has computed its hidden state, so states,
tapped layers and the logarithm of the softmax's denominator are stored at once and no second pass over the text is
needed. A shard is written under a temporary name and renamed; its seed depends only on the run's seed and the shard's
number, so a run that was interrupted goes on where it stopped and gives the same shards.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import PreTrainedModel

from gpu_demos.cache import KVCache
from gpu_demos.target import Target
from gpu_demos.training.domains import DOMAINS, Domain, Side, Tokenizer, describe, prompts

TEMPERATURES = (0.8, 0.8, 0.8, 0.0)
HELD_OUT_ROUNDS, ROUNDS = (2, 3), 12  # of every 12 rounds over the domains one sampled and one greedy are held out
CONFIG = "text.json"


@dataclass(frozen=True, slots=True)
class TextConfig:
    """What decides the text, and nothing else does. Sizes in tokens; `base` is the hash of the model's weights."""

    base: str
    dtype: str = "fp32"
    seed: int = 1
    batch: int = 64
    held_out_batch: int = 32
    prompt: int = 32
    written: int = 160

    def __post_init__(self) -> None:
        for name in ("batch", "held_out_batch", "prompt", "written"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")


@dataclass(frozen=True, slots=True)
class Plan:
    """Domain, side, temperature and seed of one shard."""

    domain: Domain
    side: Side
    temperature: float
    seed: int


def plan(config: TextConfig, index: int) -> Plan:
    """What shard `index` holds: the domains in turn, and round by round the next temperature."""
    lap = index // len(DOMAINS)
    digest = hashlib.sha256(f"{config.seed}/{index}".encode()).digest()
    side: Side = "held_out" if lap % ROUNDS in HELD_OUT_ROUNDS else "train"
    seed = int.from_bytes(digest[:6], "big")
    return Plan(DOMAINS[index % len(DOMAINS)], side, TEMPERATURES[lap % len(TEMPERATURES)], seed)


def taps(layers: int) -> tuple[int, ...]:
    """After which layers the state is kept beside the final one: a low, a middle one, and the input of the last.

    Indices into transformers' `hidden_states` (0 is the embedding). Source: EAGLE-3 taps low, middle and high layers.
    """
    return (min(2, layers - 1), layers // 2, layers - 1)


def write(
    model: PreTrainedModel, tokenizer: Tokenizer, folder: Path, config: TextConfig, *, shards: int, minutes: float
) -> Iterator[dict[str, Any]]:
    """Make the shards that are missing, in order, until there are `shards` or `minutes` are over; yields log lines.

    Raises ValueError where the folder holds text of another configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tapped = taps(model.config.num_hidden_layers)
    _agree(folder / CONFIG, {**asdict(config), "prompts": dict(describe()), "taps": tapped})
    end = time.monotonic() + 60 * minutes
    for index in range(shards):
        path = folder / f"shard-{index:04d}.safetensors"
        if path.exists():
            continue
        if time.monotonic() > end:
            return
        start, this = time.monotonic(), plan(config, index)
        kept = make(model, tokenizer, config, this)
        meta = {"domain": this.domain, "side": this.side, "temperature": str(this.temperature), "prompt": kept[1]}
        partial = path.with_suffix(".part")
        save_file(kept[0], partial, {key: str(value) for key, value in meta.items()})
        partial.replace(path)
        written = int((kept[0]["lengths"] - kept[1]).sum())
        line = {"shard": index, **meta, "tokens": written, "seconds": round(time.monotonic() - start, 1)}
        with (folder / "text.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        yield line


def make(
    model: PreTrainedModel, tokenizer: Tokenizer, config: TextConfig, this: Plan
) -> tuple[dict[str, torch.Tensor], int]:
    """The tensors of one shard, and the number of tokens of each prompt.

    tokens: (N, T) int32. lengths: (N,) tokens up to and including the end of the text. states: (N, T, d) bf16, what
    the LM head is applied to. taps: (N, T, 3, d) bf16. log_normalizer: (N, T) float32, log Σ exp of all logits.
    """
    rng = random.Random(this.seed)
    count = config.held_out_batch if this.side == "held_out" else config.batch
    found = prompts(tokenizer, this.domain, this.side, count=count, length=config.prompt, rng=rng)
    generator = torch.Generator(model.device).manual_seed(this.seed)
    ids = torch.tensor(found, device=model.device)
    kept: dict[str, list[torch.Tensor]] = {"tokens": [], "states": [], "taps": [], "log_normalizer": []}
    target, done = Target(model), torch.zeros(len(found), dtype=torch.bool, device=model.device)
    cache = target.new_cache(len(found), ids.shape[1] + config.written)
    lengths = torch.full((len(found),), ids.shape[1] + config.written, device=model.device)
    with torch.inference_mode():
        for step in range(config.written + 1):
            logits = _forward(target, ids, cache, kept)
            ended = ~done & (ids[:, -1] == model.config.eos_token_id) if step else done
            lengths[ended] = len(found[0]) + step
            done = done | ended
            if bool(done.all()):
                break
            ids = sample(logits, this.temperature, generator)[:, None]
    tensors = {name: torch.cat(parts, 1).contiguous() for name, parts in kept.items()}
    return {**tensors, "lengths": lengths.int().cpu()}, len(found[0])


def _forward(target: Target, ids: torch.Tensor, cache: KVCache, kept: dict[str, list[torch.Tensor]]) -> torch.Tensor:
    """Run `ids`, (N, S), keep what is to be kept of them, and return the logits of the last position, (N, V)."""
    tapped = taps(len(target.layers))
    out = target.run(ids, cache.lengths, cache, taps=tapped)
    cache.lengths = [length + ids.shape[1] for length in cache.lengths]
    normalizers: list[torch.Tensor] = []
    logits = out.hidden[:, -1].float()
    for position in range(ids.shape[1]):  # one at a time: all logits of a batch of prompts would not fit
        logits = target.logits(out.hidden[:, position]).float()
        normalizers.append(logits.logsumexp(-1))
    kept["tokens"].append(ids.int().cpu())
    kept["states"].append(out.hidden.bfloat16().cpu())
    kept["taps"].append(torch.stack([out.taps[i] for i in tapped], 2).bfloat16().cpu())
    kept["log_normalizer"].append(torch.stack(normalizers, 1).cpu())
    return logits


def sample(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """One token for each row of (N, V) logits, (N,); the likeliest one at temperature 0."""
    if temperature == 0:
        return logits.argmax(-1)
    # By the inverse of the distribution function: `multinomial` would draw a number for each token of the vocabulary.
    reached = torch.softmax(logits / temperature, -1).cumsum(-1)
    drawn = torch.rand(len(logits), 1, generator=generator, device=logits.device) * reached[:, -1:]
    return torch.searchsorted(reached, drawn, right=True)[:, 0].clamp_max(logits.shape[1] - 1)


def _agree(path: Path, entry: dict[str, Any]) -> None:
    """Write the description of a run, or refuse to go on where another one is there."""
    text = json.dumps(entry, indent=2) + "\n"
    if not path.exists():
        partial = path.with_suffix(f".part{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
        return
    known, wanted = json.loads(path.read_text(encoding="utf-8")), json.loads(text)
    if known != wanted:
        other = sorted(key for key in {*known, *wanted} if known.get(key) != wanted.get(key))
        raise ValueError(f"{path}: made with another {', '.join(other)}; take an empty folder, or the same settings")
