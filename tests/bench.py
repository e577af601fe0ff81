"""How long from a key press to the changed picture: `python -m tests.bench`, or `make bench`.

Our chapters, a bare Streamlit page, the same page under the wiki's settings and a page without any framework run side
by side and take turns, so that a slow spell of the machine hits all of them. Time is taken inside the page: from the
key event's own stamp to the frame after the one that has the new value in the DOM.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import streamlit
from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench_bare import bare_server
from tests.bench_presses import CHAPTERS, PRESSES, E, Press, R, table
from tests.bench_statistics import Sample, report
from tests.browser import ROOT, idle, running
from tests.conftest import ARGS, NAMES

FLOOR = ROOT / "tests/bench_apps/floor.html"
ROUNDS, LOADS = 12, 6
PAUSE_MS = 500  # after each burst, for charts and for what a slider tells the server when the hand rests
BURST_MS = 60  # between the presses of a burst: a hand that drags, slower than the keyboard repeats a held key
LINK = "/{}?lang=en&v=1"
PASTES = 5

# `wikiBench.arm(selector)` before the key is pressed; `wikiBench.done` resolves to both times in milliseconds.
PROBE = """
window.wikiBench = (() => {
  const seen = selector => {
    const node = document.querySelector(selector)
    return node && [node.textContent, ...[...node.querySelectorAll('[data-value]')].map(b => b.dataset.value)].join('|')
  }
  const arm = selector => {
    const before = seen(selector)
    let start = 0
    window.addEventListener('keydown', e => { start = e.timeStamp }, { capture: true, once: true })
    window.wikiBench.done = new Promise((resolve, fail) => {
      setTimeout(() => fail(new Error(`${selector} did not change: ${start ? 'key seen' : 'no key'}`)), 10000)
      const look = () => {
        if (!start || seen(selector) === before) return
        observer.disconnect()
        paint(([first, second]) => resolve([first - start, second - start]))
      }
      const observer = new MutationObserver(look)
      observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
    })
  }
  // The first time: a task queued in the frame that holds the change, hence run after its paint. The second: the frame
  // after it, which is one frame later at least and errs on the safe side.
  const paint = then => requestAnimationFrame(() => {
    const channel = new MessageChannel()
    let first
    channel.port1.onmessage = () => { first = performance.now() }
    channel.port2.postMessage(0)
    requestAnimationFrame(() => then([first ?? performance.now(), performance.now()]))
  })
  return { arm, paint }
})()
"""
# Times from the start of the navigation until each selector's element has been painted.
LOADING = """
window.wikiLoad = Object.fromEntries(%s.map(selector => [selector, new Promise((resolve, fail) => {
  setTimeout(() => fail(new Error(`${selector} did not appear`)), 20000)
  const look = () => {
    const node = document.querySelector(selector)
    if (!node || !node.getClientRects().length) return
    observer.disconnect()
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
  }
  const observer = new MutationObserver(look)
  observer.observe(document, { subtree: true, childList: true })
})]))
"""


LOADED = {"bare": ("#slider-value",), R: (".wiki-prose h1", f"{table(R, 'ledger')} td")}
MILLION, MOST = "0 " * 1_000_000, "1 -2 " * 2048  # more than is taken, and the most that is


def burst(page: Page, what: Press, turn: int) -> list[tuple[float, float]]:
    """Both times of each press of a burst; a page rests before the next burst begins."""
    times = [press(page, what, turn * what.repeat)]
    for i in range(1, what.repeat):
        page.wait_for_timeout(BURST_MS)
        times.append(press(page, what, turn * what.repeat + i))
    page.wait_for_timeout(PAUSE_MS)
    if what.page != "floor":
        idle(page)
    return times


def press(page: Page, what: Press, turn: int) -> tuple[float, float]:
    """Both times of one key press."""
    page.bring_to_front()
    page.locator(what.control).focus()
    if what.typed:
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type(what.typed.format(turn))
    page.evaluate("selector => window.wikiBench.arm(selector)", what.shown)
    page.keyboard.press(what.keys[turn % len(what.keys)])
    first, second = page.evaluate("window.wikiBench.done")
    return first, second


def presses(pages: Mapping[str, Page], rounds: int, told: Callable[[str], None]) -> list[Sample]:
    """All presses in turn, round by round; the first round only warms up."""
    found: dict[str, list[tuple[float, float]]] = {what.name: [] for what in PRESSES}
    for turn in range(rounds + 1):
        for what in PRESSES:
            times = burst(pages[what.page], what, turn)
            found[what.name] += times if turn else []
        if turn % 10 == 0:
            told(f"round {turn} of {rounds}")
    made = [Sample(name, [b for _, b in times]) for name, times in found.items()]
    first = {n: [a for a, _ in times] for n, times in found.items() if n.endswith("browser")}
    return [*made, *(Sample(n.replace("browser", "first paint"), times) for n, times in first.items())]


# How long the page does not answer at all, in the longest piece, between arming and the mark `data-tries`.
PASTE = """({ selector, text }) => new Promise(resolve => {
  const part = document.querySelector(selector), before = part.dataset.tries
  let longest = 0
  const blocks = new PerformanceObserver(list => {
    longest = Math.max(longest, ...list.getEntries().map(e => e.duration))
  })
  blocks.observe({ type: 'longtask' })
  const start = performance.now()
  part.querySelector('details').open = true
  part.querySelector('textarea').value = text
  part.querySelector('button').click()
  const seen = new MutationObserver(() => {
    if (part.dataset.tries === before) return
    seen.disconnect()
    const end = performance.now()
    setTimeout(() => { blocks.disconnect(); resolve([end - start, longest]) }, 100)
  })
  seen.observe(part, { attributes: true })
})"""


def pastes(page: Page, selector: str, name: str, text: str) -> list[Sample]:
    """Time from the click to the answer on the page, and the longest time in which the page stood still."""
    page.bring_to_front()
    times = []
    for _ in range(PASTES):
        times.append(page.evaluate(PASTE, {"selector": selector, "text": text}))
        idle(page)
    return [Sample(f"{name}, answer", [a for a, _ in times]), Sample(f"{name}, standstill", [b for _, b in times])]


def load(browser: Browser, url: str, selectors: Sequence[str]) -> list[float]:
    """One first visit in a fresh profile."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
    page = context.new_page()
    page.add_init_script(LOADING % list(selectors))
    page.goto(url)
    times = [page.evaluate("selector => window.wikiLoad[selector]", s) for s in selectors]
    idle(page)
    context.close()
    return times


