"""The error-budget chapter through Streamlit's test driver: what is sent equals the reference files, and bad input
has its own words in both languages."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_args

import pytest

from lessons import store
from mechanisms import quant_vector
from mechanisms.error_budget import Scheme, quantize
from mechanisms.quant_presets import LAST_VALUES
from mechanisms.quant_vector import generate
from mechanisms.quantity import exact_text
from pages._budget_state import BITS, CONTROLS, GROWTH, SHAPES, grown
from pages._budget_widget import frames
from pages.error_budget import SLOTS
from tests.browser_ledger import fraction, rows_of
from tests.chapters import LOCALES, own, session, visit

TOPIC = "error_budget"
Show = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", params=LOCALES)
def show(request: pytest.FixtureRequest) -> Show:
    """`show(bits=2)` → the parts of the chapter in this language, all from one session."""
    app = session(request.param)
    return lambda **state: visit(app, TOPIC, request.param, **state)


def table(page: dict[str, Any], name: str, frame: int = 0) -> dict[tuple[int, str], tuple[str, str]]:
    """`(row, quantity)` → `(decimal, exact)`, empty where undefined."""
    data = page[f"{TOPIC}.{name}"]
    columns = [c["name"] for c in data["columns"]]
    return {
        (r, column): tuple((text or "||").split("|")[:2])  # type: ignore[misc]
        for r, row in enumerate(data["frames"][frame])
        for column, text in zip(columns, row, strict=True)
    }


def test_every_slot_sends_something(show: Show) -> None:
    """Each slot of the chapter adds at least one part; together with the lesson nothing is left empty."""
    shown = set(show())
    renamed = {"guess_lost": "guess1", "guess_groups": "guess2", "damage": "damage_loud", "grouping": "grouping_locked"}
    missing = {s for s in own(SLOTS) if f"{TOPIC}.{renamed.get(s.split('.')[1], s.split('.')[1])}" not in shown}
    assert missing == set()


@pytest.mark.parametrize("control", [c.name for c in CONTROLS])
def test_extremes_of_every_control_render(show: Show, control: str) -> None:
    """Both ends of each control, and text that no control knows, show the page without an exception."""
    ends = {
        "own": ("0", "1~-1", "0~0~0", "1/3~-1e-9~1e9", "~".join(["0.5"] * 24)), "seed": ("0", "9999"),
        "bits": ("2", "8"), "last": ("0", "5"), "loud": ("0", "5"), "guess1": ("0", "7"),
        "guess2": ("always", "never_worse", "may_rise", "same"), "shape": SHAPES,
        "vector": quant_vector.GENERATED, "clip": ("1", "0.5"), "group": ("4", "2"), "grid": ("asymmetric",),
        "rule": ("half_up", "half_away"), "convention": ("symmetric", "cells"), "largest": ("4", "20"),
        "law": ("uniform", "student"), "lab_bits": ("4", "8"), "lab_group": ("two", "alone"), "lab_outlier": ("yes",),
        "tie": ("half_up", "half_away"), "overflow": ("strict",), "tensor": ("plain",), "model": ("seven", "large"),
    }[control]  # fmt: skip
    for value in ends:
        more = {"vector": "own"} if control == "own" else {}
        page = show(**{control: value}, **more)
        assert not [k for k in page if k.startswith("notice-")], value
    broken = show(**{control: "nonsense"})
    assert [k for k in broken if k.startswith("notice-")] == [f"notice-{TOPIC}-{control}"]


@pytest.mark.parametrize("last", range(len(LAST_VALUES)))
def test_widget_frames_equal_the_reference(show: Show, last: int) -> None:
    """At every position of both sliders the map and its totals are the reference file's, cell by cell."""
    page = show()
    for bits in (2, 3, 4, 5, 6, 8):
        frame = BITS.index(bits) * len(GROWTH) + last
        chosen = {"last_value": LAST_VALUES[last], "bits": str(bits)}
        cells, totals, ranges = (table(page, name, frame) for name in ("map", "summary", "range"))
        for row in rows_of("quant_widget_preset", **chosen):
            i = int(row["index"])
            assert fraction(cells[i, "value"][1]) == Fraction(row["x"])
            assert int(fraction(cells[i, "code"][1])) == int(row["q"])
            assert fraction(cells[i, "restored"][1]) == Fraction(row["restored_exact"])
            assert fraction(cells[i, "error"][1]) == Fraction(row["error_exact"])
        (row,) = rows_of("quant_widget_summary", **chosen)
        assert fraction(ranges[0, "scale"][1]) == Fraction(row["scale_exact"])
        assert fraction(totals[0, "mean_squared_error"][1]) == Fraction(row["mse_exact"])
        assert fraction(totals[0, "raw_ratio"][1]) == Fraction(row["raw_ratio_exact"])
        assert fraction(totals[0, "ratio_with_metadata"][1]) == Fraction(row["ratio_with_scale_exact"])


