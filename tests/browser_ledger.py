"""The ledger chapter as the browser shows it: addresses, tables, controls and the reference files beside them."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from mechanisms.rejection_presets import PRESETS
from pages._rejection_pair import CONTROLS, STEPS
from tests.browser import ROOT, idle

TOPIC = "rejection_ledger"
LOCALES = {"en": "en-US", "zh": "zh-CN"}
LANGUAGES = tuple(LOCALES)
NAMES = tuple(PRESETS)
# everything a reader can compare: numbers of all tables, outcomes of the strips, state of the player and the guesses
DIGEST = """() => ({
  tables: Object.fromEntries([...document.querySelectorAll('[data-table]')].map(t => [t.dataset.table,
    [...t.querySelectorAll('.wiki-cell')].map(({dataset: d}) => [d.cell, d.quantity, d.value, d.exact])])),
  outcomes: [...document.querySelectorAll('[data-outcome]')].map(n => n.dataset.outcome),
  bars: [...document.querySelectorAll('[data-bar]')].map(n => [n.dataset.bar, n.dataset.reached]),
  step: [...document.querySelectorAll('[data-step]')].map(n => [n.dataset.step, n.dataset.event]),
  chosen: [...document.querySelectorAll('.wiki-part input:checked')].map(n => n.value),
  sliders: [...document.querySelectorAll('.wiki-part input[type=range]')].map(n => n.value),
  verdicts: [...document.querySelectorAll('[data-verdict]')].map(n => n.dataset.verdict).filter(v => v !== 'null'),
})"""

# control -> the texts that cannot be taken as they are
JUNK: dict[str, tuple[str, ...]] = {
    "pair": ("zero", "<b>x</b>", "ZERO_IN_DRAFT"),
    "own": ("A,B~0.5,0.5", "A,B~0.5,0.6~1,0", "A~1~nan", "A,A~1,0~0,1", "x" * 5000),
    "blend": ("nan", "inf", "-1", str(STEPS + 1), "x", "1e400", "9" * 400, "1.5", ""),
    "reject": ("5", "none ", ""),
    "step": ("nan", "-inf", "21", "x", ""),
    **dict.fromkeys(("u1", "u2", "u3", "w1", "w2"), ("nan", "inf", "-1", "100", "x", "1e400", "")),
    "rule": ("exact", "x", ""),
    "keep": ("0", "13", "nan", ""),
    "draws": ("10", "1e9", "nan", ""),
    "seed": ("-1", "nan", str(2**31), "x", ""),
    "guess1": ("x", "nan"),
    "guess2": ("nan", "101", "-2", "x", ""),
}
WAVES = max(map(len, JUNK.values()))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as the page shows it; `value` and `exact` are empty where the quantity is undefined."""

    row: int
    quantity: str
    value: str
    exact: str
    text: str


def address(lang: str = "en", **state: object) -> str:
    """A link to the chapter with a whole state; `lang` is written last, as a reader would not."""
    return f"/{TOPIC}?{urlencode({'v': '1', **{k: str(v) for k, v in state.items()}, 'lang': lang})}"


def open_chapter(page: Page, lang: str = "en", **state: object) -> None:
    page.goto(address(lang, **state))
    settled(page)


def settled(page: Page) -> None:
    """Sliders speak to the server 150 ms after the last key, the player after 300 ms: wait for that and its end."""
    page.wait_for_timeout(350)
    idle(page)
    expect(table(page, "ledger").locator("caption")).to_be_attached()


def part(page: Page, key: str) -> Locator:
    return page.locator(f"[data-key='{TOPIC}.{key}']")


def table(page: Page, name: str) -> Locator:
    return page.locator(f'[data-table="{TOPIC}.{name}"]')


def read(page: Page, name: str) -> list[Cell]:
    """All cells of one table, row by row."""
    found = table(page, name).evaluate(
        "t => [...t.querySelectorAll('.wiki-cell')].map(b => [Number(b.dataset.cell.split('-')[0]), b.dataset.quantity,"
        " b.dataset.value, b.dataset.exact, b.textContent])"
    )
    return [Cell(row, quantity.split(".")[1], *rest) for row, quantity, *rest in found]


def values(page: Page, name: str) -> dict[tuple[int, str], tuple[str, str]]:
    """`(row, quantity)` → `(decimal, exact)`."""
    return {(c.row, c.quantity): (c.value, c.exact) for c in read(page, name)}


def row_names(page: Page, name: str) -> list[str]:
    return table(page, name).locator("tbody th").all_text_contents()


def digest(page: Page) -> Any:
    """Everything on the page that a language must not change."""
    return page.evaluate(DIGEST)


DEFAULTS = {c.name: str(c.default) for c in CONTROLS}


def linked(page: Page, key: str, text: str) -> None:
    """Wait until the link says so: then the server has heard of it, however slow the machine is."""
    here = rf"[?&]{key}={re.escape(text)}(&|$)"
    expect(page).to_have_url(re.compile(rf"^(?!.*[?&]{key}=)" if text == DEFAULTS[key] else here))
    settled(page)


def choose(page: Page, key: str, value: str) -> None:
    part(page, key).locator(f'input[value="{value}"]').check(force=True)
    linked(page, key, value)


def slide(page: Page, key: str, position: int) -> None:
    """Move a slider with keys, as a hand would; its positions are counted from 0."""
    slider = part(page, key).locator("input[type=range]").first
    slider.focus()
    here = int(slider.input_value())
    for _ in range(abs(position - here)):
        page.keyboard.press("ArrowRight" if position > here else "ArrowLeft")
    linked(page, key, str(position + 1 if key == "keep" else position))


def enter(page: Page, **fields: str) -> None:
    """Type into fields of the editor (`p_0="1/3"`), one after the other, each confirmed with Enter."""
    for name, text in fields.items():
        field = part(page, "editor").locator(f'[data-at="{name.replace("_", "-")}"]')
        field.click()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.press("Delete")
        page.keyboard.insert_text(text)
        page.keyboard.press("Enter")
        settled(page)


def commit(page: Page, key: str, answer: str = "") -> None:
    """Lock a guess: an option by its id, or the slider where it stands."""
    form = part(page, key)
    if answer:
        form.locator(f'input[value="{answer}"]').check(force=True)
    else:
        form.locator("input[type=range]").press("ArrowRight")
    form.locator("button[type=submit]").click()
    expect(form).to_have_attribute("data-locked", "true")
    settled(page)


def reference(name: str) -> list[dict[str, str]]:
    with (ROOT / f"tests/reference/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows_of(name: str, **chosen: str) -> list[dict[str, str]]:
    return [r for r in reference(name) if all(r[k] == v for k, v in chosen.items())]


def fraction(text: str) -> Fraction:
    """An exact text of the page (true minus sign) as a number."""
    return Fraction(text.replace("−", "-"))


def plain(text: str) -> str:
    return text.replace("−", "-")


def frames_sent(page: Page) -> list[Any]:
    """From now on, every message that the page sends over its sockets. Call before the page is opened."""
    sent: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    return sent


def frames_received(page: Page) -> list[Any]:
    got: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: got.append(frame)))
    return got


def as_bytes(frame: Any) -> bytes:
    return frame if isinstance(frame, bytes) else str(frame).encode()
