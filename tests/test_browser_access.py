"""Accessibility rules and narrow screens: every page, both languages, both themes."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages._menu import PAGES
from tests.browser import idle, visit
from tests.browser_ledger import LANGUAGES, LOCALES, enter, open_chapter, part
from tests.conftest import Pages

pytestmark = pytest.mark.browser
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast", "link-in-text-block"]
NARROW = ["scrollable-region-focusable"]
DIALOG = "dialog.wiki-derivation"
WIDTHS = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
  .map(n => n.scrollWidth - n.clientWidth)"""
# a line's first sign, where it is a mark that closes something
BEGINS = """() => {
  const found = [], range = document.createRange()
  for (const box of document.querySelectorAll('.wiki-prose :is(p, li), .wiki-predict legend')) {
    const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), left = box.getBoundingClientRect().left
    for (let node; node = texts.nextNode();)
      for (let i = 0; i < node.data.length; i++) {
        if (!'。，、；：）！？'.includes(node.data[i])) continue
        range.setStart(node, i)
        range.setEnd(node, i + 1)
        const sign = range.getBoundingClientRect()
        if (sign.width && Math.abs(sign.left - left) < 1.5) found.push(node.data.slice(i, i + 12))
      }
  }
  return found
}"""
# states in which as much as possible is on the page: feedback of guesses, refusals, long tables
RICH: dict[str, dict[str, str]] = {
    "home": {},
    "sources": {},
    "rejection_ledger": {"pair": "top_k_draft", "guess1": "law", "guess2": "56"},
    "error_budget": {"vector": "outlier", "guess1": "7", "guess2": "always", "group": "2", "grid": "asymmetric"},
    "integer_matmul": {"guess1": "two", "step": "4"},
    "calibration": {"guess1": "smaller", "corruption": "tensor_missing", "step": "5"},
    "speculation_economics": {
        "guess1": "10",
        "guess2": "same",
        "curve": "own",
        "own_curve": "1~1.2~1.5",
        "tree_pair": "own",
        "own_pair": "A,B~1/2,1/2~1/4,3/4",
    },
    "mtp_boosting": {"case": "tail", "moment": "4", "mode": "code", "guess1": "b_a", "guess2": "11", "pair": "seed"},
    "dspark": {"guess1": "4", "guess2": "exact", "curve": "step", "step": "3"},
    "dspark_drafter": {"anchor": ".", "head": "off", "lock": "both", "guess2": "same", "step": "4"},
    "draft_precision": {"guess1": "six", "guess2": "never", "model": "mean", "target": "94"},
    "model_lab": {"guess1": "prose", "domain": "chat", "temperature": "1", "step": "7"},
}


def violations(page: Page, within: str = "html", *, rules: list[str] | None = None) -> list[Any]:
    """rules: only these, where the others have been looked at and cannot have changed."""
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
    found = (
        Axe().run(page, context=within, options={"runOnly": only, "resultTypes": ["violations"]}).response["violations"]
    )
    return [
        (v["id"], [(n["html"][:160], n["failureSummary"][:200]) for n in v["nodes"][:3]], len(v["nodes"]))
        for v in found
    ]


def test_every_page_is_looked_at() -> None:
    """A page that is added to the menu is added here."""
    assert RICH.keys() == set(PAGES)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", RICH)
def test_no_rule_is_broken_and_nothing_is_too_wide(page: Pages, name: str, lang: str) -> None:
    """With all folds open, the page passes the rules of WCAG 2.2 AA that a machine checks, in both themes, and so does
    a derivation; at 360 pixels neither the document nor a derivation is wider than the screen."""
    tab = page(locale=LOCALES[lang], color_scheme="light", has_touch=True, reduced_motion="reduce")
    visit(tab, f"/{'' if name == 'home' else name}?{urlencode({'v': '1', **RICH[name], 'lang': lang})}")
    tab.wait_for_timeout(400)
    idle(tab)
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    cell, dialog = tab.locator(".wiki-cell").first, tab.locator(DIALOG)
    broken = {}
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        expect(tab.locator("html")).to_have_attribute("data-theme", scheme)
        broken[scheme] = violations(tab, rules=COLOURS if broken else None)
        if cell.count():
            cell.click()
            expect(dialog).to_be_visible()
            broken[f"derivation, {scheme}"] = violations(tab, DIALOG)
            tab.keyboard.press("Escape")
    tab.set_viewport_size({"width": 360, "height": 780})
    tab.wait_for_timeout(300)
    broken["narrow"] = violations(tab, rules=NARROW)
    assert {where: what for where, what in broken.items() if what} == {}
    assert max(tab.evaluate(WIDTHS)) <= 0
    assert tab.evaluate(BEGINS) == []
    if cell.count():
        cell.click()
        expect(dialog).to_be_visible()
        box = dialog.bounding_box()
        assert max(tab.evaluate(WIDTHS)) <= 0
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 360


@pytest.mark.parametrize("lang", LANGUAGES)
def test_errors_of_the_editor_are_accessible(page: Pages, lang: str) -> None:
    """The fields that the editor refuses, with their messages, break no rule either."""
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang)
    enter(tab, p_0="x", token_1="A")
    expect(part(tab, "editor").locator(".wiki-error")).to_have_count(2)
    assert violations(tab) == []
