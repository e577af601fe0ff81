"""The draft-training chapter in a browser: every table read from the document, sliders, own numbers, access."""

from __future__ import annotations

import re
import tomllib
from fractions import Fraction
from typing import Any

import pytest
from playwright.sync_api import expect

from mechanisms.mtp_cases import CASES, SEED_DRAFTS, Case, Drafts
from mechanisms.mtp_mixing import DEPTHS
from pages._mtp_state import PAIRS
from tests.browser import ROOT, longest_piece, paste
from tests.browser_ledger import frames_sent
from tests.chapters import LOCALES, Cells, Chapter, wanted
from tests.conftest import Pages
from tests.oracle_mtp_page import FOLLOWS, SIZES, START, Tables, frame, of_case, of_pair, of_rest, of_search

pytestmark = pytest.mark.browser
TOPIC = "mtp_boosting"
TEXTS = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))
OPEN = {"guess1": "b_a", "guess2": "11", "pair": "seed"}
READ = """() => Object.fromEntries([...document.querySelectorAll(
  '[data-table]:not([data-table*=".real_"])')].map(t => [t.dataset.table,
  [...t.querySelectorAll('.wiki-cell')].map(b => [Number(b.dataset.cell.split('-')[0]), b.dataset.quantity,
    b.dataset.value, b.dataset.exact, b.textContent])]))"""


def shown(chapter: Chapter) -> dict[str, Cells]:
    """Every table of the document: `(row, quantity)` → what stands there; text and data agree, or a word stands where
    there is no value."""
    found: dict[str, Cells] = {}
    for name, cells in chapter.page.evaluate(READ).items():
        assert all(text == value if value else text for _, _, value, _, text in cells), name
        found[name.removeprefix(f"{TOPIC}.")] = {
            (row, quantity.split(".")[1]): (value, exact) for row, quantity, value, exact, _ in cells
        }
    return found


def differences(chapter: Chapter, tables: Tables, at: dict[str, int]) -> list[str]:
    """Names of tables whose cells are not the mechanism's; all tables of the page must be among `tables`."""
    found = shown(chapter)
    assert found.keys() == tables.keys()
    return [n for n, cells in found.items() if cells != wanted(tables[n][frame(n, at)])]


@pytest.mark.parametrize(("lang", "scheme"), [("en", "light"), ("zh", "dark")])
def test_every_table_shows_the_mechanisms_numbers(page: Pages, lang: str, scheme: str) -> None:
    """All cells of all tables at the start, and with every slider at either end, before the hand lets go; dragging
    sends nothing, and charts are redrawn with their tables. On a narrow screen, where nothing may scroll sideways and
    no rule of WCAG 2.2 AA that a machine checks may be broken."""
    tab = page(locale=LOCALES[lang], color_scheme=scheme, viewport=(360, 780))
    messages = frames_sent(tab)
    chapter = Chapter(tab, TOPIC, lang, moment="4", mode="code", **OPEN)
    tables = of_case(CASES["seed"]) | of_pair(SEED_DRAFTS) | of_search(5, 1) | of_rest()
    assert len(tables) == 29 and FOLLOWS.keys() <= tables.keys()
    before = len(messages)
    assert differences(chapter, tables, START) == []
    drawn = [int(chapter.part(n).get_attribute("data-drawn") or 0) for n in ("path", "field_arrows", "race_lines")]
    for end in (0, 1):
        at = {control: end * (size - 1) for control, size in SIZES.items()}
        for control, position in at.items():
            chapter.drag(control, position)
        assert differences(chapter, tables, at) == []
    verdict = chapter.part("verdict").locator("li").last
    expect(verdict).to_have_attribute("data-prefers", "a")  # decay ten
    chapter.drag("decay", 3)
    expect(verdict).to_have_attribute("data-prefers", "b")
    again = [int(chapter.part(n).get_attribute("data-drawn") or 0) for n in ("path", "field_arrows", "race_lines")]
    assert all(b > a for a, b in zip(drawn, again, strict=True))
    tab.wait_for_timeout(400)
    assert len(messages) == before > 0
    chapter.part("found").locator('input[value="4"]').check(force=True)
    assert chapter.values("found_a") == wanted(tables["found_a"][3])
    for name, option, place in (("program", "10", 3), ("support", "50", 2)):
        chapter.choose(name, option)
        table = {"program": "means", "support": "vanishing"}[name]
        assert chapter.values(table) == wanted(tables[table][place])
    chapter.choose("loss", "tv")
    expect(chapter.part("field_arrows")).to_have_attribute("data-column", "tv_pull")
    chapter.choose("case", "tail")
    chapter.part("step").locator("input[type=range]").focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    at = {control: size - 1 for control, size in SIZES.items()} | {"step": 1}
    assert chapter.values("state") == wanted(of_case(CASES["tail"])["state"][frame("state", at)])
    chapter.table("losses").locator('[data-cell="0-6"]').click()
    expect(tab.locator("dialog.wiki-derivation")).to_be_visible()


class Editor:
    """One of the two editors of own numbers, in a fold."""

    def __init__(self, chapter: Chapter, name: str, lang: str) -> None:
        self.chapter, self.lang, self.box = chapter, lang, chapter.part(name)
        self.box.locator("summary").click()

    def enter(self, at: str, text: str) -> None:
        field = self.box.locator(f'[data-at="{at}"]')
        field.fill(text)
        field.press("Enter")
        self.chapter.settle()

    def paste(self, at: str, text: str) -> None:
        paste(self.box.locator(f'[data-at="{at}"]'), text)
        self.chapter.settle()

    def words(self, key: str, **values: Any) -> str:
        section, name = key.split(".")
        return TEXTS[section][name][self.lang].format(**values)

    def expect_only(self, message: str, good: dict[str, Cells], link: str) -> None:
        """This message, and everything else as it was."""
        expect(self.box.locator(".wiki-error")).to_contain_text([message])
        assert shown(self.chapter) == good and self.chapter.page.url == link


