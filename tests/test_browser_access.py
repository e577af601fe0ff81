"""Accessibility rules and narrow screens, in both themes and both languages."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser import visit
from tests.browser_ledger import LANGUAGES, LOCALES, TOPIC, enter, open_chapter, part, settled, table
from tests.conftest import Pages

pytestmark = pytest.mark.browser
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PAGES = {"home": "/", "ledger": f"/{TOPIC}", "sources": "/sources"}
WIDTHS = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
  .map(n => n.scrollWidth - n.clientWidth)"""


def violations(page: Page) -> list[Any]:
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}}).response["violations"]
    return [
        (v["id"], [(n["html"][:160], n["failureSummary"][:200]) for n in v["nodes"][:3]], len(v["nodes"]))
        for v in found
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_accessibility_rule_is_broken(page: Pages, lang: str, scheme: str) -> None:
    """Every page, the open derivation and the editor's errors pass the rules of WCAG 2.2 AA that a machine checks."""
    tab = page(locale=LOCALES[lang], color_scheme=scheme)
    found = {}
    for name in ("home", "sources"):
        visit(tab, f"{PAGES[name]}?lang={lang}")
        found[name] = violations(tab)
    open_chapter(tab, lang, guess1="law")
    expect(tab.locator("html")).to_have_attribute("data-theme", scheme)
    found["ledger"] = violations(tab)
    table(tab, "ledger").locator('[data-cell="1-2"]').click()
    expect(tab.locator("dialog.wiki-derivation")).to_be_visible()
    found["derivation"] = violations(tab)
    tab.keyboard.press("Escape")
    enter(tab, p_0="x", token_1="A")
    expect(part(tab, "editor").locator(".wiki-error")).to_have_count(2)
    found["errors"] = violations(tab)
    assert {name: broken for name, broken in found.items() if broken} == {}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_narrow_screens_need_no_sideways_scrolling(page: Pages, lang: str) -> None:
    """At 360 pixels neither the document nor the page inside it is wider than the screen, nor is a derivation."""
    tab = page(locale=LOCALES[lang], viewport=(360, 780), has_touch=True)
    wide = {}
    for name, path in PAGES.items():
        visit(tab, f"{path}?lang={lang}")
        if name == "ledger":
            settled(tab)
        wide[name] = tab.evaluate(WIDTHS)
    open_chapter(tab, lang, pair="top_k_draft", guess1="law", guess2="56")
    wide["six tokens"] = tab.evaluate(WIDTHS)
    table(tab, "summary").locator('[data-cell="0-0"]').click()
    expect(tab.locator("dialog.wiki-derivation")).to_be_visible()
    wide["derivation"] = tab.evaluate(WIDTHS)
    box = tab.locator("dialog.wiki-derivation").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert {name: by for name, by in wide.items() if any(x > 0 for x in by)} == {}
