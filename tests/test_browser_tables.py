"""Every table of the quantization chapters as the browser shows it, with every control at one end and at the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from tests.browser_ledger import digest
from tests.chapters import LOCALES, Chapter, wanted
from tests.conftest import Pages
from tests.shown_tables import CHAPTERS

pytestmark = pytest.mark.browser
# each cell as a reader sees it: what is printed, beside what a click on it would call the exact value
EVERY = """() => Object.fromEntries([...document.querySelectorAll('[data-table]:not([data-table*=".real_"])')]
  .filter(t => !t.hidden).map(t => [t.dataset.table.split('.')[1], [...t.querySelectorAll('.wiki-cell')].map(
  ({ dataset: d, textContent, className }) => [Number(d.cell.split('-')[0]), d.quantity.split('.')[1], d.value, d.exact,
   textContent, className.includes('wiki-undefined')])]))"""


@dataclass(frozen=True)
class Visit:
    """A link, what its state means in the terms of `shown_tables`, and the sliders that are then moved to their other
    end, with what that changes."""

    link: dict[str, Any]
    means: dict[str, Any]
    moved: dict[str, int] = field(default_factory=dict)
    then: dict[str, Any] = field(default_factory=dict)


LOW = {"bits": 2, "last": 0, "loud": 0}
HIGH = {"bits": 8, "last": 5, "loud": 5}
BACK = ((127,) * 6, (127, 127, 127, -128, -128, -128), 16)
UNSIGNED = ((255,) * 6, (127,) * 6, 16)
VISITS = {
    "error_budget": (
        Visit(
            {**LOW, "largest": 4, "guess2": "always"},
            {**LOW, "vector": "preset", "seed": 1, "grid": "symmetric", "clip": "1", "rule": "half_even",
             "group": "all", "convention": "levels", "largest": "4", "law": "gaussian", "lab_bits": 4,
             "lab_group": "one group", "lab_outlier": False, "tie": "half_even", "tensor": "outlier", "shape": "e2m1",
             "saturate": True, "model": "large"},
            {"bits": 6, "last": 5, "loud": 5}, HIGH,
        ),
        Visit(
            {**HIGH, "guess2": "same", "vector": "outlier", "seed": 9999, "grid": "asymmetric", "clip": "0.5",
             "rule": "half_away", "group": "2", "convention": "cells", "largest": 20, "law": "student", "lab_bits": 8,
             "lab_group": "alone",
             "lab_outlier": "yes", "tie": "half_away", "tensor": "plain", "shape": "e5m2", "overflow": "strict",
             "model": "seven"},
            {**HIGH, "vector": "outlier", "seed": 9999, "grid": "asymmetric", "clip": "0.5", "rule": "half_away",
             "group": "2", "convention": "cells", "largest": "20", "law": "student", "lab_bits": 8,
             "lab_group": "outlier alone", "lab_outlier": True, "tie": "half_away", "tensor": "plain", "shape": "e5m2",
             "saturate": False, "model": "seven"},
            {"bits": 0, "last": 0, "loud": 0}, LOW,
        ),
    ),
    "integer_matmul": (
        Visit(
            {"zero": 0, "terms": 0, "weight": 0, "sum": 0, "size": 0},
            {"case": "worked", "zero": 0, "types": "int8_int4", "terms": 1, "codes": BACK, "weight": 0,
             "scale": Fraction(1, 100), "sum": 765, "size": 1},
            {"zero": 51, "terms": 23, "weight": 127, "sum": 60, "size": 6},
            {"zero": 255, "terms": 2**24, "weight": 127, "sum": 825, "size": 64},
        ),
        Visit(
            {"case": "unsigned", "zero": 51, "types": "int16_int16", "terms": 23, "sequence": "unsigned", "weight": 127,
             "multiplier": "clipped", "sum": 60, "size": 6},
            {"case": "unsigned", "zero": 255, "types": "int16_int16", "terms": 2**24, "codes": UNSIGNED, "weight": 127,
             "scale": Fraction(1, 400), "sum": 825, "size": 64},
            {"zero": 0, "terms": 0, "weight": 0, "sum": 0, "size": 0},
            {"zero": 0, "terms": 1, "weight": 0, "sum": 765, "size": 1},
        ),
    ),
    "calibration": (
        Visit(
            {"bits": 2, "granularity": "tensor", "guess1": "same", "step": 0, "method": "rtn"},
            {"domain": "prose", "bits": 2, "granularity": "tensor", "symmetric": True, "act_order": False, "output": 0,
             "moment": 0, "dimension": 1024, "outlier": 500, "method": "rtn"},
            {"player": 15}, {"moment": 15},
        ),
        Visit(
            {"domain": "code", "bits": 8, "grid": "asymmetric", "guess1": "little", "order": "act_order", "output": 4,
             "step": 15, "peaks": 4096, "method": "hadamard_gptq"},
            {"domain": "code", "bits": 8, "granularity": "group", "symmetric": False, "act_order": True, "output": 3,
             "moment": 15, "dimension": 4096, "outlier": 1000, "method": "hadamard_gptq"},
            {"player": 0}, {"moment": 0},
        ),
    ),
}  # fmt: skip
CASES = [(topic, lang, n) for topic, visits in VISITS.items() for lang in LOCALES for n in range(len(visits))]


def compare(chapter: Chapter, means: dict[str, Any]) -> int:
    """Hold every cell on the page against the mechanisms; how many there were."""
    tables, cells = CHAPTERS[chapter.topic](**means), 0
    found = chapter.page.evaluate(EVERY)
    assert found.keys() == tables.keys()
    for name, shown in found.items():
        expected = wanted(tables[name])
        for row, quantity, value, exact, text, undefined in shown:
            assert (value, exact) == expected[row, quantity], (name, row, quantity)
            assert (text == value) if value else (undefined and text), (name, row, quantity)
        rows = {row for row, *_ in shown}
        assert rows == set(range(len(tables[name].rows))), name
        assert len(shown) == len(rows) * len({quantity for _, quantity, *_ in shown}), name
        cells += len(shown)
    return cells


@pytest.mark.parametrize(("topic", "lang", "n"), CASES, ids=[f"{t}-{x}-{n}" for t, x, n in CASES])
def test_every_displayed_cell_is_the_mechanisms(page: Pages, topic: str, lang: str, n: int) -> None:
    """With all controls at one end, and again after every slider was dragged to its other end and let go; the address
    that the page has then shows the same in a new profile and the other language."""
    visit = VISITS[topic][n]
    chapter = Chapter(page(locale=LOCALES[lang]), topic, lang, **visit.link)
    first = compare(chapter, visit.means)
    for key, position in visit.moved.items():
        chapter.drag(key, position)
        chapter.drop(key)
    assert compare(chapter, visit.means | visit.then) == first > 100
    if lang == "en" and n:
        there = Chapter(page(locale=LOCALES["zh"]), topic, link=chapter.page.url.replace("lang=en", "lang=zh"))
        assert digest(there.page) == digest(chapter.page)
