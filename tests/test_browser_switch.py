"""Another language and a control within the same moment: page and address say the same."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import visit
from tests.conftest import Pages

pytestmark = pytest.mark.browser
# one task of the page clicks the language, a later one a preset, before the server can have answered the first
TWO_CLICKS = """wait => {
  const names = [...document.querySelectorAll('[data-testid="stSidebar"] button')]
  names.find(b => b.textContent.trim() === 'English').click()
  setTimeout(() => document.querySelectorAll('[data-key="rejection_ledger.pair"] input')[2].click(), wait)
}"""


@pytest.mark.parametrize("wait", [0, 15, 40])
def test_language_and_control_at_once(page: Pages, wait: int) -> None:
    """The later message still comes with the address of before; neither address nor page goes back to it."""
    tab = page(locale="zh-CN")
    visit(tab, "/rejection_ledger?lang=zh")
    expect(tab.locator('[data-key="rejection_ledger.pair"] input').nth(2)).to_be_attached()
    tab.evaluate(TWO_CLICKS, wait)
    expect(tab.locator("h1")).to_have_text("The probability ledger")
    tab.wait_for_timeout(1500)
    expect(tab.locator("html")).to_have_attribute("lang", "en")
    expect(tab.locator("h1")).to_have_text("The probability ledger")
    assert "lang=en" in tab.url
