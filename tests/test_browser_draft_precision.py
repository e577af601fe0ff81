"""The audit chapter in a real browser: every table as it is drawn, verdicts, guesses, a typed row, access."""

from __future__ import annotations

import re
import tomllib

import pytest
from playwright.sync_api import expect

from mechanisms.precision_own import own_table, read_own
from mechanisms.quantity import short_text
from pages._precision_state import LENGTHS, RATES, STEPS, TARGETS
from tests.browser import ROOT, longest_piece
from tests.browser_ledger import frames_sent
from tests.chapters import LOCALES, Chapter, wanted
from tests.conftest import Pages
from tests.precision_page import TOPIC, expected

pytestmark = pytest.mark.browser
TEXTS = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))[TOPIC]
KINDS = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))["kinds"]
# what is drawn: cells by table, with the text that a reader sees
DRAWN = """() => Object.fromEntries([...document.querySelectorAll(
  '[data-table]:not([data-table*=".real_"])')].map(t => [
  t.dataset.table.split('.')[1], [...t.querySelectorAll('.wiki-cell')].map(b => [Number(b.dataset.cell.split('-')[0]),
    b.dataset.quantity.split('.')[1], b.dataset.value, b.dataset.exact, b.textContent, b.dataset.tag ?? ''])]))"""
SHORT = {"printed", "rate", "before", "after", "claimed_percent", "held_percent", "total_said", "bandwidth"}
POSITIONS = {"length": [str(k) for k in LENGTHS], "target": list(map(short_text, TARGETS)),
             "rate": list(map(short_text, RATES)), "step": list(map(short_text, STEPS))}  # fmt: skip


def check(chapter: Chapter, **state: str) -> None:
    """Every cell of every table that is drawn is the mechanism's; printed figures read as they are printed."""
    right = expected(**state)
    drawn = chapter.page.evaluate(DRAWN)
    assert drawn.keys() == right.keys()
    for name, rows in drawn.items():
        cells = wanted(right[name])
        assert rows, name
        for row, quantity, value, exact, text, tag in rows:
            assert (value, exact) == cells[row, quantity], (name, row, quantity, state)
            if tag:
                assert exact in ("0", "1", ""), (name, tag)
            elif value and any(word in quantity for word in SHORT) and text != value:
                found = right[name].value(row, quantity)
                assert found is not None and text == short_text(found)
            else:
                assert text == value if value else text


@pytest.mark.parametrize("lang", LOCALES)
def test_every_table_is_the_mechanisms(page: Pages, lang: str) -> None:
    """At the defaults and with each slider at its ends every drawn cell is the mechanism's, and dragging sends nothing.

    Afterwards choices, which ask the server, are moved as well.
    """
    tab = page(locale=LOCALES[lang])
    messages = frames_sent(tab)
    chapter = Chapter(tab, TOPIC, lang)
    check(chapter)
    before = len(messages)
    for ends in ((0, 0, 0, 0), (-1, -1, -1, -1), (3, 40, 4, 2)):
        state = {}
        for (control, texts), end in zip(POSITIONS.items(), ends, strict=True):
            place = range(len(texts))[end]
            chapter.drag(control, place)
            state[control] = texts[place]
        check(chapter, **state)
    tab.wait_for_timeout(400)
    assert len(messages) == before > 0
    for control in POSITIONS:
        chapter.drag(
            control, POSITIONS[control].index({"length": "5", "target": "94", "rate": "0.6", "step": "4.2"}[control])
        )
        chapter.drop(control)
    moved = {"scenario": "chat", "model": "mean", "price": "1.25", "chain": "bf16_code", "pair": "zero_in_draft"}
    for control, value in moved.items():
        chapter.choose(control, value)
    state = {**moved, "target": "94", "rate": "0.6"}
    check(chapter, **state)
    fresh = page(locale=LOCALES[lang])
    fresh.goto(tab.url)
    restored = Chapter.__new__(Chapter)
    restored.page, restored.topic = fresh, TOPIC
    restored.settle()
    check(restored, **state)


