"""The link restores everything in any language, and a broken one is repaired in front of the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import ROOT, running, visit
from tests.browser_ledger import (
    JUNK,
    LANGUAGES,
    LOCALES,
    TOPIC,
    address,
    choose,
    commit,
    digest,
    enter,
    fraction,
    open_chapter,
    part,
    row_names,
    settled,
    slide,
    values,
)  # fmt: skip
from tests.conftest import Pages

pytestmark = pytest.mark.browser


def build_state(page: Page) -> None:
    """Every control moved away from its default, through the page."""
    commit(page, "guess1", "bug")
    commit(page, "guess2")
    choose(page, "reject", "2")
    for _ in range(3):
        part(page, "round").locator("input[type=range]").press("ArrowRight")
    choose(page, "pair", "identical")
    enter(page, p_0="1/3", p_1="1/3", p_2="1/3", q_0="1/2", q_1="1/3", q_2="1/6", token_2="C, %é词")
    slide(page, "blend", 7)
    for name, at in (("u1", 50), ("u2", 80), ("u3", 25), ("w1", 30), ("w2", 70)):
        slide(page, name, at)
    choose(page, "rule", "filtered_draft")
    slide(page, "keep", 0)
    choose(page, "draws", "1000")
    part(page, "again").get_by_role("button").click()
    settled(page)


def other_language(url: str, lang: str) -> str:
    """The same link with another `lang`."""
    parts = urlsplit(url)
    query = {k: v[0] for k, v in parse_qs(parts.query).items()} | {"lang": lang}
    return f"{parts.path}?{urlencode(query)}"


def test_link_restores_everything_in_both_languages(page: Pages) -> None:
    """A fresh profile that opens the link shows the same number in every cell of every table, the same outcomes, steps
    and guesses, in either language; own fractions come back exactly."""
    first = page()
    open_chapter(first)
    build_state(first)
    wanted = digest(first)
    assert fraction(values(first, "ledger")[0, "target_probability"][1]) * 3 == 1
    query = {k: v[0] for k, v in parse_qs(urlsplit(first.url).query).items()}
    moved = {
        "own",
        "blend",
        "reject",
        "step",
        "u1",
        "u2",
        "u3",
        "w1",
        "w2",
        "rule",
        "keep",
        "draws",
        "seed",
        "guess1",
        "guess2",
    }
    assert moved <= query.keys(), f"not in the link: {moved - query.keys()}"
    names = row_names(first, "ledger")
    for lang in LANGUAGES:
        fresh = page(locale=LOCALES["en" if lang == "zh" else "zh"])
        visit(fresh, other_language(first.url, lang))
        settled(fresh)
        assert digest(fresh) == wanted, lang
        assert row_names(fresh, "ledger") == names == ["A", "B", "C, %é词"]
        assert fresh.locator(".wiki-notice[role=status]").count() == 0


@pytest.mark.parametrize("wave", [0, 2], ids=["wave-0", "wave-2"])  # tests/test_pages.py has them all
def test_impossible_link_is_repaired_and_named(page: Pages, wave: int) -> None:
    """Every control whose value cannot be taken is named in a notice; the page stands, and its own link is clean."""
    lang = LANGUAGES[wave // 2]
    state = {name: texts[wave] for name, texts in JUNK.items() if wave < len(texts)}
    tab = page(locale=LOCALES[lang])
    visit(tab, f"/{TOPIC}?" + urlencode({"v": "1", "lang": lang, **state}))
    settled(tab)
    notices = tab.locator(".wiki-notice[role=status]")
    shown = " ".join(notices.all_inner_texts())
    assert {name for name in state if f"{name} = " not in shown} == set()
    assert tab.locator('[data-testid="stException"], [data-testid="stAlert"], b b').count() == 0
    for text in state.values():
        assert len(text) < 41 or text not in shown
    repaired = tab.url
    fresh = page(locale=LOCALES[lang])
    visit(fresh, repaired.removeprefix(fresh.url))
    settled(fresh)
    assert fresh.locator(".wiki-notice[role=status]").count() == 0, "the repaired link is still not valid"
    assert digest(fresh) == digest(tab) and fresh.url == repaired


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_page_and_language_are_named(page: Pages, lang: str) -> None:
    """An address that no page has shows home without Streamlit's own dialog, an unknown language the browser's; both
    are named in a notice, and the address is repaired."""
    tab = page(locale=LOCALES[lang])
    visit(tab, "/no/such/page")
    expect(tab.locator(".wiki-notice[role=status]")).to_contain_text("no/such/page")
    expect(tab.locator(".wiki-cards").first).to_be_visible()
    assert tab.locator('[role="dialog"]').count() == 0 and "missing" not in tab.url
    visit(tab, f"/{TOPIC}?lang=fr")
    settled(tab)
    expect(tab.locator(".wiki-notice[role=status]")).to_contain_text("fr")
    assert f"lang={lang}" in tab.url


def test_a_link_without_a_version_changes_only_what_it_names(page: Pages) -> None:
    """A menu link keeps what the session knows; one with `v` is a whole state."""
    tab = page()
    open_chapter(tab, pair="identical", rule="accept_all")
    assert "pair=identical" in tab.url and "rule=accept_all" in tab.url
    whole = page()
    visit(whole, address(rule="equality"))
    settled(whole)
    assert "pair=" not in whole.url and "rule=equality" in whole.url


def test_deep_link_on_a_cold_server_shows_the_chapter(tmp_path: Path, pages_of: Any) -> None:
    """The first request that a server ever gets may be for the chapter: no dialog says that the page does not exist."""
    with running(ROOT, tmp_path / "cold") as cold:
        tab = pages_of(cold.url)()
        visit(tab, address("zh", pair="disjoint"))
        settled(tab)
        assert tab.locator('[data-testid="stDialog"], [role="dialog"], dialog[open]').count() == 0
        expect(tab.locator(f'[data-table="{TOPIC}.ledger"]')).to_be_visible()
        expect(tab.locator("html")).to_have_attribute("lang", "zh-Hans")
