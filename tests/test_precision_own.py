"""A typed row: what is read, what is refused, and its figures against floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons import store
from mechanisms.precision_own import FIELDS, LIMITS, InvalidRow, own_table, read_own
from mechanisms.quantity import as_fraction
from tests.oracle_quant_tex import value
from tests.oracle_rejection import SEEDED

GOOD = {"rate": "76.9", "length": "5", "tokens": "3.74", "step": "4.2", "speedup": "2.52"}
BAD = {
    "empty": ("rate", " "), "not_a_number": ("step", "4,2 ms"), "not_finite": ("tokens", "nan"),
    "negative": ("speedup", "-1"), "out_of_range": ("rate", "100"), "not_whole": ("length", "2.5"),
    "too_precise": ("tokens", "3.74000000001"),
}  # fmt: skip


@pytest.mark.parametrize("code", BAD)
def test_each_fault_is_named_at_its_field(code: str) -> None:
    """One bad field is one problem with its field, code and text; the others are not blamed."""
    field, text = BAD[code]
    with pytest.raises(InvalidRow) as caught:
        read_own({**GOOD, field: text})
    (problem,) = caught.value.problems
    assert (problem.field, problem.code, problem.detail) == (field, code, text.strip())


def test_all_faults_are_named_at_once() -> None:
    """Five unusable fields are five problems; a missing field counts as empty; long texts are cut."""
    with pytest.raises(InvalidRow) as caught:
        read_own({"rate": "x" * 500, "length": "inf", "tokens": "0", "step": "1e9"})
    assert [p.field for p in caught.value.problems] == list(FIELDS)
    assert max(len(p.detail) for p in caught.value.problems) == 24


@pytest.mark.parametrize("code", [*BAD, "too_precise"])
@pytest.mark.parametrize("field", FIELDS)
def test_every_fault_has_words(code: str, field: str) -> None:
    """Each fault of each field has words of its own in both languages."""
    limits = {lang: store.ui(f"draft_precision.limits_{field}", lang) for lang in store.LANGUAGES}
    said = {store.ui(f"draft_precision.problem_{code}", lang, detail="d", limits=limits[lang]) for lang in limits}
    assert len(said) == len(store.LANGUAGES)


@SEEDED
@given(
    st.decimals(0, "99.9", places=1), st.integers(1, 16), st.decimals(1, 17, places=2),
    st.decimals(0, 100, places=1), st.decimals("0.01", 20, places=2),
)  # fmt: skip
def test_figures_equal_floats(rate: object, length: int, tokens: object, step: object, speedup: object) -> None:
    """Tokens, gap, needed rate and both times are those of numpy; undefined where there is nothing to find."""
    texts = {
        "rate": str(rate),
        "length": str(length),
        "tokens": str(tokens),
        "step": str(step),
        "speedup": str(speedup),
    }
    table = own_table(read_own(texts))
    a, n, s, t = float(str(rate)) / 100, float(str(tokens)), float(str(speedup)), float(str(step))
    ours = float(np.polyval(np.ones(length + 1), a))
    assert float(as_fraction(table.value(0, "tokens") or 0)) == pytest.approx(ours)
    assert float(as_fraction(table.value(0, "gap") or 0)) == pytest.approx(n - ours, abs=1e-9)
    needed = table.value(0, "needed_rate")
    assert (needed is None) == (n > length + 1)
    if needed is not None:
        assert np.polyval(np.ones(length + 1), float(needed)) == pytest.approx(n, abs=1e-9)
    for name, of in (("own_target", ours), ("said_target", n)):
        found = table.value(0, name)
        if abs(of - s) > 1e-9:
            assert (found is None) == (of < s)
        if found is not None and abs(of - s) > 1e-6:
            assert float(as_fraction(found)) == pytest.approx(s * length * t / (of - s), rel=1e-6)
    told = table.explain(0, "tokens").substituted
    assert value(told) == table.value(0, "tokens")


def test_limits_are_inside() -> None:
    """Both ends of every field can be used."""
    for end in (0, 1):
        texts = {f: str(LIMITS[f][end]) for f in FIELDS}
        assert own_table(read_own(texts)).value(0, "tokens") is not None
