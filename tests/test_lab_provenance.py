"""Where a record comes from: the processor's name, the command, and a refusal where the code is not committed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_demos.measure import provenance as module
from gpu_demos.measure.provenance import processor, provenance
from gpu_demos.record import Record, Spread

FLAGS = {"sse4_2": "", "avx2 avx": ", AVX2", "avx avx2 avx512f": ", AVX-512", "avx512f amx_bf16": ", AMX bf16"}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of its own with one committed file of measuring code."""
    (tmp_path / "gpu_demos/results").mkdir(parents=True)
    (tmp_path / "mechanisms").mkdir()
    (tmp_path / "gpu_demos/step.py").write_text("a = 1\n", encoding="utf-8")
    run = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*run, *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(("flags", "vectors"), FLAGS.items())
def test_processor_is_named_with_what_it_can(flags: str, vectors: str) -> None:
    """Name, cores and the widest instructions; a machine without the file is an unknown processor."""
    assert processor(f"model name\t: Maker 7\nflags\t\t: {flags}\n", 2) == f"Maker 7, 2 cores{vectors}"
    assert processor("", 1) == "unknown processor, 1 core"


def test_committed_code_gives_the_shared_fields(checkout: Path) -> None:
    """They complete a record; new results are no change of code."""
    (checkout / "gpu_demos/results/new.json").write_text("{}", encoding="utf-8")
    found = provenance("gpu_demos.step", ["--width", "1 2"], libraries=("numpy",))
    assert found["command"] == "python -m gpu_demos.step --width '1 2'"
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True, check=True)
    assert found["commit"] == head.stdout.strip()
    own = {"id": "a.b", "at": {}, "value": 1, "unit": "1", "spread": Spread(0, "range"), "samples": 1}
    Record(**own, dtype="fp32", shape=(), **found)


@pytest.mark.parametrize("name", ["gpu_demos/step.py", "mechanisms/new.py"])
def test_changed_code_is_refused(checkout: Path, name: str) -> None:
    """A changed and a new file are named."""
    (checkout / name).write_text("a = 2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"commit first.* {name}"):
        provenance("gpu_demos.step", [])


def test_folder_without_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a commit there is no record."""
    monkeypatch.setattr(module, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="must be a Git checkout"):
        provenance("gpu_demos.step", [])
