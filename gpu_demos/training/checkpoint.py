"""Checkpoints that are whole or not there, and that continue only the run they belong to."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import torch

CHECKPOINT = "checkpoint.pt"


def save(folder: Path, entry: dict[str, Any]) -> None:
    """Write a checkpoint under another name and rename it: an interruption leaves the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / (CHECKPOINT + ".part")
    torch.save(entry, partial)
    partial.replace(folder / CHECKPOINT)


def load(folder: Path, config: dict[str, Any]) -> dict[str, Any] | None:
    """The checkpoint of a run with this configuration, None where there is none yet.

    Raises ValueError where the file cannot be read, or belongs to another configuration (the message names the keys).
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        entry = torch.load(path, map_location="cpu", weights_only=True)
        known = entry["config"]
    except (RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError) as error:
        raise ValueError(f"{path}: cannot be read ({type(error).__name__}); delete it to start anew") from error
    if known != config:
        other = sorted(key for key in {*known, *config} if known.get(key) != config.get(key))
        raise ValueError(f"{path}: belongs to a run with another {', '.join(other)}; take another folder for this run")
    return entry
