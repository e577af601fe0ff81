"""What the tests of the experiments share: a tiny model in the place of the real one, and a commit of its own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_demos import batch_invariant
from gpu_demos.measure import common
from gpu_demos.models import Linear, Loaded
from gpu_demos.record import Record, load
from tests.lab_training import BASE, Characters, tiny_llama

# only what the platform lacks is a reason: a build that fails elsewhere is a failure
NO_COMPILER = (
    "no C compiler" if shutil.which("cc") is None
    else "the compiler of macOS has no OpenMP" if sys.platform == "darwin"
    else ""
)  # fmt: skip
SHARED = {
    "device": "test, 1 core", "versions": {"torch": "0"}, "commit": "0123abc", "command": "python -m x",
    "date": "2026-01-31",
}  # fmt: skip


def tiny_loaded(dtype: str, linear: Linear = "torch") -> Loaded:
    """Random weights, a tokenizer of characters."""
    model = tiny_llama()
    model.config.max_position_embeddings = 256
    if linear == "invariant":
        if NO_COMPILER:
            pytest.skip(NO_COMPILER)
        batch_invariant.use(model, whole=True)
    return Loaded(model, Characters(), "tiny", BASE, dtype, "cpu", "random weights", linear)  # type: ignore[arg-type]


def measured(
    monkeypatch: pytest.MonkeyPatch, module: Any, out: Path, *arguments: str, code: int = 0
) -> tuple[Record, ...]:
    """Run an experiment's command on the tiny model and read what it wrote."""

    def load_tiny(name: str, *, dtype: str, linear: Linear = "torch", **more: object) -> Loaded:
        return tiny_loaded(dtype, linear)

    monkeypatch.setattr(module, "load", load_tiny)
    monkeypatch.setattr(common, "provenance", lambda *a, **more: SHARED)
    assert module.main([*arguments, "--out", str(out)]) == code
    return load(out) if code == 0 else ()
