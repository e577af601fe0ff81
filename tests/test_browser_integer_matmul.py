"""The integer chapter in a real browser."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from mechanisms.integer_matmul import Case, ledger, sums
from mechanisms.integer_matmul_layer import run_layer
from mechanisms.integer_matmul_read import CASES
from mechanisms.integer_matmul_report import SIZES, demo_layer, layer_table
from mechanisms.integer_matmul_requantize import requantize_table
from mechanisms.integer_matmul_running import pair_table, running_table, worst_case_table
from mechanisms.values.integer_matmul import W_SCALE, X_SCALE, Y_SCALE
from pages._matmul_state import FIRST_SUM, LAST_SUM, TERMS, ZERO_POSITIONS, ZERO_STEP
from pages._matmul_width import SEQUENCE_CODES
from tests.browser import ROOT, longest_piece
from tests.browser_ledger import frames_sent
from tests.chapters import LOCALES, Chapter, wanted
from tests.conftest import Pages

pytestmark = pytest.mark.browser
TOPIC = "integer_matmul"
TEXTS = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))[TOPIC]


@pytest.mark.parametrize("lang", LOCALES)
def test_sliders_show_the_mechanisms_numbers_and_send_nothing(page: Pages, lang: str) -> None:
    """At the ends and in the middle of every slider the cells are the mechanism's, before the hand lets go."""
    tab = page(locale=LOCALES[lang])
    messages = frames_sent(tab)
    chapter = Chapter(tab, TOPIC, lang)
    before = len(messages)
    for z in (0, 22, ZERO_POSITIONS - 1):
        chapter.drag("zero", z)
        case = replace(CASES["worked"], z_x=ZERO_STEP * z)
        assert chapter.values("ledger") == wanted(ledger(case))
        assert chapter.values("sums") == wanted(sums(case))
    for i in (0, 6, len(TERMS) - 1):
        chapter.drag("terms", i)
        assert chapter.values("worst") == wanted(worst_case_table("int8", "int4", TERMS[i]))
    for w in (0, 64, 65, 127):
        chapter.drag("weight", w)
        assert chapter.values("pair") == wanted(pair_table((255, 255), (w, w)))
    for a in (FIRST_SUM, 795, LAST_SUM):
        chapter.drag("sum", a - FIRST_SUM)
        table = requantize_table(a, x_scale=X_SCALE, w_scale=W_SCALE, y_scale=Y_SCALE)
        assert chapter.values("requantize") == wanted(table)
    for i in (0, len(SIZES) - 1):
        chapter.drag("size", i)
        assert chapter.values("layer") == wanted(layer_table(run_layer(*demo_layer(SIZES[i]))))
    tab.wait_for_timeout(400)
    assert len(messages) == before > 0


@pytest.mark.parametrize("lang", LOCALES)
def test_editor_takes_codes_and_names_what_it_cannot_take(page: Pages, lang: str) -> None:
    """An edited code reaches every table and the link; a bad one is named at its field and changes nothing."""
    chapter = Chapter(page(locale=LOCALES[lang]), TOPIC, lang)
    tab, editor = chapter.page, chapter.part("editor")

    def enter(at: str, text: str) -> None:
        editor.locator(f'[data-at="{at}"]').fill(text)
        editor.locator(f'[data-at="{at}"]').press("Enter")
        chapter.settle()

    enter("x-0", "255")
    case = Case((255, *CASES["worked"].q_x[1:]), CASES["worked"].q_w, CASES["worked"].z_x, -1)
    assert chapter.values("sums") == wanted(sums(case))
    expect(tab).to_have_url(re.compile("own=255%2C200"))
    good, link = chapter.values("sums"), tab.url
    for text, code in (("40000", "too_large"), ("<i>", "not_an_integer"), ("", "empty")):
        enter("w-1", text)
        expect(editor.locator(".wiki-error")).to_have_text(
            TEXTS[f"bad_{code}"][lang].format(detail=text, most="32,768")
        )
        assert chapter.values("sums") == good and tab.url == link
    enter("w-1", "3")
    expect(editor).to_have_attribute("data-problems", "0")
    enter("zero-0", "0")
    assert chapter.values("sums")[0, "weight_shift_term"] == ("0", "0")
    chapter.choose("case", "unsigned")
    assert "own=" not in tab.url and chapter.values("sums") == wanted(sums(CASES["unsigned"]))
    tab.reload()
    chapter.settle()
    assert chapter.values("ledger") == wanted(ledger(CASES["unsigned"]))


def test_player_and_table_follow_the_sequence(page: Pages) -> None:
    """Keys move the player, its step is in the link, and another sequence changes player and table together."""
    chapter = Chapter(page(), TOPIC, step=6)
    player = chapter.part("player")
    expect(player).to_have_attribute("data-step", "6")
    expect(player).to_have_attribute("data-event", "right")
    player.locator(".wiki-play").focus()
    chapter.page.keyboard.press("Home")
    for _ in range(3):
        chapter.page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-event", "wrap")
    expect(player.locator('[data-state="sum-wrong"]')).to_have_count(1)
    expect(chapter.page).to_have_url(re.compile("step=3"))
    chapter.choose("sequence", "wide")
    expect(player.locator('[data-state="sum-wrong"]')).to_have_count(0)
    assert chapter.values("running") == wanted(running_table(*SEQUENCE_CODES["wide"]))


@pytest.mark.parametrize("lang", LOCALES)
def test_answers_are_not_in_the_page_before_the_guess(page: Pages, lang: str) -> None:
    """No feedback sentence is in the document before a guess; afterwards the one that belongs to it is."""
    chapter = Chapter(page(locale=LOCALES[lang]), TOPIC, lang)
    tab = chapter.page
    pieces = {n: longest_piece(TEXTS[n][lang])
              for n in TEXTS if re.fullmatch(r"guess\d_\w+_feedback|guess\d_why", n)}  # fmt: skip
    assert len(pieces) == 6 and [n for n, text in pieces.items() if text in tab.content()] == []
    first = chapter.values("overflow")[0, "first_overflow"]
    assert first[0] != "2", "the table would give the first answer away"
    chapter.commit("guess1", "spare")
    assert pieces["guess1_spare_feedback"] in tab.content() and pieces["guess1_two_feedback"] not in tab.content()
    chapter.commit("guess2")
    assert pieces["guess2_why"] in tab.content()
