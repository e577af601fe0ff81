"""The drafter chapter through Streamlit's test driver: every frame sent is the mechanism's, in both languages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from lessons import store
from mechanisms.drafter_order import TEMPERATURES
from mechanisms.drafter_published import PUBLISHED
from mechanisms.drafter_rounds import MOST, PLACES, read_pairs
from mechanisms.drafter_toy import STRENGTHS
from pages import _drafter_scores as scores
from pages._drafter_guess import mistake
from pages._drafter_state import CONTROLS
from pages.dspark_drafter import SLOTS
from tests.chapters import Opener, parts, sent
from tests.oracle_drafter_page import expected, own

TOPIC = "dspark_drafter"
LAST = 6
# which control a table's frames follow, and how many positions it has
FRAMES: dict[str, tuple[str, int, int]] = {
    **dict.fromkeys(
        ("pairs", "collisions", "labels", "label_value", "contexts", "means"), ("strength", 0, len(STRENGTHS))
    ),
    **dict.fromkeys(("order", "leads"), ("heat", 0, len(TEMPERATURES))),
    **dict.fromkeys(("scores_before", "scores_after", "bins_before", "bins_after"), ("position", 1, PLACES)),
}
STATES: tuple[dict[str, object], ...] = (
    {},
    {"anchor": "New", "draw": "second", "head": "off", "place": "2", "previous": ".", "lock": "both", "temper": "under",
     "rounds": "200", "seed": "9999", "guess2": "can"},
    {"anchor": ".", "draw": "third", "previous": "Angeles", "temper": "right", "rounds": "5000", "guess2": "never"},
)  # fmt: skip


@pytest.fixture(scope="module", params=store.LANGUAGES)
def opened(request: pytest.FixtureRequest) -> Opener:
    return Opener(TOPIC, request.param)


def tables_of(page: AppTest) -> dict[str, Any]:
    """Every table that is sent, by its name."""
    found = {k.removeprefix(f"{TOPIC}."): d for k, d in parts(page).items()}
    return {k: d for k, d in found.items() if isinstance(d, dict) and "frames" in d and "columns" in d}


@pytest.mark.parametrize("state", STATES, ids=["first", "second", "third"])
def test_every_table_and_frame_is_the_mechanisms(opened: Opener, state: dict[str, object]) -> None:
    """All tables, each at every position of the slider or choice that its frames follow, cell by cell."""
    tables = tables_of(opened(**state))
    assert set(tables) == set(expected(state))
    for name, (control, first, count) in FRAMES.items():
        assert len(tables[name]["frames"]) == count
        for at in {0, count // 2, count - 1}:
            want = expected({**state, control: at + first})[name]
            assert sent(tables[name], at) == want, (name, at)
    for at, head in enumerate(("off", "on")):
        for step in range(LAST + 1):
            want = expected({**state, "head": head, "step": step})
            for name in ("bias_row", "law"):
                assert sent(tables[name], at * (LAST + 1) + step) == want[name], (name, head, step)
    for at, place in enumerate(PUBLISHED):
        want = expected({**state, "published": place})
        assert all(sent(tables[n], at) == want[n] for n in ("points", "points_summary"))
    for name in ("sizes", "protocol", "places"):
        assert sent(tables[name]) == expected(state)[name]


def test_every_slot_sends_something(opened: Opener) -> None:
    """Each slot of the chapter adds at least one part."""
    shown = set(parts(opened()))
    renamed = {"guess_pair": "guess1", "guess_order": "guess2", "scores": "scores_before", "bins": "bins_before"}
    short = [s.split(".")[1] for s in SLOTS]
    assert [s for s in short if f"{TOPIC}.{renamed.get(s, s)}" not in shown] == []


@pytest.mark.parametrize(
    "state",
    [
        {"anchor": "x", "draw": "", "head": "maybe", "step": "nan", "place": "3", "strength": "9", "previous": "new"},
        {"lock": "first", "heat": "-1", "temper": "cold", "rounds": "10", "seed": "-1", "position": "6"},
        {"published": "2", "guess1": "101", "guess2": "x", "strength": "1e400", "step": "9" * 400, "position": "0"},
    ],
    ids=["block", "calibration", "rest"],
)
def test_impossible_values_are_named_and_replaced(opened: Opener, state: dict[str, str]) -> None:
    """Every control whose value in the link cannot be taken is named, and the link becomes valid."""
    page = opened(**state)
    named = {k.removeprefix(f"notice-{TOPIC}-") for k in parts(page) if k.startswith("notice-")}
    assert named == set(state)
    repaired = {k: v[0] if isinstance(v, list) else v for k, v in page.query_params.items()}
    assert not [k for k in parts(opened(**repaired)) if k.startswith("notice-")]


def test_answers_wait_for_the_guess(opened: Opener) -> None:
    """Before a guess there is no feedback and no column that answers; each wrong answer has its own words."""
    closed = parts(opened())
    assert closed[f"{TOPIC}.guess1"]["feedback"] is None and closed[f"{TOPIC}.guess2"]["feedback"] is None
    text = json.dumps(closed)
    assert "dspark_drafter.swapped" not in text and "dspark_drafter.either_way" not in text
    first = {g: parts(opened(guess1=g))[f"{TOPIC}.guess1"]["feedback"] for g in (48, 24, 52, 0, 30, 90)}
    assert [mistake(g) for g in first] == ["right", "one", "matched", "none", "low", "high"]
    second = [parts(opened(guess2=g))[f"{TOPIC}.guess2"]["feedback"] for g in ("never", "same", "differ", "can")]
    plain = [text.replace(f"{g} %", "") for g, text in first.items()]
    assert len({*plain, *second}) == 10 and None not in second
    unlocked = parts(opened(unlock=1))
    assert all(unlocked[f"{TOPIC}.{n}"]["feedback"] for n in ("guess1", "guess2"))


def test_derivations_have_words_for_every_quantity(opened: Opener) -> None:
    """Each column has a label, and each number without a formula says how it comes about or was given or quoted."""
    for name, data in tables_of(opened(guess2="can")).items():
        for column in data["columns"]:
            assert column["label"], (name, column["name"])
            formula = "=" in column["general"]
            assert formula or column["how"] or column["kind"] in ("given", "quoted"), (name, column["name"])


PASTED = [
    ("", "1", "empty"), ("nan", "1", "not_finite"), ("0.5 1.5", "1 0", "out_of_range"), ("0.5", "2", "not_binary"),
    ("0.5 0.6", "1", "lengths_differ"), ("word", "1", "not_a_number"), ("0." + "1" * 99, "1", "too_precise"),
]  # fmt: skip


def test_pasted_pairs_are_judged_and_bad_ones_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler keeps the last usable result, names every fault, survives hostile events and a million values."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(scores.st, "session_state", state)
    scores._paste({"p": "0.9 0.6 0.3", "q": "1 1 0"})
    good = state[scores._OWN][0]
    assert good.survived[:, 0].tolist() == read_pairs("0.9 0.6 0.3", "1 1 0").survived[:, 0].tolist()
    for p, q, code in PASTED:
        scores._paste({"p": p, "q": q})
        result, problems, _ = state[scores._OWN]
        assert result is good and problems[0].code == code
    scores._paste({"counts": {"p": 1_000_000, "q": 3}})
    result, problems, tries = state[scores._OWN]
    assert result is good and [(x.code, x.column) for x in problems] == [("too_many", "p")]
    for event in (None, 3, [], {"p": None}, {"counts": {"p": "x", "q": []}}, {"counts": {"q": MOST}}):
        scores._paste(event)
        assert state[scores._OWN][0] is good
    assert tries == len(PASTED) + 2
    assert own("0.9 0.6 0.3", "1 1 0")["own_scores_before"][0, "area_under_curve"] == ("1.000000", "1")


def test_words_exist_for_every_fault() -> None:
    """Both languages have a sentence of their own for each code."""
    codes = ["empty", "not_a_number", "not_finite", "too_precise", "out_of_range", "not_binary", "lengths_differ"]
    for lang in store.LANGUAGES:
        said = {store.ui(f"{TOPIC}.problem_{c}", lang, detail="x", limit="y") for c in [*codes, "too_many"]}
        assert len(said) == 8


def test_controls_are_named_in_the_lesson() -> None:
    """Each control but seed, step and guesses is a slot of the page."""
    hidden = {"seed", "step", "guess1", "guess2"}
    assert {c.name for c in CONTROLS} - hidden <= {s.split(".")[1] for s in SLOTS}
