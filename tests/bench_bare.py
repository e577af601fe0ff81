"""The bare Streamlit page beside which `tests.bench` measures."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser import ROOT, free_port

QUIET = ("--server.headless=true", "--server.address=127.0.0.1", "--browser.gatherUsageStats=false")


@contextmanager
def bare_server(scratch: Path, *, settings: bool = False) -> Iterator[str]:
    """The bare page as Streamlit starts it by itself, or under the wiki's settings."""
    port, name = free_port(), "tuned" if settings else "bare"
    scratch.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "tests/bench_apps/slider.py"), *QUIET]
    with (scratch / f"{name}.log").open("wb") as log:
        place = ROOT if settings else scratch  # Streamlit reads .streamlit/config.toml where it is started
        process = subprocess.Popen(
            [*command, f"--server.port={port}"], cwd=place, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 60
    try:
        while not answers(f"{url}/_stcore/health"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the bare page did not start:\n{(scratch / f'{name}.log').read_text('utf-8')}")
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(15)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
