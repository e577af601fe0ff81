"""A model as a plain folder: float32 weights, configuration, tokenizer, and a manifest that binds them to their origin.

Unpacking a .gguf takes a quarter of a minute, reading the folder a second or two. float32 because a dequantized
Q4_1 weight, scale · code + minimum with scale and minimum in float16, does not fit into fewer bits without rounding.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from gpu_demos.models_fetch import ModelUnavailable, Progress, scratch, sha256, silent

MANIFEST = "manifest.json"
FORMAT = 1


def convert(gguf: Path, folder: Path, *, gguf_sha256: str, progress: Progress = silent) -> None:
    """Unpack a .gguf into `folder`; a folder that is already there is replaced at the end, in one step each.

    Raises ModelUnavailable where a library is missing, the file cannot be read, or the disk is full.
    """
    progress("unpack", 0, 2)
    transformers.utils.logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        progress("unpack", 1, 2)
        packed = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    except ImportError as error:
        raise ModelUnavailable(_missing_library(error)) from error
    except ValueError as error:
        if "accelerate is required" in str(error):  # transformers has no narrower exception for it
            raise ModelUnavailable(_missing_library(error)) from error
        raise ModelUnavailable(f"{gguf} cannot be unpacked: {error}") from error
    with scratch(folder.parent) as work:
        _plain(packed).save_pretrained(work / "made")
        tokenizer.save_pretrained(work / "made")
        write_manifest(work / "made", made_from=gguf.name, gguf_sha256=gguf_sha256)
        if folder.exists():
            folder.rename(work / "old")
        (work / "made").rename(folder)
    progress("unpack", 2, 2)


def write_manifest(folder: Path, *, made_from: str, gguf_sha256: str) -> None:
    """Write size and hash of every file of a folder, and what they were made from."""
    paths = sorted(path for path in folder.iterdir() if path.name != MANIFEST)
    files = {path.name: {"bytes": path.stat().st_size, "sha256": sha256(path)} for path in paths}
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    entry = {"format": FORMAT, "made_from": made_from, "gguf_sha256": gguf_sha256, "files": files, "versions": versions}
    (folder / MANIFEST).write_text(json.dumps(entry, indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path, *, gguf_sha256: str) -> dict[str, Any]:
    """The manifest of a folder. Raises ModelUnavailable where it is missing, broken, or of another .gguf."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ModelUnavailable(f"{folder} has no {MANIFEST}: it cannot be told what it was made from.")
    try:
        entry = cast(dict[str, Any], json.loads(path.read_text(encoding="utf-8")))
        bound, known = str(entry["gguf_sha256"]), int(entry["format"])
        entry["files"] = {
            str(name): {"bytes": int(file["bytes"]), "sha256": str(file["sha256"])}
            for name, file in entry["files"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(f"{path} is damaged ({type(error).__name__}: {error}).") from error
    if known != FORMAT:
        raise ModelUnavailable(f"{path} has format {known}, this version reads {FORMAT}.")
    if bound != gguf_sha256:
        raise ModelUnavailable(f"{path} was made from a .gguf with SHA-256 {bound}, expected {gguf_sha256}.")
    return entry


def read_checked(
    folder: Path, *, gguf_sha256: str, dtype: torch.dtype, progress: Progress = silent
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Model and tokenizer of a converted folder, every file compared with the manifest.

    The hashes are taken while the weights are read: hashing leaves the interpreter free. Nothing is returned before
    both are done. Raises ModelUnavailable that names the file which is missing or changed.
    """
    entry = read_manifest(folder, gguf_sha256=gguf_sha256)
    for name, file in entry["files"].items():
        size = (folder / name).stat().st_size if (folder / name).is_file() else None
        if size != file["bytes"]:
            what = "is missing" if size is None else f"has {size} bytes instead of {file['bytes']}"
            raise ModelUnavailable(f"{folder / name} {what}: an interrupted copy, or a full disk.")
    progress("read", 0, 1)
    with ThreadPoolExecutor(1) as other:  # which never calls `progress`: a page may be drawn from one thread only
        hashes = other.submit(lambda: {name: sha256(folder / name) for name in entry["files"]})
        try:
            found = read(folder, dtype=dtype)
        except ModelUnavailable:
            _compare(folder, entry, hashes.result())  # says more than the reader does
            raise
        _compare(folder, entry, hashes.result())
    progress("read", 1, 1)
    return found


def read(folder: Path, *, dtype: torch.dtype) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Model and tokenizer of a folder in the layout of transformers. Raises ModelUnavailable if it cannot be read."""
    transformers.utils.logging.disable_progress_bar()
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # safetensors, tokenizers and transformers each raise exceptions of their own
        raise ModelUnavailable(f"{folder} cannot be read as a model: {type(error).__name__}: {error}") from error
    return model.eval().requires_grad_(False), tokenizer


def _compare(folder: Path, entry: dict[str, Any], found: dict[str, str]) -> None:
    for name, file in entry["files"].items():
        if found[name] != file["sha256"]:
            raise ModelUnavailable(
                f"{folder / name} is damaged: SHA-256 {found[name]}, the manifest says {file['sha256']}."
            )


def _plain(packed: PreTrainedModel) -> PreTrainedModel:
    """The same weights in a model that does not call itself quantized; transformers saves none that does."""
    entries = {key: value for key, value in packed.config.to_dict().items() if key != "quantization_config"}
    config = type(packed.config).from_dict(entries)
    with torch.device("meta"):  # no memory for weights that are replaced at once
        plain = cast(PreTrainedModel, AutoModelForCausalLM.from_config(config))
    plain.load_state_dict(packed.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = packed.generation_config
    return plain


def _missing_library(error: Exception) -> str:
    return f"Unpacking the .gguf needs more libraries ({error}): python -m pip install -r requirements.txt"
