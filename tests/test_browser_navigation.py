"""Moving about: back and forward, tabs, reload, links, language, and the button that checks everything."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from mechanisms.verify import TABLES
from pages._menu import PAGES
from tests.browser import idle, visit
from tests.browser_ledger import (
    LANGUAGES,
    LOCALES,
    TOPIC,
    choose,
    digest,
    frames_sent,
    linked,
    open_chapter,
    part,
    reference,
    settled,
    slide,
    table,
)  # fmt: skip
from tests.conftest import Pages

pytestmark = pytest.mark.browser
LEDGER = PAGES.index("rejection_ledger")  # its place in the menu
TAGS = {"en": "en", "zh": "zh-Hans"}


def sockets(page: Page) -> list[str]:
    """Every websocket opened from now on: a second one would be a second session."""
    opened: list[str] = []
    page.on("websocket", lambda socket: opened.append(socket.url))
    return opened


def test_back_leaves_the_chapter_and_forward_returns(page: Pages) -> None:
    """One press of Back goes from the chapter to the page before it, however many controls were moved; Forward brings
    the same numbers back."""
    tab = page()
    opened = sockets(tab)
    visit(tab, "/?lang=en")
    tab.locator(f'.wiki-card a[href^="/{TOPIC}"]').click()
    expect(table(tab, "ledger")).to_be_visible()
    slide(tab, "blend", 4)
    slide(tab, "u2", 60)
    choose(tab, "rule", "accept_all")
    before, link = digest(tab), tab.url
    tab.go_back()
    expect(tab.locator(".wiki-cards").first).to_be_visible()
    assert re.search(r"/(\?.*)?$", tab.url)
    tab.go_forward()
    expect(table(tab, "ledger")).to_be_visible()
    settled(tab)
    assert tab.url == link and digest(tab) == before
    assert len(opened) == 1, "a link has started a second session"


def test_citation_leads_to_its_source_and_back(page: Pages) -> None:
    """A citation opens the sources page at its entry in the same session, and Back restores the chapter as it was."""
    tab = page(locale="zh-CN")
    opened = sockets(tab)
    open_chapter(tab, "zh", pair="disjoint", blend=9)
    before = digest(tab)
    tab.locator('a.wiki-cite[href$="#leviathan2022"]').first.click()
    expect(tab.locator(".wiki-sources li#leviathan2022")).to_be_focused()
    assert "/sources" in tab.url and "lang=zh" in tab.url
    tab.go_back()
    expect(table(tab, "ledger")).to_be_visible()
    settled(tab)
    assert digest(tab) == before and len(opened) == 1


def test_two_tabs_do_not_know_each_other(page: Pages) -> None:
    """Two tabs of one browser hold two states."""
    first = page()
    open_chapter(first, pair="disjoint")
    second = first.context.new_page()
    open_chapter(second, pair="identical")
    before = digest(first)
    slide(second, "blend", 3)
    choose(second, "rule", "equality")
    assert digest(first) == before
    first.reload()
    settled(first)
    assert digest(first) == before


def test_reload_keeps_everything(page: Pages) -> None:
    """A reload shows what was there."""
    tab = page()
    open_chapter(tab)
    choose(tab, "pair", "sharp_target_flat_draft")
    slide(tab, "blend", 6)
    part(tab, "round").locator("input[type=range]").press("ArrowRight")
    linked(tab, "step", "1")
    before, link = digest(tab), tab.url
    tab.reload()
    settled(tab)
    assert digest(tab) == before and tab.url == link


def test_double_clicks_do_no_harm(page: Pages) -> None:
    """Two quick presses of any button leave a page that still answers."""
    tab = page()
    open_chapter(tab)
    part(tab, "again").get_by_role("button").dblclick()
    settled(tab)
    assert re.search(r"seed=[23]\b", tab.url)
    part(tab, "round").locator(".wiki-transport button").nth(3).dblclick()
    expect(part(tab, "round")).to_have_attribute("data-step", "2")
    form = part(tab, "guess1")
    form.locator('input[value="law"]').check(force=True)
    form.locator("button[type=submit]").dblclick()
    expect(form.locator(".wiki-feedback")).to_be_visible()
    part(tab, "editor").locator(".wiki-add").dblclick()
    settled(tab)
    assert part(tab, "editor").locator("tbody tr").count() in (4, 5)
    expect(part(tab, "editor")).to_have_attribute("data-problems", "0")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_language_switch_keeps_the_state(page: Pages, lang: str) -> None:
    """Switching the language changes the words and the document's language, no number and no control."""
    other = "zh" if lang == "en" else "en"
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang, own="A,B~1/3,2/3~1/2,1/2", pair="own", blend=5, rule="no_residual", guess1="law", step=2)
    expect(tab.locator("html")).to_have_attribute("lang", TAGS[lang])
    before, title = digest(tab), tab.title()
    tab.locator(".st-key-lang_choice").get_by_role("radio", name={"en": "English", "zh": "中文"}[other]).click()
    expect(tab.locator("html")).to_have_attribute("lang", TAGS[other])
    settled(tab)
    assert f"lang={other}" in tab.url and tab.title() != title
    assert digest(tab) == before


