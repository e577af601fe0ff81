"""The page of real decodings through Streamlit's test driver: every table is what the stored files say."""

from __future__ import annotations

from typing import Any

import pytest

from lessons import store
from pages._lab_state import CONTROLS
from pages.model_lab import SLOTS
from tests.chapters import Opener, own, parts, sent
from tests.lab_page import DRAFTERS, TOPIC, TRACES, exact, per_round, positions, stored, totals, verdicts


@pytest.fixture(scope="module", params=store.LANGUAGES)
def opened(request: pytest.FixtureRequest) -> Opener:
    return Opener(TOPIC, request.param)


def test_every_slot_sends_something(opened: Opener) -> None:
    """Each slot adds at least one part, with and without the guess."""
    for state in ({}, {"guess1": "chat"}):
        found = set(parts(opened(**state)))
        renamed = {"guess_domain": "guess1", "compared": "compared" if state else "before_guess"}
        names = {s.split(".")[1] for s in own(SLOTS)}
        assert {n for n in names if f"{TOPIC}.{renamed.get(n, n)}" not in found} == set()


@pytest.mark.parametrize("state", TRACES, ids=["-".join(x.values()) for x in TRACES])
def test_tables_are_those_of_the_file(opened: Opener, state: dict[str, str]) -> None:
    """Totals, positions, rounds, and the verdicts of every round; in each of them the verdict follows from the numbers
    that are shown, and the player shows as many rounds."""
    found, rounds = parts(opened(**state)), stored(**state)
    assert exact(sent(found[f"{TOPIC}.totals"])) == totals(rounds)
    assert exact(sent(found[f"{TOPIC}.positions"])) == positions(rounds)
    assert exact(sent(found[f"{TOPIC}.rounds"])) == per_round(rounds)
    table, player = found[f"{TOPIC}.verdicts"], found[f"{TOPIC}.player"]
    assert len(table["frames"]) == len(player["variants"][0]) == len(rounds) and len(player["variants"]) == 1
    for i, r in enumerate(rounds):
        right = verdicts(r)
        assert exact(sent(table, i)) == right
        margins = [m for k in range(5) if (m := right[k, "margin"]) is not None]
        assert [m > 0 for m in margins] == [k < r["accepted"] for k in range(len(margins))]


def test_player_shows_what_happened(opened: Opener) -> None:
    """In each round the lanes hold the drafts with their verdicts and the model's own token, and nothing is lost."""
    marks = {"accepted": "✓ ", "rejected": "✗ ", "discarded": ""}
    for state in TRACES:
        steps = parts(opened(**state))[f"{TOPIC}.player"]["variants"][0]
        for step, r in zip(steps, stored(**state), strict=True):
            drafts = [c for c in step["lanes"][1]["cells"] if c["state"] in marks]
            texts = [x.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "∅" for x in r["drafts"]]
            kinds = ["accepted" if k < r["accepted"] else "rejected" if k < len(r["uniforms"]) else "discarded"
                     for k in range(len(texts))]  # fmt: skip
            assert [(c["state"], c["text"]) for c in drafts] == [
                (k, marks[k] + t) for k, t in zip(kinds, texts, strict=True)
            ]
            assert [c["state"] for c in step["lanes"][2]["cells"]] == [r["last"]]


def test_comparison_waits_for_the_guess(opened: Opener) -> None:
    """Before it no table of all decodings is sent; after it each rate is tokens over passes of its own file."""
    assert f"{TOPIC}.compared" not in parts(opened())
    found = exact(sent(parts(opened(guess1="prose"))[f"{TOPIC}.compared"]))
    cases = [(d, t) for t in ("0", "1") for d in ("code", "prose", "chat")]
    for row, (domain, temperature) in enumerate(cases):
        for drafter in DRAFTERS:
            one = totals(stored(domain, drafter, temperature))
            assert found[row, f"per_round_{drafter}"] == one[0, "tokens_per_round"]
            assert (found[row, f"tokens_{drafter}"], found[row, f"passes_{drafter}"]) == (
                one[0, "tokens"],
                one[0, "passes"],
            )


def test_right_answer_is_the_file_with_the_fewest_passes(opened: Opener) -> None:
    """Greedy lookup needs the fewest passes on the option that is marked right, and no other as few."""
    passes = {d: len(stored(d, "lookup", "0")) for d in ("code", "prose", "chat")}
    marked = {o["id"]: o.get("verdict") for o in parts(opened(guess1="chat"))[f"{TOPIC}.guess1"]["options"]}
    right = min(passes, key=lambda d: passes[d])
    assert sorted(passes.values()).count(passes[right]) == 1
    assert marked == {d: "right" if d == right else "wrong" if d == "chat" else None for d in passes}


def test_measured_numbers_say_where_they_come_from(opened: Opener) -> None:
    """Columns of the file carry the badge and machine, day, commit and command; computed ones a formula."""
    columns: dict[str, Any] = {c["name"]: c for c in parts(opened())[f"{TOPIC}.verdicts"]["columns"]}
    for name in ("p", "q", "uniform"):
        assert columns[name]["kind"] == "measured" and columns[name]["how"]
        assert all(x in columns[name]["source"] for x in ("2026-", "gpu_demos.tracing", "torch", "code_mtp_0.json"))
    compared = {c["name"]: c for c in parts(opened(guess1="chat"))[f"{TOPIC}.compared"]["columns"]}
    for drafter in DRAFTERS:
        assert all(f"*_{drafter}_*.json" in compared[f"{n}_{drafter}"]["source"] for n in ("tokens", "passes"))
    assert columns["margin"]["kind"] == columns["acceptance_probability"]["kind"] == "exact"


def test_junk_is_answered_by_notices(opened: Opener) -> None:
    """Every control replaces what it does not know and says so; a round beyond the last one is bent."""
    for text in ("nonsense", "nan", "-7", "x" * 3000):
        found = parts(opened(**{c.name: text for c in CONTROLS}))
        assert {k for k in found if k.startswith("notice-")} == {f"notice-{TOPIC}-{c.name}" for c in CONTROLS}
