"""Bad input: the editor says what is wrong at the field, keeps the last good ledger and never spoils the link."""

from __future__ import annotations

import tomllib
from urllib.parse import unquote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import ROOT, paste
from tests.browser_ledger import LANGUAGES, LOCALES, TOPIC, digest, enter, open_chapter, part, settled, table, values
from tests.conftest import Pages

pytestmark = pytest.mark.browser
UI = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))
LONG = {"en": "abcdefghijklmnopqrstuvwx", "zh": "没有空格的很长的词元名字总共二十四个字写在这里了呢"}
# what sticks out of the editor to the right, and what a finger would miss
AMISS = """box => [...box.querySelectorAll('table, input, button, .wiki-error')].filter(n => {
  const { right, width, height } = n.getBoundingClientRect()
  return right > box.getBoundingClientRect().right + .5 || (n.matches('input, button') && Math.min(width, height) < 24)
}).map(n => n.outerHTML.slice(0, 120))"""


def message(code: str, lang: str, detail: str = "", limit: int = 12, *, column: str = "") -> str:
    place = UI["problems"]["in_column"][lang].format(column=UI["editor"][column][lang]) if column else ""
    return place + str(UI["problems"][code][lang].format(detail=detail, limit=limit))


def field(page: Page, at: str) -> Locator:
    return part(page, "editor").locator(f'[data-at="{at}"]')


# what is entered -> field with the message (None: a line under the table), code, detail
BAD: dict[str, tuple[dict[str, str], str | None, str, str]] = {
    "empty": ({"p_0": ""}, "p-0", "empty", ""),
    "negative": ({"p_1": "-0.1"}, "p-1", "negative", "-0.1"),
    "nan": ({"q_0": "NaN"}, "q-0", "not_finite", "NaN"),
    "division": ({"q_0": "1/0"}, "q-0", "not_finite", "1/0"),
    "text": ({"q_2": "half"}, "q-2", "not_a_number", "half"),
    "markup": ({"q_2": "<b>1</b>"}, "q-2", "not_a_number", "<b>1</b>"),
    "too-precise": ({"p_0": "0." + "1" * 60}, "p-0", "too_precise", "0." + "1" * 22),
    "sum": ({"p_0": "0.5"}, None, "sum_not_one", "11/10"),
    "duplicate": ({"token_1": "A"}, "token-1", "name_repeated", "A"),
    "no-name": ({"token_2": " "}, "token-2", "name_empty", ""),
    "long-name": ({"token_2": "x" * 25}, "token-2", "name_too_long", ""),
    "no-mass": ({"q_0": "0", "q_1": "0", "q_2": "0"}, None, "no_mass", ""),
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_bad_fields_are_named_and_the_good_ledger_stays(page: Pages, lang: str) -> None:
    """Each kind of bad input gets a message at its field in the page's language and changes no cell and no link;
    putting the field right takes the message away."""
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang, own="A,B,C~0.4,0.35,0.25~0.7,0.3,0")
    good, link, editor = digest(tab), tab.url, part(tab, "editor")
    for name, (entries, at, code, detail) in BAD.items():
        old = {k: field(tab, k.replace("_", "-")).input_value() for k in entries}
        enter(tab, **entries)
        text = message(code, lang, detail)
        if at is None:
            expect(editor.locator('[role="alert"]', has_text=text)).to_be_visible()
        else:
            expect(field(tab, at)).to_have_attribute("aria-invalid", "true")
            note = field(tab, at).get_attribute("aria-describedby")
            assert tab.locator(f"[id='{note}']").inner_text() == text, name
        assert tab.url == link, name
        assert digest(tab)["tables"] == good["tables"], name
        enter(tab, **dict(reversed(old.items())))
        expect(editor).to_have_attribute("data-problems", "0")
        assert tab.url == link, name
    assert not tab.locator('[data-testid="stException"]').count()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_errors_of_a_column_name_it_and_mark_its_fields(page: Pages, lang: str) -> None:
    """With both columns wrong, two messages tell which one each is about; every field of a column is described by its
    own, and the button that puts one column right says which."""
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang, own="A,B,C~0.4,0.35,0.25~0.7,0.3,0")
    alerts, divide = part(tab, "editor").locator('[role="alert"]'), UI["editor"]["normalise"][lang]
    enter(tab, p_0="0.5", q_0="1")
    sums = {c: message("sum_not_one", lang, d, column=c) for c, d in (("p", "11/10"), ("q", "13/10"))}
    expect(alerts).to_have_text([text + divide for text in sums.values()])
    for column, text in sums.items():
        for row in range(3):
            expect(field(tab, f"{column}-{row}")).to_have_attribute("aria-invalid", "true")
            expect(field(tab, f"{column}-{row}")).to_have_accessible_description(text)
    expect(part(tab, "editor").locator('[data-field="token"][aria-invalid]')).to_have_count(0)
    named = {c: f"{divide} ({UI['editor'][c][lang]})" for c in sums}
    alerts.get_by_role("button", name=named["q"], exact=True).click()
    expect(alerts).to_have_text([sums["p"] + divide])
    expect(alerts.get_by_role("button", name=named["p"], exact=True)).to_be_visible()
    expect(field(tab, "q-0")).to_be_focused()
    expect(part(tab, "editor").locator('[data-field="q"][aria-invalid]')).to_have_count(0)
    enter(tab, q_0="0", q_1="0")
    expect(alerts.last).to_have_text(message("no_mass", lang, column="q"))
    expect(field(tab, "q-2")).to_have_accessible_description(message("no_mass", lang, column="q"))