def loads(browser: Browser, urls: Mapping[str, str], count: int) -> list[Sample]:
    found: dict[tuple[str, str], list[float]] = {(n, s): [] for n, chosen in LOADED.items() for s in chosen}
    for turn in range(count + 1):
        for name, selectors in LOADED.items():
            for selector, ms in zip(selectors, load(browser, urls[name], selectors), strict=True):
                found[name, selector] += [ms] if turn else []
    names = ("bare first load", "our first load, heading", "our first load, ledger")
    return [Sample(name, times) for name, times in zip(names, found.values(), strict=True)]


def facts(browser: Browser) -> str:
    python, system = platform.python_version(), platform.platform(terse=True)
    versions = f"Python {python}, Streamlit {streamlit.__version__}, Chromium {browser.version}"
    return f"{os.cpu_count()} cores, {system}, {versions}"


def measure(rounds: int = ROUNDS, count: int = LOADS, told: Callable[[str], None] = print) -> list[Sample]:
    """Start both servers, warm both, measure in turns."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        scratch = Path(name)
        with (
            running(ROOT, scratch / "wiki") as wiki,
            bare_server(scratch / "bare") as bare,
            bare_server(scratch / "tuned", settings=True) as tuned,
        ):
            found = next(filter(None, map(shutil.which, NAMES)))
            browser = playwright.chromium.launch(executable_path=found, args=ARGS)
            told(facts(browser))
            own = {"floor": FLOOR.as_uri(), "bare": bare, "tuned": tuned}
            urls = {**own, **{c: wiki.url + LINK.format(c) for c in CHAPTERS}}
            samples = loads(browser, urls, count)
            pages: dict[str, Page] = {}
            for who, url in urls.items():
                pages[who] = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-US")
                pages[who].add_init_script(PROBE)
                pages[who].goto(url)
                if who != "floor":
                    idle(pages[who])
            samples += presses(pages, rounds, told)
            samples += pastes(pages[E], f"[data-key='{E}.editor']", "a million values", MILLION)
            samples += pastes(pages[E], f"[data-key='{E}.editor']", "four thousand values", MOST)
            browser.close()
    return samples


def main() -> int:
    samples = measure()
    print(report(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
