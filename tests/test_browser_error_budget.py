"""The error-budget chapter in a browser: exact numbers while two sliders move, bad input, links, access."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from playwright.sync_api import Locator, Page, expect

from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.quant_clip import clip_curve
from mechanisms.quant_output import INPUT_VECTOR, LOUD, damage
from mechanisms.quant_presets import LAST_VALUES, widget
from mechanisms.quant_summary import summary
from mechanisms.quantity import exact_text, print_text
from mechanisms.table import Table
from tests.browser_ledger import LANGUAGES, LOCALES, frames_sent
from tests.chapters import drag, settled
from tests.conftest import Pages

pytestmark = pytest.mark.browser
TOPIC = "error_budget"
POSITIONS = ((0, 0), (0, 5), (2, 3), (6, 5), (6, 0), (1, 4))  # bits from 2, last value


def open_budget(page: Page, lang: str = "en", **state: object) -> None:
    query = "".join(f"&{k}={v}" for k, v in state.items())
    page.goto(f"/{TOPIC}?v=1{query}&lang={lang}")
    expect(table(page, "bytes").locator("caption")).to_be_attached()
    settled(page)


def part(page: Page, key: str) -> Locator:
    return page.locator(f"[data-key='{TOPIC}.{key}']")


def table(page: Page, name: str) -> Locator:
    return page.locator(f'[data-table="{TOPIC}.{name}"]')


def cells(page: Page, name: str) -> dict[tuple[int, str], tuple[str, str]]:
    """`(row, quantity)` → `(decimal, exact)` as the page shows them."""
    found = table(page, name).evaluate(
        "t => [...t.querySelectorAll('.wiki-cell')].map(b => [Number(b.dataset.cell.split('-')[0]), b.dataset.quantity,"
        " b.dataset.value, b.dataset.exact])"
    )
    return {(row, quantity.split(".")[1]): (value, exact) for row, quantity, value, exact in found}


def wanted(whole: Table | None) -> dict[tuple[int, str], tuple[str, str]]:
    assert whole is not None
    return {
        (row, q.name): (print_text(q, v), exact_text(v) if isinstance(v, Fraction) else "")
        for q, column in zip(whole.columns, whole.cells, strict=True)
        for row, v in enumerate(column)
        if v is not None
    }


@pytest.mark.parametrize("lang", LANGUAGES)
def test_both_sliders_show_exact_values_without_a_message(page: Pages, lang: str) -> None:
    """At extreme and middle positions of bits and last value every cell is the mechanism's, and nothing is sent."""
    tab = page(locale=LOCALES[lang])
    sent = frames_sent(tab)
    open_budget(tab, lang)
    before = len(sent)
    assert before > 0, "the socket was not listened to"
    for bits, last in POSITIONS:
        drag(part(tab, "bits"), bits)
        drag(part(tab, "last"), last)
        values, used = widget(LAST_VALUES[last]), Scheme(bits=bits + 2)
        found = summary(quantize(values, used), used)
        assert cells(tab, "summary") == wanted(found), (bits, last)
        assert cells(tab, "map") == wanted(found.over), (bits, last)
        assert cells(tab, "range") == wanted(ranges(values, used)[0]), (bits, last)
        line = part(tab, "line").get_attribute("data-levels")
        assert line == str(2 ** (bits + 2) - 1)
    for position in (0, 5):
        drag(part(tab, "loud"), position)
        x = (Fraction(2**position), *INPUT_VECTOR[1:])
        assert cells(tab, "damage_loud") == wanted(damage(LOUD, x))
    tab.wait_for_timeout(400)
    assert len(sent) == before


def own(page: Page, text: str) -> Locator:
    """Type a list into the editor and hand it in; its notes come back."""
    box = part(page, "editor")
    tries = box.get_attribute("data-tries") or "0"
    box.locator("details").evaluate("d => { d.open = true }")
    box.locator("textarea").fill(text)
    box.locator("button").click()
    expect(box).to_have_attribute("data-tries", str(int(tries) + 1))
    settled(page)
    return box.locator(".wiki-error p")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_bad_input_is_named_and_the_last_result_stays(page: Pages, lang: str) -> None:
    """Empty, text, not-a-number, both extremes and a million values get words; the tables keep the last vector."""
    tab = page(locale=LOCALES[lang])
    open_budget(tab, lang)
    own(tab, "1/3, -2; 0.5")
    assert cells(tab, "map")[0, "value"][1] == "1/3" and "own=" in tab.url
    good = cells(tab, "map")
    said = set()
    texts = ("", "1 two 3", "nan", "1e300", "5e-324", "0 " * 1_000_000) if lang == "en" else ("", "0 " * 1_000_000)
    for text in texts:
        notes = own(tab, text)
        expect(notes).to_have_count(2)  # the reason, and that the last result stays
        said.add(notes.first.inner_text())
        assert part(tab, "editor").locator("textarea").evaluate("n => n.value.length") == len(text)
        assert cells(tab, "map") == good
    assert len(said) == len(texts)
    assert all(bool(re.search("[一-鿿]", note)) == (lang == "zh") for note in said)
    assert own(tab, "0 0 0").count() == 0
    assert {v for (_, name), v in cells(tab, "map").items() if name == "restored"} == {("0.000000", "0")}
    own(tab, "1 -2 " * 500)
    assert cells(tab, "long")[0, "values"][0] == "1000"


