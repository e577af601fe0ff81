"""The verification-budget chapter through Streamlit's test driver: what is sent equals the mechanisms, and bad input
has its own words in both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from lessons import store
from mechanisms import dspark_input as typed
from mechanisms.dspark_input import Batch, Costs, InvalidFields
from mechanisms.dspark_presets import CHAINS, CURVES, EXAMPLES, REQUESTS, numbers
from pages._dspark_state import CONTROLS, chains, stops
from pages.dspark import SLOTS
from tests.browser_dspark import TOPIC, Shown, State, chain_tables, shown, wanted
from tests.chapters import Opener, own, parts, sent

GUESSED = {"guess1": "2", "guess2": "more"}
OWN_BATCH = Batch((numbers("0.9"), numbers("1/3 1"), numbers("0 0.5")), numbers("2 1.9 1.8 1.7 1.6 1.5 1.4 1.3"))


@pytest.fixture(scope="module", params=store.LANGUAGES)
def opened(request: pytest.FixtureRequest) -> Opener:
    return Opener(TOPIC, request.param)


def tables(found: dict[str, Any], frames: dict[str, int]) -> dict[str, Shown]:
    """Every table that was sent, at the position of the control that it follows."""
    return {
        data["id"].removeprefix(f"{TOPIC}."): sent(data, min(frames.get(data["topic"], 0), len(data["frames"]) - 1))
        for data in found.values()
        if "frames" in data and "columns" in data
    }


def positions(found: dict[str, Any]) -> dict[str, int]:
    """Where slider and pills stand."""
    at = {f"{TOPIC}.drag": found.get(f"{TOPIC}.drag", {"value": 0})["value"]}
    if policy := found.get(f"{TOPIC}.policy"):
        at[f"{TOPIC}.policy"] = [o["id"] for o in policy["options"]].index(policy["value"])
    return at


STATES: dict[str, tuple[dict[str, str], State]] = {
    "locked": ({}, State(guessed=False)),
    "defaults": (GUESSED, State()),
    "all": (GUESSED | {"chain": "all"}, State(chain=CHAINS["all"])),
    "rejected": (GUESSED | {"chain": "rejected"}, State(chain=CHAINS["rejected"])),
    "dead": (GUESSED | {"chain": "dead"}, State(chain=CHAINS["dead"])),
    "none": (GUESSED | {"chain": "none"}, State(chain=())),
    "own": (GUESSED | {"chain": "own", "own": "1/3"}, State(chain=(Fraction(1, 3),))),
    "long": (GUESSED | {"chain": "own", "own": "~".join(["0.9"] * 16)}, State(chain=(Fraction("0.9"),) * 16)),
    "dragged": (GUESSED | {"pos": "3", "drag": "0"}, State(chain=(*numbers("0.9 0.8"), Fraction(0), Fraction("0.4")))),
    "dragged-up": (GUESSED | {"pos": "2", "drag": "20"}, State(chain=numbers("0.9 1 0.6 0.4"))),
    "costs": (GUESSED | {"costs": "1~2_3~1/3~0.5_0_1"},
              State(costs=Costs(numbers("1 2"), numbers("3 1/3 0.5"), Fraction(0), Fraction(1)))),
    "step": (GUESSED | {"curve": "step", "step": "4"}, State(batch=Batch(REQUESTS, CURVES["step"]))),
    "batch": (GUESSED | {"curve": "own", "batch": "0.9_1/3~1_0~0.5_2~1.9~1.8~1.7~1.6~1.5~1.4~1.3"},
              State(batch=OWN_BATCH)),
    "appendix": (GUESSED | {"example": "appendix", "policy": "first_drop", "draws": "1000", "seed": "77"},
                 State(example=EXAMPLES["appendix"], policy="first_drop", draws=1000, seed=77)),
    "target": (GUESSED | {"policy": "target", "draws": "100000", "seed": "0"},
               State(policy="target", draws=100_000, seed=0)),
    "case": (GUESSED | {"example": "own", "case": "0.5~0.5~0_0.1~0.2~0.7_0.3~1~0_1~1/3~0.4"},
             State(example=typed.read_example({"p": "0.5 0.5 0", "q": "0.1 0.2 0.7", "second": "0.3 1 0",
                                               "sps": "1 1/3 0.4"}))),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_every_table_is_the_mechanism(opened: Opener, name: str) -> None:
    """All tables that are sent, cell by cell, at defaults and at the ends of every control."""
    query, state = STATES[name]
    found = parts(opened(**query))
    assert not [k for k in found if k.startswith("notice-")]
    assert tables(found, positions(found)) == wanted(state)


@pytest.mark.parametrize("chain", ["printed", "all", "rejected"])
def test_every_stop_of_the_slider_is_the_mechanism(opened: Opener, chain: str) -> None:
    """For every position and every stop the frames hold the tables of the chain with that one value."""
    base = CHAINS[chain]
    for at in range(len(base)):
        found = parts(opened(chain=chain, pos=at + 1))
        texts = found[f"{TOPIC}.drag"]["texts"]
        assert len(texts) == len(stops(base, at)) == len(found[f"{TOPIC}.survival"]["frames"]) > 20
        for frame, moved in enumerate(chains(base, at)):
            for name, table in chain_tables(moved, State().costs, guessed=False).items():
                assert sent(found[f"{TOPIC}.{name}"], frame) == shown(table), (name, frame)


def test_every_slot_sends_something(opened: Opener) -> None:
    """Each slot of the chapter adds at least one part once the guesses are in; recomputed tables wait for the click."""
    sent = set(parts(opened(**GUESSED)))
    renamed = {
        "versions": "version_offline", "position": "pos", "chain_editor": "chain_form", "cost_editor": "costs_form",
        "batch_editor": "batch_form", "case_editor": "case_form", "guess_length": "guess1", "guess_look": "guess2",
        "allocations": "allocation", "singles": "single_1", "counts": "drawn_hindsight",
    }  # fmt: skip
    names = {s.removeprefix(f"{TOPIC}.") for s in own(SLOTS)}
    missing = {n for n in names if f"{TOPIC}.{renamed.get(n, n)}" not in sent}
    assert missing == {"counted", "counted_caps", "checked"}


JUNK = {
    "chain": "x", "own": "1.5", "pos": "99", "drag": "x", "costs": "1_0_0_0", "curve": "x", "batch": "0.5_1",
    "step": "-4", "example": "x", "case": "1~0_1~0_1_1~1~1", "policy": "luck", "draws": "7", "seed": "-1",
    "grid": "x", "guess1": "9", "guess2": "x",
}  # fmt: skip


def test_junk_in_the_link_is_named_and_replaced(opened: Opener) -> None:
    """Every control whose value cannot be taken is named, and the page shows its defaults."""
    assert set(JUNK) == {c.name for c in CONTROLS}
    found = parts(opened(**JUNK))
    assert {k for k in found if k.startswith("notice-")} == {f"notice-{TOPIC}-{name}" for name in JUNK}
    assert tables(found, positions(found))["survival"] == wanted(State(guessed=False))["survival"]


def test_guesses_keep_their_answer(opened: Opener) -> None:
    """Nothing of either answer is sent before its guess, whatever the other says; a teacher's link opens both."""
    sent = json.dumps(parts(opened()), ensure_ascii=False)
    for secret in (
        "1.190909",
        "cost_b",
        "first_output",
        "happened",
        "hindsight",
        "policies",
        "dspark.drawn",
        "look_own",
    ):
        assert secret not in sent, secret
    assert "cost_b" in json.dumps(parts(opened(guess1="0"))) and "policies" not in json.dumps(parts(opened(guess1="0")))
    open_ = parts(opened(unlock="1"))
    assert open_[f"{TOPIC}.guess1"]["feedback"] and open_[f"{TOPIC}.guess2"]["feedback"]