@pytest.mark.parametrize("lang", LANGUAGES)
def test_menu_keeps_session_and_language(page: Pages, lang: str) -> None:
    """The sidebar leads through all pages in one session, in one language, and the chapter keeps its state."""
    tab = page(locale=LOCALES[lang])
    opened = sockets(tab)
    open_chapter(tab, lang, pair="disjoint", blend=9)
    before = digest(tab)
    menu = tab.get_by_test_id("stSidebarNavLink")
    expect(menu).to_have_count(len(PAGES))
    for n in (0, len(PAGES) - 1, LEDGER):
        menu.nth(n).click()
        idle(tab)
        expect(tab.locator("html")).to_have_attribute("lang", TAGS[lang])
        expect(tab).to_have_url(re.compile(f"lang={lang}"))
    expect(table(tab, "ledger")).to_be_visible()
    settled(tab)
    assert digest(tab) == before and len(opened) == 1


def test_hasty_clicks_in_the_menu_lose_nothing(page: Pages) -> None:
    """Pages asked for while others are still coming never leave a page empty or in error."""
    tab = page()
    open_chapter(tab, pair="disjoint")
    before, menu = digest(tab), tab.get_by_test_id("stSidebarNavLink")
    last = len(PAGES) - 1
    for k, n in enumerate((0, last, LEDGER, 0, last, LEDGER, last, LEDGER, 0, LEDGER)):
        menu.nth(n).click()
        tab.wait_for_timeout(30 * (k % 3))
    expect(table(tab, "ledger")).to_be_visible()
    settled(tab)
    assert digest(tab) == before


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reference_table_is_recomputed_on_request(page: Pages, lang: str) -> None:
    """The button on the start page recomputes every table and reports each with its cells and no mismatch."""
    tab = page(locale=LOCALES[lang])
    visit(tab, f"/?lang={lang}")
    tab.locator("[data-key='home.verify']").get_by_role("button").click()
    expect(tab.locator("[data-verified]")).to_be_visible(timeout=60_000)
    rows = tab.locator("[data-key='home.verify_result'] tbody tr")
    found = {r[0]: r[1:] for r in rows.evaluate_all("rs => rs.map(r => [...r.cells].map(c => c.textContent))")}
    assert found.keys() == TABLES.keys()
    assert all(wrong == "0" for _, wrong in found.values())
    for name, (cells, _) in found.items():
        lines = reference(name)
        assert int(cells) == len(lines) * (len(lines[0]) - ("lesson" in lines[0]))


def test_contents_lead_to_their_sections(page: Pages) -> None:
    """Every entry of the contents list leads to a heading on the page, without a message to the server."""
    tab = page(reduced_motion="reduce")
    sent = frames_sent(tab)
    open_chapter(tab)
    before = len(sent)
    for link in tab.locator(".wiki-toc a").all():
        target = link.get_attribute("href")
        link.click()
        expect(tab.locator(f"{target}")).to_be_focused()
        expect(tab.locator(f"{target} h2")).to_be_in_viewport()
    assert len(sent) == before
