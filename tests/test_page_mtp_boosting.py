"""The draft-training chapter as the server sends it: every slot, every frame of every table, guesses, bad input."""

from __future__ import annotations

import csv
from fractions import Fraction
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from mechanisms.mtp_cases import CASES, Case, Drafts
from mechanisms.mtp_mixing import DEPTHS, MODES
from mechanisms.verify import REFERENCE
from pages import _mtp_editor
from pages._mtp_guess import mistake
from pages._mtp_state import CONTROLS, GUESSES, PAIRS, TOPIC
from pages.mtp_boosting import SLOTS
from tests.chapters import LOCALES, own, sent, session, visit, wanted
from tests.oracle_mtp_page import SIZES, Tables, of_case, of_pair, of_rest, of_search

AFTER_GUESSES = {"guess1": "b_a", "guess2": 11, "pair": "seed"}


@pytest.fixture(scope="module")
def sessions() -> dict[str, AppTest]:
    return {lang: session(lang) for lang in LOCALES}


@pytest.fixture(params=LOCALES)
def show(request: pytest.FixtureRequest, sessions: dict[str, AppTest]) -> Any:
    """`show(case="far")` → the parts of the chapter in this language."""
    return lambda **state: visit(sessions[request.param], TOPIC, request.param, **state)


def compare(parts: dict[str, Any], tables: Tables) -> int:
    """Every frame that is sent against the mechanisms; returns how many cells there were."""
    cells = 0
    for name, frames in tables.items():
        data = parts[f"{TOPIC}.{name}"]
        assert len(data["frames"]) == len(frames), name
        for i, table in enumerate(frames):
            assert sent(data, i) == wanted(table), (name, i)
            cells += len(wanted(table))
    return cells


def test_both_languages_have_the_same_parts(sessions: dict[str, AppTest]) -> None:
    """A language changes words and never which parts there are; every slot adds at least one once guesses are made."""
    english, chinese = (visit(sessions[lang], TOPIC, lang, **AFTER_GUESSES) for lang in LOCALES)
    assert list(english) == list(chinese)
    names = {"drafts": "draft_a", "masses": "masses_a", "found": "found", "guess_prefers": "guess1",
             "guess_often": "guess2"}  # fmt: skip
    for slot in own(SLOTS):
        name = slot.split(".")[1]
        assert f"{TOPIC}.{names.get(name, name)}" in english, slot


@pytest.mark.parametrize("name", CASES)
def test_tables_of_every_case(sessions: dict[str, AppTest], name: str) -> None:
    """Every cell at every step size, step, width, decay and temperature is the mechanism's; languages take turns."""
    lang = list(LOCALES)[list(CASES).index(name) % len(LOCALES)]
    assert compare(visit(sessions[lang], TOPIC, lang, case=name), of_case(CASES[name])) > 4000


@pytest.mark.parametrize("name", PAIRS)
def test_tables_of_every_pair(show: Any, name: str) -> None:
    """Both drafts, every verdict and the turning point; the plain pair has none and says so."""
    found = show(pair=name)
    assert compare(found, of_pair(PAIRS[name])) > 500
    assert (f"{TOPIC}.flip" in found) == (name == "seed")


def test_remaining_tables(show: Any) -> None:
    """Field, race, vanishing gradients, programs, shares and the quoted tables in all their frames."""
    assert compare(show(), of_rest()) > 3000
    assert compare(show(start="tail"), {"race": of_rest("tail")["race"]}) > 2000


@pytest.mark.parametrize(("tokens", "seed"), [(2, 1), (5, 7), (8, 9999)])
def test_search_tables(show: Any, tokens: int, seed: int) -> None:
    """What the search sends for a seed in the link is what the mechanism finds with it."""
    compare(show(tokens=tokens, seed=seed), of_search(tokens, seed))


