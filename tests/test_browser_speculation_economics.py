"""The economics chapter in a browser: every table cell by cell, sliders without messages, own input, links, access."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from mechanisms.economics_conventions import EXAMPLES, bonus_split, reconcile
from mechanisms.economics_decay import CHAINS, chain, chain_totals
from mechanisms.economics_markov import COUPLINGS, two_step_totals, two_steps
from mechanisms.economics_metrics import TRACES, metrics, positions
from mechanisms.economics_overlap import (
    PAIRS,
    SHAPES,
    TEMPERATURES,
    heated,
    heated_rate,
    overlap,
    overlap_summary,
    shaped,
)
from mechanisms.economics_price import break_even, price
from mechanisms.economics_published import leviathan_table_1, leviathan_table_4
from mechanisms.economics_ridge import batches, ridge_limits
from mechanisms.economics_tree import turned
from mechanisms.economics_tree_tables import draw_tree, tree_levels, tree_root, tree_summary, tree_walk
from mechanisms.hardware import device
from mechanisms.quantity import exact_text, print_text
from mechanisms.rejection_presets import PRESETS
from mechanisms.speculation_economics import RATES, best, costs_of, speed_curve
from mechanisms.table import Table
from pages._economics_state import DRAFT_TIMES, TREE_PAIRS, VERIFY_TIMES
from tests.browser import paste
from tests.browser_ledger import LANGUAGES, LOCALES, frames_sent
from tests.chapters import Cells, drag, settled, tables
from tests.conftest import Pages

pytestmark = pytest.mark.browser
TOPIC = "speculation_economics"
SLIDERS = {
    "rate": (16, 0, 20), "gamma": (4, 0, 12), "draft_ms": (3, 0, 10), "verify_ms": (1, 0, 10), "shape": (28, 0, 32),
    "heat": (9, 0, 19), "drafts": (4, 0, 12), "coupling": (20, 0, 20),
}  # default, both ends  # fmt: skip
WIDTHS = (2, 2, 1)


def open_chapter(page: Page, lang: str = "en", **state: object) -> None:
    query = "".join(f"&{k}={v}" for k, v in state.items())
    page.goto(f"/{TOPIC}?v=1{query}&lang={lang}")
    expect(page.locator(f'[data-table="{TOPIC}.two_steps"] caption')).to_be_attached()
    settled(page)


def part(page: Page, key: str) -> Locator:
    return page.locator(f"[data-key='{TOPIC}.{key}']")


def shown_tables(page: Page) -> dict[str, Cells]:
    """Every table of the page, without what is undefined."""
    return {n: {at: v for at, v in found.items() if v[0]} for n, found in tables(page, TOPIC).items()}


def cells(table: Table, row: int | None = None) -> Cells:
    """What the page must show of a table, or of one row of it."""
    return {
        (0 if row is not None else r, q.name): (print_text(q, v), exact_text(v) if isinstance(v, Fraction) else "")
        for q, column in zip(table.columns, table.cells, strict=True)
        for r, v in enumerate(column)
        if v is not None and row in (None, r)
    }


def expected(at: dict[str, int]) -> dict[str, Cells]:
    """All tables of the page with the sliders at these positions and everything else at its default."""
    rate, e, text = RATES[at["rate"]], EXAMPLES[0], turned(PRESETS[TREE_PAIRS[0]])
    curve = speed_curve(rate, Fraction("0.1"), costs_of("constant"))
    times = {"draft": Fraction(DRAFT_TIMES[at["draft_ms"]]), "verify": Fraction(VERIFY_TIMES[at["verify_ms"]])}
    falling, trace = chain(CHAINS[0].rates), TRACES["falling"]
    laws = overlap(shaped(SHAPES[at["shape"]]))
    hot = heated(PAIRS["same_favourite"], TEMPERATURES[at["heat"]])
    steps = two_steps(COUPLINGS[at["coupling"]])
    rng = np.random.default_rng(1)
    nodes = draw_tree(text, WIDTHS, rng)
    found = {
        "speed_curve": curve, "best": best(curve), "bonus_split": bonus_split(e.rate, e.gamma, e.cost),
        "reconcile": reconcile(e.rate, e.gamma, e.cost), "price": price(**times), "break_even": break_even(**times),
        "leviathan_table_1": leviathan_table_1(), "leviathan_table_4": leviathan_table_4(), "chain_table": falling,
        "chain_totals": chain_totals(falling), "metrics": metrics(trace), "positions": positions(trace),
        "overlap": laws, "overlap_summary": overlap_summary(laws), "heated": hot, "heated_rate": heated_rate(hot),
        "ridge_limits": ridge_limits(device("h100")), "batches": batches(device("h100"), at["drafts"]),
        "tree_summary": tree_summary(text, WIDTHS), "tree_root": tree_root(text, 2),
        "tree_levels": tree_levels(text, WIDTHS), "tree_walk": tree_walk(text, nodes, rng)[0], "two_steps": steps,
        "two_step_totals": two_step_totals(steps),
    }  # fmt: skip
    return {name: cells(t) for name, t in found.items()} | {"now": cells(curve, at["gamma"])}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_table_at_every_end_of_the_sliders(page: Pages, lang: str) -> None:
    """All twenty-five tables show the mechanism's values at the defaults and at both ends of all sliders, and dragging
    asks the server nothing."""
    tab = page(locale=LOCALES[lang])
    sent = frames_sent(tab)
    open_chapter(tab, lang)
    before = len(sent)
    assert before > 0, "the socket was not listened to"
    for place in range(3):
        at = {name: ends[place] for name, ends in SLIDERS.items()}
        for name, position in at.items():
            drag(part(tab, name), position)
        shown, wanted = shown_tables(tab), expected(at)
        assert shown.keys() == wanted.keys()
        for name, found in shown.items():
            assert found == wanted[name], (name, at)
        assert part(tab, "speed_plot").get_attribute("data-best") == shown["best"][0, "best_draft_length"][0]
        assert part(tab, "speed_plot").get_attribute("data-points") == "13,13"
    tab.wait_for_timeout(400)
    assert len(sent) == before


def own(page: Page, key: str, text: str) -> Locator:
    """Type a list into an editor and hand it in; its notes come back."""
    box = part(page, f"own_{key}")
    tries = box.get_attribute("data-tries") or "0"
    box.locator("details").evaluate("d => { d.open = true }")
    box.locator("textarea").fill(text)
    box.locator("button").click()
    expect(box).to_have_attribute("data-tries", str(int(tries) + 1))
    settled(page)
    return box.locator(".wiki-error p")


def test_too_many_and_too_few_tokens_of_a_tree_are_named(page: Pages) -> None:
    """A list pasted into two to four tokens, and one token alone; what was typed stays."""
    tab = page()
    open_chapter(tab, tree_pair="own")
    editor = part(tab, "tree_editor")
    field, remove, said = (
        editor.locator('[data-field="q"]').first,
        editor.locator(".wiki-remove"),
        editor.locator(".wiki-error"),
    )
    kept = field.input_value()
    paste(field, "0.1 " * 64)
    expect(said.first).to_contain_text("64 values are too many")
    expect(field).to_have_value(kept)
    while (left := remove.count()) > 1:
        remove.last.click()
        expect(remove).to_have_count(left - 1)
        settled(tab)
    expect(said.first).to_contain_text("two are the least")


def test_own_input_guesses_and_links(page: Pages) -> None:
    """Predictions keep their answer until they are committed; bad lists get words at the field while the last result
    stays; the link restores everything in a new profile in the other language."""
    tab = page()
    open_chapter(tab)
    assert tab.locator(".wiki-feedback").count() == 0
    assert not re.search("slower than no drafts at all|Agreement on the favourite is not", tab.content())
    form = part(tab, "guess1")
    form.locator("input[type=range]").press("ArrowRight")
    form.locator("button[type=submit]").click()
    expect(form.locator(".wiki-feedback")).to_be_visible()
    form = part(tab, "guess2")
    form.locator('input[value="same"]').check(force=True)
    form.locator("button[type=submit]").click()
    expect(form.locator(".wiki-feedback")).to_be_visible()

    assert own(tab, "chain", "1/2, 0.5").count() == 0
    assert shown_tables(tab)["chain_table"] == cells(chain((Fraction(1, 2),) * 2))
    good, address, said = shown_tables(tab)["chain_table"], tab.url, set()
    assert "own_chain=" in address
    for text in ("", "two", "nan", "-1", "1.5", "0." + "1" * 90, ", ".join(["0.5"] * 64), "1 " * 50_000):
        notes = own(tab, "chain", text)
        expect(notes).to_have_count(2)  # the reason, and that the last result stays
        said.add(notes.first.inner_text())
        expect(part(tab, "own_chain").locator("textarea")).to_have_value(text)  # nothing typed is lost
        assert shown_tables(tab)["chain_table"] == good and tab.url == address
    assert len(said) == 8
    part(tab, "settings").locator('input[value="square"]').check(force=True)
    settled(tab)
    part(tab, "tree_pair").locator('input[value="own"]').check(force=True)
    settled(tab)
    field = part(tab, "tree_editor").locator('[data-field="p"]').first
    field.fill("7")
    field.press("Enter")
    expect(part(tab, "tree_editor")).to_have_attribute("data-problems", "1")
    part(tab, "tree").locator('input[value="wide"]').check(force=True)
    expect(tab).to_have_url(re.compile("tree=wide"))
    settled(tab)
    names = ("chain_table", "speed_curve", "best", "tree_summary", "tree_walk")
    shown = shown_tables(tab)
    other = page(locale="zh-CN")
    other.goto(tab.url.replace("lang=en", "lang=zh"))
    expect(other.locator(f'[data-table="{TOPIC}.two_steps"] caption')).to_be_attached()
    settled(other)
    again = shown_tables(other)
    assert {n: again[n] for n in names} == {n: shown[n] for n in names}
    assert re.search("[一-鿿]", own(other, "trace", "x").first.inner_text())
    assert part(other, "guess1").locator(".wiki-feedback").count() == 1


def test_every_kind_of_cell_opens_by_key(page: Pages) -> None:
    """Every kind of cell opens a derivation without a gap, by key as well, and gives the focus back."""
    tab = page()
    open_chapter(tab, "en", guess1=10, guess2="same", curve="own", own_curve="1~1.2~1.5", tree_pair="own",
                 own_pair="A,B~1/2,1/2~1/4,3/4")  # fmt: skip
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    gaps = tab.evaluate(
        """() => [...document.querySelectorAll('[data-table]')].flatMap(t => [...t.querySelectorAll('.wiki-cell')]
          .slice(0, 2).flatMap(b => {
            b.click()
            const dialog = document.querySelector('dialog.wiki-derivation'), text = dialog.textContent
            dialog.close()
            return /∅|⟦/.test(text) && b.dataset.value ? [t.dataset.table + ' ' + b.dataset.quantity] : []
          }))"""
    )
    assert gaps == []
    cell = tab.locator(f'[data-table="{TOPIC}.price"] .wiki-cell').first
    cell.focus()
    tab.keyboard.press("Enter")
    expect(tab.locator("dialog.wiki-derivation")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(cell).to_be_focused()
    tab.keyboard.press("ArrowDown")
    expect(tab.locator(f'[data-table="{TOPIC}.price"] [data-cell="1-0"]')).to_be_focused()
