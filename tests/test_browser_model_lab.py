"""The page of real decodings in a browser: every table read from the document, the player, the link, the guess."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.chapters import LOCALES, Chapter, tables
from tests.conftest import Pages
from tests.lab_page import TOPIC, exact, per_round, positions, stored, totals, verdicts

pytestmark = pytest.mark.browser


def compare(chapter: Chapter, step: int, **state: str) -> None:
    """Every table of the document is what the file says, that of the verdicts for the round that the player shows."""
    rounds = stored(**state)
    found = {name: exact(cells) for name, cells in tables(chapter.page, TOPIC).items()}
    found.pop("compared", None)
    assert found == {
        "totals": totals(rounds), "positions": positions(rounds), "rounds": per_round(rounds),
        "verdicts": verdicts(rounds[step]),
    }  # fmt: skip


@pytest.mark.parametrize(("lang", "scheme"), [("en", "dark"), ("zh", "light")])
def test_tables_follow_player_and_choices(page: Pages, lang: str, scheme: str) -> None:
    """Keys of the player move the table of verdicts at once; another text, drafter and temperature bring their own
    numbers; a shorter decoding ends the player at its last round; the link shows the same to somebody else."""
    chapter = Chapter(page(locale=LOCALES[lang], color_scheme=scheme, viewport=(390, 800)), TOPIC, lang)
    tab, player = chapter.page, chapter.part("player")
    compare(chapter, 1, domain="code", drafter="mtp", temperature="0")
    player.locator(".wiki-play").focus()
    tab.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "2")
    compare(chapter, 2, domain="code", drafter="mtp", temperature="0")
    expect(tab).to_have_url(re.compile(r"step=2\b"))
    chapter.choose("drafter", "exit")
    chapter.choose("temperature", "1")
    compare(chapter, 2, domain="code", drafter="exit", temperature="1")
    player.locator(".wiki-play").focus()
    tab.keyboard.press("End")
    last = len(stored("code", "exit", "1")) - 1
    expect(player).to_have_attribute("data-step", str(last))
    expect(tab).to_have_url(re.compile(rf"step={last}\b"))
    chapter.choose("domain", "prose")
    chapter.choose("drafter", "mtp")
    end = len(stored("prose", "mtp", "1")) - 1
    assert end < last
    expect(player).to_have_attribute("data-step", str(end))
    compare(chapter, end, domain="prose", drafter="mtp", temperature="1")
    other = Chapter(page(locale=LOCALES["zh"]), TOPIC, link=tab.url.replace(f"lang={lang}", "lang=zh"))
    compare(other, end, domain="prose", drafter="mtp", temperature="1")


@pytest.mark.parametrize("lang", LOCALES)
def test_guess_opens_the_comparison(page: Pages, lang: str) -> None:
    """The comparison is not in the page before; a measured cell opens its origin, a computed one its formula."""
    chapter = Chapter(page(locale=LOCALES[lang]), TOPIC, lang)
    tab = chapter.page
    assert chapter.table("compared").count() == 0
    chapter.commit("guess1", "chat")
    assert len(chapter.values("compared")) == 6 * 12
    chapter.table("verdicts").locator('[data-quantity="model_lab.p"]').first.click()
    dialog = tab.locator("dialog.wiki-derivation")
    expect(dialog).to_contain_text("gpu_demos.tracing")
    tab.keyboard.press("Escape")
    chapter.table("totals").locator('[data-quantity="model_lab.tokens_per_round"]').click()
    expect(dialog).to_contain_text("mechanisms.trace_tables.total_table")
