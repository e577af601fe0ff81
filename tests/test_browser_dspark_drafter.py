"""The drafter chapter in a browser: every table read from the page, sliders, player, bad input, links, access."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from mechanisms.drafter_order import TEMPERATURES
from mechanisms.drafter_toy import STRENGTHS
from tests.browser_ledger import LANGUAGES, LOCALES, frames_sent
from tests.chapters import drag, settled, tables
from tests.conftest import Pages
from tests.oracle_drafter_page import expected, own

pytestmark = pytest.mark.browser
TOPIC = "dspark_drafter"


def address(lang: str, **state: object) -> str:
    return f"/{TOPIC}?v=1{''.join(f'&{k}={v}' for k, v in state.items())}&lang={lang}"


def open_drafter(page: Page, lang: str, **state: object) -> None:
    page.goto(address(lang, **state))
    expect(page.locator(f'[data-table="{TOPIC}.points"] caption')).to_be_attached()
    settled(page)


def part(page: Page, key: str) -> Locator:
    return page.locator(f"[data-key='{TOPIC}.{key}']")


def pick(page: Page, **choices: str) -> None:
    for key, value in choices.items():
        part(page, key).locator(f'input[value="{value}"]').check(force=True)
        expect(page).to_have_url(re.compile(rf"[?&]{key}={re.escape(value)}(&|$)"))
    settled(page)


def paste(page: Page, p: str, q: str) -> Locator:
    """Put lists into the two fields, calibrate, and give back what is said beside them."""
    box = part(page, "own")
    tries = int(box.get_attribute("data-tries") or 0)
    for name, text in (("p", p), ("q", q)):
        box.locator(f'[data-field="{name}"]').evaluate("(n, text) => { n.value = text }", text)
    box.locator("button.wiki-button").click()
    expect(box).to_have_attribute("data-tries", str(tries + 1))
    settled(page)
    return box.locator(".wiki-error p")


def check_dragging(tab: Page, sent: list[Any]) -> None:
    """Both ends of every slider and the steps of the player, without a message from the sliders; back at the end."""
    before, state = len(sent), dict[str, object]()
    assert before > 0, "the socket was not listened to"
    for key, first, last in (
        ("strength", 0, len(STRENGTHS) - 1), ("heat", 0, len(TEMPERATURES) - 1), ("position", 1, 5),
    ):  # fmt: skip
        for at in (0, last - first):
            drag(part(tab, key), at)
            state[key] = at + first
            assert tables(tab, TOPIC) == expected(state), state
    marks = part(tab, "reliability").get_attribute("data-points") or ""
    bins = expected(state)
    filled = [[v for (_, q), v in bins[f"bins_{w}"].items() if q == "bin_mean" and v[0]] for w in ("before", "after")]
    assert marks == ",".join(str(len(found)) for found in filled)
    for key, at in (("strength", 4), ("heat", 3), ("position", 1)):
        drag(part(tab, key), at)
    tab.wait_for_timeout(200)
    assert len(sent) == before
    player = part(tab, "player")
    for step in (3, 6):
        for _ in range(3):
            player.locator(".wiki-transport button").nth(3).click()
        expect(player).to_have_attribute("data-step", str(step))
        assert tables(tab, TOPIC) == expected({"step": step}), step
    player.locator("input[type=range]").focus()
    tab.keyboard.press("Home")
    expect(player).to_have_attribute("data-step", "0")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_table_shows_the_mechanisms_numbers(page: Pages, lang: str) -> None:
    """All tables at first sight, at the ends of sliders, at steps and after choices; guesses keep their answer."""
    tab = page(locale=LOCALES[lang])
    sent = frames_sent(tab)
    open_drafter(tab, lang)
    assert tables(tab, TOPIC) == expected({})
    assert tab.locator(".wiki-feedback").count() == 0
    assert tab.locator('[data-quantity="dspark_drafter.swapped"], [data-quantity$=".either_way"]').count() == 0
    check_dragging(tab, sent)
    chosen = {"anchor": ".", "head": "off", "place": "2", "lock": "both", "temper": "under", "published": "7"}
    pick(tab, **chosen)
    form = part(tab, "guess2")
    form.locator('input[value="same"]').check(force=True)
    form.locator("button[type=submit]").press("Enter")
    expect(form.locator(".wiki-feedback")).to_be_visible()
    settled(tab)
    assert tables(tab, TOPIC) == expected({**chosen, "guess2": "same"})


def test_bad_pairs_are_named_and_links_restore(page: Pages) -> None:
    """Faults of pasted lists get words in the reader's language and lose nothing; derivations open complete, by key as
    well; a link shows the same state in another profile and language."""
    tab = page()
    state = {"strength": 8, "heat": 10, "position": 5, "guess2": "can", "step": 4, "seed": 7, "temper": "right"}
    open_drafter(tab, "en", **state)
    good = own("0.9, 1/2 0.25 1 0", "1 0 0 1 0")
    assert paste(tab, "0.9, 1/2 0.25 1 0", "1 0 0 1 0").count() == 0
    assert tables(tab, TOPIC) == expected(state) | good
    said: set[str] = set()
    faults = (("", "1"), ("nan", "1"), ("0.5 2", "1 0"), ("0.5", "0.5"), ("0.5 0.6", "1"), ("0 " * 1_000_000, "1"))
    for p, q in faults:
        notes = paste(tab, p, q)
        expect(notes).to_have_count(2)  # the reason, and that the last result stays
        said.add(notes.first.inner_text())
    assert len(said) == len(faults)
    assert tables(tab, TOPIC) == expected(state) | good
    cell = tab.locator(f'[data-table="{TOPIC}.own_scores_after"] .wiki-cell').first
    cell.focus()
    tab.keyboard.press("Enter")
    dialog = tab.locator("dialog.wiki-derivation")
    expect(dialog).to_be_visible()
    assert "∅" not in dialog.inner_text()
    tab.keyboard.press("Escape")
    expect(cell).to_be_focused()
    for name in ("law", "pairs", "collisions", "label_value", "means", "leads", "order", "scores_before", "points"):
        tab.locator(f'[data-table="{TOPIC}.{name}"] .wiki-cell').last.click()
        assert "∅" not in dialog.inner_text(), name
        tab.keyboard.press("Escape")
    other = page(locale=LOCALES["zh"])
    other.goto(tab.url.replace("lang=en", "lang=zh"))
    expect(other.locator(f'[data-table="{TOPIC}.points"] caption')).to_be_attached()
    settled(other)
    assert tables(other, TOPIC) == expected(state)
    assert re.search("[一-鿿]", paste(other, "0.5", "nan").first.inner_text())
