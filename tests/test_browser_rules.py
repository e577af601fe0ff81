"""Rules, strips and the round in a real browser, against their reference files."""

from __future__ import annotations

from fractions import Fraction

import pytest
from playwright.sync_api import Page, expect

from tests.browser_ledger import choose, open_chapter, part, rows_of, settled, table, values
from tests.conftest import Pages

pytestmark = pytest.mark.browser
RULES = {
    "accept every draft": "accept_all",
    "correct from p instead of the residual": "no_residual",
    "argmax draft scored with its softmax value": "argmax_draft",
    "accept only the target argmax, else emit it": "target_argmax",
}
FILTERED = "draft cut to top 3, ratio from the uncut draft (equal to p)"
# heavy_tail is left out of the strips: the page names its class of tokens as one row, the reference one token of it
STRIPS = ("zero_in_draft", "argmax_agrees_tv_large", "sharp_target_flat_draft", "argmax_differs_tv_small", "identical")
CACHE = {
    "drafts": "draft_length", "accepted": "accepted_tokens", "emitted": "tokens_emitted",
    "discarded": "drafts_discarded", "prefix": "confirmed_tokens", "cached_before": "cached_before",
    "processed": "positions_processed", "cached_after_verify": "cached_after_verify", "cache_kept": "cache_kept",
    "cache_dropped": "cache_dropped", "cached_plus_pending": "confirmed_after",
}  # fmt: skip


@pytest.mark.parametrize("preset", ["zero_in_draft", "identical", "heavy_tail", "top_k_draft"])
def test_law_of_every_rule_equals_the_reference(page: Pages, preset: str) -> None:
    """Choosing a rule shows its law and its distance as the reference files have them."""
    tab = page()
    open_chapter(tab, pair=preset)
    (bias,) = rows_of("greedy_draft_bias", preset=preset)
    shown = values(tab, "greedy_bias")
    assert shown[0, "counted_by_listing"] == (bias["listing_acceptance"], bias["listing_acceptance_exact"])
    assert shown[0, "star_emitted"][1] == bias["output_star_exact"]
    assert shown[0, "distance"] == (bias["tv"], bias["tv_exact"])
    for name, rule in RULES.items():
        choose(tab, "rule", rule)
        law, verdict = values(tab, "law"), values(tab, "verdict")
        for i, row in enumerate(rows_of("spec_wrong_rules", preset=preset, rule=name)):
            assert law[i, "output_law"] == (row["output"], row["output_exact"]), (name, row["token"])
            assert verdict[0, "distance"] == (row["tv"], row["tv_exact"]), name


def jump(page: Page, key: str, tick: int) -> None:
    """A slider set as dragging sets it, in the browser only."""
    part(page, key).locator("input[type=range]").evaluate(
        "(n, v) => { n.value = v; n.dispatchEvent(new Event('input', { bubbles: true })) }", str(tick)
    )


def hit(page: Page, strip: str, bar: str) -> str | None:
    return part(page, strip).locator(f'[data-bar="{bar}"]').get_attribute("data-hit")


@pytest.mark.parametrize("preset", STRIPS)
def test_single_trial_equals_the_reference(page: Pages, preset: str) -> None:
    """Under each tick of the reference's grid the strips draft, accept and output the same token."""
    tab = page()
    open_chapter(tab, pair=preset)  # the defaults of u1 and u3 are the reference's fixed uniforms
    root = part(tab, "trial")
    accept = part(tab, "trial").locator('[data-bar="accept"] .wiki-part-of')
    for row in rows_of("spec_single_trial", preset=preset):
        jump(tab, "u2", round(100 * float(row["u_accept"])))
        assert hit(tab, "trial", "draft") == row["draft"]
        assert root.get_attribute("data-outcome") == row["output"], row["u_accept"]
        parts = accept.evaluate_all("ns => ns.map(n => n.dataset.hit)")
        assert parts == (["true", "false"] if row["accepted"] == "1" else ["false", "true"])


@pytest.mark.parametrize("preset", STRIPS)
def test_two_draft_walk_equals_the_reference(page: Pages, preset: str) -> None:
    """Under each pair of ticks both drafts, the reached checks and the output are the reference's."""
    tab = page()
    open_chapter(tab, pair=preset)
    root = part(tab, "walk")
    for row in rows_of("spec_two_draft_walk", preset=preset):
        for key, name in (("w1", "u_accept_1"), ("w2", "u_accept_2")):
            jump(tab, key, round(100 * float(row[name])))
        assert root.get_attribute("data-outcome") == row["output"], row
        assert hit(tab, "walk", "draft_1") == row["draft_1"] and hit(tab, "walk", "draft_2") == row["draft_2"]
        second = part(tab, "walk").locator('[data-bar="accept_2"]').get_attribute("data-reached")
        assert (second == "false") is (row["result"] == "first rejected")
        assert row["tokens"] in part(tab, "walk").locator(".wiki-outcome").inner_text()


@pytest.mark.parametrize("rejected", ["1", "2", "3", "4", "none"])
def test_round_ends_as_the_reference_says(page: Pages, rejected: str) -> None:
    """The cache table has the reference's counts, and the player's last step shows the same number of tokens."""
    tab = page()
    open_chapter(tab, reject=rejected)
    (row,) = rows_of("spec_rejection_cache", first_rejected=rejected)
    shown = values(tab, "cache")
    assert {short: shown[0, name][1] for short, name in CACHE.items()} == {short: row[short] for short in CACHE}
    player = part(tab, "round")
    player.locator("input[type=range]").press("End")
    root = player
    expect(root).to_have_attribute("data-event", "bonus" if rejected == "none" else "correction")
    text, drafts, cache = (lane.locator("li") for lane in player.locator(".wiki-lane").all())
    expect(text).to_have_count(int(row["cached_plus_pending"]))
    expect(drafts).to_have_count(int(row["drafts"]))
    kept = player.locator(".wiki-lane").nth(2).locator('li:not([data-state="dropped"])')
    expect(kept).to_have_count(int(row["cache_kept"]))
    expect(cache).to_have_count(int(row["cache_kept"]) + int(row["cache_dropped"]))
    settled(tab)


def test_filter_shows_its_law_and_its_own_slider(page: Pages) -> None:
    """Only the rule that filters the draft has a slider of its own; with three tokens of the uncut target kept
    its law is the reference's."""
    tab = page()
    uncut = "A,B,C,D,E,F~" + "~".join(["0.40,0.25,0.15,0.10,0.06,0.04"] * 2)
    open_chapter(tab, own=uncut, pair="own", rule="filtered_draft", keep=3)
    expect(part(tab, "keep").locator("input[type=range]")).to_have_value("2")
    law = values(tab, "law")
    for i, row in enumerate(rows_of("spec_wrong_rules", preset="top_k_draft", rule=FILTERED)):
        assert law[i, "output_law"] == (row["output"], row["output_exact"])
        assert Fraction(values(tab, "verdict")[0, "distance"][1]) == Fraction(row["tv_exact"])
    choose(tab, "rule", "accept_all")
    expect(part(tab, "keep")).to_have_count(0)
    expect(table(tab, "law")).to_be_visible()
