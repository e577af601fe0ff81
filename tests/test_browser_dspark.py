"""The verification-budget chapter in a browser: every number on the page, locked answers, typed input, access."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest
from playwright.sync_api import Locator, Page, expect

from mechanisms.dspark_input import Batch
from mechanisms.dspark_presets import CHAINS, CURVES, EXAMPLES, REQUESTS
from mechanisms.dspark_selection import POLICIES, first_output
from pages._dspark_state import chains, stops
from tests.browser_dspark import TOPIC, Shown, State, chain_tables, shown, wanted
from tests.browser_ledger import LANGUAGES, LOCALES, frames_sent
from tests.chapters import drag, settled, tables
from tests.conftest import Pages

pytestmark = pytest.mark.browser


def open_chapter(page: Page, lang: str = "en", **state: object) -> None:
    query = "".join(f"&{k}={v}" for k, v in state.items())
    page.goto(f"/{TOPIC}?v=1{query}&lang={lang}")
    expect(part(page, "recompute")).to_be_attached()
    settled(page)


def part(page: Page, key: str) -> Locator:
    return page.locator(f"[data-key='{TOPIC}.{key}']")


@lru_cache(maxsize=4)
def recomputed() -> dict[str, Shown]:
    return wanted(State(recomputed="tenths"))


def commit(page: Page) -> None:
    """Both guesses: the longest length by keyboard, and that looking does no harm. Both are wrong."""
    first = part(page, "guess1")
    first.locator("input[type=range]").focus()
    page.keyboard.press("End")
    first.locator("button[type=submit]").click()
    expect(first.locator(".wiki-feedback")).to_be_visible()
    expect(page.locator(f'[data-table="{TOPIC}.cost_b"]')).to_be_attached()
    second = part(page, "guess2")
    second.locator('input[value="exact"]').check(force=True)
    second.locator("button[type=submit]").click()
    expect(second.locator(".wiki-feedback")).to_be_visible()
    expect(page.locator(f'[data-table="{TOPIC}.policies"]')).to_be_attached()
    settled(page)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_number_of_the_page(page: Pages, lang: str) -> None:
    """Locked: no answer in the document. Then every table equals the mechanisms: as it opens, at both ends of the
    slider and under every policy without asking the server, on the stepped curve, and after recomputing everything."""
    tab = page(locale=LOCALES[lang])
    sent = frames_sent(tab)
    open_chapter(tab, lang)
    assert tables(tab, TOPIC) == wanted(State(guessed=False))
    text = tab.locator("body").inner_text() + tab.content()
    assert "1.190909" not in text and 'data-quantity="dspark.first_output"' not in text
    assert tab.locator(".wiki-feedback").count() == 0 and tab.locator(".wiki-locked").count() == 4
    commit(tab)
    assert tables(tab, TOPIC) == wanted(State())
    assert part(tab, "rate_plot").get_attribute("data-best") == "4,2"
    assert part(tab, "path_plot").get_attribute("data-best") == "2"
    before = len(sent)
    assert before > 0, "the socket was not listened to"
    base, whole = CHAINS["printed"], wanted(State())
    last = len(stops(base, 0)) - 1
    for stop in (0, last, 4):
        drag(part(tab, "drag"), stop)
        moved = chains(base, 0)[stop]
        assert tables(tab, TOPIC) == whole | {n: shown(t) for n, t in chain_tables(moved, State().costs).items()}, stop
    for row, policy in enumerate(POLICIES):
        part(tab, "policy").locator("input").nth(row).evaluate("n => { n.checked = true }")
        tab.evaluate("([t, i]) => window.wiki.bus.set(t, i)", [f"{TOPIC}.policy", row])
        assert tables(tab, TOPIC)["first_output"] == shown(first_output(EXAMPLES["small"], policy))
    assert len(sent) == before
    tab.reload()
    settled(tab)
    part(tab, "curve").locator('input[value="step"]').check(force=True)
    expect(part(tab, "path_plot")).to_have_attribute("data-best", "5")
    player = part(tab, "player")
    player.locator(".wiki-play").focus()
    tab.keyboard.press("End")
    rows = tab.locator(f'[data-table="{TOPIC}.path"] tbody tr')
    expect(rows.last).to_have_attribute("aria-current", "step")
    assert [rows.nth(i).get_attribute("data-stop") for i in range(7)] == ["", *[None] * 6]
    settled(tab)
    stepped = State(batch=Batch(REQUESTS, CURVES["step"]), recomputed="tenths")
    part(tab, "recompute").locator("button").click()
    expect(tab.locator(f'[data-table="{TOPIC}.checked_all"]')).to_be_attached(timeout=60_000)
    settled(tab)
    assert tables(tab, TOPIC) == wanted(State(batch=stepped.batch)) | {
        n: t
        for n, t in recomputed().items()
        if n in ("counted", "counted_mean", "counted_caps", "checked", "checked_all")
    }
    counts = tables(tab, TOPIC)["counted"]
    assert [counts[i, "rounds_counted"][1] for i in range(5)] == ["1000", "1800", "2880", "2592", "1728"]
    assert tables(tab, TOPIC)["checked_all"][0, "all_mismatches"] == ("0", "0")


def use(page: Page, form: str, **texts: str) -> Locator:
    """Type into fields and hand them in; the notes come back."""
    box = part(page, f"{form}_form")
    tries = box.get_attribute("data-tries") or "0"
    box.locator("details").evaluate("d => { d.open = true }")
    for field, text in texts.items():
        box.locator(f'[data-field="{field}"]').fill(text)
    box.locator("button").click()
    expect(box).to_have_attribute("data-tries", str(int(tries) + 1))
    settled(page)
    return box.locator(".wiki-error p")


def test_typed_input_and_its_link(page: Pages) -> None:
    """Bad fields are named where they stand and nothing is lost; good ones move the tables, and the link restores
    every number in another language and a fresh profile."""
    tab = page()
    open_chapter(tab, guess1=2, guess2="more")
    good = tables(tab, TOPIC)
    said = set()
    for text in ("", "1.5", "nan", "0.9 " * 64, "0.9 " * 2000):
        notes = use(tab, "chain", chain=text)
        expect(notes).to_have_count(1)
        said.add(notes.first.inner_text())
        assert tables(tab, TOPIC) == good
    assert len(said) == 5
    expect(use(tab, "costs", a="1 0", b="-2", draft="-1", fixed="x")).to_have_count(4)
    expect(use(tab, "batch", r1="2", sps="0")).to_have_count(2)
    expect(use(tab, "case", p="0.5 0.6", q="nan", sps="1")).to_have_count(2)
    assert tables(tab, TOPIC) == good and "own=" not in tab.url and "costs=" not in tab.url
    assert use(tab, "chain", chain="1/3, 0.25").count() == 0
    assert use(tab, "costs", a="1 2 3", b="1 1 1", draft="0", fixed="0").count() == 0
    assert use(tab, "batch", r1="0.5", r2="", sps="1 0.9").count() == 0
    assert use(tab, "case", p="0.2 0.8", q="0.8 0.2", second="1 0", sps="1 1 1/2").count() == 0
    now = tables(tab, TOPIC)
    assert now["survival"][1, "conditional_acceptance"][1] == "1/3" and (1, "throughput") in now["path"]
    assert now["cost_a"][2, "round_time"][1] == "3" and now["first_output"][0, "target_probability"][1] == "1/5"
    part(tab, "pos").locator("input").nth(1).check(force=True)
    settled(tab)
    slider = part(tab, "drag").locator("input")
    slider.focus()
    tab.keyboard.press("Home")
    settled(tab)
    expect(tab).to_have_url(re.compile("drag=0"))
    now = tables(tab, TOPIC)
    assert now["survival"][2, "prefix_survival"] == ("0.000000", "0")
    other = page(locale="zh-CN")
    other.goto(tab.url.replace("lang=en", "lang=zh"))
    expect(part(other, "recompute")).to_be_attached()
    settled(other)
    assert tables(other, TOPIC) == now
    assert re.search("[一-鿿]", use(other, "chain", chain="2").first.inner_text())
    cell = other.locator(f'[data-table="{TOPIC}.survival"] .wiki-cell').nth(7)
    cell.focus()
    other.keyboard.press("Enter")
    dialog = other.locator("dialog.wiki-derivation")
    expect(dialog).to_be_visible()
    assert "∅" not in dialog.inner_text()
    other.keyboard.press("Escape")
    expect(cell).to_be_focused()
