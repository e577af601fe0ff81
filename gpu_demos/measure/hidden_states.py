"""What an MTP head reads, beside the target's own states: while it drafts, and while it was trained, per depth.

A head reads the target's state at depth 1 and its own guesses beyond. Training without mixing lets depth k read guesses
of depth k − 1 for every position; with hidden-state mixing each position reads the target's state or one of the earlier
guesses, drawn anew. Cosine and ratio of norms to the target's state of the same position say how far apart what is
trained on and what is met lie. Heads are loaded from folders named after their recipes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from gpu_demos.drafters.mtp import MtpHead
from gpu_demos.measure.common import Sheet, mean, parser, progress, run
from gpu_demos.measure.paired import Floats, bootstrap
from gpu_demos.measure.subject import DTYPE
from gpu_demos.models import load, show
from gpu_demos.models_fetch import cache_folder
from gpu_demos.options import counted
from gpu_demos.record import Spread
from gpu_demos.training import artifact
from gpu_demos.training.acceptance import draft
from gpu_demos.training.corpus import Shard, read
from gpu_demos.training.recursion import unroll

QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
Values = dict[str, list[Floats]]  # quantity -> one array of values for each text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.hidden_states", (__doc__ or "").splitlines()[0], "hidden_states")
    made.add_argument("heads", type=Path, nargs="+", help="folders of exported heads, named after their recipes")
    made.add_argument("--text", type=Path, default=cache_folder() / "text", help="folder of the shards")
    made.add_argument("--shards", type=counted, default=36)
    made.add_argument("--texts", type=counted, default=8, help="texts of each held-out shard")
    made.add_argument("--every", type=counted, default=16, help="tokens between two drafts")
    made.add_argument("--depths", type=counted, default=4)
    return run(made, measure, "hidden_states", arguments)


@torch.inference_mode()
def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """All heads on the same texts; a training's reads are drawn with `seed`."""
    loaded = load(options.model, dtype=DTYPE, device=options.device, progress=show)
    held_out = read(options.text, "held_out", limit=options.shards)
    shards = [first(shard, options.texts) for shard in held_out.shards]
    about = {"text": held_out.sha256[:12]}
    norms = [float(text.mean()) for text in target_norms(shards)]
    sheet.add("target_norm", *mean(norms), about, samples=len(norms), dtype=DTYPE)
    for folder in options.heads:
        try:
            head = artifact.load(folder, loaded.model, base_sha256=loaded.sha256)
        except artifact.WeightsUnusable as error:
            raise ValueError(str(error)) from error
        mixing = str(head.manifest["config"]["recipe"]).endswith("mixing")
        for depth, values in enumerate(drafted(head.head, shards, options.depths, options.every), 2):
            _add(sheet, values, {"recipe": folder.name, "reads": "drafting", "depth": str(depth), **about})
        generator = torch.Generator(options.device).manual_seed(options.seed) if mixing else None
        for depth, values in enumerate(trained(head.head, shards, options.depths, generator), 1):
            _add(sheet, values, {"recipe": folder.name, "reads": "training", "depth": str(depth), **about})
        progress(folder.name)


def first(shard: Shard, texts: int) -> Shard:
    """A shard's first texts."""
    names = ("tokens", "lengths", "states", "taps", "log_normalizer")
    return Shard(
        shard.name, shard.domain, shard.side, shard.temperature, shard.prompt,
        *(getattr(shard, name)[:texts] for name in names),
    )  # fmt: skip


@torch.inference_mode()
def drafted(head: MtpHead, shards: Sequence[Shard], depths: int, every: int) -> list[Values]:
    """Values of what depths 2 … `depths` read for the newest token of a draft: the head's own guess of its state."""
    found: list[Values] = [{} for _ in range(depths - 1)]
    for shard in shards:
        per_text: list[list[Mapping[str, torch.Tensor]]] = [[] for _ in found]
        used: list[torch.Tensor] = []
        for anchor, guesses in draft(head, shard, depths=depths, every=every):
            used.append(shard.lengths > anchor + depths + 1)  # the whole draft lies inside the text
            for k, kept in enumerate(per_text):
                kept.append(compare(guesses[:, k], shard.states[:, anchor + 1 + k].to(guesses.dtype)))
        inside = torch.stack(used, 1)
        for values, kept in zip(found, per_text, strict=True):
            for name in kept[0]:
                _split(values, name, torch.stack([k[name] for k in kept], 1), inside)
    return found


@torch.inference_mode()
def trained(head: MtpHead, shards: Sequence[Shard], depths: int, generator: torch.Generator | None) -> list[Values]:
    """Values of what depths 1 … `depths` read in a training pass over the same texts, at every position that the model
    wrote and that has a guess of that depth."""
    reads: list[torch.Tensor] = []
    handle = head.register_forward_pre_hook(lambda _, arguments: reads.append(arguments[0]))
    found: list[Values] = [{} for _ in range(depths)]
    try:
        for shard in shards:
            reads.clear()
            states = shard.states.to(head.project.weight.dtype)
            unroll(head, states, shard.tokens, depths=depths, generator=generator)
            place = torch.arange(states.shape[1] - 1)
            inside = (place >= shard.prompt) & (place < shard.lengths[:, None] - 1)
            for values, seen in zip(found, reads, strict=True):
                for name, each in compare(seen, states[:, :-1]).items():
                    _split(values, name, each, inside)
    finally:
        handle.remove()
    return found


def compare(found: torch.Tensor, target: torch.Tensor) -> dict[str, torch.Tensor]:
    """(…, d) states and the target's of the same positions -> cosine and ratio of norms, (…)."""
    return {
        "cosine": functional.cosine_similarity(found, target, dim=-1),
        "norm_ratio": found.norm(dim=-1) / target.norm(dim=-1),
    }


def _split(values: Values, name: str, each: torch.Tensor, inside: torch.Tensor) -> None:
    """(N, M) numbers as one array a text, without those that do not belong to it; a text without any is left out."""
    rows = [row[keep].double().cpu().numpy() for row, keep in zip(each, inside, strict=True)]
    values.setdefault(name, []).extend(row for row in rows if len(row))


def _add(sheet: Sheet, values: Values, at: Mapping[str, str]) -> None:
    """The mean over texts with its interval, and how the single values lie: their quantiles, with a bootstrap."""
    for name, texts in values.items():
        sheet.add(name, *mean([float(text.mean()) for text in texts]), at, samples=len(texts), dtype=DTYPE)
        for ending, share in QUANTILES.items():
            value, spread = quantile(texts, share)
            sheet.add(f"{name}_{ending}", value, spread, at, samples=len(texts), dtype=DTYPE)


def quantile(texts: Sequence[Floats], share: float) -> tuple[float, Spread]:
    """A quantile of all values, with its interval over texts."""

    def of(values: Floats) -> float:
        return float(np.quantile(values, share))

    return of(np.concatenate(texts)), bootstrap(texts, of, draws=200)


def target_norms(shards: Sequence[Shard]) -> list[Floats]:
    """Norms of the target's states at scored positions, for each text."""
    values: Values = {}
    for shard in shards:
        _split(values, "norm", shard.states.float().norm(dim=-1), shard.scored(written=True))
    return values["norm"]


if __name__ == "__main__":
    sys.exit(main())
