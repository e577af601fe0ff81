"""The blend slider works in the browser alone: exact numbers, no message, one figure that is updated in place."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from playwright.sync_api import Page, expect

from mechanisms.distribution import blend
from mechanisms.quantity import exact_text, print_text
from mechanisms.rejection_ledger import LEDGER, ledger, summary
from mechanisms.rejection_presets import PRESETS
from mechanisms.table import Table
from pages._rejection_pair import STEPS
from tests.browser_ledger import choose, digest, frames_sent, open_chapter, part, slide, table, values
from tests.conftest import Pages

pytestmark = pytest.mark.browser
POSITIONS = (1, 7, 13, 20, 24, STEPS, 0)


def drag(page: Page, position: int) -> None:
    """What a mouse does before it lets go: `input` events and no `change`."""
    part(page, "blend").locator("input[type=range]").evaluate(
        "(n, v) => { n.value = v; n.dispatchEvent(new Event('input', { bubbles: true })) }", str(position)
    )


def wanted(whole: Table) -> dict[tuple[int, str], tuple[str, str]]:
    cells = {}
    for quantity, column in zip(whole.columns, whole.cells, strict=True):
        for row, value in enumerate(column):
            exact = exact_text(value) if isinstance(value, Fraction) else ""
            cells[row, quantity.name] = ("", "") if value is None else (print_text(quantity, value), exact)
    return cells


@pytest.mark.parametrize("preset", ["zero_in_draft", "disjoint", "top_k_draft"])
def test_dragging_shows_exact_blends_without_a_message(page: Pages, preset: str) -> None:
    """At every position the ledger and its totals are the exact blend, and nothing is sent before the hand lets go."""
    tab = page()
    sent = frames_sent(tab)
    open_chapter(tab, pair=preset)
    before = len(sent)
    assert before > 0, "the socket was not listened to"
    for position in POSITIONS:
        drag(tab, position)
        pair = blend(PRESETS[preset], Fraction(position, STEPS))
        assert values(tab, "ledger") == wanted(ledger(pair)), position
        assert values(tab, "summary") == wanted(summary(pair)), position
    tab.wait_for_timeout(400)
    assert len(sent) == before


def bars(page: Page) -> dict[str, list[float]]:
    """Heights of the figure's bars by label and group, as Plotly has drawn them."""
    traces = json.loads(
        part(page, "masses")
        .locator(".wiki-plot")
        .evaluate("n => JSON.stringify(n._fullData.map(t => [t.name, t.offsetgroup, Array.from(t.y)]))")
    )
    return {f"{name} {group}": y for name, group, y in traces}


def test_figure_follows_in_place(page: Pages) -> None:
    """The bars equal the table at each position, and the figure is the same element before and after."""
    tab = page()
    open_chapter(tab, pair="argmax_agrees_tv_large")
    figure = part(tab, "masses").locator(".wiki-plot")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".main-svg").first).to_be_visible()
    figure.evaluate("n => { window.wikiKept = [n, n.querySelector('.main-svg')] }")
    root = part(tab, "masses")
    for position in (5, 20, STEPS):
        drawn = root.get_attribute("data-drawn") or "0"
        drag(tab, position)
        expect(root).not_to_have_attribute("data-drawn", drawn)
        cells = values(tab, "ledger")
        shown = bars(tab)
        masses = [q.name for q in LEDGER if q.defined is None]
        column = {name: [float(Fraction(cells[i, name][1])) for i in range(3)] for name in masses}
        assert shown["accepted q"] == shown["accepted p"] == pytest.approx(column["direct_mass"], abs=1e-12)
        assert shown["rejected q"] == pytest.approx(column["rejected_mass"], abs=1e-12)
        assert shown["corrected p"] == pytest.approx(column["correction_mass"], abs=1e-12)
        assert shown["target p p"] == pytest.approx(column["target_probability"], abs=1e-12)
        assert figure.evaluate("n => window.wikiKept[0] === n && window.wikiKept[1] === n.querySelector('.main-svg')")


def test_the_same_position_counts_again_after_another_preset(page: Pages) -> None:
    """A new preset puts the slider back; moving it to where it was before reaches the server like the first time."""
    tab = page()
    open_chapter(tab)
    slide(tab, "blend", 5)
    assert "blend=5" in tab.url
    choose(tab, "pair", "disjoint")
    assert "blend=" not in tab.url
    slide(tab, "blend", 5)
    assert "blend=5" in tab.url and "pair=disjoint" in tab.url
    assert values(tab, "length")[0, "acceptance_rate"] == values(tab, "summary")[0, "acceptance_rate"]


def test_the_same_preset_counts_again_after_an_edit(page: Pages) -> None:
    """A pair that was left by editing a field can be chosen again."""
    tab = page()
    open_chapter(tab)
    choose(tab, "pair", "disjoint")
    chosen = digest(tab)
    field = part(tab, "editor").locator('[data-at="token-0"]')
    field.click()
    tab.keyboard.type("x")
    tab.keyboard.press("Enter")
    expect(table(tab, "ledger").locator("tbody th").first).to_contain_text("x")
    choose(tab, "pair", "disjoint")
    expect(table(tab, "ledger").locator("tbody th").first).to_have_text("A")
    assert digest(tab) == chosen and "own=" not in tab.url
