"""Shipped weights: a safetensors file in bf16 and the manifest that says where it comes from.

A head is worth something only beside the target it was trained for, so loading refuses another one; it also refuses a
file that is not the one the manifest speaks of.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from gpu_demos.drafters.mtp import MtpHead, head_for

WEIGHTS, MANIFEST = "weights.safetensors", "manifest.json"
FORMAT = 1
LARGEST = 24_000_000  # bytes; the repository is to stay small
NEEDED = ("format", "kind", "sha256", "base_sha256", "config", "command", "steps", "data", "versions", "held_out")
SHIPPED = Path(__file__).parents[1] / "weights"


class WeightsUnusable(RuntimeError):
    """Weights cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """A head ready to draft, its manifest, and the hash that names its weights."""

    head: MtpHead
    manifest: dict[str, Any]
    sha256: str


@torch.no_grad()
def round_weights(head: MtpHead) -> None:
    """Round every weight in place to what bf16 can hold: scores are to be those of the head that is shipped."""
    for parameter in head.parameters():
        parameter.copy_(parameter.bfloat16())


def save(head: MtpHead, folder: Path, manifest: dict[str, Any]) -> Path:
    """Write weights, rounded to bf16, and the manifest completed by format, hash, versions; returns their path.

    The manifest comes last, so an interruption leaves a folder that loading refuses. Raises ValueError where the file
    would be too large for the repository or the manifest lacks a key.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {k: v.detach().cpu() for k, v in head.state_dict().items()}
    tensors = {k: (v.bfloat16() if v.is_floating_point() else v.int()).contiguous() for k, v in tensors.items()}
    size = sum(v.numel() * v.element_size() for v in tensors.values())
    if size > LARGEST:
        raise ValueError(f"head: {size / 1e6:.1f} MB of weights must be at most {LARGEST / 1e6:.0f} MB")
    (folder / MANIFEST).unlink(missing_ok=True)
    partial, path = folder / (WEIGHTS + ".part"), folder / WEIGHTS
    save_file(tensors, partial)
    partial.replace(path)
    entry = {"format": FORMAT, "kind": "mtp", "sha256": digest(path), **manifest, "versions": versions()}
    if missing := [key for key in NEEDED if key not in entry]:
        raise ValueError(f"manifest: {', '.join(missing)} must be given")
    text = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / (MANIFEST + ".part")).write_text(text, encoding="utf-8")
    (folder / (MANIFEST + ".part")).replace(folder / MANIFEST)
    return path


def load(folder: Path, model: PreTrainedModel, *, base_sha256: str) -> TrainedHead:
    """The head of a folder beside its target, in the target's dtype and on its device.

    Raises WeightsUnusable: no weights, no or a broken manifest, a hash that differs, another target, tensors that do
    not fit.
    """
    manifest = read_manifest(folder)
    path = folder / WEIGHTS
    if not path.is_file():
        raise WeightsUnusable(f"{path} is missing; train a head: {manifest['command']}")
    if (found := digest(path)) != manifest["sha256"]:
        wanted = manifest["sha256"][:12]
        raise WeightsUnusable(
            f"{path} has SHA-256 {found[:12]}…, its manifest says {manifest['sha256'][:12]}…: restore it"
        )
    if manifest["base_sha256"] != base_sha256:
        wanted, given = manifest["base_sha256"][:12], base_sha256[:12]
        raise WeightsUnusable(f"{path} was trained for the target {wanted}…, not for {given}…: its drafts would be bad")
    try:
        tensors = load_file(path)
        head = head_for(model, tensors["draft_ids"].long())
        head.load_state_dict({k: v.long() if k == "draft_ids" else v for k, v in tensors.items()})
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise WeightsUnusable(f"{path} does not fit this target: {str(error).splitlines()[0]}") from error
    return TrainedHead(head.eval().requires_grad_(False), manifest, found)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder. Raises WeightsUnusable where it is missing, broken, incomplete or of another kind."""
    path = folder / MANIFEST
    if not path.is_file():
        raise WeightsUnusable(
            f"{path} is missing: weights without it are not used, python -m gpu_demos.train mtp makes both"
        )
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in NEEDED if key not in entry]
    except (ValueError, TypeError) as error:
        raise WeightsUnusable(f"{path} cannot be read: {error}") from error
    if missing or entry["format"] != FORMAT or entry["kind"] != "mtp":
        reason = (
            f"lacks {', '.join(missing)}" if missing else f"is of format {entry['format']!r}, kind {entry['kind']!r}"
        )
        raise WeightsUnusable(f"{path} {reason}: it must be format {FORMAT} of an mtp head with {', '.join(NEEDED)}")
    return entry


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """What the weights were made with."""
    return {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__}
