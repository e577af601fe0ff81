"""Compiling the kernel of our own: once, whole or not at all, and every failure is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_demos import batch_invariant_build
from gpu_demos.batch_invariant_build import KernelUnavailable
from tests.lab_measure import NO_COMPILER

pytestmark = pytest.mark.skipif(bool(NO_COMPILER), reason=NO_COMPILER)
COMPILERS = {
    "no-such-compiler": "not on the path", "": "not on the path", "false": "false --version failed: exit status 1",
    "cc 'x": "No closing quotation", "cc -c": "cannot be loaded|cannot be compiled|failed",
}  # fmt: skip


@pytest.mark.parametrize(("compiler", "message"), COMPILERS.items())
def test_compiler_that_is_missing_or_fails_is_named(
    compiler: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One sentence each."""
    monkeypatch.setenv("CC", compiler)
    monkeypatch.setattr(batch_invariant_build, "cache_folder", lambda: tmp_path)
    with pytest.raises(KernelUnavailable, match=message):
        batch_invariant_build.kernels.__wrapped__()


@pytest.mark.parametrize("does", ["exit 1", "exit 0"], ids=["fails", "writes nothing"])
def test_failed_build_leaves_nothing(does: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A compiler that says its version and then fails, or claims success: no file that a later build would take."""
    compiler, cache = tmp_path / "cc", tmp_path / "cache"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo 1 && exit 0\necho broken >&2\n{does}\n', "utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(KernelUnavailable, match="broken" if does == "exit 1" else "cannot be compiled"):
        batch_invariant_build.build(cache)
    assert not list(cache.iterdir())


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file in the place of the folder."""
    (tmp_path / "cache").touch()
    with pytest.raises(KernelUnavailable, match="cannot be compiled into"):
        batch_invariant_build.build(tmp_path / "cache")


@pytest.mark.parametrize("left", [b"", b"half of a library"])
def test_damaged_library_is_compiled_again(left: bytes, tmp_path: Path) -> None:
    """A file cut short would end the process when it is called."""
    path = batch_invariant_build.build(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(left or whole[:10_000])
    assert batch_invariant_build.build(tmp_path).read_bytes()[:4] == b"\x7fELF" and len(path.read_bytes()) == len(whole)


def test_damaged_stamp_is_written_again(tmp_path: Path) -> None:
    """It says nothing about the library, whatever its bytes are."""
    path = batch_invariant_build.build(tmp_path)
    stamp = path.with_suffix(".sha256")
    good = stamp.read_bytes()
    stamp.write_bytes(b"\xff\xfe\x00")
    assert batch_invariant_build.build(tmp_path) == path and stamp.read_bytes() == good


def test_it_is_compiled_once_for_each_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A second build finds the first one; another source or other words to the compiler are another file."""
    first = batch_invariant_build.build(tmp_path)
    stamp = first.stat().st_mtime_ns
    assert batch_invariant_build.build(tmp_path) == first and first.stat().st_mtime_ns == stamp
    changed = tmp_path / "changed.c"
    assert batch_invariant_build.build(tmp_path) == first
    monkeypatch.setenv("CC", "cc -Wall")
    assert batch_invariant_build.build(tmp_path) != first
    monkeypatch.delenv("CC")
    changed.write_text(batch_invariant_build.SOURCE.read_text(encoding="utf-8") + "// changed\n", encoding="utf-8")
    monkeypatch.setattr(batch_invariant_build, "SOURCE", changed)
    assert batch_invariant_build.build(tmp_path) != first
