"""A chapter as a browser or Streamlit's test driver shows it, and what it has to show."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect
from streamlit.testing.v1 import AppTest

from mechanisms.quantity import exact_text, print_text
from mechanisms.table import Table
from tests.browser import ROOT, idle

LOCALES = {"en": "en-US", "zh": "zh-CN"}
Cells = dict[tuple[int, str], tuple[str, str]]


def wanted(table: Table, order: Iterable[str] | None = None) -> Cells:
    """`(row, quantity)` → `(decimal, exact)` as a page has to show it, empty where undefined."""
    names = set(order) if order is not None else {q.name for q in table.columns}
    cells: Cells = {}
    for quantity, column in zip(table.columns, table.cells, strict=True):
        for row, value in enumerate(column if quantity.name in names else ()):
            exact = exact_text(value) if isinstance(value, Fraction) else ""
            cells[row, quantity.name] = ("", "") if value is None else (print_text(quantity, value), exact)
    return cells


def session(lang: str) -> AppTest:
    """A session of its own in this language."""
    app = AppTest.from_file(str(ROOT / "pages/__main__.py"), default_timeout=90)
    app.query_params["lang"] = lang
    return app.run()


def at(app: AppTest, topic: str, /, **state: object) -> AppTest:
    """The session at this page in this state."""
    app.switch_page(f"{topic}.py")
    app.query_params.clear()
    for key, value in {"v": "1", **state}.items():
        app.query_params[key] = str(value)
    app.run()
    assert not app.exception and not app.error
    return app


def parts(app: AppTest, *, real: bool = False) -> dict[str, Any]:
    """Key of every part of the page → the data that the browser gets. real: the tables of records and nothing else,
    which a chapter's own test leaves out."""
    found: dict[str, Any] = {}
    for element in app.get("bidi_component"):
        head, *data = map(json.loads, element.proto.bytes.split(b"\n"))
        for part, its in zip(head.get("parts", ()), data, strict=True):
            assert part["key"] not in found
            if (".real_" in part["key"]) == real:
                found[part["key"]] = its
    return found


def own(slots: Iterable[str]) -> list[str]:
    """Slots that a chapter's own test looks at: all but the tables of records."""
    return [s for s in slots if ".real_" not in s]


def visit(app: AppTest, topic: str, lang: str, **state: object) -> dict[str, Any]:
    return parts(at(app, topic, lang=lang, **state))


class Opener:
    """`opener(drag=3)` → its session at the chapter in this state."""

    def __init__(self, topic: str, lang: str) -> None:
        self.topic, self.lang, self.app = topic, lang, session(lang)

    def __call__(self, topic: str = "", /, **state: object) -> AppTest:
        return at(self.app, topic or self.topic, **{"lang": self.lang, **state})


def sent(data: dict[str, Any], frame: int = 0) -> Cells:
    """The cells of a table as they are sent for one position of its control."""
    names = [c["name"] for c in data["columns"]]
    pieces = [((text or "||").split("|") for text in row) for row in data["frames"][frame]]
    return {(r, n): (p[0], p[1]) for r, row in enumerate(pieces) for n, p in zip(names, row, strict=True)}


# Tables of records are the same in every state of a chapter: `test_browser_measured` reads them.
READ = """() => [...document.querySelectorAll('[data-table]:not([data-table*=".real_"])')].map(t => [t.dataset.table,
  [...t.querySelectorAll('.wiki-cell')].map(b => [Number(b.dataset.cell.split('-')[0]),
    b.dataset.quantity.split('.')[1], b.dataset.value, b.dataset.exact, b.textContent])])"""


def settled(page: Page) -> None:
    """Sliders speak 150 ms after the last key, the player after 300: wait for that and for the end of the run.

    The page's own clock: its timers come in order, however late a busy machine lets it run them.
    """
    page.evaluate("() => new Promise(done => setTimeout(done, 400))")
    idle(page)


def drag(part: Locator, position: int) -> None:
    """What a mouse does before it lets go: `input` and no `change`."""
    part.locator("input[type=range]").first.evaluate(
        "(n, v) => { n.value = v; n.dispatchEvent(new Event('input', { bubbles: true })) }", str(position)
    )


def tables(page: Page, topic: str) -> dict[str, Cells]:
    """All cells of every table of the page; the text of a cell is its decimal, or a word where it is undefined."""
    found: dict[str, Cells] = {}
    for name, cells in page.evaluate(READ):
        assert name.startswith(f"{topic}."), name
        for _, _, value, exact, text in cells:
            assert text == value if value else text and not exact, (name, text)
        found[name.removeprefix(f"{topic}.")] = {(row, q): (value, exact) for row, q, value, exact, _ in cells}
    return found


class Chapter:
    """One chapter in a browser tab."""

    def __init__(self, page: Page, topic: str, lang: str = "en", *, link: str = "", **state: object) -> None:
        self.page, self.topic = page, topic
        query = urlencode({"v": "1", **{k: str(v) for k, v in state.items()}, "lang": lang})
        page.goto(link or f"/{topic}?{query}")
        self.settle()

    def settle(self) -> None:
        settled(self.page)
        expect(self.page.locator("[data-table]").first).to_be_attached()

    def part(self, key: str) -> Locator:
        return self.page.locator(f"[data-key='{self.topic}.{key}']")

    def table(self, name: str) -> Locator:
        return self.page.locator(f'[data-table="{self.topic}.{name}"]')

    def values(self, name: str) -> Cells:
        found = self.table(name).evaluate(
            "t => [...t.querySelectorAll('.wiki-cell')].map(b => [Number(b.dataset.cell.split('-')[0]),"
            " b.dataset.quantity, b.dataset.value, b.dataset.exact])"
        )
        return {(row, quantity.split(".")[1]): (value, exact) for row, quantity, value, exact in found}

    def choose(self, key: str, value: str) -> None:
        self.part(key).locator(f'input[value="{value}"]').check(force=True)
        self.settle()

    def drag(self, key: str, position: int) -> None:
        drag(self.part(key), position)

    def drop(self, key: str) -> None:
        """Let go where the slider stands."""
        self.part(key).locator("input[type=range]").first.evaluate(
            "n => n.dispatchEvent(new Event('change', { bubbles: true }))"
        )
        self.settle()

    def commit(self, key: str, answer: str = "") -> None:
        form = self.part(key)
        if answer:
            form.locator(f'input[value="{answer}"]').check(force=True)
        else:
            form.locator("input[type=range]").press("ArrowRight")
        form.locator("button[type=submit]").click()
        expect(form).to_have_attribute("data-locked", "true")
        self.settle()
