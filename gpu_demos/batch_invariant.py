"""Linear layers by a small C kernel of our own: each weight is read once for all tokens, and the bits of a token do not
depend on how many tokens are computed with it.

Decoding is bound by the reading of weights, so a pass over six tokens should cost little more than a pass over one. On
a processor without instructions for bf16 it costs several times as much with torch, whose product there works token by
token. This kernel widens a bf16 weight in a register, uses it for every token, and adds in one order: float32 sums, in
bf16 rounded once at the end. Source: `batch_invariant.c`, compiled on first use by the C compiler of the machine
(`CC`, else cc), for this machine, into the cache folder. Forward only; no gradient.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import cast

import torch
from torch import nn

from gpu_demos.measure.provenance import device_name
from gpu_demos.models_fetch import cache_folder, scratch

SOURCE = Path(__file__).with_suffix(".c")
FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
DTYPES = (torch.float32, torch.bfloat16)


class KernelUnavailable(ValueError):
    """The kernel cannot be had on this machine; the message says why."""


class BatchInvariantLinear(nn.Linear):
    """y = x Wᵀ in float32 or bf16, on a processor. Made by `use`, of a layer whose weight it takes over."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # the name that torch gives it
        """(…, in) -> (…, out)."""
        return linear(input, self.weight)


def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """(…, in) and (out, in) -> (…, out), in the dtype of both. `misfit(weight)` must be empty.

    Raises KernelUnavailable where the kernel cannot be built, ValueError where the two do not go together.
    """
    outputs, inputs = weight.shape
    if x.dtype != weight.dtype or x.shape[-1] != inputs or x.device != weight.device:
        raise ValueError(f"x: {tuple(x.shape)} {x.dtype} does not go with weight: {tuple(weight.shape)} {weight.dtype}")
    x = x.contiguous()
    out = torch.empty(*x.shape[:-1], outputs, dtype=x.dtype)
    tokens, half = x.numel() // inputs, x.dtype == torch.bfloat16
    if kernel()(out.data_ptr(), x.data_ptr(), weight.data_ptr(), tokens, outputs, inputs, half):
        raise MemoryError(f"no memory for {tokens} tokens of {inputs} numbers")
    return out


def use(module: nn.Module) -> int:
    """Compute with the kernel in every linear layer of `module` that fits, in place; the weights stay the same tensors.

    A module with a `product`, as the drafting heads have for the rows of the LM head, gets the kernel for that, too.
    Returns how many linear layers do not fit and stay as they are. Raises KernelUnavailable where it cannot be built.
    """
    kernel()
    left = 0
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            if cast(torch.Tensor | None, layer.bias) is None and not misfit(layer.weight):
                layer.__class__ = BatchInvariantLinear
            else:
                left += 1
    if hasattr(module, "product"):
        object.__setattr__(module, "product", linear)  # no part of what torch registers
    return left


def misfit(weight: torch.Tensor) -> str:
    """Why the kernel does not take this weight, "" where it does."""
    if weight.dtype not in DTYPES or weight.device.type != "cpu":
        return f"{weight.dtype} on {weight.device} is neither float32 nor bfloat16 on a processor"
    if weight.shape[1] % 8 or not weight.is_contiguous():
        return f"weight: {tuple(weight.shape)} must be contiguous, its second size a multiple of 8"
    return ""


@lru_cache(1)
def kernel() -> Callable[..., int]:
    """The compiled function. Raises KernelUnavailable without a compiler that knows OpenMP."""
    library = ctypes.CDLL(str(build(cache_folder())))
    found = library.linear
    found.argtypes, found.restype = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3 + [ctypes.c_int], None
    return found


def build(folder: Path) -> Path:
    """The shared library in `folder`, compiled unless it is there for this source, compiler and processor."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not compiler or shutil.which(compiler[0]) is None:
        raise KernelUnavailable(f"no C compiler: {' '.join(compiler) or 'CC is empty'} is not on the path")
    told = _output([*compiler, "--version"])
    key = hashlib.sha256("\n".join([SOURCE.read_text(encoding="utf-8"), told, *FLAGS, device_name("cpu")]).encode())
    path = folder / f"batch_invariant-{key.hexdigest()[:16]}.so"
    if not path.is_file():
        with scratch(folder) as work:
            _output([*compiler, *FLAGS, str(SOURCE), "-o", str(work / path.name)])
            (work / path.name).replace(path)
    return path


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except subprocess.CalledProcessError as error:
        raise KernelUnavailable(f"{shlex.join(command)} failed: {error.stderr.strip()[-400:]}") from error
    except OSError as error:
        raise KernelUnavailable(f"{shlex.join(command)}: {error}") from error
