"""The commands of the Makefile, without installing anything."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.browser import ROOT


def make(*arguments: str, cwd: Path = ROOT, **variables: object) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", *arguments, *(f"{k}={v}" for k, v in variables.items())]
    # A variable of an outer `make` would steer the inner one.
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k not in {"PORT", "PYTHON"}}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def workshop(tmp_path: Path) -> Mapping[str, Path]:
    """The Makefile with an environment that counts as installed, so that nothing is fetched."""
    for name in ("Makefile", "requirements-wiki.txt", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    for stamp in ("python", "wiki", "lab", "dev"):
        (tmp_path / f".venv/{stamp}.stamp").touch()
    return {"cwd": tmp_path}


@pytest.mark.parametrize("target", ["run", "test", "verify", "bench", "lab", "lint", "format", "clean"])
def test_make_targets_resolve_and_install_nothing_twice(workshop: Mapping[str, Path], target: str) -> None:
    shown = make("-n", target, **workshop)
    assert shown.returncode == 0, shown.stderr
    assert "pip install" not in shown.stdout


def test_make_run_names_a_busy_port(workshop: Mapping[str, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = make("run", PORT=port, **workshop)
    assert result.returncode != 0
    assert f"Port {port} is not free" in result.stderr
    assert "make run PORT=" in result.stderr


def test_make_run_names_an_old_python(workshop: Mapping[str, Path], tmp_path: Path) -> None:
    old = tmp_path / "old-python"
    pretend = "import sys; sys.version_info = (3, 10, 9); exec(sys.argv[1])"
    old.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{pretend}' \"$2\"\n", "utf-8")
    old.chmod(0o755)
    result = make("run", PYTHON=old, VENV=tmp_path / "fresh", **workshop)
    assert result.returncode != 0
    assert "Python 3.11 or newer is needed" in result.stderr
    assert not (tmp_path / "fresh").exists()
