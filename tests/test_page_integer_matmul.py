"""The integer chapter as the server sends it: every slot, every table at the ends of its controls, bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from lessons import store
from mechanisms.integer_matmul import MAX_TERMS, PRESET, Case, ledger, sums
from mechanisms.integer_matmul_accumulator import overflow_table
from mechanisms.integer_matmul_layer import run_layer
from mechanisms.integer_matmul_read import CASES, BadCase, Code, read_case
from mechanisms.integer_matmul_report import SIZES, demo_layer, error_table, layer_table, work_table
from mechanisms.integer_matmul_requantize import requantize_table
from mechanisms.integer_matmul_running import pair_table, running_table, worst_case_table
from mechanisms.values.integer_matmul import W_SCALE, X_SCALE
from pages._matmul_guess import mistake
from pages._matmul_output import OUTPUT_SCALES
from pages._matmul_state import CONTROLS, COUNTS, FIRST_SUM, LAST_SUM, TERMS, TYPES, ZERO_POSITIONS, ZERO_STEP
from pages._matmul_width import SEQUENCE_CODES
from pages.integer_matmul import SLOTS
from tests.chapters import LOCALES, sent, session, visit, wanted

TOPIC = "integer_matmul"


@pytest.fixture(scope="module")
def sessions() -> dict[str, AppTest]:
    return {lang: session(lang) for lang in LOCALES}


@pytest.fixture(params=LOCALES)
def show(request: pytest.FixtureRequest, sessions: dict[str, AppTest]) -> Any:
    """`show(case="zeros")` → the parts of the chapter in this language."""
    return lambda **state: visit(sessions[request.param], TOPIC, request.param, **state)


def test_both_languages_have_the_same_parts(sessions: dict[str, AppTest]) -> None:
    """A language changes words and never which parts there are; every slot adds at least one."""
    english, chinese = (visit(sessions[lang], TOPIC, lang) for lang in LOCALES)
    assert list(english) == list(chinese)
    assert len([k for k in english if k.startswith(f"{TOPIC}.")]) >= len(SLOTS)


@pytest.mark.parametrize("name", CASES)
def test_ledger_and_sums_of_every_case(show: Any, name: str) -> None:
    """At every position of the zero point the cells sent are those of the mechanism, and the split is exact."""
    found = show(case=name)
    for position in (0, 1, CASES[name].z_x // ZERO_STEP, ZERO_POSITIONS - 1):
        case = replace(CASES[name], z_x=ZERO_STEP * position)
        assert sent(found[f"{TOPIC}.ledger"], position) == wanted(ledger(case))
        assert sent(found[f"{TOPIC}.sums"], position) == wanted(sums(case))
        assert sent(found[f"{TOPIC}.sums"], position)[0, "difference"] == ("0", "0")


@pytest.mark.parametrize("types", TYPES)
def test_width_tables(show: Any, types: str) -> None:
    """First overflow and worst case are the mechanism's for every pair of types and length; the share passes one
    exactly at the first overflow."""
    x, w = types.split("_")
    found = show(types=types)
    whole = overflow_table(x, w)  # type: ignore[arg-type]
    assert sent(found[f"{TOPIC}.overflow"]) == wanted(whole)
    for i, k in enumerate(TERMS):
        table = worst_case_table(x, w, k)  # type: ignore[arg-type]
        assert sent(found[f"{TOPIC}.worst"], i) == wanted(table)
        for row in range(3):
            first, used = whole.value(row, "first_overflow"), table.value(row, "range_used")
            assert first is not None and used is not None
            assert (used > 1) == (k >= first), (types, k, row)


def test_running_pair_requantize_and_layer_tables(show: Any) -> None:
    """All frames of the remaining tables, the first and the last included, are those of the mechanisms."""
    found = show()
    for i, codes in enumerate(SEQUENCE_CODES[n] for n in ("back", "worst", "wide", "unsigned")):
        assert sent(found[f"{TOPIC}.running"], i) == wanted(running_table(*codes))
    for w in (0, 64, 65, 127):
        assert sent(found[f"{TOPIC}.pair"], w) == wanted(pair_table((255, 255), (w, w)))
    assert sent(found[f"{TOPIC}.work"]) == wanted(work_table(run_layer(*demo_layer(1))))
    for i, size in enumerate(SIZES):
        run = run_layer(*demo_layer(size))
        errors = sent(found[f"{TOPIC}.error"], i)
        assert errors == {k: v for k, v in wanted(error_table(run)).items() if k in errors} and len(errors) == 6
        assert sent(found[f"{TOPIC}.layer"], i) == wanted(layer_table(run))


@pytest.mark.parametrize("name", OUTPUT_SCALES)
def test_requantized_codes(show: Any, name: str) -> None:
    """Both codes of every sum on the slider; the tie of one tenth splits them and the binary multiplier never does."""
    data = show(multiplier=name)[f"{TOPIC}.requantize"]
    split = []
    for a in range(FIRST_SUM, LAST_SUM + 1):
        cells = sent(data, a - FIRST_SUM)
        table = requantize_table(a, x_scale=X_SCALE, w_scale=W_SCALE, y_scale=OUTPUT_SCALES[name])
        assert cells == wanted(table)
        if cells[0, "exact_code"] != cells[0, "fixed_point_code"]:
            split.append(a)
    assert split == ([765, 775, 785, 795, 805, 815, 825] if name == "tenth" else [])


def test_player_shows_what_the_table_shows(show: Any) -> None:
    """After k additions the player's two sums are row k of the table beside it; wrong registers are marked."""
    found = show()
    for i, steps in enumerate(found[f"{TOPIC}.player"]["variants"]):
        cells = sent(found[f"{TOPIC}.running"], i)
        for k, step in enumerate(steps[1:]):
            true, held = (lane["cells"][0] for lane in step["lanes"][1:])
            assert true["text"] == cells[k, "running_sum"][0] and held["text"] == cells[k, "register_content"][0]
            assert (held["state"] == "sum-wrong") == (true["text"] != held["text"])