def test_own_case_is_taken_or_named(page: Pages) -> None:
    """A usable case reaches the tables and the link. NaN, nothing, nine tokens, a wrong sum and a huge logit are named
    at their field, and the last good result stays; a column can be divided by its sum."""
    chapter = Chapter(page(), TOPIC, "en")
    tab, editor = chapter.page, Editor(chapter, "case_editor", "en")
    editor.enter("z-1", "-3/2")
    own = of_case(Case(("A", "B"), CASES["seed"].p, (Fraction(1, 10), Fraction(-3, 2))))
    for name in ("state", "totals", "check", "softened", "gradients"):
        assert chapter.values(name) == wanted(own[name][frame(name, START)])
    expect(tab).to_have_url(re.compile("own=A%2CB"))
    good, link = shown(chapter), tab.url
    total = editor.words("problems.sum_not_one", detail="11/10")
    for text, message in (
        ("nan", editor.words("problems.not_finite", detail="nan")),
        ("", editor.words("problems.empty")),
        ("0.9", f"{editor.words('mtp_boosting.column_p')}: {total}"),
    ):
        editor.enter("p-0", text)
        editor.expect_only(message, good, link)
    editor.box.locator(".wiki-fix").click()
    expect(editor.box).to_have_attribute("data-problems", "0")
    chapter.settle()
    assert chapter.values("state")[0, "target_probability"][1] == "9/11"
    good, link = shown(chapter), tab.url
    editor.enter("z-0", "1e9")
    editor.expect_only(editor.words("mtp_boosting.bad_too_large", detail="1e9", limit=100), good, link)
    editor.paste("z-0", "0 1 2 3 4 5 6 7 8")
    editor.expect_only(editor.words("problems.too_many", detail="9", limit=8), good, link)
    chapter.choose("case", "three")
    expect(editor.box).to_have_attribute("data-problems", "0")
    assert chapter.values("state") == wanted(of_case(CASES["three"])["state"][frame("state", START)])


def test_own_pair_is_taken_or_named(page: Pages) -> None:
    """The same for the pair, in Chinese: pasted full-width digits are taken, a zero and a name twice are not."""
    chapter = Chapter(page(locale=LOCALES["zh"]), TOPIC, "zh")
    tab, editor = chapter.page, Editor(chapter, "pair_editor", "zh")
    editor.enter("token-1", "乙")
    editor.paste("a-0", "０.５，０.４、1/10")
    drafts = Drafts(("A", "乙", "C"), PAIRS["plain"].p, tuple(map(Fraction, ("1/2", "2/5", "1/10"))), PAIRS["plain"].b)
    tables = of_pair(drafts)
    for name in ("masses_a", "draft_a", "preferences", "curve"):
        assert chapter.values(name) == wanted(tables[name][frame(name, START)])
    good, link = shown(chapter), tab.url
    editor.enter("b-2", "0")
    editor.expect_only(editor.words("mtp_boosting.bad_zero"), good, link)
    editor.enter("b-2", "0.2")
    editor.enter("token-2", "A")
    editor.expect_only(editor.words("problems.name_repeated", detail="A"), good, link)


@pytest.mark.parametrize("lang", LOCALES)
def test_answers_are_not_in_the_page_before_the_guess(page: Pages, lang: str) -> None:
    """No piece of feedback and no number of the pair or of the search is in the document before; then they are, the
    instrument shows the pair, and the link restores all of it for someone else."""
    chapter = Chapter(page(locale=LOCALES[lang]), TOPIC, lang)
    tab, ours = chapter.page, TEXTS[TOPIC]
    pieces = {n: longest_piece(ours[n][lang])
              for n in ours if re.fullmatch(r"guess1_\w+_feedback|guess\d_(why|right|never|coin)", n)}  # fmt: skip
    assert len(pieces) == 9 and [n for n, text in pieces.items() if text in tab.content()] == []
    assert [x for x in ("0.396864", "0.091516", "891/1000", "0.113350") if x in tab.content()] == []
    chapter.commit("guess1", "b_b")
    assert pieces["guess1_b_b_feedback"] in tab.content() and pieces["guess1_b_a_feedback"] not in tab.content()
    assert chapter.values("draft_a") == wanted(of_pair(SEED_DRAFTS)["draft_a"][START["decay"]])
    chapter.commit("guess2")
    assert pieces["guess2_why"] in tab.content()
    assert chapter.values("report") == wanted(of_search(5, 1)["report"][0])
    chapter.part("search").get_by_role("button").click()
    chapter.settle()
    assert chapter.values("report") == wanted(of_search(5, 2)["report"][0])
    if lang == "zh":
        return  # a link is a link in any language
    chapter.drag("step", 7)
    chapter.drop("step")
    chapter.part("player").locator(".wiki-play").focus()
    tab.keyboard.press("End")
    expect(chapter.part("player")).to_have_attribute("data-step", str(DEPTHS - 1))
    expect(tab).to_have_url(re.compile(rf"moment={DEPTHS - 1}\b"))
    seen, link = shown(chapter), tab.url
    other = page(locale=LOCALES[lang])
    other.goto(link)
    there = Chapter.__new__(Chapter)
    there.page, there.topic = other, TOPIC
    there.settle()
    assert shown(there) == seen
    expect(there.part("player")).to_have_attribute("data-step", str(DEPTHS - 1))
