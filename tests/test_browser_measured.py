"""Tables of records in every chapter: each cell of the document is a number of the file, with its badge and origin."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from pages._measured import TABLES
from tests.browser import ROOT
from tests.chapters import LOCALES, Chapter, wanted
from tests.conftest import Pages
from tests.measured_tables import measured, of_topic

pytestmark = pytest.mark.browser
TOPICS = sorted({name.partition(".")[0] for name in TABLES})
REAL = """() => Object.fromEntries([...document.querySelectorAll('[data-table*=".real_"]')].map(t => [t.dataset.table,
  [...t.querySelectorAll('.wiki-cell')].map(({ dataset: d, textContent }) => [Number(d.cell.split('-')[0]),
    d.quantity.split('.')[1], d.value, textContent])]))"""


@pytest.mark.parametrize("lang", LOCALES)
@pytest.mark.parametrize("topic", TOPICS)
def test_cells_are_the_records(page: Pages, topic: str, lang: str) -> None:
    """No cell differs from its record, none is missing; the first opens the machine, the day and the command."""
    chapter = Chapter(page(locale=LOCALES[lang]), topic, lang)
    found = chapter.page.evaluate(REAL)
    assert found.keys() == {f"{topic}.{name}" for name in of_topic(topic)}
    for name, cells in found.items():
        right = wanted(measured(name))
        assert {(row, quantity): value for row, quantity, value, _ in cells} == {k: v for k, (v, _) in right.items()}
        assert all(text == value if value else text for *_, value, text in cells)
        cell = chapter.page.locator(f'[data-table="{name}"] .wiki-cell:not(.wiki-undefined)').first
        cell.click()
        dialog = chapter.page.locator("dialog.wiki-derivation")
        expect(dialog.locator('.wiki-kind[data-kind="measured"]')).to_be_visible()
        about = json.loads((ROOT / f"gpu_demos/results/{TABLES[name].file}.json").read_text("utf-8"))
        for text in (about["device"], about["date"], about["command"], about["commit"][:10]):
            expect(dialog).to_contain_text(text)
        chapter.page.keyboard.press("Escape")