def test_feedback_is_only_sent_after_a_guess(show: Any) -> None:
    """Each guess has its own feedback; without one there is none, and a teacher's link opens both."""
    found = show()
    assert found[f"{TOPIC}.guess1"]["feedback"] is None and found[f"{TOPIC}.guess2"]["feedback"] is None
    texts = {n: show(guess1=n)[f"{TOPIC}.guess1"]["feedback"] for n in COUNTS}
    texts |= {n: show(guess2=n)[f"{TOPIC}.guess2"]["feedback"] for n in (3, 65, 90, 127)}
    assert len(set(texts.values())) == len(texts)
    opened = show(unlock=1)
    assert opened[f"{TOPIC}.guess1"]["feedback"] and opened[f"{TOPIC}.guess2"]["feedback"]


def test_mistakes_are_told_apart() -> None:
    """Each weight of the second guess belongs to one thought; 65 is right, as 2 · 255 · 64 < 2^15 <= 2 · 255 · 65."""
    assert [mistake(w) for w in (0, 63, 64, 65, 66, 67, 125, 126, 127)] == [
        "low", "low", "right", "right", "right", "high", "high", "single", "single",
    ]  # fmt: skip


JUNK = {
    "case": "x", "own": "1,2~3~0", "zero": "52", "types": "int4", "terms": "-1", "sequence": "", "step": "nan",
    "weight": "128", "multiplier": "1/10", "sum": "1e999", "size": "7", "guess1": "x", "guess2": "128",
}  # fmt: skip


def test_impossible_links_are_named_and_replaced(show: Any) -> None:
    """Every control whose value in the link cannot be taken is named in a notice."""
    assert JUNK.keys() == {c.name for c in CONTROLS}
    notices = " ".join(d["html"] for k, d in show(**JUNK).items() if k.startswith("notice-"))
    assert {name for name in JUNK if f"{name} = " not in notices} == set()


def test_own_case_comes_back_from_its_link() -> None:
    """Codes at the limits, twelve terms, survive writing and reading."""
    own = next(c for c in CONTROLS if c.name == "own")
    for case in (Case((0,), (0,), 0, -32768), Case((32768,) * MAX_TERMS, (-32768,) * MAX_TERMS, 0, 7)):
        assert own.read(own.write(case)) == (case, False)


def test_every_problem_has_words() -> None:
    """What a code may be refused for is said in both languages."""
    for code in get_args(Code):
        said = {store.ui(f"{TOPIC}.bad_{code}", lang, detail="d", limit=1, most="2") for lang in LOCALES}
        assert len(said) == len(LOCALES)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty"), (" ", "empty"), ("1.5", "not_an_integer"), ("1e300", "not_an_integer"), ("nan", "not_an_integer"),
     ("5e-324", "not_an_integer"), ("<b>1</b>", "not_an_integer"), ("32769", "too_large"), ("-99999", "too_large"),
     ("٣", "not_an_integer"), ("9" * 5000, "not_an_integer")],
    ids=["empty", "blank", "fraction", "power", "nan", "subnormal", "markup", "large", "negative",
         "other-digits", "long"],
)  # fmt: skip
def test_bad_codes_are_named(text: str, code: str) -> None:
    """Each kind of unusable text has its own problem, at its own field, in every column."""
    for column, fields in (("x", ([text, "1"], ["1", "1"], "0")), ("w", (["1", "1"], [text, "1"], "0")),
                           ("zero", (["1"], ["1"], text))):  # fmt: skip
        with pytest.raises(BadCase) as caught:
            read_case(*fields, z_x=0)
        (problem,) = caught.value.problems
        assert (problem.code, problem.column, problem.row) == (code, column, 0) and len(problem.detail) <= 24


def test_readable_codes_are_read() -> None:
    """Signs of both kinds and surrounding blanks are accepted; too many terms are refused as a whole."""
    assert read_case([" +12 ", "−7"], ["0", "-1"], " 3", z_x=5) == Case((12, -7), (0, -1), 5, 3)
    assert read_case(list(map(str, PRESET.q_x)), list(map(str, PRESET.q_w)), str(PRESET.z_w), z_x=PRESET.z_x) == PRESET
    with pytest.raises(BadCase, match="too_many"):
        read_case(["1"] * 13, ["1"] * 13, "0", z_x=0)
