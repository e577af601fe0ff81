"""Every page in both languages through Streamlit's own test driver: what the server would send, without a browser."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from lessons import store
from mechanisms.distribution import MAX_NAME, Pair, normalised
from mechanisms.rejection_presets import PRESETS
from pages._menu import PAGES
from pages._rejection_pair import CONTROLS
from tests.browser import ROOT
from tests.browser_ledger import JUNK, LANGUAGES, TOPIC, WAVES, fraction, reference, rows_of
from tests.chapters import Cells, Opener, parts, sent

RULES = {
    "accept every draft": "accept_all",
    "correct from p instead of the residual": "no_residual",
    "argmax draft scored with its softmax value": "argmax_draft",
    "accept only the target argmax, else emit it": "target_argmax",
}
LENGTH = {
    "p_one": "one_token", "p_two": "two_tokens", "p_three": "three_tokens", "expected_tokens": "tokens_per_round",
}  # fmt: skip
# percent of drafts rejected -> the thought behind it
SHARES = {"right": 50, "agreement": 0, "favourite_only": 56, "point_mass": 60, "low": 30, "high": 90}


@pytest.fixture(scope="module", params=LANGUAGES)
def opened(request: pytest.FixtureRequest) -> Opener:
    return Opener(TOPIC, request.param)


def table(page: AppTest, name: str, frame: int = 0) -> Cells:
    return sent(parts(page)[f"{TOPIC}.{name}"], frame)


@pytest.mark.parametrize("name", PAGES)
def test_page_runs_and_says_something(opened: Opener, name: str) -> None:
    """Each page runs without an exception and is not empty."""
    page = opened(name)
    text = "".join(d.get("html", "") for d in parts(page).values())
    assert len(re.sub(r"<[^>]+>", "", text)) > 200


@pytest.mark.parametrize("name", PAGES)
def test_pages_have_the_same_parts_in_both_languages(name: str) -> None:
    """A language changes words and never which components there are, in which order."""
    keys = []
    for lang in LANGUAGES:
        page = AppTest.from_file(str(ROOT / "pages/__main__.py"), default_timeout=60)
        page.query_params["lang"] = lang
        page.run()
        keys.append(list(parts(page.switch_page(f"{name}.py").run())))
    assert keys[0] == keys[1] and len(keys[0]) > 2


@pytest.mark.parametrize("preset", PRESETS)
def test_ledger_payload_equals_the_reference(opened: Opener, preset: str) -> None:
    """What is sent for the ledger and its totals is the reference file's row, cell by cell, for every preset."""
    page = opened(pair=preset)
    cells, totals = table(page, "ledger"), table(page, "summary")
    names = {"accept": "acceptance_probability", "direct": "direct_mass", "correction": "correction_mass",
             "final": "final_mass", "corr_dist": "residual"}  # fmt: skip
    rows = rows_of("spec_ledger", preset=preset)
    assert len(cells) == 8 * len(rows)
    for i, row in enumerate(rows):
        for short, name in names.items():
            assert cells[i, name] == (row[short], row[f"{short}_exact"]), (row["token"], name)
        p, q, direct = (Fraction(row[name]) for name in ("p", "q", "direct_exact"))
        for name, wanted in (("target_probability", p), ("draft_probability", q), ("rejected_mass", q - direct)):
            assert cells[i, name] == (f"{float(wanted):.6f}", str(wanted)), (row["token"], name)
    (row,) = rows_of("spec_ledger_summary", preset=preset)
    assert totals[0, "acceptance_rate"] == (row["accept_mass"], row["accept_mass_exact"])
    assert totals[0, "rejection_probability"] == totals[0, "correction_total"] == (row["reject"], row["reject_exact"])
    for short, name in (("kl_12dp", "kl_divergence"), ("pinsker_tv_bound_12dp", "pinsker_bound")):
        shown, figure = totals[0, name][0], row[short]
        assert shown == ("∞" if figure == "infinity" else f"{float(round(Fraction(figure), 6)):.6f}")


