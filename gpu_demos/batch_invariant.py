"""Linear layers by a small C kernel of our own: each weight is read once for all tokens, and the bits of a token do not
depend on how many tokens are computed with it.

A pass has to read every weight once, however many tokens it is over. On a processor without instructions for bf16
torch's product reads them again for each token, and a pass over six costs several times as much as one over one. This
kernel widens a bf16 weight in a register, uses it for every token, and adds in one order: float32 sums, in
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
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import cast

import torch
from torch import nn

from gpu_demos.measure.provenance import device_name
from gpu_demos.models_fetch import cache_folder, sha256

SOURCE = Path(__file__).with_suffix(".c")
FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
DTYPES = (torch.float32, torch.bfloat16)
CPUINFO = Path("/proc/cpuinfo")
Kernel = Callable[..., int]


class KernelUnavailable(ValueError):
    """The kernel cannot be had on this machine, or not for this model; the message says why."""


class BatchInvariantLinear(nn.Linear):
    """y = x Wᵀ in float32 or bf16, on a processor. Made by `use`, of a layer whose weight it takes over."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # the name that torch gives it
        """(…, in) -> (…, out)."""
        return linear(input, self.weight)


def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """(…, in) and (out, in) -> (…, out), in the dtype of both; no gradient.

    Raises KernelUnavailable where the kernel cannot be built or does not take this weight, ValueError where the two do
    not go together or a gradient is asked for, MemoryError.
    """
    if reason := misfit(weight):
        raise KernelUnavailable(reason)
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        raise ValueError("this product has no gradient: use torch.no_grad(), or torch's own to train")
    outputs, inputs = weight.shape
    if x.dtype != weight.dtype or x.shape[-1:] != (inputs,) or x.device != weight.device:
        raise ValueError(f"x: {tuple(x.shape)} {x.dtype} does not go with weight: {tuple(weight.shape)} {weight.dtype}")
    x = x.contiguous()
    out = x.new_empty(*x.shape[:-1], outputs)
    tokens, half = x.numel() // inputs, x.dtype == torch.bfloat16
    if kernel()(out.data_ptr(), x.data_ptr(), weight.data_ptr(), tokens, outputs, inputs, half):
        raise MemoryError(f"no memory for {tokens} tokens of {inputs} numbers")
    return out


def use(module: nn.Module, *, whole: bool = False) -> None:
    """Compute with the kernel in every linear layer of `module` that fits, in place; the weights stay the same tensors.

    A drafting head, whose `product` is with the rows of an LM head, `lm_rows`, gets the kernel for that, too.
    whole: all layers or none. Raises KernelUnavailable, and changes nothing, where a layer does not fit that has to,
    and where the kernel cannot be built.
    """
    reasons = {layer: _unfit(layer) for layer in module.modules() if isinstance(layer, nn.Linear)}
    rows = cast(torch.Tensor | None, getattr(module, "lm_rows", None))
    if rows is not None:
        reasons[module] = misfit(rows)
    if whole and (reason := next(filter(None, reasons.values()), "")):
        raise KernelUnavailable(f"the batch-invariant kernel does not compute all layers of this model: {reason}")
    kernel()
    for layer, reason in reasons.items():
        if not reason and layer is module and rows is not None:
            object.__setattr__(module, "product", linear)  # no part of what torch registers
        elif not reason:
            layer.__class__ = BatchInvariantLinear


def _unfit(layer: nn.Linear) -> str:
    if type(layer) not in (nn.Linear, BatchInvariantLinear):
        return f"{type(layer).__name__} computes something of its own"
    return "a layer has a bias" if cast(torch.Tensor | None, layer.bias) is not None else misfit(layer.weight)


def misfit(weight: torch.Tensor) -> str:
    """Why the kernel does not take this weight, "" where it does."""
    if weight.dtype not in DTYPES or weight.device.type != "cpu":
        return f"{weight.dtype} on {weight.device} is neither float32 nor bfloat16 on a processor"
    if weight.dim() != 2 or not weight.shape[1] or weight.shape[1] % 8 or not weight.is_contiguous():
        return f"weight: {tuple(weight.shape)} must be contiguous and two sizes, the second a multiple of 8"
    return ""


@lru_cache(1)
def kernel() -> Kernel:
    """The compiled function, 0 on success. Raises KernelUnavailable without a compiler that knows OpenMP, and where
    what it made does not have the property that it is named for."""
    path = build(cache_folder())
    try:
        found = ctypes.CDLL(str(path)).linear
    except (OSError, AttributeError) as error:
        raise KernelUnavailable(f"{path} cannot be loaded: {error}") from error
    found.argtypes, found.restype = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3 + [ctypes.c_int], ctypes.c_int
    if not same_bits(found):
        raise KernelUnavailable(
            f"{path} gives a token other bits among others: another compiler, or CC='cc -ffp-contract=off'"
        )
    return found


def same_bits(kernel: Kernel) -> bool:
    """Whether a token's bits are the same in every width, in both dtypes. A compiler may fuse a product and a sum into
    one rounding or not, and nothing but this check says that it did so alike for all widths."""
    generator, cpu = torch.Generator().manual_seed(1), torch.device("cpu")
    for dtype in DTYPES:
        weight, x = (torch.randn(rows, 256, generator=generator, device=cpu).to(dtype) for rows in (7, 13))
        found = []
        for width in (1, 2, 3, 4, 5, 6, 13):
            out = x.new_empty(13 // width * width, 7)
            for start in range(0, len(out), width):
                kernel(
                    out[start:].data_ptr(), x[start:].data_ptr(), weight.data_ptr(), width, 7, 256,
                    dtype == torch.bfloat16,
                )  # fmt: skip
            found.append(out)
        if not all(torch.equal(out, found[0][: len(out)]) for out in found):
            return False
    return True


def build(folder: Path) -> Path:
    """The shared library in `folder`, compiled unless it is there, whole, for this source, compiler and processor.

    Raises KernelUnavailable with the compiler's own words, and where the folder cannot be written.
    """
    try:
        compiler = shlex.split(os.environ.get("CC", "cc"))
    except ValueError as error:
        raise KernelUnavailable(f"CC={os.environ['CC']!r}: {error}") from error
    if not compiler or shutil.which(compiler[0]) is None:
        raise KernelUnavailable(f"no C compiler: CC={' '.join(compiler)!r} is not on the path")
    told = _output([*compiler, "--version"])
    parts = [SOURCE.read_text(encoding="utf-8"), told, *compiler, *FLAGS, device_name("cpu"), _features()]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    path, stamp = folder / f"batch_invariant-{key}.so", folder / f"batch_invariant-{key}.sha256"
    try:
        if path.is_file() and stamp.is_file() and stamp.read_bytes() == sha256(path).encode():
            return path
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as work:
            made = Path(work) / path.name
            _output([*compiler, *FLAGS, str(SOURCE), "-o", str(made)])
            (Path(work) / stamp.name).write_bytes(sha256(made).encode())
            made.replace(path)
            (Path(work) / stamp.name).replace(stamp)
    except OSError as error:
        raise KernelUnavailable(f"the kernel cannot be compiled into {folder}: {error}") from error
    return path


def _features() -> str:
    """What the processor can do; two of one name may differ in it. "" where Linux does not say."""
    if not CPUINFO.exists():
        return ""
    lines = CPUINFO.read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip()[-400:] or f"exit status {error.returncode}"
        raise KernelUnavailable(f"{shlex.join(command)} failed: {said}") from error
    except OSError as error:
        raise KernelUnavailable(f"{shlex.join(command)}: {error}") from error