def test_every_guess_has_feedback_of_its_own(opened: Opener) -> None:
    """Each length and each option has its own words; the right ones are marked."""
    said = {parts(opened(guess1=g))[f"{TOPIC}.guess1"]["feedback"].split("</p>")[1] for g in range(5)}
    assert len(said) == 5
    options = ("exact", "more", "less", "later")
    data = {g: parts(opened(guess2=g))[f"{TOPIC}.guess2"] for g in options}
    assert len({d["feedback"] for d in data.values()}) == 4
    for g, d in data.items():
        verdicts = {o["id"]: o.get("verdict") for o in d["options"]}
        assert verdicts["more"] == "right" and verdicts[g] == ("right" if g == "more" else "wrong")


def test_player_tells_the_path(opened: Opener) -> None:
    """One picture per admission; the early stop on the steps is the second one, the best point is said once."""
    for curve, stop in (("smooth", 3), ("step", 1)):
        steps = parts(opened(curve=curve))[f"{TOPIC}.player"]["variants"][0]
        events = [s["event"] for s in steps]
        assert events == ["start", *["better"] * (stop - 1), "stop", *["beyond"] * (6 - stop)]
        assert sum("<b>" in s["caption"] for s in steps) == 1
    assert [c["text"] for c in steps[0]["lanes"][0]["cells"]] == ["1", "0.90", "0.72", "0.36"]