def test_printed_and_own_figure_share_a_cell(page: Pages) -> None:
    """Each contradicted figure is drawn as printed, with ours beneath and the verdict; the badge is in its derivation.

    Verdicts that are computed change under the slider, and the whole cell can be reached by arrow keys.
    """
    chapter = Chapter(page(), TOPIC)
    tab = chapter.page
    box = chapter.table("audit").locator("td.wiki-pair", has=tab.locator('[data-tag="contradicted"]'))
    expect(box).to_have_count(3)
    first = box.first
    printed = first.locator('[data-quantity="draft_precision.tokens_printed"]')
    expect(printed).to_have_text("3.82")
    expect(printed).to_have_attribute("data-kind", "contradicted")
    ours = first.locator('[data-quantity="draft_precision.tokens_code"]')
    expect(ours).to_have_text("3.554545")
    expect(ours).to_have_attribute("data-kind", "exact")
    expect(first.locator(".wiki-tag")).to_have_text(TEXTS["tag_contradicted"]["en"])
    printed.click()
    expect(tab.locator("dialog .wiki-kind")).to_have_text(KINDS["contradicted"]["en"])
    tab.keyboard.press("Escape")
    expect(printed).to_be_focused()
    tab.keyboard.press("ArrowRight")
    expect(ours).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator('dialog [data-line="exact"]')).to_have_text("108476106843/30517578125")
    tab.keyboard.press("Escape")
    verdicts = chapter.table("speedups").locator(".wiki-tag")
    assert verdicts.evaluate_all("n => n.map(x => x.dataset.tag)") == ["reached", "missed", "missed"]
    chapter.drag("target", POSITIONS["target"].index("43"))
    assert verdicts.evaluate_all("n => n.map(x => x.dataset.tag)") == ["missed", "reached", "reached"]
    needle = chapter.part("intervals").locator(".wiki-interval-needle").first
    left = needle.evaluate("n => n.style.left")
    chapter.choose("model", "mean")
    expect(chapter.part("intervals")).to_have_attribute("data-common", "true")
    assert needle.evaluate("n => n.style.left") != left
    verdicts.first.click()
    expect(tab.locator('dialog [data-line="substituted"]')).to_be_visible()


@pytest.mark.parametrize("lang", LOCALES)
def test_guesses_and_a_row_of_ones_own(page: Pages, lang: str) -> None:
    """No answer is in the document before a guess; bad fields are named where they stand and the last row stays."""
    chapter = Chapter(page(locale=LOCALES[lang]), TOPIC, lang)
    tab = chapter.page
    pieces = {n: longest_piece(TEXTS[n][lang])
              for n in TEXTS if re.fullmatch(r"guess\d_\w+_feedback|guess\d_why", n)}  # fmt: skip
    unique = {n: text for n, text in pieces.items() if len(text) > 8}
    shown = tab.content()
    assert len(unique) >= 5 and [n for n, text in unique.items() if text in shown] == []
    assert "2.577320" not in shown and "−1.180682" not in shown
    chapter.commit("guess1", "five")
    assert "2.577320" in tab.content() and "−1.180682" not in tab.content()
    chapter.commit("guess2", "half")
    assert pieces["guess2_why"] in tab.content() and "−1.180682" in tab.content()

    form = chapter.part("own")

    def enter(**texts: str) -> None:
        for field, text in texts.items():
            form.locator(f'input[name="{field}"]').fill(text)
        form.locator("button").click()
        chapter.settle()

    enter(rate="50", length="3", tokens="2", step="0.1", speedup="1.5")
    own = {"rate": "50", "length": "3", "tokens": "2", "step": "0.1", "speedup": "1.5"}
    good = wanted(own_table(read_own(own)))
    assert chapter.values("own_row").items() <= good.items() and len(chapter.values("own_row")) == 5
    shown = chapter.values("own_row")
    expect(tab).to_have_url(re.compile(r"own=50%7E3%7E2%7E0.1%7E1.5|own=50~3~2~0.1~1.5"))
    link = tab.url
    bad = {"rate": ("101", "out_of_range"), "length": ("2.5", "not_whole"), "tokens": ("", "empty"),
           "step": ("<b>x</b>", "not_a_number"), "speedup": ("-1", "negative")}  # fmt: skip
    enter(**{field: text for field, (text, _) in bad.items()})
    expect(form).to_have_attribute("data-problems", "5")
    for field, (text, code) in bad.items():
        words = TEXTS[f"problem_{code}"][lang].format(detail=text, limits=TEXTS[f"limits_{field}"][lang])
        note = form.locator(f'input[name="{field}"] + .wiki-error')
        expect(note).to_have_text(words)
        expect(form.locator(f'input[name="{field}"]')).to_have_attribute("aria-invalid", "true")
    assert chapter.values("own_row") == shown and tab.url == link
    enter(rate="x" * 300)
    assert len(form.locator('input[name="rate"]').input_value()) == 200
