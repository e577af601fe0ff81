"""The whole chapter without a mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from pages._menu import PAGES
from pages._rejection_pair import STEPS
from tests.browser_ledger import TOPIC, linked, open_chapter, part, settled, table, values
from tests.chapters import Chapter
from tests.conftest import Pages

pytestmark = pytest.mark.browser
WHERE = """() => {
  const n = document.activeElement, key = n.closest('[data-key]')?.dataset.key ?? ''
  const box = n.getBoundingClientRect()
  const seen = [getComputedStyle(n).outlineStyle, box.width * box.height]
  return [key, n.tagName.toLowerCase(), n.type || n.localName, n.className, ...seen]
}"""
# what is there to be reached; a group of radio buttons is one stop
THERE = """() => [...document.querySelectorAll('[data-key] :is(input, select, textarea, button, summary, a[href])')]
  .filter(n => n.checkVisibility() && !n.disabled && n.tabIndex >= 0)
  .map(n => [n.closest('[data-key]').dataset.key, n.type || n.localName])"""
CHAPTERS = [name for name in PAGES if name not in ("home", "sources")]
# what Tab has to come by in the ledger chapter, by container
STOPS = {
    "radio": ("guess1", "reject", "pair", "rule", "draws"),
    "range": ("guess2", "round", "blend", "u1", "u2", "u3", "w1", "w2"),
    "text": ("editor",),
    "select-one": ("round",),
    "button": (
        "round", "cache", "editor", "summary", "ledger", "verdict", "law", "greedy_bias", "again", "counts_exact",
        "counts_control",
    ),
}  # fmt: skip


@pytest.mark.parametrize("topic", CHAPTERS)
def test_tab_reaches_every_control(page: Pages, topic: str) -> None:
    """Tab goes through the page without a trap, comes by every kind of control, and each one shows its focus."""
    tab = page()
    Chapter(tab, topic)
    seen, hidden, unmarked = set(), [], []
    tab.locator("#start").focus()
    for _ in range(1000):
        tab.keyboard.press("Tab")
        key, tag, kind, classes, outline, area = tab.evaluate(WHERE)
        if tag == "body" or (not key and "stSidebar" in classes):
            break
        seen.add((key, kind))
        if key and not area:
            hidden.append((key, tag, kind))
        if key and outline == "none" and kind != "radio":
            unmarked.append((key, tag, kind, classes))
    there = {(key, kind) for key, kind in tab.evaluate(THERE)}
    if topic == TOPIC:
        assert {(f"{TOPIC}.{key}", kind) for kind, keys in STOPS.items() for key in keys} <= there
    assert len(there) > 10 and there - seen == set()
    assert not hidden and not unmarked


def pressed(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.dataset.cell ?? ''"))


def test_table_is_walked_with_arrows(page: Pages) -> None:
    """Arrows, Home and End move between cells; Enter opens the derivation, Esc closes it and gives the focus back."""
    tab = page()
    open_chapter(tab)
    table(tab, "ledger").locator('[data-cell="0-0"]').focus()
    keys = ("ArrowRight", "ArrowDown", "End", "ArrowRight", "ArrowUp", "ArrowUp", "Home", "ArrowLeft", "ArrowRight")
    cells = ("0-1", "1-1", "1-7", "1-7", "0-7", "0-7", "0-0", "0-0", "0-1")
    for key, cell in zip(keys, cells, strict=True):
        tab.keyboard.press(key)
        assert focused(tab) == cell, key
    dialog = tab.locator("dialog.wiki-derivation")
    for opening in ("Enter", "Space"):
        tab.keyboard.press(opening)
        expect(dialog).to_be_visible()
        assert dialog.evaluate("d => d.contains(document.activeElement)")
        tab.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        assert focused(tab) == "0-1"


def test_radios_and_sliders_answer_to_arrows(page: Pages) -> None:
    """Arrows choose a preset, a rule and a slider's position, and the focus outlives the server's answer."""
    tab = page()
    open_chapter(tab)
    for key in ("pair", "rule"):
        part(tab, key).locator("input:checked").focus()
        tab.keyboard.press("ArrowRight")
        linked(tab, key, {"pair": "argmax_agrees_tv_large", "rule": "no_residual"}[key])
        expect(part(tab, key).locator("input:checked")).to_be_focused()
    part(tab, "blend").locator("input").focus()
    pressed(tab, "End")
    linked(tab, "blend", str(STEPS))
    assert values(tab, "summary")[0, "acceptance_rate"][1] == "1"
    pressed(tab, "Home", "ArrowRight", "ArrowRight")
    linked(tab, "blend", "2")
    expect(part(tab, "blend").locator("input")).to_be_focused()


def test_player_is_driven_by_keys(page: Pages) -> None:
    """Arrows step, Home and End jump, Space plays and pauses; the focus outlives the server's answer."""
    tab = page()
    open_chapter(tab)
    player = part(tab, "round")
    player.locator("input[type=range]").focus()
    pressed(tab, "ArrowRight", "ArrowRight")
    linked(tab, "step", "2")
    expect(player.locator("input[type=range]")).to_be_focused()
    for key, step in (("ArrowLeft", "1"), ("ArrowRight", "2"), ("ArrowLeft", "1"), ("Home", "0"), ("ArrowLeft", "0")):
        tab.keyboard.press(key)
        expect(player).to_have_attribute("data-step", step)
    tab.keyboard.press("Space")
    expect(player).to_have_attribute("data-step", "2")
    tab.keyboard.press("Space")
    tab.keyboard.press("End")
    expect(player).to_have_attribute("data-event", "correction")
    linked(tab, "step", str(player.get_attribute("data-step")))


def test_editor_and_guess_need_no_mouse(page: Pages) -> None:
    """Enter confirms a field and keeps the focus there; a guess is chosen with arrows and committed with Enter."""
    tab = page()
    open_chapter(tab)
    field = part(tab, "editor").locator('[data-at="token-1"]')
    field.focus()
    pressed(tab, "ControlOrMeta+A")
    tab.keyboard.type("word")
    tab.keyboard.press("Enter")
    settled(tab)
    expect(field).to_be_focused()
    expect(table(tab, "ledger").locator("tbody th").nth(1)).to_have_text("word")
    part(tab, "guess1").locator("input").first.focus()
    pressed(tab, "Space", "ArrowDown", "Tab", "Enter")
    expect(part(tab, "guess1").locator(".wiki-feedback")).to_be_visible()
    expect(part(tab, "guess1").locator(".wiki-again")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(part(tab, "guess1")).to_have_attribute("data-locked", "false")
    assert tab.locator(f'[data-table="{TOPIC}.ledger"]').count() == 1
