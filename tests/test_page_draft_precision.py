"""The audit page through Streamlit's test driver: every table that is sent is the mechanism's, in both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from lessons import store
from mechanisms.precision_choice import LONG, SHORT
from mechanisms.quantity import short_text
from pages._precision_state import CONTROLS, RATES, STEPS, TARGETS
from tests.browser_ledger import fraction, rows_of
from tests.chapters import Opener, parts, sent, wanted
from tests.precision_page import EXTREMES, TOPIC, expected

Open = Callable[..., dict[str, Any]]
TEXTS = {"target": [short_text(x) for x in TARGETS], "rate": [short_text(x) for x in RATES],
         "step": [short_text(x) for x in STEPS], "length": [str(k) for k in range(1, 13)]}  # fmt: skip
FRAMED = {"window": "length", "speedups": "target", "break_even": "target"}


@pytest.fixture(scope="module", params=store.LANGUAGES)
def opened(request: pytest.FixtureRequest) -> Open:
    """`opened(model="mean")` → key of every part → its data, in one session per language."""
    opener = Opener(TOPIC, request.param)
    return lambda **state: parts(opener(**state))


def frame_of(name: str, state: dict[str, str]) -> int:
    """Which frame of a table belongs to the state of its slider or choice."""
    now = {"length": "5", "target": "54", "rate": "0.769", "step": "4.2", "chain": "int4_code", "pair": "identical"}
    now |= state
    if name in ("choices", "best"):
        return TEXTS["rate"].index(now["rate"]) * len(STEPS) + TEXTS["step"].index(now["step"])
    if name in FRAMED:
        return TEXTS[FRAMED[name]].index(now[FRAMED[name]])
    if name == "breaks":
        return list(EXTREMES["chain"]).index(now["chain"])
    pairs = (
        "identical", "argmax_differs_tv_small", "argmax_agrees_tv_large", "sharp_target_flat_draft", "zero_in_draft",
        "disjoint",
    )  # fmt: skip
    return pairs.index(now["pair"]) if name.startswith("listing") else 0


def compare(parts: dict[str, Any], state: dict[str, str]) -> None:
    """Every table of the page holds the mechanism's cells for this state."""
    for name, table in expected(**{k: v for k, v in state.items() if not k.startswith("guess")}).items():
        found = sent(parts[f"{TOPIC}.{name}"], frame_of(name, state))
        right = wanted(table, {q for _, q in found})
        assert found == right and found, (name, state)


WAVES = max(map(len, EXTREMES.values()))
JUNK = ("nonsense", "nan", "1e400", "x" * 5000)


@pytest.mark.parametrize("wave", range(-1, WAVES), ids=["default", *(f"extreme-{i}" for i in range(WAVES))])
def test_every_table_is_the_mechanisms(opened: Open, wave: int) -> None:
    """All tables equal the mechanism at the default, and while every control stands at one of its extremes."""
    state = {} if wave < 0 else {name: values[wave % len(values)] for name, values in EXTREMES.items()}
    parts = opened(**state)
    assert not [k for k in parts if k.startswith("notice-")]
    compare(parts, state)


@pytest.mark.parametrize("junk", JUNK, ids=["word", "nan", "overflow", "long"])
def test_nonsense_is_named_and_replaced(opened: Open, junk: str) -> None:
    """Every control that cannot take its text is named in a notice, and the page shows the defaults."""
    names = [c.name for c in CONTROLS]
    parts = opened(**dict.fromkeys(names, junk))
    assert {k for k in parts if k.startswith("notice-")} == {f"notice-{TOPIC}-{name}" for name in names}
    compare(parts, {})


def test_values_between_positions_are_bent(opened: Open) -> None:
    """A time or rate that the slider does not have becomes the nearest one, and the page says so."""
    parts = opened(target="93.6", rate="0.61")
    notices = {k for k in parts if k.startswith("notice-")}
    assert notices == {f"notice-{TOPIC}-target", f"notice-{TOPIC}-rate"}
    compare(parts, {"target": "94", "rate": "0.612"})


