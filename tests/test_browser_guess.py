"""The prediction lock: an answer is nowhere near the reader before the guess."""

from __future__ import annotations

import html
import re
import tomllib
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser import ROOT, longest_piece, visit
from tests.browser_ledger import (
    LANGUAGES,
    LOCALES,
    TOPIC,
    address,
    as_bytes,
    commit,
    frames_received,
    open_chapter,
    part,
    settled,
)
from tests.conftest import Pages

pytestmark = pytest.mark.browser
FEEDBACK = (*(f"guess1_{r}_feedback" for r in ("law", "bug", "nothing", "zero")), *(f"guess2_{r}" for r in (
    "right", "agreement", "favourite_only", "point_mass", "low", "high", "why")))  # fmt: skip
TEXTS = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))[TOPIC]


def sentences(lang: str) -> list[str]:
    """The longest piece of every feedback text that holds neither markup nor a number put in later."""
    found = [longest_piece(TEXTS[name][lang]) for name in FEEDBACK]
    assert all(len(x) >= 4 for x in found)
    return found


def leaks(where: str, lang: str) -> list[str]:
    return [x for x in sentences(lang) if x in html.unescape(where)]


def read(frames: list[Any]) -> str:
    """All messages as text; JSON inside them writes Chinese with escapes."""
    text = b"".join(map(as_bytes, frames)).decode("utf-8", "replace")
    return re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_feedback_is_sent_only_after_the_guess(page: Pages, lang: str) -> None:
    """No sentence of any feedback is in the document or in a message from the server before a guess is committed, and
    afterwards only that guess's own."""
    tab = page(locale=LOCALES[lang])
    got = frames_received(tab)
    open_chapter(tab, lang)
    assert TEXTS["guess1_law"][lang] in read(got), "the messages are not readable here"
    assert leaks(read(got), lang) == []
    assert leaks(tab.content(), lang) == []
    attributes = tab.evaluate("[...document.querySelectorAll('*')].flatMap(n => [...n.attributes].map(a => a.value))")
    assert leaks(" ".join(attributes), lang) == []
    for name in ("guess1", "guess2"):
        assert part(tab, name).locator("[data-verdict='right'], [data-verdict='wrong'], .wiki-feedback").count() == 0
    commit(tab, "guess1", "law")
    told = TEXTS["guess1_law_feedback"][lang]
    assert leaks(told, lang) == leaks(read(got), lang) == leaks(tab.content(), lang)


def feedback(page: Page, name: str) -> str:
    return part(page, name).locator(".wiki-feedback").inner_text()


def test_guess_survives_a_reload_and_can_be_taken_back(page: Pages) -> None:
    """A committed guess stays committed over a reload; guessing again locks the answer once more."""
    tab = page()
    open_chapter(tab)
    commit(tab, "guess1", "zero")
    text = feedback(tab, "guess1")
    tab.reload()
    settled(tab)
    assert feedback(tab, "guess1") == text
    expect(part(tab, "guess1").locator('input[value="zero"]')).to_be_checked()
    part(tab, "guess1").locator(".wiki-again").click()
    root = part(tab, "guess1")
    expect(root).to_have_attribute("data-locked", "false")
    settled(tab)
    assert "guess1" not in tab.url and leaks(tab.content(), "en") == []
    expect(part(tab, "guess1").locator("input:checked")).to_have_count(0)
    commit(tab, "guess1", "zero")  # the same guess once more is a guess, too
    assert feedback(tab, "guess1") == text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_teachers_link_opens_every_answer(page: Pages, lang: str) -> None:
    """`unlock=1` shows the right answers without a guess, and stays in the link."""
    tab = page(locale=LOCALES[lang])
    visit(tab, address(lang, unlock="1"))
    settled(tab)
    for name in ("guess1", "guess2"):
        expect(part(tab, name)).to_have_attribute("data-locked", "true")
        assert feedback(tab, name)
    assert "unlock=1" in tab.url


def test_a_lost_message_is_said_again(page: Pages) -> None:
    """The first message with the guess never reaches the server; the feedback comes all the same, and once."""
    tab, dropped = page(), []

    def between(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def up(message: str | bytes) -> None:
            if b'"commit"' in as_bytes(message) and not dropped:
                dropped.append(message)
            else:
                server.send(message)

        socket.on_message(up)

    tab.route_web_socket(re.compile("/_stcore/stream"), between)
    open_chapter(tab)
    commit(tab, "guess1", "law")
    assert len(dropped) == 1
    expect(part(tab, "guess1").locator(".wiki-feedback")).to_have_count(1)