def test_lab_equals_the_reference(show: Show) -> None:
    """The five values and all groupings, plain and with the outlier, are those of the source document's experiment."""
    names = {"one group": 0, "first two | last three": 1, "first three | last two": 2, "outlier alone": 3}
    for bits in ("4", "8"):
        for row in rows_of("quant_lab", bits=bits):
            found = table(show(lab_bits=bits), "lab")[int(row["index"]), "restored"]
            assert fraction(found[1]) == Fraction(row["restored_exact"])
        for outlier, vector in (("no", "printed vector"), ("yes", "first value set to 100")):
            cells = table(show(lab_bits=bits, lab_outlier=outlier, guess2="same"), "grouping")
            for row in rows_of("quant_lab_grouping", vector=vector, bits=bits):
                i = names[row["grouping"]]
                assert fraction(cells[i, "mean_squared_error"][1]) == Fraction(row["mse_exact"])
                assert fraction(cells[i, "effective_bits"][1]) == Fraction(row["effective_bits_exact"])


def test_steps_equal_the_reference(show: Show) -> None:
    """The three conventions give the reference's step and factor."""
    names = {"symmetric": ("symmetric, 2*qmax steps", "2*qmax steps"),
             "levels": ("2^b-1 steps over the range", "2^b-1 steps"),
             "cells": ("2^b steps over the range", "2^b steps")}  # fmt: skip
    for convention, (step, factor) in names.items():
        page = show(convention=convention, largest="10")
        (row,) = rows_of("recap_outlier_step", outlier_sigma="10", bits="4", convention=step)
        assert fraction(table(page, "outlier_step")[0, "step"][1]) == Fraction(row["step_exact"])
        (row,) = rows_of("recap_variance_factor", from_bits="8", to_bits="4", convention=factor)
        assert fraction(table(page, "variance_factor")[0, "variance_factor"][1]) == Fraction(row["factor_exact"])


def test_bytes_and_bits_equal_the_reference(show: Show) -> None:
    """Bytes of both models and the bits of each layout are the reference files'."""
    for bits, row in (("16", 0), ("8", 1), ("4", 2)):
        (wanted,) = rows_of("weight_gigabytes", parameters="7000000000", bits=bits)
        assert fraction(table(show(model="seven"), "bytes")[row, "weight_gigabytes"][1]) == Fraction(wanted["gb_exact"])
    cells = table(show(model="large"), "bytes")
    for case, row in (("BF16", 0), ("W4A16 g128, every weight", 3), ("W4A16 g128, embedding, head and norms BF16", 4)):
        (wanted,) = rows_of("recap_weight_bytes", case=case)
        assert fraction(cells[row, "weight_bytes"][1]) == Fraction(wanted["bytes_exact"])
    shown = {v[1] for (_, name), v in table(show(), "effective_bits").items() if name == "effective_bits"}
    assert {row["bits_exact"] for row in rows_of("recap_effective_bits")} <= shown


def test_every_problem_has_words() -> None:
    """What a vector may be refused for is said in both languages."""
    for code in get_args(quant_vector.Code):
        said = {store.ui(f"{TOPIC}.problem_{code}", lang, detail="d", place=1, limit=9) for lang in store.LANGUAGES}
        assert len(said) == len(store.LANGUAGES)


def test_own_vector_comes_back_from_its_link() -> None:
    """What the link says is the very same vector."""
    own = next(c for c in CONTROLS if c.name == "own")
    values = (Fraction(1, 3), Fraction(-5, 8), Fraction(0), Fraction(10**9))
    assert own.read(own.write(values)) == (values, False)


def test_guesses_have_their_own_feedback(show: Show) -> None:
    """Nothing of the answer is sent before a guess; each kind of guess has words of its own."""
    before = show()
    assert f"{TOPIC}.grouping" not in before, "the table of groupings holds the answer"
    assert before[f"{TOPIC}.guess1"]["feedback"] is None and before[f"{TOPIC}.guess2"]["feedback"] is None
    assert all("verdict" not in o for o in before[f"{TOPIC}.guess2"]["options"])
    said = {g: show(guess1=g)[f"{TOPIC}.guess1"]["feedback"].split("</p>")[1] for g in (0, 1, 2, 3, 6, 7)}
    assert len(set(said.values())) == 6
    assert exact_text(Fraction(5)) in said[7]
    chosen = {g: show(guess2=g)[f"{TOPIC}.guess2"]["feedback"] for g in ("always", "never_worse", "may_rise")}
    assert len(set(chosen.values())) == 3


def test_frames_of_a_group_setting_follow_the_mechanism() -> None:
    """Groups, zero point and clip reach every frame, not only the first."""
    values = generate("gaussian", 2)
    schemes = tuple(Scheme(bits=b, symmetric=False, group=4, clip_ratio=Fraction("0.9")) for b in BITS)
    found = frames(values, schemes)
    for b, used in enumerate(schemes):
        for k, grownup in enumerate(grown(values)):
            wanted = quantize(grownup, used).column("code")
            column = [q.name for q in found.map.columns].index("code")
            shown = [row[column].split("|")[1] for row in found.maps[b * len(GROWTH) + k]]  # type: ignore[union-attr]
            assert [fraction(x) for x in shown] == list(wanted)
