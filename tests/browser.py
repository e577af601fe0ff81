"""Start the wiki as a learner's machine would, and drive it in a real browser.

The server runs without torch: `blocked` modules cannot be imported, whether they are installed or not, so every browser
test also shows that the wiki needs none of them.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).resolve().parents[1]
BLOCKER = """import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"{{name}} is blocked in this test", name=name)


sys.meta_path.insert(0, Blocked())
"""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    log: Path

    def log_text(self) -> str:
        return self.log.read_text("utf-8", errors="replace")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/ready", timeout=2) as answer:
            return json.load(answer)["status"] == "ok"
    except (urllib.error.URLError, OSError):
        return False


def environment(scratch: Path, blocked: tuple[str, ...]) -> dict[str, str]:
    """Ours, with a start-up file in `scratch` that makes the import of the blocked modules fail."""
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "sitecustomize.py").write_text(BLOCKER.format(names=set(blocked)), "utf-8")
    search = os.pathsep.join(filter(None, (str(scratch), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": search, "PYTHONUNBUFFERED": "1"}


@contextmanager
def running(folder: Path, scratch: Path, *, blocked: tuple[str, ...] = ("torch",)) -> Iterator[Server]:
    """`streamlit run app.py` in `folder` on a free port, ready to answer; `scratch` takes the log."""
    env, port, log = environment(scratch, blocked), free_port(), scratch / "server.log"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
    server = Server(f"http://127.0.0.1:{port}", log)
    try:
        deadline = time.monotonic() + 120
        while not ready(server.url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the wiki did not start (exit code {process.poll()}):\n{server.log_text()}")
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def idle(page: Page) -> None:
    """The script has ended and nothing on the page is stale.

    A change that has not reached the server yet looks idle too: assert on what should be there afterwards as well.
    """
    state = '[data-testid="stApp"][data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
    page.wait_for_selector(state)
    expect(page.locator('[data-stale="true"], [data-testid="stSkeleton"]')).to_have_count(0)


def visit(page: Page, address: str) -> None:
    page.goto(address)
    idle(page)


def set_slider(page: Page, key: str, value: float) -> None:
    """Move an `st.slider` by keys; `fill()` would move its thumb and tell the server nothing."""
    slider = page.locator(f".st-key-{key.replace('.', '-')} input[type=range]")
    slider.focus()
    page.keyboard.press("Home")
    steps = (value - float(slider.get_attribute("min") or 0)) / float(slider.get_attribute("step") or 1)
    for _ in range(round(steps)):
        page.keyboard.press("ArrowRight")
    idle(page)


def switch_theme(page: Page, name: str) -> None:
    """`System`, `Light` or `Dark` from the page's own menu (there is one only where `menu_items` is set)."""
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    page.get_by_test_id(f"stMainMenuItem-theme-{name}").click()
    page.keyboard.press("Escape")


def cells(page: Page, selector: str) -> list[list[str]]:
    """The texts of a real table, row by row."""
    return page.locator(selector).evaluate("t => [...t.rows].map(r => [...r.cells].map(c => c.textContent.trim()))")


def longest_piece(text: str) -> str:
    """The longest stretch of one of our texts that the page holds in one piece: between tags and numbers put in later,
    without the marks that the page ties to what stands before them."""
    return max((x.strip(" 。，、；：）！？.,;:)") for x in re.split(r"<[^>]+>|\{[^}]*\}", text)), key=len)


def paste(at: Locator, text: str) -> None:
    """Paste as the clipboard would; a script may not read the real one without a permission."""
    at.evaluate(
        "(n, text) => { const data = new DataTransfer(); data.setData('text', text);"
        " n.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })) }",
        text,
    )
