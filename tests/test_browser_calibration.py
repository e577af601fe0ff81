"""The calibration chapter in a real browser."""

from __future__ import annotations

import base64
import io
import json
import re
import tomllib

import numpy as np
import pytest
from playwright.sync_api import expect

from mechanisms.calibration import compare, comparison_table
from mechanisms.calibration_artifact import Artifact, load
from mechanisms.calibration_convert import Recipe
from mechanisms.calibration_grid import Grid
from mechanisms.calibration_layer import digest, synthetic_inputs, synthetic_layer
from mechanisms.calibration_report import column_table
from mechanisms.values.calibration import VECTORS
from pages._calibration_gptq import SHOWN, moments
from tests.browser import ROOT, longest_piece
from tests.chapters import LOCALES, Chapter, wanted
from tests.conftest import Pages

pytestmark = pytest.mark.browser
TOPIC = "calibration"
TEXTS = tomllib.loads((ROOT / "lessons/ui.toml").read_text("utf-8"))[TOPIC]


@pytest.mark.parametrize("lang", LOCALES)
def test_comparison_follows_the_grid_and_the_link(page: Pages, lang: str) -> None:
    """All cells of the comparison after changing the grid are the mechanism's, and a reload shows them again."""
    chapter = Chapter(page(locale=LOCALES[lang]), TOPIC, lang, granularity="channel", grid="asymmetric", guess1="same")
    chapter.choose("bits", "3")
    found = compare(
        synthetic_layer(), calibration=synthetic_inputs("prose", VECTORS),
        held_out=synthetic_inputs("prose", VECTORS, part=1), base=Recipe(grid=Grid(3, False, "channel")),
    )  # fmt: skip
    expect(chapter.page).to_have_url(re.compile("bits=3"))
    assert chapter.values("comparison") == wanted(comparison_table(found))
    chapter.page.reload()
    chapter.settle()
    assert chapter.values("comparison") == wanted(comparison_table(found))


def test_the_whole_chapter_follows_the_domain(page: Pages) -> None:
    """The first stage too: after another kind of text its cells and hashes are those of a fresh visit to that link."""
    chapter = Chapter(page(locale="en-US"), TOPIC, "en")
    before, facts = chapter.values("baseline"), chapter.page.locator(".wiki-facts").inner_text()
    chapter.choose("domain", "code")
    expect(chapter.page).to_have_url(re.compile("domain=code"))
    chapter.settle()
    fresh = Chapter(page(locale="en-US"), TOPIC, "en", domain="code")
    assert chapter.values("baseline") == fresh.values("baseline") != before
    assert chapter.page.locator(".wiki-facts").inner_text() == fresh.page.locator(".wiki-facts").inner_text() != facts


AT_ONCE = """async (n, step) => {
  n.value = step
  n.dispatchEvent(new Event('input'))
  await new Promise(requestAnimationFrame)
  return [...document.querySelectorAll('[data-table="calibration.column"] .wiki-cell')].map(b => b.dataset.value)
}"""


def test_table_follows_the_stepper_within_a_frame(page: Pages) -> None:
    """The table shows the step of the scrub bar in the next frame, so no server was asked; keys and the other order
    lead to the same numbers."""
    tab = page()
    chapter = Chapter(tab, TOPIC)
    player = chapter.part("player")
    for step in (0, 15, 7):
        table = column_table(*moments(4, False)[step], 0)
        shown = player.locator("input[type=range]").evaluate(AT_ONCE, str(step))
        cells = wanted(table)
        assert shown == [cells[r, name][0] for r in range(len(table.rows)) for name in SHOWN]
    chapter.choose("order", "act_order")
    player.locator(".wiki-play").focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    assert chapter.values("column") == wanted(column_table(*moments(4, True)[1], 0))
    expect(tab).to_have_url(re.compile("order=act_order"))


@pytest.mark.parametrize("lang", LOCALES)
def test_answer_stays_away_until_the_guess(page: Pages, lang: str) -> None:
    """Neither feedback nor the weights' error is in the document before the guess; both are afterwards."""
    chapter = Chapter(page(locale=LOCALES[lang]), TOPIC, lang)
    pieces = {n: longest_piece(TEXTS[n][lang])
              for n in TEXTS if n.startswith("guess1_") and n.endswith(("feedback", "why"))}  # fmt: skip
    del pieces["guess1_several_feedback"]  # one word
    content = chapter.page.content()
    assert len(pieces) == 4 and [n for n, text in pieces.items() if text in content] == []
    assert "calibration.weight_error" not in content
    chapter.commit("guess1", "smaller")
    assert pieces["guess1_smaller_feedback"] in chapter.page.content()
    expect(chapter.table("comparison").locator('[data-quantity="calibration.weight_error"]')).to_have_count(10)


def test_files_of_the_artifact_load_and_spoilt_ones_do_not(page: Pages) -> None:
    """The two links hold an artifact that loads to the weights that its manifest names; a spoilt one is refused."""
    chapter = Chapter(page(), TOPIC, method="awq_gptq")
    links = chapter.part("download").locator("a[download]").evaluate_all("a => a.map(x => x.href.split(',')[1])")
    made = Artifact(*(base64.b64decode(x) for x in links))
    weights = load(made, synthetic_layer()).weights
    assert digest(weights) == json.loads(made.manifest)["weights_sha256"]
    verdict = chapter.part("verdict").locator("[data-refusal]")
    for code in ("payload_changed", "base_differs"):
        chapter.choose("corruption", code)
        expect(verdict).to_have_attribute("data-refusal", code)
        expect(verdict).to_contain_text(TEXTS[f"refused_{code}"]["en"].split("{")[0].strip())


def test_own_layer_replaces_the_built_in_one(page: Pages) -> None:
    """A file is used in every table, a bad one is named and changes nothing, and the built-in layer comes back."""
    chapter = Chapter(page(locale=LOCALES["zh"]), TOPIC, "zh")
    rng, buffer = np.random.default_rng(2), io.BytesIO()
    vectors = {n: rng.standard_normal((40, 24)) for n in ("calibration", "held_out")}
    np.savez(buffer, weight=rng.standard_normal((5, 24)).astype(np.float32), **vectors)  # pyright: ignore[reportArgumentType]
    part = chapter.part("file")
    part.locator("summary").click()

    def give(data: bytes, tries: int) -> None:
        part.locator("input").set_input_files({"name": "l.npz", "mimeType": "application/zip", "buffer": data})
        expect(part).to_have_attribute("data-tries", str(tries))
        chapter.settle()

    built_in = chapter.values("comparison")
    give(b"no layer", 1)
    expect(part.locator(".wiki-error")).to_have_text(TEXTS["file_not_a_container"]["zh"])
    assert chapter.values("comparison") == built_in
    give(buffer.getvalue(), 2)
    assert chapter.values("baseline")[0, "inputs"] == ("24", "24")
    expect(chapter.table("comparison").locator("tbody tr")).to_have_count(7)
    expect(chapter.table("outputs").locator("tbody tr")).to_have_count(5)
    part.locator("button").click()
    expect(part).to_have_attribute("data-tries", "3")
    chapter.settle()
    assert chapter.values("comparison") == built_in