def test_step_and_reversal_equal_the_reference(show: Any) -> None:
    """The source document's step, our twenty steps and the pair of drafts, as printed to six places by the page."""
    found = show(pair="seed")

    def rows(name: str) -> list[dict[str, str]]:
        with (REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def six(text: str) -> str:
        return f"{float(round(Fraction(text), 6)):.6f}".replace("-", "−")

    for row in rows("mtp_two_logit_trajectory"):
        at = 2 * SIZES["step"] + int(row["step"])
        state, sums = sent(found[f"{TOPIC}.state"], at), sent(found[f"{TOPIC}.totals"], at)
        for short, name in (("z", "logit"), ("q", "draft_probability"), ("grad", "gradient")):
            assert [state[i, name][0] for i in (0, 1)] == [six(row[f"{short}{i}_12dp"]) for i in (0, 1)]
        assert sums[0, "kl_divergence"][0] == six(row["kl_12dp"])
        assert sums[0, "acceptance_rate"][0] == six(row["acceptance_12dp"])
        assert sent(found[f"{TOPIC}.trajectory"], 2)[int(row["step"]), "kl_divergence"][0] == six(row["kl_12dp"])
    for at, row in zip((42, 43), rows("mtp_two_logit_step"), strict=True):
        assert sent(found[f"{TOPIC}.state"], at)[0, "draft_probability"][0] == row["q0_printed"]
        assert sent(found[f"{TOPIC}.totals"], at)[0, "kl_divergence"][0] == row["kl_printed"]
        assert sent(found[f"{TOPIC}.totals"], at)[0, "acceptance_rate"][0] == row["acceptance_printed"]
    for which, row in zip("ab", rows("mtp_kl_vs_acceptance"), strict=True):
        cells = sent(found[f"{TOPIC}.draft_{which}"], 6)
        assert cells[0, "kl_divergence"][0] == row["kl_printed"]
        assert cells[0, "acceptance_rate"] == (row["acceptance_printed"], row["acceptance_exact"])
        assert cells[0, "total_variation"][1] == row["tv_exact"]
        assert cells[0, "reverse_kl"][0] == six(row["reverse_kl_12dp"])
        assert cells[0, "pinsker_bound"][0] == six(row["pinsker_tv_bound_12dp"])


def test_verdict_turns_between_one_and_three(show: Any) -> None:
    """Five verdicts for each decay: KL and its reverse prefer B, TV and −ln α prefer A, the hybrid turns at 1.7."""
    texts = show(pair="seed")[f"{TOPIC}.verdict"]["texts"]
    who = [[x.split('"')[0] for x in text.split('data-prefers="')[1:]] for text in texts]
    assert all(w[:4] == ["b", "b", "a", "a"] for w in who)
    assert [w[4] for w in who] == ["b"] * 4 + ["a"] * 17  # decays 0, 0.5, 1, 1.5, then 2 … 10


def test_answers_stay_on_the_server(show: Any) -> None:
    """Without a guess no feedback and nothing of the search is sent, and the pair shown is another one; every guess
    has words of its own."""
    found = show()
    assert found[f"{TOPIC}.guess1"]["feedback"] is None and found[f"{TOPIC}.guess2"]["feedback"] is None
    assert not {f"{TOPIC}.{n}" for n in ("report", "count", "found", "after_guess", "flip")} & found.keys()
    assert sent(found[f"{TOPIC}.masses_a"])[0, "draft_probability"][1] == "7/10"
    texts = {g: show(guess1=g)[f"{TOPIC}.guess1"]["feedback"] for g in GUESSES}
    texts |= {n: show(guess2=n)[f"{TOPIC}.guess2"]["feedback"].replace(f"{n} %", "") for n in (0, 4, 11, 25, 60)}
    assert len(set(texts.values())) == len(texts) == 9
    opened = show(unlock=1)
    assert opened[f"{TOPIC}.guess1"]["feedback"] and f"{TOPIC}.report" in opened and f"{TOPIC}.after_guess" in opened


def test_mistakes_are_told_apart() -> None:
    """The share is 11.335 percent; each guess belongs to one thought."""
    assert [mistake(n) for n in (0, 1, 8, 9, 14, 15, 39, 40, 100)] == [
        "never", "low", "low", "right", "right", "high", "high", "coin", "coin",
    ]  # fmt: skip


def test_player_shows_every_depth(show: Any) -> None:
    """Each mode has a step per depth, each step a lane per depth; lanes ahead of the step are empty."""
    variants = show()[f"{TOPIC}.player"]["variants"]
    assert len(variants) == len(MODES)
    for steps in variants:
        assert len(steps) == DEPTHS
        for k, step in enumerate(steps, 1):
            assert len(step["lanes"]) == DEPTHS
            texts = [{cell["text"] for cell in lane["cells"]} for lane in step["lanes"]]
            assert all(text != {""} for text in texts[:k]) and all(text == {""} for text in texts[k:])


JUNK = {
    "case": "x", "own": "A,B~1/2,1/2~0,101", "rate": "99", "step": "-1", "width": "1e9", "pair": "own",
    "drafts": "A,B~1,0~1/2,1/2~1/2,1/2", "decay": "nan", "tokens": "4", "seed": "-5", "found": "0", "weight": "21",
    "teacher": "8", "loss": "l2", "start": "own", "speed": "10", "support": "7", "heat": "-1", "program": "0",
    "mode": "", "moment": "6", "depth": "1", "guess1": "x", "guess2": "101",
}  # fmt: skip


def test_impossible_links_are_named_and_replaced(show: Any) -> None:
    """Every control whose value in the link cannot be taken is named in a notice."""
    assert JUNK.keys() == {c.name for c in CONTROLS}
    notices = " ".join(d["html"] for k, d in show(**JUNK).items() if k.startswith("notice-"))
    assert {name for name in JUNK if f"{name} = " not in notices} == set()


def test_own_numbers_come_back_from_their_link() -> None:
    """Names with commas and tildes, thirds and negative logits survive writing and reading."""
    third = (Fraction(1, 3),) * 3
    case = Case(("a,b", "~", "é词"), third, (Fraction(-100), Fraction(1, 7), Fraction(0)))
    drafts = Drafts(("x", "y"), (Fraction(1, 2),) * 2, (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 10**9),
                    1 - Fraction(1, 10**9)))  # fmt: skip
    for name, value in (("own", case), ("drafts", drafts)):
        control = next(c for c in CONTROLS if c.name == name)
        assert control.read(control.write(value)) == (value, False)


