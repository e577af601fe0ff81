"""Compiling the kernels of `batch_invariant`: once for each source, compiler and processor, whole or not at all, and
used only where they have the property that they are named for.

The compiler is that of the machine (`CC`, else cc), GCC 8 or newer: the source uses its vectors. The library is for
this machine and lies in the cache folder.
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
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch

from gpu_demos.measure.provenance import device_name
from gpu_demos.models_fetch import cache_folder, sha256

SOURCE = Path(__file__).with_name("batch_invariant.c")
FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
CPUINFO = Path("/proc/cpuinfo")
DTYPES = (torch.float32, torch.bfloat16)


class KernelUnavailable(ValueError):
    """The kernels cannot be had on this machine, or not for this model; the message says why."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """The compiled functions: addresses and sizes as in the source."""

    linear: Callable[..., None]
    attention: Callable[..., None]


@lru_cache(1)
def kernels() -> Kernels:
    """The compiled functions. Raises KernelUnavailable without a compiler that knows OpenMP, and where what it made
    does not have the property that it is named for."""
    path = build(cache_folder())
    try:
        library = ctypes.CDLL(str(path))
        found = Kernels(library.linear, library.attention)
    except (OSError, AttributeError) as error:
        raise KernelUnavailable(f"{path} cannot be loaded: {error}") from error
    address, size = ctypes.c_void_p, ctypes.c_int64
    library.linear.argtypes = [address] * 3 + [size] * 3 + [ctypes.c_int]
    library.attention.argtypes = [address] * 5 + [size] * 6 + [ctypes.c_float, ctypes.c_int]
    library.linear.restype = library.attention.restype = None
    if not same_bits(found):
        raise KernelUnavailable(
            f"{path} gives a token other bits among others: another compiler, or CC='cc -ffp-contract=off'"
        )
    return found


def same_bits(kernels: Kernels) -> bool:
    """Whether a token's bits are the same in every width, in both dtypes. A compiler may fuse a product and a sum into
    one rounding or not, and nothing but this check says that it did so alike for all widths."""
    generator, cpu = torch.Generator().manual_seed(1), torch.device("cpu")
    for dtype in DTYPES:
        half = dtype == torch.bfloat16
        weight, x = (torch.randn(rows, 256, generator=generator, device=cpu).to(dtype) for rows in (77, 13))
        products, mixtures = [], []
        for width in (1, 2, 3, 4, 5, 6, 13):
            product, mixture = x.new_empty(13 // width * width, 77), x.new_empty(13 // width * width, 256)
            for start in range(0, len(product), width):
                at, rows, seen = x[start:].data_ptr(), weight.data_ptr(), (ctypes.c_int64 * 1)(start + 60)
                kernels.linear(product[start:].data_ptr(), at, rows, width, 77, 256, half)
                sizes = (1, 1, 1, width, 256, 77, 1 / 16, half)
                kernels.attention(mixture[start:].data_ptr(), at, rows, rows, seen, *sizes)
            products.append(product)
            mixtures.append(mixture)
        for found in (products, mixtures):
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
