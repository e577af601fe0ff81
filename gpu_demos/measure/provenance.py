"""What all records of one command share: machine, versions, commit, command, day."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MEASURED_CODE = ("gpu_demos", "mechanisms")
NOT_CODE = ("gpu_demos/results", "gpu_demos/traces", "gpu_demos/weights")
LIBRARIES = ("torch", "transformers", "numpy")


def provenance(
    module: str, arguments: Sequence[str], *, device: str = "cpu", libraries: Iterable[str] = LIBRARIES
) -> dict[str, Any]:
    """The shared fields of `gpu_demos.record.Record` for `python -m module arguments`, run now.

    Raises ValueError where the code that measures is not the code of the commit: nobody could repeat it.
    """
    changed = _git("status", "--porcelain", "--untracked-files=all", "--", *MEASURED_CODE)
    own = [line for line in changed.splitlines() if not line[3:].startswith(NOT_CODE)]
    if own:
        raise ValueError(f"commit first, a record names the code that measured it; changed: {own[0][3:]}")
    return {
        "device": device_name(device),
        "versions": {name: version(name) for name in libraries},
        "commit": _git("rev-parse", "HEAD").strip(),
        "command": shlex.join(["python", "-m", module, *arguments]),
        "date": date.today().isoformat(),
    }


def device_name(device: str) -> str:
    """The processor with its usable cores and widest vector instructions, or the name of the CUDA device."""
    if device != "cpu":
        import torch  # only here: records of a processor need no torch

        return str(torch.cuda.get_device_name(device))
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    return processor(text, len(os.sched_getaffinity(0)))


def processor(cpuinfo: str, cores: int) -> str:
    """`AMD EPYC, 2 cores, AVX2`, from the text of /proc/cpuinfo.

    >>> processor("model name : X 1\\nflags : sse avx2 fma", 2)
    'X 1, 2 cores, AVX2'
    """
    name = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.M)
    flags = re.search(r"^flags\s*:\s*(.+)$", cpuinfo, re.M)
    known = set(flags[1].split()) if flags else set()
    widest = next((text for flag, text in _VECTORS if flag in known), "")
    parts = (name[1].strip() if name else "unknown processor", f"{cores} core{'s' * (cores != 1)}", widest)
    return ", ".join(p for p in parts if p)


_VECTORS = (
    ("amx_bf16", "AMX bf16"), ("avx512_bf16", "AVX-512 bf16"), ("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX"),
)  # fmt: skip


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ValueError(f"{ROOT} must be a Git checkout, a record names its commit") from error
    return done.stdout
