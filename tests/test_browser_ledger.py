"""The ledger in a real browser, cell by cell against the reference files."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mechanisms.rejection_ledger import LEDGER, SUMMARY, ledger, summary
from mechanisms.rejection_presets import PRESETS
from mechanisms.table import Table
from tests.browser_ledger import (
    LANGUAGES,
    LOCALES,
    NAMES,
    choose,
    fraction,
    open_chapter,
    reference,
    rows_of,
    table,
    values,
)
from tests.conftest import Pages

pytestmark = pytest.mark.browser
COLUMNS = {
    "accept": "acceptance_probability", "direct": "direct_mass", "correction": "correction_mass", "final": "final_mass",
    "corr_dist": "residual",
}  # fmt: skip
DERIVATION = """d => {
  const lines = [...d.querySelectorAll('dd[data-line]')].map(x => [x.dataset.line, x])
  return {
    quantity: d.dataset.quantity,
    lines: Object.fromEntries(lines.map(([name, x]) => [name, x.textContent.trim()])),
    tex: Object.fromEntries(lines.map(([name, x]) => [name, x.querySelector('math')?.getAttribute('alttext')])),
  }
}"""
SUMS = {"accept_mass": "acceptance_rate", "reject": "rejection_probability"}


def compare_ledger(page: Page, preset: str) -> int:
    """How many cells have been compared."""
    shown, wanted = values(page, "ledger"), rows_of("spec_ledger", preset=preset)
    assert len(shown) == 8 * len(wanted)
    for i, row in enumerate(wanted):
        for short, name in COLUMNS.items():
            assert shown[i, name] == (row[short], row[f"{short}_exact"]), f"{preset} {row['token']} {name}"
        p, q = Fraction(row["p"]), Fraction(row["q"])
        direct = Fraction(row["direct_exact"])
        for name, value in (("target_probability", p), ("draft_probability", q), ("rejected_mass", q - direct)):
            assert fraction(shown[i, name][1]) == value, f"{preset} {row['token']} {name}"
            assert shown[i, name][0] == f"{float(value):.6f}", f"{preset} {row['token']} {name}"
    return len(shown)


def compare_summary(page: Page, preset: str) -> None:
    shown, (row,) = values(page, "summary"), rows_of("spec_ledger_summary", preset=preset)
    for short, name in SUMS.items():
        assert shown[0, name] == (row[short], row[f"{short}_exact"]), f"{preset} {name}"
    assert shown[0, "correction_total"] == (row["reject"], row["reject_exact"])
    assert shown[0, "largest_error"][1] == row["max_final_error_exact"] == "0"
    for short, name in (("kl_12dp", "kl_divergence"), ("pinsker_tv_bound_12dp", "pinsker_bound")):
        text = shown[0, name][0]
        if row[short] == "infinity":
            assert text == "∞"
        else:
            assert Fraction(text) == round(Fraction(row[short]), 6), f"{preset} {name}"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_cell_of_every_preset_equals_the_reference(page: Pages, lang: str) -> None:
    """Ledger and totals of all eight presets, read from the document, are those of the reference files."""
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang)
    compared = 0
    for preset in NAMES:
        choose(tab, "pair", preset)
        expect(table(tab, "ledger").locator("tbody tr")).to_have_count(len(PRESETS[preset].tokens))
        compared += compare_ledger(tab, preset)
        compare_summary(tab, preset)
    assert compared == 8 * len(reference("spec_ledger"))


def opened(page: Page, name: str, row: int, column: int) -> dict[str, Any]:
    """The derivation of one cell: texts by line, and the TeX of its formulas."""
    table(page, name).locator(f'[data-cell="{row}-{column}"]').click()
    dialog = page.locator("dialog.wiki-derivation")
    expect(dialog).to_be_visible()
    found = dict(dialog.evaluate(DERIVATION))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    return found


def evaluate(tex: str) -> Fraction:
    """The value of the right side of a substituted formula, worked out here from its text alone."""
    text = tex.split(" = ", 1)[1] if " = " in tex else tex
    text = (
        text.replace(r"\left", "").replace(r"\right", "").replace(r"\cdot", "*").replace(r"\,", "").replace(r"\;", "")
    )
    while r"\frac" in text:
        text, before = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text), text
        assert text != before, f"cannot read {tex}"
    text = text.replace(r"\min", "min").replace(r"\max", "max").replace("|", " ")
    text = re.sub(r"(?<![\d.])(\d+(?:\.\d+)?)", r"F('\1')", text)
    return Fraction(eval(text, {"__builtins__": {}}, {"F": Fraction, "min": min, "max": max}))  # our own page's text


def check_derivation(found: dict[str, Any], whole: Table, row: int, quantity: str) -> None:
    wanted = whole.explain(row, quantity)
    assert found["quantity"] == wanted.quantity
    assert found["tex"]["general"] == wanted.general
    assert found["tex"]["substituted"] == wanted.substituted, quantity
    assert found["lines"]["source"] and found["lines"]["function"] == wanted.function
    if wanted.decimal is None:
        assert found["lines"]["undefined"] and "exact" not in found["lines"] and "decimal" not in found["lines"]
        return
    assert found["lines"]["decimal"].startswith(wanted.decimal)
    if wanted.exact is not None:
        assert found["lines"]["exact"] == wanted.exact


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_column_opens_its_derivation(page: Pages, lang: str) -> None:
    """Each column of the ledger opens formula, substituted formula, exact value and source; the substituted formula
    evaluates to the exact value, and the cell without a value says that it has none."""
    tab = page(locale=LOCALES[lang])
    open_chapter(tab, lang, pair="zero_in_draft")
    whole = ledger(PRESETS["zero_in_draft"])
    for column, quantity in enumerate(LEDGER):
        for row in (0, 2):
            found = opened(tab, "ledger", row, column)
            check_derivation(found, whole, row, quantity.name)
            if "exact" in found["lines"]:
                assert evaluate(found["tex"]["substituted"]) == fraction(found["lines"]["exact"]), quantity.name
    assert whole.value(2, "acceptance_probability") is None  # so the undefined cell has been opened


def test_every_total_opens_its_derivation(page: Pages) -> None:
    """The totals show sums written out over the rows of the ledger, and those evaluate to the exact totals."""
    tab = page()
    open_chapter(tab, pair="sharp_target_flat_draft")
    whole = summary(PRESETS["sharp_target_flat_draft"])
    for column, quantity in enumerate(SUMMARY):
        found = opened(tab, "summary", 0, column)
        check_derivation(found, whole, 0, quantity.name)
        if quantity.name in ("acceptance_rate", "rejection_probability", "correction_total"):
            assert evaluate(found["tex"]["substituted"]) == fraction(found["lines"]["exact"]), quantity.name


def test_numbers_in_prose_open_the_same_window(page: Pages) -> None:
    """A number inside a sentence opens a complete derivation of the value that it prints."""
    tab = page()
    open_chapter(tab)
    for number in tab.locator(".wiki-number").all():
        shown = number.inner_text()
        number.click()
        dialog = tab.locator("dialog.wiki-derivation")
        expect(dialog.locator('[data-line="substituted"] math')).to_be_visible()
        assert Fraction(dialog.locator('[data-line="decimal"]').inner_text().split()[0]) == Fraction(shown)
        tab.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(number).to_be_focused()
