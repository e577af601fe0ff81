"""The window of a derivation: what opens it, and what does not close it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser_ledger import open_chapter, table
from tests.conftest import Pages

pytestmark = pytest.mark.browser
# A number of the page, laid where the window's own parts will be.
PUT = """([x, y]) => {
  const button = document.querySelector('[data-derive*="<a "]').cloneNode(true)
  button.style = `position: fixed; left: ${x - 10}px; top: ${y - 10}px; width: 20px; height: 20px; z-index: 2147483647`
  document.body.append(button)
  return document.elementFromPoint(x, y) === button
}"""


def derivation(tab: Page) -> Locator:
    """The window of the first cell, open."""
    open_chapter(tab)
    table(tab, "ledger").locator('[data-cell="0-0"]').click()
    dialog = tab.locator("dialog.wiki-derivation")
    expect(dialog).to_be_visible()
    return dialog


def box_of(part: Locator) -> tuple[float, float, float, float]:
    box = part.bounding_box()
    assert box
    return box["x"], box["y"], box["width"], box["height"]


@pytest.mark.parametrize("place", ["beside", "close", "link"])
def test_second_click_of_a_double_click_does_nothing(page: Pages, place: str) -> None:
    """A hasty reader's second click falls into the new window: on the dark around it, its button, or its source."""
    tab = page()
    dialog = derivation(tab)
    tab.keyboard.press("Escape")
    tab.locator('[data-derive*="<a "]').first.click()
    if place == "beside":
        left, top, width, _ = box_of(dialog)
        aim = (left + width + 40, top + 20)
    else:
        left, top, width, height = box_of(
            dialog.locator({"close": ".wiki-close", "link": '[data-line="source"] a'}[place]).first
        )
        aim = (left + width / 2, top + height / 2)
    tab.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert tab.evaluate(PUT, list(aim))
    tab.mouse.dblclick(*aim)
    tab.wait_for_timeout(200)
    expect(dialog).to_be_visible()
    assert "/sources" not in tab.url
    dialog.locator(".wiki-close").click()
    expect(dialog).to_be_hidden()


def test_only_a_click_beside_it_closes_it(page: Pages) -> None:
    """Its margin, and a press that began inside, as in selecting text, leave it open."""
    tab = page()
    dialog = derivation(tab)
    left, top, _, height = box_of(dialog)
    middle = top + height / 2
    tab.mouse.click(left + 8, middle)
    expect(dialog).to_be_visible()
    tab.mouse.move(left + 60, middle)
    tab.mouse.down()
    tab.mouse.move(left - 10, middle, steps=4)
    tab.mouse.up()
    expect(dialog).to_be_visible()
    tab.mouse.click(left - 10, middle)
    expect(dialog).to_be_hidden()
