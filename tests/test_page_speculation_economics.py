"""The economics chapter through AppTest: every slot, every table against its mechanism or reference, every extreme."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import get_args

import pytest

from lessons import store
from mechanisms import economics_lists, economics_tree
from mechanisms.economics_metrics import metrics
from mechanisms.rejection_presets import PRESETS
from mechanisms.speculation_economics import RATES, speed_curve
from pages._economics_state import CONTROLS, DRAFT_TIMES, SPEEDS, VERIFY_TIMES
from pages.speculation_economics import SLOTS
from tests.browser_ledger import rows_of
from tests.chapters import Opener, own, parts
from tests.economics_waves import (
    CHOSEN,
    ENDS,
    OWN,
    WAVES,
    check_rates,
    check_speed,
    check_tree,
    shown,
    wanted,
    wave,
)

TOPIC = "speculation_economics"
Cells = dict[tuple[int, str], tuple[str, str]]


@pytest.fixture(scope="module", params=store.LANGUAGES)
def opened(request: pytest.FixtureRequest) -> Opener:
    return Opener(TOPIC, request.param)


def test_every_slot_sends_something(opened: Opener) -> None:
    """Each slot adds at least one part; the editors of own input do once they are chosen."""
    found = set(parts(opened(curve="own", own_curve="1~1.1~1.2", tree_pair="own", own_pair="A,B~1/2,1/2~1/4,3/4")))
    renamed = {"guess_longer": "guess1", "guess_rivals": "guess2"}
    missing = {s for s in own(SLOTS) if f"{TOPIC}.{renamed.get(s.split('.')[1], s.split('.')[1])}" not in found}
    assert missing == set()


def test_formulas_find_their_numbers(opened: Opener) -> None:
    """Each slot of a formula names a column of its own table, or of the table that its sums run over."""
    found = parts(opened())
    tables = {k: d for k, d in found.items() if "columns" in d}
    assert len(tables) == 25
    for data in tables.values():
        own = {c["name"] for c in data["columns"]}
        over = {c["name"] for c in tables[data["over"]]["columns"]} if data["over"] else own
        for column in data["columns"]:
            for name, row in re.findall(r"⟦(\w+)(#\d+)?⟧", column["template"]):
                assert name == "row" or name in (over if row else own), (data["id"], column["name"], name)


def test_waves_reach_every_value() -> None:
    """Over all waves each control takes each of its values, and each shape meets each rule."""
    taken = [wave(i) for i in range(WAVES)]
    assert all({w[name] for w in taken} == set(values) for name, values in ENDS.items())
    assert len({(w["tree"], w["rule"]) for w in taken}) == len(economics_tree.SHAPES) * len(economics_tree.RULES)
    assert {*ENDS, *OWN} == {c.name for c in CONTROLS}


def test_every_table_is_its_mechanism(opened: Opener) -> None:
    """In every wave each table of the page, at both ends of its sliders, is the mechanism's or the reference's."""
    for i in range(WAVES if opened.lang == "en" else 3):
        state = wave(i)
        found = parts(opened(**state))
        assert not [k for k in found if k.startswith("notice-")], state
        check_speed(found, state)
        check_rates(found, state)
        check_tree(found, state)


def test_defaults_equal_the_references(opened: Opener) -> None:
    """What a first visitor sees of price, falling acceptance and ridge is in the reference files."""
    found = parts(opened())
    frame = DRAFT_TIMES.index(3) * len(VERIFY_TIMES) + VERIFY_TIMES.index(12)
    for i, row in enumerate(rows_of("draft_economics")):
        assert Fraction(shown(found, "price", frame)[i, "ms_per_token"][1]) == Fraction(row["ms_per_token_exact"])
        assert Fraction(shown(found, "price", frame)[i, "price_speedup"][1]) == Fraction(row["speedup_exact"])
    falling, limits = shown(found, "chain_table"), shown(found, "ridge_limits")
    for i, row in enumerate(rows_of("recap_chain_decay")):
        assert Fraction(falling[i, "prefix_survival"][1]) == Fraction(row["survival_exact"])
        assert falling[i, "tokens_falling"][0] == row["tokens_decaying"]
        assert falling[i, "tokens_constant"][0] == row["tokens_constant"]
    for i, row in enumerate(rows_of("recap_ridge_limits")):
        assert limits[i, "ridge"][1] == row["ridge_exact"]
        assert limits[i, "largest_batch"][1] == row["largest_batch"]
        assert limits[i, "largest_batch_w4"][1] == row["largest_batch_w4"]


def test_own_input_is_shown_as_written(opened: Opener) -> None:
    """Extreme lists and pairs of the reader's own render; three own costs leave three draft lengths."""
    for i in range(3):
        found = parts(opened(**{name: values[i] for name, values in OWN.items()}, **CHOSEN))
        assert not [k for k in found if k.startswith("notice-")]
    found = parts(opened(curve="own", own_curve="1~1.5~3", gamma=9, trace="own", own_trace="0~5~2"))
    costs = (Fraction(1), Fraction(3, 2), Fraction(3))
    assert shown(found, "speed_curve", 16) == wanted(speed_curve(RATES[16], Fraction("0.1"), costs))
    assert found[f"{TOPIC}.gamma"]["value"] == 2 and len(found[f"{TOPIC}.gamma"]["texts"]) == 3
    assert shown(found, "metrics") == wanted(metrics((0, 5, 2), 5))