@pytest.mark.parametrize("rule", RULES)
def test_law_payload_equals_the_reference(opened: Opener, rule: str) -> None:
    """What is sent for the law of a broken rule and its distance is the reference's, for every preset."""
    for preset in PRESETS:
        page = opened(pair=preset, rule=RULES[rule])
        law, verdict = table(page, "law"), table(page, "verdict")
        for i, row in enumerate(rows_of("spec_wrong_rules", preset=preset, rule=rule)):
            assert law[i, "output_law"] == (row["output"], row["output_exact"]), (preset, row["token"])
            assert law[i, "target_probability"][0] == row["target"]
            assert verdict[0, "distance"] == (row["tv"], row["tv_exact"]), preset


def test_greedy_bias_and_length_payloads_equal_the_reference(opened: Opener) -> None:
    """The three figures called acceptance and the law of two drafts are those of their reference files."""
    for row in reference("greedy_draft_bias"):
        cells = table(opened(pair=row["preset"]), "greedy_bias")
        assert fraction(cells[0, "star_target"][1]) == Fraction(row["p_star"])
        assert fraction(cells[0, "star_draft"][1]) == Fraction(row["q_star"])
        assert cells[0, "counted_by_listing"] == (row["listing_acceptance"], row["listing_acceptance_exact"])
        assert cells[0, "acceptance_rate"] == (row["sampled_acceptance"], row["sampled_acceptance_exact"])
        assert cells[0, "point_mass_acceptance"][1] == row["point_mass_acceptance_exact"]
        assert cells[0, "star_emitted"][1] == row["output_star_exact"]
        assert cells[0, "distance"] == (row["tv"], row["tv_exact"])
        (length,) = rows_of("spec_two_draft_length", preset=row["preset"])
        shown = table(opened(pair=row["preset"]), "length")
        for short, name in LENGTH.items():
            assert shown[0, name] == (length[short], length[f"{short}_exact"]), (row["preset"], name)


@pytest.mark.parametrize("wave", range(WAVES), ids=[f"wave-{i}" for i in range(WAVES)])
def test_impossible_values_are_named_and_replaced(opened: Opener, wave: int) -> None:
    """Every control whose value in the link cannot be taken is named in a notice, and the link becomes valid."""
    state = {name: texts[wave] for name, texts in JUNK.items() if wave < len(texts)}
    page = opened(**state)
    notices = " ".join(d["html"] for k, d in parts(page).items() if k.startswith("notice-"))
    assert {name for name in state if f"{name} = " not in notices} == set()
    assert "<b>x</b>" not in notices
    repaired = {k: v[0] if isinstance(v, list) else v for k, v in page.query_params.items()}
    again = opened(**repaired)
    assert not [k for k in parts(again) if k.startswith("notice-")]


def test_every_guess_has_feedback_of_its_own(opened: Opener) -> None:
    """Each option of the first question and each mistaken share of the second gets its own answer; without a guess
    there is none in what is sent."""
    assert all(parts(opened())[f"{TOPIC}.{name}"]["feedback"] is None for name in ("guess1", "guess2"))
    found = {}
    for option in ("law", "bug", "nothing", "zero"):
        data = parts(opened(guess1=option))[f"{TOPIC}.guess1"]
        found[option] = data["feedback"]
        verdicts = {o["id"]: o["verdict"] for o in data["options"]}
        assert verdicts[option] == ("right" if option == "nothing" else "wrong")
    for mistake, share in SHARES.items():
        text = parts(opened(guess2=share))[f"{TOPIC}.guess2"]["feedback"]
        assert f"{share} %" in text
        found[mistake] = text.replace(f"{share} %", "")
    assert len(set(found.values())) == len(found) == 10


def test_sources_lists_every_source(opened: Opener) -> None:
    """Each entry of the sources file is on the page, with an anchor that citations lead to."""
    html = "".join(d.get("html", "") for d in parts(opened("sources")).values())
    assert [key for key in store.sources() if f'id="{key}"' not in html] == []


NAME = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=MAX_NAME // 4)
WEIGHTS = st.lists(st.fractions(0, 1, max_denominator=30), min_size=3, max_size=3).filter(any).map(normalised)


@given(names=st.lists(NAME | st.sampled_from("~,%&#+=;|"), min_size=3, max_size=3, unique=True), p=WEIGHTS, q=WEIGHTS)
def test_own_pair_comes_back_from_its_link(names: list[str], p: Any, q: Any) -> None:
    """Whatever tokens are called and whatever their fractions, the link gives back the very same pair."""
    own = next(c for c in CONTROLS if c.name == "own")
    pair = Pair(tuple(names), p, q)
    assert own.read(own.write(pair)) == (pair, False)