BAD: dict[str, tuple[Callable[[Any], Any], Any, tuple[str, str, int]]] = {
    "empty": (typed.read_chain, "", ("chain", "empty", 0)),
    "above-one": (typed.read_chain, "0.5 1.5", ("chain", "not_a_chance", 2)),
    "negative": (typed.read_chain, "-0.1", ("chain", "not_a_chance", 1)),
    "nan": (typed.read_chain, "nan", ("chain", "not_finite", 1)),
    "text": (typed.read_chain, "0.5 half", ("chain", "not_a_number", 2)),
    "sixty-four": (typed.read_chain, "0.9 " * 64, ("chain", "too_many", 0)),
    "endless": (typed.read_chain, "0.9 " * 100_000, ("chain", "too_long", 0)),
    "reached": (typed.read_chain, "0.5 ? 0", ("chain", "reached", 2)),
    "cost-zero": (typed.read_costs, {"a": "1 0", "b": "1", "draft": "0", "fixed": "0"}, ("a", "not_positive", 2)),
    "cost-negative": (typed.read_costs, {"a": "1", "b": "-1", "draft": "0", "fixed": "0"}, ("b", "not_positive", 1)),
    "draft-negative": (typed.read_costs, {"a": "1", "b": "1", "draft": "-1", "fixed": "0"}, ("draft", "negative", 1)),
    "two-drafts": (typed.read_costs, {"a": "1", "b": "1", "draft": "1 2", "fixed": "0"}, ("draft", "too_many", 0)),
    "no-request": (typed.read_batch, {"r1": " ", "sps": "1"}, ("r1", "empty", 0)),
    "short-curve": (typed.read_batch, {"r1": "0.5 0.5", "sps": "1 1"}, ("sps", "too_few", 0)),
    "sum": (typed.read_example, {"p": "0.5 0.4", "q": "0.5 0.5", "second": "1 1", "sps": "1 1 1"},
            ("p", "sum_not_one", 0)),
    "widths": (typed.read_example, {"p": "0.5 0.5", "q": "1 0 0", "second": "1 1", "sps": "1 1 1"},
               ("q", "too_many", 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_in_both_languages(name: str) -> None:
    """Each fault has its field, code and place, and words with every placeholder filled."""
    read, text, wanted_problem = BAD[name]
    with pytest.raises(InvalidFields) as caught:
        read(text)
    first = caught.value.problems[0]
    assert (first.field, first.code, first.place) == wanted_problem
    for lang in store.LANGUAGES:
        words = store.ui(f"{TOPIC}.problem_{first.code}", lang, detail=first.detail, limit=first.limit)
        assert "{" not in words and bool(re.search("[一-鿿]", words)) == (lang == "zh")


def test_good_input_comes_back_from_its_link() -> None:
    """Whatever was typed, the link gives back the very same numbers."""
    by_name = {c.name: c for c in CONTROLS}
    cases = {
        "own": typed.read_chain("1/3，０.5 0 ?"),
        "costs": typed.read_costs({"a": "1 1/3", "b": "2", "draft": "0.15", "fixed": "0"}),
        "batch": OWN_BATCH,
        "case": EXAMPLES["appendix"],
    }
    for name, value in cases.items():
        assert by_name[name].read(by_name[name].write(value)) == (value, False)