def test_removing_a_row_keeps_the_focus(page: Pages) -> None:
    """The focus goes to the × of the row that took the place, else of the row before, else to “Add a token”."""
    tab = page()
    open_chapter(tab, own="A,B,C,D~0.4,0.3,0.2,0.1~0.4,0.3,0.2,0.1")
    rows = part(tab, "editor").locator("tbody tr")
    for left, (pressed, focused) in ((3, (1, "remove-1")), (2, (2, "remove-1")), (1, (0, "add"))):
        field(tab, f"remove-{pressed}").press("Enter")
        expect(rows).to_have_count(left)
        expect(field(tab, focused)).to_be_focused()
    for count in range(2, 13):  # and adding keeps it, until no more can be added
        tab.keyboard.press("Enter")
        expect(rows).to_have_count(count)
        expect(field(tab, "add" if count < 12 else "remove-11")).to_be_focused()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", [390, 360])
def test_editor_fits_a_telephone(page: Pages, width: int, lang: str) -> None:
    """Neither the fields nor what is said about them are wider than the card, and a finger can hit each of them."""
    tab = page(locale=LOCALES[lang], viewport=(width, 800))
    open_chapter(tab, lang, own=f"{LONG[lang][:24]},B,C~0.4,0.35,0.25~0.7,0.3,0")
    assert part(tab, "editor").evaluate(AMISS) == []
    enter(tab, p_0="0.5", q_0="0." + "1" * 60, token_1=LONG[lang][:25])
    expect(part(tab, "editor")).to_have_attribute("data-problems", "3")
    assert part(tab, "editor").evaluate(AMISS) == []
    shares = {c: (field(tab, f"{c}-0").bounding_box() or {})["width"] for c in ("token", "p", "q")}
    assert shares["token"] > 96 and min(shares.values()) > 60  # ten letters of a name, six digits