def test_nonsense_from_a_browser_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events of any shape are survived; a usable one changes the case, another one is kept beside its problems."""
    changed: list[dict[str, Any]] = []
    kept: dict[str, Any] = {}
    monkeypatch.setattr(_mtp_editor, "put", lambda **values: changed.append(values))
    monkeypatch.setattr(_mtp_editor, "remember", lambda name, fields, problems=(): kept.update({name: problems}))
    monkeypatch.setattr(_mtp_editor, "remembered", lambda name: None)
    monkeypatch.setattr(_mtp_editor, "_now", lambda editor: {n: [] for n in editor.columns})
    for event in (None, 3, {}, {"fields": 3}, {"fields": {"p": "1"}}, {"count": 9}, {"count": "9"}):
        _mtp_editor._edit(_mtp_editor.CASE, event)
        assert not changed and kept["case_editor"], event
    fields = {"token": ["A", "B"], "p": ["4", "1"], "z": ["0", "0"]}
    _mtp_editor._edit(_mtp_editor.CASE, {"fields": fields})
    assert [p.code for p in kept["case_editor"]] == ["sum_not_one"]
    _mtp_editor._normalise(_mtp_editor.CASE, {"column": "z", "fields": fields})
    assert not changed
    _mtp_editor._normalise(_mtp_editor.CASE, {"column": "p", "fields": fields})
    assert changed[0]["own"].p == (Fraction(4, 5), Fraction(1, 5)) and kept["case_editor"] == ()
