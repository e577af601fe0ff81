"""What a manifest says of a training, whatever the head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

import torch

from gpu_demos.models import Loaded
from gpu_demos.training.corpus import Corpus, coverage
from gpu_demos.training.domains import describe
from gpu_demos.training.loop import LOG, Config


class Drafting(Protocol):
    """A head as far as its manifest is concerned."""

    @property
    def draft_ids(self) -> torch.Tensor: ...


def described(
    head: Drafting, loaded: Loaded, config: Config, command: str, folder: Path, *, train: Corpus, held_out: Corpus
) -> dict[str, Any]:
    """Target, command, settings, last line of the log in `folder`, and what text it saw and is judged on."""
    return {
        "base_sha256": loaded.sha256, "base": f"{loaded.name}, {loaded.baseline}", "command": command,
        "config": config.entry(), "steps": config.steps,
        "final": json.loads((folder / LOG).read_text(encoding="utf-8").splitlines()[-1]),
        "data": {
            "train_sha256": train.sha256, "train_shards": len(train.shards), "train_tokens": train.tokens_written,
            "held_out_sha256": held_out.sha256, "held_out_tokens": held_out.tokens_written,
            "text": {**train.description, "prompts": dict(describe())},
            "draft_vocabulary_coverage": coverage(held_out, head.draft_ids),
        },
    }  # fmt: skip


def print_line(line: dict[str, Any]) -> None:
    """Every twentieth line of the log, for whoever waits."""
    if line["step"] % 20 == 0:
        print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}), flush=True)