def test_link_restores_the_page(page: Pages) -> None:
    """Everything chosen is in the address, and a new profile shows the same numbers from it."""
    tab = page()
    open_budget(tab)
    part(tab, "vector").locator('input[value="laplace"]').check(force=True)
    settled(tab)
    part(tab, "settings").locator("details").evaluate("d => { d.open = true }")
    part(tab, "settings").locator('input[value="asymmetric"]').check(force=True)
    settled(tab)
    part(tab, "bits").locator("input").focus()
    tab.keyboard.press("ArrowRight")
    settled(tab)
    part(tab, "lab_group").locator('input[value="two"]').check(force=True)
    expect(tab).to_have_url(re.compile("lab_group=two"))
    settled(tab)
    names = ("map", "summary", "lab", "best_clip")
    shown = {name: cells(tab, name) for name in names}
    assert shown["summary"][0, "bits"][0] == "5" and (0, "zero_point") in shown["map"]
    other = page(locale="zh-CN")
    other.goto(tab.url.replace("lang=en", "lang=zh"))
    expect(table(other, "bytes").locator("caption")).to_be_attached()
    settled(other)
    assert {name: cells(other, name) for name in names} == shown


def test_quick_hands_lose_no_position(page: Pages) -> None:
    """Presses on two sliders in turn, faster than the server answers: address and server end where the sliders are."""
    tab = page()
    open_budget(tab)
    for turn in range(24):
        name = ("bits", "last")[turn % 2]
        part(tab, name).locator("input").focus()
        tab.keyboard.press(("Home", "End", "ArrowLeft", "ArrowRight", "End")[turn % 5])
    bits, last = (int(part(tab, n).locator("input").input_value()) for n in ("bits", "last"))
    for name, value, default in (("bits", bits + 2, 4), ("last", last, 0)):
        shown = re.compile(rf"[?&]{name}={value}(&|$)") if value != default else re.compile(rf"^(?!.*[?&]{name}=)")
        expect(tab).to_have_url(shown)
    settled(tab)
    used = Scheme(bits=bits + 2)
    assert cells(tab, "map") == wanted(summary(quantize(widget(LAST_VALUES[last]), used), used).over)
    assert cells(tab, "clip_curve") == wanted(clip_curve(widget(LAST_VALUES[last]), bits + 2))


def test_predictions_keep_their_answer(page: Pages) -> None:
    """Before a guess nothing of the answer is in the page; after it the feedback is, and it can be taken back."""
    tab = page()
    open_budget(tab)
    assert tab.locator(".wiki-feedback").count() == 0
    for key, right in (("guess1", None), ("guess2", "always")):
        form = part(tab, key)
        if right:
            form.locator(f'input[value="{right}"]').check(force=True)
        else:
            form.locator("input[type=range]").press("ArrowRight")
        form.locator("button[type=submit]").click()
        expect(form.locator(".wiki-feedback")).to_be_visible()
        form.locator(".wiki-again").click()
        expect(form.locator(".wiki-feedback")).to_have_count(0)


def test_a_cell_opens_its_derivation_by_keyboard(page: Pages) -> None:
    """Enter on a code opens formula and numbers; Escape closes and gives the focus back."""
    tab = page()
    open_budget(tab, last=3)
    cell = table(tab, "map").locator('[data-quantity="error_budget.code"]').first
    cell.focus()
    tab.keyboard.press("Enter")
    dialog = tab.locator("dialog.wiki-derivation")
    expect(dialog).to_be_visible()
    assert "∅" not in dialog.inner_text()
    tab.keyboard.press("Escape")
    expect(cell).to_be_focused()
    for name in ("summary", "range"):
        for n in range(table(tab, name).locator(".wiki-cell").count()):
            table(tab, name).locator(".wiki-cell").nth(n).click()
            assert "∅" not in dialog.inner_text()
            tab.keyboard.press("Escape")
