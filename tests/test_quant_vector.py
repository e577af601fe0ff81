"""Readers' vectors, their grids, the clip curve and stacked rows: read, drawn and compared with other routes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mechanisms import quant_vector
from mechanisms.error_budget import Scheme, quantize
from mechanisms.quant_clip import clip_curve, clip_error
from mechanisms.quant_presets import LAST_VALUES, widget
from mechanisms.quant_stack import stacked
from mechanisms.quant_summary import summary
from mechanisms.quant_vector import InvalidVector, generate, levels, read_vector

BAD = {
    "": "empty", "nan": "not_finite", "1, x": "not_a_number", "1e300": "too_large", "5e-324": "too_small",
    "1/0": "not_finite", f"0.{'1' * 50}": "too_precise", "inf": "not_finite",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=[v + str(i) for i, v in enumerate(BAD.values())])
def test_bad_vectors_are_named(text: str) -> None:
    """Each unusable list is refused with a code of its own."""
    with pytest.raises(InvalidVector) as caught:
        read_vector(text)
    (problem,) = caught.value.problems
    assert problem.code == BAD[text]


def test_lists_of_any_length_have_a_stated_fate() -> None:
    """One value and full-width digits are read; a list over the limit is refused by its length alone."""
    assert read_vector("１／２；－０．２５") == (Fraction(1, 2), Fraction(-1, 4))
    assert len(read_vector("0 " * quant_vector.MOST)) == quant_vector.MOST
    with pytest.raises(InvalidVector) as caught:
        read_vector("0 " * (quant_vector.MOST + 1))
    assert caught.value.problems[0].code == "too_many"


@pytest.mark.parametrize("law", quant_vector.GENERATED)
def test_a_seed_gives_the_same_vector_again(law: str) -> None:
    """Draws depend on law and seed alone, and another seed gives another vector."""
    assert generate(law, 7) == generate(law, 7) != generate(law, 8)


def test_every_restored_value_is_a_drawn_level() -> None:
    """Squares of the number line stand on ticks: each restored value is a level of its group."""
    values = generate("student", 3)
    for used in (Scheme(bits=3), Scheme(bits=4, symmetric=False, group=4), Scheme(bits=2, group=2)):
        grids = levels(values, used)
        rows = quant_vector.cut(len(values), used)
        back = quantize(values, used).column("restored")
        assert all(back[r] in grid for group, grid in zip(rows, grids, strict=True) for r in group)


def test_clip_curve_is_lowest_at_its_exact_optimum() -> None:
    """No tried ratio beats the exact best one, and each point is the error of that ratio."""
    for values in (widget("1.6"), generate("laplace", 1)):
        curve = clip_curve(values, 4)
        errors = curve.column("mean_squared_error")
        assert min(errors) == errors[0]  # type: ignore[type-var]
        full = max(abs(x) for x in values) / 7
        assert curve.column("scale")[5] == full * curve.column("clip_ratio")[5]  # type: ignore[operator]
        assert errors[5] == clip_error(values, 4, curve.column("clip_ratio")[5])  # type: ignore[arg-type]


def test_stacked_rows_are_the_tables_cells() -> None:
    """Comparison tables copy cells and never a formula that needs the rows of another table."""
    tables = [summary(quantize(widget(v), Scheme(bits=4)), Scheme(bits=4)) for v in LAST_VALUES]
    found = stacked(tables, LAST_VALUES, ["mean_squared_error", "root_mean_squared_error"])
    assert found.column("mean_squared_error") == tuple(t.value(0, "mean_squared_error") for t in tables)
    assert found.columns[0].expression is None and found.columns[1].expression is not None
