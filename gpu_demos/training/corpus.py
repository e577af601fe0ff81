"""Reading the shards: one side of the split in memory, batches that depend only on seed and step, the draft vocabulary.

A missing or damaged shard is an error, never skipped: the data of a training is named by one hash over all of it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from gpu_demos.training.domains import Side
from gpu_demos.training.text import CONFIG


@dataclass(frozen=True, slots=True)
class Shard:
    """N texts of one length. tokens: (N, T) int64; lengths: (N,); states: (N, T, d) bf16; taps: (N, T, 3, d) bf16;
    log_normalizer: (N, T) float32; prompt: tokens that the model did not write."""

    name: str
    domain: str
    side: str
    temperature: float
    prompt: int
    tokens: torch.Tensor
    lengths: torch.Tensor
    states: torch.Tensor
    taps: torch.Tensor
    log_normalizer: torch.Tensor

    def scored(self, *, written: bool) -> torch.Tensor:
        """(N, T) bool: positions whose next token belongs to the text, and was written by the model if `written`."""
        place = torch.arange(self.tokens.shape[1])
        inside = place[None] < self.lengths[:, None] - 1
        return inside & (place[None] >= self.prompt - 1) if written else inside


@dataclass(frozen=True, slots=True)
class Corpus:
    """All shards of one side, and the hash that names them."""

    shards: tuple[Shard, ...]
    sha256: str
    description: dict[str, Any]

    @property
    def tokens_written(self) -> int:
        return sum(int((s.lengths - s.prompt).sum()) for s in self.shards)

    def batch(self, step: int, *, size: int, seed: int) -> tuple[Shard, torch.Tensor]:
        """A shard and the rows of it that step `step` learns from: all texts once, in a new order each epoch."""
        pieces = [(s, i) for s in self.shards for i in range(-(-len(s.tokens) // size))]
        epoch, place = divmod(step, len(pieces))
        generator = torch.Generator().manual_seed((seed * 1_000_003 + epoch) % 2**63)
        order = torch.randperm(len(pieces), generator=generator)
        rows = {s.name: torch.randperm(len(s.tokens), generator=generator) for s in self.shards}
        shard, piece = pieces[int(order[place])]
        return shard, rows[shard.name][piece * size : (piece + 1) * size]


def read(folder: Path, side: Side, *, limit: int | None = None) -> Corpus:
    """One side's shards, of the first `limit` numbers. ValueError: no text, no shard of that side, a broken file."""
    if not (folder / CONFIG).is_file():
        raise ValueError(f"folder={str(folder)!r} holds no {CONFIG}: write text first, python -m gpu_demos.train text")
    paths = sorted(folder.glob("shard-*.safetensors"))
    if limit is not None:
        paths = [p for p in paths if int(p.stem.split("-")[1]) < limit]
    found = [_shard(p) for p in paths if _side(p) == side]
    if not found:
        raise ValueError(
            f"folder={str(folder)!r} holds no {side} shard yet; python -m gpu_demos.train text writes more"
        )
    digest = hashlib.sha256()
    for shard in found:
        digest.update(shard.name.encode() + shard.tokens.int().numpy().tobytes() + shard.lengths.numpy().tobytes())
    description = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    return Corpus(tuple(found), digest.hexdigest(), description)


def likely_tokens(corpus: Corpus, lm_head: torch.Tensor, *, count: int, positions: int = 16_384) -> torch.Tensor:
    """The `count` tokens to which the target gives most probability, summed over positions; ascending, (count,) int64.

    Probabilities and not counts: a text of some 100,000 tokens shows many tokens once or never. lm_head: (V, d);
    positions: about so many, spread evenly. Raises ValueError unless 1 <= count <= V.
    """
    if not 1 <= count <= len(lm_head):
        raise ValueError(f"count={count} must lie in 1 … {len(lm_head)}")
    stride = max(1, corpus.tokens_written // positions)
    mass = torch.zeros(len(lm_head), dtype=torch.float64)
    for shard in corpus.shards:
        inside = shard.scored(written=True)
        states = shard.states[inside][::stride].to(lm_head.dtype)
        for part, normalizer in zip(states.split(512), shard.log_normalizer[inside][::stride].split(512), strict=True):
            mass += ((part @ lm_head.T).float() - normalizer[:, None]).exp().sum(0).double()
    return torch.sort(mass, descending=True, stable=True).indices[:count].sort().values


def coverage(corpus: Corpus, draft_ids: torch.Tensor) -> float:
    """Share of the tokens that the model wrote which the draft vocabulary holds."""
    written = torch.cat([s.tokens[:, 1:][s.scored(written=True)[:, :-1]] for s in corpus.shards])
    return float(torch.isin(written, draft_ids).double().mean())


def _side(path: Path) -> str:
    return _open(path)[1]["side"]


def _shard(path: Path) -> Shard:
    tensors, meta = _open(path, everything=True)
    wide = {"tokens": tensors["tokens"].long(), "lengths": tensors["lengths"].long()}
    known = {"domain": meta["domain"], "side": meta["side"], "temperature": float(meta["temperature"])}
    return Shard(path.stem, prompt=int(meta["prompt"]), **known, **{**tensors, **wide})  # type: ignore[arg-type]


def _open(path: Path, *, everything: bool = False) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    try:
        with safe_open(path, "pt") as file:
            return {k: file.get_tensor(k) for k in file.keys()} if everything else {}, file.metadata()  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path}: cannot be read ({error}); delete it, and it is written again") from error
