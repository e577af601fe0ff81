"""Settings of all tests; for those in a browser one server and one Chromium, and a fresh profile for each test."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, expect, sync_playwright

from tests.browser import ROOT, Server, running
from tests.small_site import build

# As in app.py, and for torch: several workers whose threads wait for each other are many times slower than one thread
# each. No test module has imported numpy or torch yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The first is Chromium without windows: others start the pages of their address bar in every profile, which takes a
# third of the processor's time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Without these Chromium looks for its maker's hosts in the background, which would drown a foreign request of ours.
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = re.compile(r"(https?|wss?)://127\.0\.0\.1[:/]|data:|blob:|about:")
# Under /name Streamlit first asks for its own addresses below /name; the server's 404 is right, and the client goes on.
EXPECTED_404 = re.compile(r"/[^/?]+/_stcore/(health|host-config)$")

expect.set_options(timeout=20_000)
settings.register_profile("untimed", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The wiki itself, without torch."""
    with running(ROOT, tmp_path_factory.mktemp("server")) as it:
        yield it


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same server around a small main script, for tests that need no chapter."""
    with running(build(tmp_path_factory.mktemp("site")), tmp_path_factory.mktemp("site-log")) as it:
        yield it


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as it:
        yield it


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """The system's Chromium. A missing one fails the tests: a skipped browser test would look like a passed one."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail(
            "no Chromium on the PATH (Debian: apt-get install chromium-headless-shell): the browser tests need it"
        )
    browser = playwright.chromium.launch(executable_path=found, args=ARGS)
    yield browser
    browser.close()


@dataclass  # without slots: Playwright keeps its wrapper of a bound method on the object
class Pages:
    """Opens pages and notes what none of them may do. `foreign` and `errors` are checked when the test ends; a test
    that provokes an error on purpose empties the list after looking at it.
    """

    browser: Browser
    base_url: str
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def __call__(
        self,
        *,
        viewport: tuple[int, int] = (1280, 900),
        locale: str = "en-US",
        color_scheme: str = "light",
        **options: Any,
    ) -> Page:
        context = self.browser.new_context(
            base_url=options.pop("base_url", self.base_url),
            viewport={"width": viewport[0], "height": viewport[1]},
            locale=locale,
            color_scheme=color_scheme,
            **options,
        )
        self.contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: self.note(request.url))
        page.on("websocket", lambda socket: self.note(socket.url))
        page.on("console", self.listen)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        return page

    def note(self, url: str) -> None:
        if not LOCAL.match(url):
            self.foreign.append(url)

    def listen(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not EXPECTED_404.search(message.location["url"]):
            self.errors.append(f"{message.text} ({message.location['url']})")


def opened(browser: Browser, base_url: str) -> Iterator[Pages]:
    pages = Pages(browser, base_url)
    yield pages
    for context in pages.contexts:
        context.close()
    assert not pages.foreign, "the page asked another host"
    assert not pages.errors, "the browser's console shows errors"


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Pages]:
    """`page(locale="zh-CN", viewport=(360, 800), color_scheme="dark")` → a page of a new profile."""
    yield from opened(chromium, server.url)


@pytest.fixture
def pages_of(chromium: Browser) -> Iterator[Callable[[str], Pages]]:
    """The same for a server that a test has started itself: `pages_of(url)`."""
    made: list[Iterator[Pages]] = []

    def make(url: str) -> Pages:
        made.append(opened(chromium, url))
        return next(made[-1])

    yield make
    for pages in made:
        assert next(pages, None) is None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test shows what the server said; the browser alone seldom tells why."""
    report = yield
    for value in getattr(item, "funcargs", {}).values():
        if report.failed and isinstance(value, Server):
            report.sections.append(("log of the server", value.log_text()[-8000:]))
    return report