def test_junk_is_answered_by_notices(opened: Opener) -> None:
    """Text that a control does not know is replaced and named, one notice for each."""
    junk = {"own_chain": "2", "own_trace": "13", "own_curve": "0", "own_pair": "A~1~1"}
    for text in ("nonsense", "nan", "-7"):
        found = parts(opened(**{name: junk.get(name, text) for name in (*ENDS, *OWN)}))
        notices = {k for k in found if k.startswith("notice-")}
        assert notices == {f"notice-{TOPIC}-{name}" for name in (*ENDS, *OWN)}, text


def test_every_problem_has_words() -> None:
    """What a list may be refused for is said in both languages, and not in the same words."""
    for code in get_args(economics_lists.Code):
        said = {store.ui(f"{TOPIC}.fault_{code}", lang, detail="d", limit=9) for lang in store.LANGUAGES}
        assert len(said) == len(store.LANGUAGES)


def test_own_input_comes_back_from_its_link() -> None:
    """What the link says is the very same list or pair."""
    by_name = {c.name: c for c in CONTROLS}
    values = (Fraction(1, 3), Fraction(1), Fraction(0))
    assert by_name["own_chain"].read(by_name["own_chain"].write(values)) == (values, False)
    pair = PRESETS["zero_in_draft"]
    assert by_name["own_pair"].read(by_name["own_pair"].write(pair)) == (pair, False)


def test_guesses_have_their_own_feedback(opened: Opener) -> None:
    """Nothing of the answer is sent before a guess; each kind of guess has words of its own."""
    before = parts(opened())
    assert before[f"{TOPIC}.guess1"]["feedback"] is None and before[f"{TOPIC}.guess2"]["feedback"] is None
    assert all("verdict" not in o for o in before[f"{TOPIC}.guess2"]["options"])
    kinds = {"right": "1", "as_one": "1.3", "no_cost": "2.5", "low": "0.2", "faster": "2"}
    said = {
        k: parts(opened(guess1=SPEEDS.index(Fraction(g))))[f"{TOPIC}.guess1"]["feedback"].split("</p>")[1]
        for k, g in kinds.items()
    }
    assert len(set(said.values())) == len(kinds)
    chosen = {parts(opened(guess2=g))[f"{TOPIC}.guess2"]["feedback"] for g in ("same", "other", "equal", "unknown")}
    assert len(chosen) == 4
