"""Shipped weights: a safetensors file in bf16 and the manifest that says where it comes from.

A head is worth something only beside the target it was trained for, so loading refuses another one; it also refuses a
file that is not the one the manifest speaks of.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from gpu_demos.drafters.block import BlockHead, block_head_for
from gpu_demos.drafters.mtp import MtpHead, head_for

WEIGHTS, MANIFEST = "weights.safetensors", "manifest.json"
FORMAT = 1
LARGEST = 24_000_000  # bytes; the repository is to stay small
NEEDED = ("format", "kind", "sha256", "base_sha256", "config", "command", "steps", "data", "versions", "held_out")
SHIPPED = Path(__file__).parents[1] / "weights"
Head = TypeVar("Head", MtpHead, BlockHead)


class WeightsUnusable(RuntimeError):
    """Weights cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class TrainedHead(Generic[Head]):
    """A head ready to draft, its manifest, and the hash that names its weights."""

    head: Head
    manifest: dict[str, Any]
    sha256: str


@torch.no_grad()
def round_weights(head: torch.nn.Module) -> None:
    """Round every weight in place to what bf16 can hold: scores are to be those of the head that is shipped."""
    for parameter in head.parameters():
        parameter.copy_(parameter.bfloat16())


def save(head: MtpHead | BlockHead, folder: Path, manifest: dict[str, Any]) -> Path:
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
    entry = {"format": FORMAT, "kind": kind_of(head), "sha256": digest(path), **manifest, "versions": versions()}
    if missing := [key for key in NEEDED if key not in entry]:
        raise ValueError(f"manifest: {', '.join(missing)} must be given")
    text = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / (MANIFEST + ".part")).write_text(text, encoding="utf-8")
    (folder / (MANIFEST + ".part")).replace(folder / MANIFEST)
    return path


def load(folder: Path, model: PreTrainedModel, *, base_sha256: str) -> TrainedHead[MtpHead]:
    """The MTP head of a folder beside its target, in the target's dtype and on its device.

    Raises WeightsUnusable: no weights, no or a broken manifest, a hash that differs, another target, tensors that do
    not fit.
    """
    return _load(folder, "mtp", base_sha256, lambda tensors: head_for(model, tensors["draft_ids"]))


def load_block(folder: Path, model: PreTrainedModel, *, base_sha256: str) -> TrainedHead[BlockHead]:
    """As `load`, for a block head; its block and rank are those of the tensors."""

    def empty(tensors: Mapping[str, torch.Tensor]) -> BlockHead:
        size, rank = len(tensors["start"]), tensors["lookup.weight"].shape[1]
        return block_head_for(model, tensors["draft_ids"], size=size, rank=rank)

    return _load(folder, "block", base_sha256, empty)


def kind_of(head: MtpHead | BlockHead) -> str:
    """The word for this kind of head in its manifest."""
    return "block" if isinstance(head, BlockHead) else "mtp"


def _load(
    folder: Path, kind: str, base_sha256: str, empty: Callable[[Mapping[str, torch.Tensor]], Head]
) -> TrainedHead[Head]:
    """Check and read a folder; `empty` makes the head that its tensors, draft tokens as int64, are put into."""
    manifest = read_manifest(folder, kind)
    path = folder / WEIGHTS
    if not path.is_file():
        raise WeightsUnusable(f"{path} is missing; train a head: {manifest['command']}")
    if (found := digest(path)) != manifest["sha256"]:
        raise WeightsUnusable(
            f"{path} has SHA-256 {found[:12]}…, its manifest says {manifest['sha256'][:12]}…: restore it"
        )
    if manifest["base_sha256"] != base_sha256:
        wanted, given = manifest["base_sha256"][:12], base_sha256[:12]
        raise WeightsUnusable(f"{path} was trained for the target {wanted}…, not for {given}…: its drafts would be bad")
    try:
        tensors = {k: v.long() if k == "draft_ids" else v for k, v in load_file(path).items()}
        head = empty(tensors)
        head.load_state_dict(tensors)
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise WeightsUnusable(f"{path} does not fit this target: {str(error).splitlines()[0]}") from error
    return TrainedHead(head.eval().requires_grad_(False), manifest, found)


def read_manifest(folder: Path, kind: str = "mtp") -> dict[str, Any]:
    """The manifest of a folder. Raises WeightsUnusable where it is missing, broken, incomplete or of another kind."""
    path = folder / MANIFEST
    if not path.is_file():
        raise WeightsUnusable(
            f"{path} is missing: weights without it are not used, python -m gpu_demos.train {kind} makes both"
        )
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in NEEDED if key not in entry]
    except (ValueError, TypeError) as error:
        raise WeightsUnusable(f"{path} cannot be read: {error}") from error
    if missing or entry["format"] != FORMAT or entry["kind"] != kind:
        reason = (
            f"lacks {', '.join(missing)}" if missing else f"is of format {entry['format']!r}, kind {entry['kind']!r}"
        )
        raise WeightsUnusable(f"{path} {reason}: it must be format {FORMAT}, kind {kind}, with {', '.join(NEEDED)}")
    return entry


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """What the weights were made with."""
    return {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__}
