"""Loading a real language model of the Llama family, and saying what exactly was loaded.

`load()` gives SmolLM2-135M-Instruct. What it holds is the *dequantized Q4_1* model, since that is the form in which it
ships: every comparison with it is a comparison with four-bit weights written out as floats, not with the weights that
were trained. A folder in the layout of transformers, or a name on a model hub, loads as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from gpu_demos import batch_invariant
from gpu_demos.models_fetch import GGUF_SHA256, ModelUnavailable, Progress, cache_folder, fetch_gguf, sha256, silent
from gpu_demos.models_store import convert, read, read_checked

SMOLLM2 = "SmolLM2-135M-Instruct"
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
WEIGHTS = ("*.safetensors", "*.bin")
Linear = Literal["torch", "invariant"]
LINEARS: tuple[Linear, ...] = get_args(Linear)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model ready to run. `sha256` is that of the .gguf, or of the weight files of a folder; `baseline` says what the
    weights are, and belongs beside every number measured with them; `linear` says whose product the layers compute."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    sha256: str
    dtype: str
    device: str
    baseline: str
    linear: Linear = "torch"


def load(
    name: str = SMOLLM2,
    *,
    dtype: str = "bf16",
    device: str = "cpu",
    linear: Linear | Literal["auto"] = "torch",
    folder: Path | None = None,
    progress: Progress = silent,
) -> Loaded:
    """Load a model: `SmolLM2-135M-Instruct` (fetched once), a folder, or `owner/name` on the hub.

    dtype: fp32, bf16 or fp16. device: cpu or cuda, as torch names it. linear: torch's product, that of
    `batch_invariant`, or the latter where it can be had. folder: the cache, by default `FEWER_BITS_MODELS` or
    `~/.cache/fewer-bits`. Raises ValueError for an unknown dtype or device and for a kernel that cannot be had, and
    ModelUnavailable where the model cannot be had. The model is in evaluation mode and wants no gradients.
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype={dtype!r} must be one of {', '.join(DTYPES)}")
    if linear not in (*LINEARS, "auto"):
        raise ValueError(f"linear={linear!r} must be one of {', '.join(LINEARS)}, auto")
    _check_device(device)
    if name == SMOLLM2:
        digest, baseline = GGUF_SHA256, "dequantized Q4_1"
        model, tokenizer = _smollm2(folder or cache_folder(), DTYPES[dtype], progress)
    else:
        path = Path(name).expanduser() if Path(name).expanduser().is_dir() else _hub(name)
        model, tokenizer = read(path, dtype=DTYPES[dtype])
        digest, baseline = _digest(path, progress), f"weights as stored in {path.name if path.is_dir() else name}"
    try:
        model = model.to(device)  # type: ignore[arg-type]  # transformers wraps `to` without types
    except torch.OutOfMemoryError as error:
        raise ModelUnavailable(f"{name} does not fit into the memory of {device}: {error}") from error
    return Loaded(model, tokenizer, name, digest, dtype, device, baseline, _use(model, linear))


def _use(model: PreTrainedModel, linear: Linear | Literal["auto"]) -> Linear:
    """Whose product the layers of this model compute from now on."""
    if linear == "torch":
        return "torch"
    try:
        batch_invariant.use(model, whole=True)
    except batch_invariant.KernelUnavailable:
        if linear == "auto":
            return "torch"
        raise
    return "invariant"


def is_cached(folder: Path | None = None) -> bool:
    """Whether SmolLM2 is unpacked in the cache and would load without a download; loading checks its hashes."""
    return (_unpacked(folder or cache_folder()) / "manifest.json").is_file()


def _unpacked(folder: Path) -> Path:
    return folder / f"{SMOLLM2}-{GGUF_SHA256[:12]}"


def _smollm2(folder: Path, dtype: torch.dtype, progress: Progress) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The unpacked folder; made from the .gguf where it is missing, and made anew where it is damaged."""
    path = _unpacked(folder)
    if path.exists():
        try:
            return read_checked(path, gguf_sha256=GGUF_SHA256, dtype=dtype, progress=progress)
        except ModelUnavailable as error:
            print(f"{error} Unpacking again.", file=sys.stderr)
    gguf = fetch_gguf(folder, progress=progress)
    convert(gguf, path, gguf_sha256=GGUF_SHA256, progress=progress)
    return read_checked(path, gguf_sha256=GGUF_SHA256, dtype=dtype, progress=progress)


def _hub(name: str) -> Path:
    """Local copy of a model on the hub, fetched by the hub's own client, which resumes what was interrupted."""
    from huggingface_hub import snapshot_download  # only here: everything else works without it
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors", "*.model", "*.jinja"]))
    except HFValidationError as error:
        raise ModelUnavailable(f"{name!r} is neither {SMOLLM2}, nor a folder, nor owner/name on the hub.") from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise ModelUnavailable(f"{name} could not be fetched from the hub: {str(error).splitlines()[0]}") from error


def _digest(folder: Path, progress: Progress) -> str:
    """One hash over the hashes of the weight files, in the order of their names."""
    paths = sorted(path for pattern in WEIGHTS for path in folder.glob(pattern))
    return hashlib.sha256("".join(sha256(path, progress=progress) for path in paths).encode()).hexdigest()


def _check_device(device: str) -> None:
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise ValueError(f"device={device!r} must be a device of torch, such as cpu or cuda") from error
    if kind not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r} must be cpu or cuda: nothing here was tried on a {kind} device")
    if kind == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={device!r} must be present, and torch sees no CUDA device here; cpu works")


def show(what: str, done: int, total: int) -> None:
    """One line on standard error that counts up."""
    unit = f"{done / 1e6:6.0f} of {total / 1e6:.0f} MB" if total > 1000 else f"{done} of {total}"
    print(f"\r{what}: {unit}   ", end="\n" if done >= total else "", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Fetch, verify, load, and let the model write one line; 0 if it could, 1 with one sentence if not."""
    # Only here: those who load a model need neither the loop nor the prompts, which themselves need this module.
    from gpu_demos.decoding import decode
    from gpu_demos.prompts import decode_text, encode, end_tokens
    from gpu_demos.target import Target

    parser = argparse.ArgumentParser("python -m gpu_demos.models", description=main.__doc__)
    parser.add_argument("--model", default=SMOLLM2, help=f"{SMOLLM2}, a folder, or owner/name on the hub")
    parser.add_argument("--dtype", choices=tuple(DTYPES), default="bf16")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--prompt", default="In one sentence: what is a token?")
    options = parser.parse_args(arguments)
    try:
        loaded = load(options.model, dtype=options.dtype, device=options.device, progress=show)
        print(f"{loaded.name}: SHA-256 {loaded.sha256}; {loaded.baseline}; {loaded.dtype} on {loaded.device}")
        prompt = encode(loaded, options.prompt)
        (done,) = decode(Target(loaded.model), [prompt], max_tokens=48, eos=end_tokens(loaded))
    except (ModelUnavailable, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; nothing half-made is kept. The same command starts again.", file=sys.stderr)
        return 130
    print(f"{options.prompt} → {decode_text(loaded, done.tokens)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