def test_payload_equals_the_reference(opened: Open) -> None:
    """What is sent for the audited table, the implied times, the choice of K and the breaks is the reference files'."""
    parts = opened(model="mean", rate="0.6")
    audit = sent(parts[f"{TOPIC}.audit"])
    for i, row in enumerate(rows_of("draft_precision_matrix")):
        for name in ("tokens_code", "tokens_chat", "tokens_mean"):
            assert fraction(audit[i, name][1]) == Fraction(row[f"{name}_exact"])
        assert fraction(audit[i, "tokens_printed"][1]) == Fraction(row["tokens_per_step_printed"])
        assert audit[i, "needed_rate"][0] == f"{float(row['implied_rate_12dp']):.6f}"
    implied = sent(parts[f"{TOPIC}.implied"])
    for i, row in enumerate(rows_of("draft_precision_implied_latency", tokens_model="mean of the two formula values")):
        assert fraction(implied[i, "implied_target"][1]) == Fraction(row["target_ms_exact"])
    choices = sent(parts[f"{TOPIC}.choices"], frame_of("choices", {"rate": "0.6"}))
    for which, target in (("short", "43"), ("long", "93.5")):
        for row in rows_of("draft_precision_k_choice", case="threshold, FP8 latency", target_ms=target):
            assert fraction(choices[int(row["K"]), f"speedup_{which}"][1]) == Fraction(row["speedup_exact"])
            assert choices[int(row["K"]), f"best_{which}"][1] == row["best"]
    breaks = sent(parts[f"{TOPIC}.breaks"])
    for row in rows_of("draft_precision_rejection", case="INT4 code"):
        assert fraction(breaks[int(row["accepted"]), "break_probability"][1]) == Fraction(row["probability_exact"])
    memory = sent(parts[f"{TOPIC}.memory"])
    for i, row in enumerate(rows_of("draft_memory")):
        assert memory[i, "weight_bytes"][1] == row["bytes_exact"]
        assert memory[i, "memory_reached"][1] == row["within_rounding"]


def test_printed_figures_stand_with_ours_and_a_verdict(opened: Open) -> None:
    """Where a printed figure is contradicted its column is of that kind, ours is exact, and both share a cell."""
    parts = opened()
    pairs = {"audit": "tokens_printed", "cube": "cube_printed", "relative": "claimed_percent", "totals": "total_said",
             "window": "tokens_printed"}  # fmt: skip
    for name, printed in pairs.items():
        data = parts[f"{TOPIC}.{name}"]
        kinds = {c["name"]: c["kind"] for c in data["columns"]}
        assert kinds[printed] == "contradicted"
        beneath = [ours for ours, _ in data["audit"]["pairs"][printed]]
        assert beneath and {kinds[ours] for ours in beneath} == {"exact"}
        tag = data["audit"]["tags"][printed]
        assert "contradicted" in tag.get("fixed", tag.get("names"))
    tags = parts[f"{TOPIC}.audit"]["audit"]["tags"]
    assert {name: set(tag["fixed"]) for name, tag in tags.items()} == {
        "memory_printed": {"underivable"}, "step_printed": {"quoted"}, "code_printed": {"quoted"},
        "chat_printed": {"quoted"}, "tokens_printed": {"contradicted"}, "speedup_printed": {"underivable"},
    }  # fmt: skip


def test_hidden_columns_are_only_helpers(opened: Open) -> None:
    """No table hides what a pair, a verdict or a printed figure needs, and each leaves something to see."""
    for key, data in opened().items():
        if marks := data.get("audit"):
            hidden, names = set(marks["hide"]), {c["name"] for c in data["columns"]}
            shown = {o for pair in marks["pairs"].values() for o, _ in pair} | set(marks["pairs"]) | set(marks["tags"])
            assert hidden <= names and not hidden & (shown | set(marks["printed"])), key
            assert names - hidden, key


def test_guesses_have_feedback_of_their_own(opened: Open) -> None:
    """Nothing of the answers is sent before a guess; each option has words of its own."""
    before = opened()
    for name in ("guess1", "guess2"):
        data = before[f"{TOPIC}.{name}"]
        assert data["feedback"] is None and all("verdict" not in o for o in data["options"])
        said = {o["id"]: opened(**{name: o["id"]})[f"{TOPIC}.{name}"]["feedback"] for o in data["options"]}
        assert len(set(said.values())) == len(said) == 4
    assert "2.577320" not in json.dumps([d for k, d in before.items() if k != f"{TOPIC}.guess1"])
    assert opened(unlock="1")[f"{TOPIC}.guess1"]["feedback"] is not None


def test_every_own_row_comes_back_from_its_link() -> None:
    """What the link says is the very same row, fractions included."""
    own = next(c for c in CONTROLS if c.name == "own")
    for text in ("76.9~5~3.74~4.2~2.52", "100/3~3~8/3~0~0.01"):
        row, bent = own.read(text)
        assert not bent and own.read(own.write(row)) == (row, False)
    with pytest.raises(ValueError, match="rate"):
        own.read("1~2~3")


def test_no_number_is_typed_in_interface_texts() -> None:
    """Digits in the chapter's texts are names of formats, the two compared times, and examples of input."""
    allowed = re.compile(r"\{\w+\}|BF16|FP8|INT4|H100|93\.5|43|76\.9|3/4")
    assert (short_text(SHORT), short_text(LONG)) == ("43", "93.5")
    for key, texts in store._words().items():
        if key.startswith("draft_precision."):
            for text in texts.values():
                assert not re.search(r"\d", allowed.sub("", text)), key