@pytest.mark.parametrize("lang", LANGUAGES)
def test_long_names_take_few_lines_of_the_ledger(page: Pages, lang: str) -> None:
    """On a telephone a name without blanks is five to nine rem wide and no tower; short ones take less."""
    tab = page(locale=LOCALES[lang], viewport=(390, 800))
    for name, low, high, tall in ((LONG[lang][:24], 80, 144, 125), ("C", 0, 79, 40)):
        open_chapter(tab, lang, own=f"{name},B~0.4,0.6~0.7,0.3")
        for shown in ("ledger", "law"):
            box = table(tab, shown).locator("tbody th").first.bounding_box()
            assert box and low <= box["width"] <= high and box["height"] <= tall, (shown, box)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_normalising_is_exact(page: Pages, lang: str) -> None:
    """Three ones become three thirds, as fractions and in the link, only when the reader asks."""
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang)
    before = values(tab, "ledger")
    enter(tab, p_0="1", p_1="1", p_2="1")
    editor = part(tab, "editor")
    expect(editor.locator('[role="alert"]')).to_contain_text(message("sum_not_one", lang, "3"))
    assert values(tab, "ledger") == before
    editor.locator(".wiki-fix").click()
    settled(tab)
    cells = values(tab, "ledger")
    assert [cells[i, "target_probability"] for i in range(3)] == [("0.333333", "1/3")] * 3
    assert cells[0, "final_mass"][1] == "1/3" and "1/3,1/3,1/3" in unquote(unquote(tab.url))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_pasted_column_fills_or_is_refused(page: Pages, lang: str) -> None:
    """Twelve pasted numbers fill the column and add rows; thirteen are refused with the limit in the message."""
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang)
    good, link = values(tab, "ledger"), tab.url
    for column in ("p", "q"):
        paste(field(tab, f"{column}-0"), "\n".join(["1/13"] * 13))
        settled(tab)
        text = message("too_many", lang, "13", column=column)
        expect(part(tab, "editor").locator(".wiki-error")).to_have_text(text)
        expect(field(tab, f"{column}-2")).to_have_accessible_description(text)
        assert values(tab, "ledger") == good and tab.url == link
    paste(field(tab, "p-0"), "\t".join(["1/12"] * 12))
    settled(tab)
    expect(part(tab, "editor")).to_have_attribute("data-problems", "0")
    expect(table(tab, "ledger").locator("tbody tr")).to_have_count(12)
    assert values(tab, "ledger")[11, "target_probability"][1] == "1/12"


def summarise(page: Page, p: str, q: str) -> Locator:
    box = part(page, "paste")
    if box.locator("details").get_attribute("open") is None:
        box.locator("summary").click()
    tries = str(box.get_attribute("data-tries"))
    for name, text in (("p", p), ("q", q)):
        box.locator(f'[data-field="{name}"]').evaluate("(n, text) => { n.value = text }", text)
    box.locator(".wiki-paste > .wiki-button").click()
    expect(box).not_to_have_attribute("data-tries", tries)
    settled(page)
    return box


def test_long_lists_are_summed_or_refused(page: Pages) -> None:
    """Two hundred thousand numbers give exact totals, a million are refused and counted, unequal lengths are named; the
    link and the other tables never change."""
    tab, lang = page(locale=LOCALES["zh"]), "zh"
    open_chapter(tab, lang)
    good, link, n = digest(tab), tab.url, 200_000
    box = summarise(tab, ("1/5 " * 5).strip(), "1/4 1/4 1/4 1/4")
    for name in ("p", "q"):
        expect(box.locator(f'[data-field="{name}"]')).to_have_attribute("aria-invalid", "true")
        unequal = message("lengths_differ", lang, "5 ≠ 4")
        expect(box.locator(f'[data-field="{name}"]')).to_have_accessible_description(unequal)
    summarise(tab, "0.000001 " * 1_000_000, "1")
    expect(box.locator(".wiki-error").first).to_contain_text(message("too_many", lang, "1000000", n, column="p"))
    half = n // 2
    summarise(tab, "0.000005 " * n, "0.00001 " * half + "0 " * half)
    expect(box).to_have_attribute("data-problems", "0")
    totals = tab.locator(f'[data-table="{TOPIC}.list_summary"]')
    rate = totals.locator(f'[data-quantity="{TOPIC}.acceptance_rate"]')
    expect(rate).to_have_attribute("data-exact", "1/2")
    expect(totals.locator(f'[data-quantity="{TOPIC}.kl_divergence"]')).to_have_attribute("data-value", "∞")
    after = digest(tab)["tables"]
    del after[f"{TOPIC}.list_summary"]
    assert after == good["tables"] and tab.url == link
