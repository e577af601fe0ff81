"""Every cell of every table of the chapter denotes what its substituted formula denotes, read back from LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest

from mechanisms.expression import Total, product, real
from mechanisms.quantity import Quantity, as_fraction, is_infinite
from mechanisms.quantity import given as chosen
from mechanisms.rejection_counts import fit_table
from mechanisms.rejection_ledger import ledger, summary
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_rules import rule
from mechanisms.rejection_sampling import check
from mechanisms.table import Table, tabulate
from mechanisms.values.rejection_ledger import VALUES
from tests.oracle_tables import TABLES
from tests.oracle_tex import right_side, tex_number

A = chosen("t.a", "a", "chosen")


def cells_of(name: str) -> Iterator[tuple[Table, Quantity, int]]:
    """Every cell of the tables called `name`."""
    for table in TABLES[name]():
        for quantity in table.columns:
            yield from ((table, quantity, row) for row in range(len(table.rows)))


def agrees(table: Table, row: int, quantity: Quantity) -> bool:
    """Does the substituted line denote the cell? Exactly, or to 1e-6 where a number put in is itself rounded."""
    value = table.value(row, quantity.name)
    line = table.explain(row, quantity.name).substituted
    if value is None:
        return " = " not in line or tex_number(right_side(line)) is None
    found = tex_number(right_side(line))
    if found is None or is_infinite(value) or found in (math.inf, -math.inf):
        return found is not None and is_infinite(value) and found == math.inf * (1 if value > 0 else -1)
    if isinstance(value, Fraction):
        return found == value
    return math.isclose(found, as_fraction(value), rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize("name", TABLES)
def test_substituted_formulas_denote_their_cells(name: str) -> None:
    """Each cell's formula with its numbers, evaluated by a reader of LaTeX, is the cell; nothing is left in symbols."""
    for table, quantity, row in cells_of(name):
        line = table.explain(row, quantity.name).substituted
        assert agrees(table, row, quantity), (table.id, quantity.name, row, line)


@pytest.mark.parametrize("name", TABLES)
def test_derivations_repeat_the_cell(name: str) -> None:
    """Exact text, decimal, unit, kind and source belong to the cell; only rationals have a fraction."""
    for table, quantity, row in cells_of(name):
        value, told = table.value(row, quantity.name), table.explain(row, quantity.name)
        assert (told.quantity, told.unit, told.kind) == (quantity.id, quantity.unit, quantity.kind)
        assert (told.source, told.function) == (quantity.source, table.function)
        assert (told.exact is None) == (not isinstance(value, Fraction))
        assert told.exact is None or Fraction(told.exact.replace("−", "-")) == value
        assert (told.decimal is None) == (value is None)
        if value is not None and not is_infinite(value):
            shown = Fraction(str(told.decimal).replace("−", "-"))
            assert abs(shown - as_fraction(value)) <= Fraction(1, 2 * 10**6)
        assert (told.condition is None) == (quantity.defined is None)


def test_sums_are_counted_by_the_letter_of_their_rows() -> None:
    """A sum or product over positions runs over j where the columns are indexed by j."""
    factor = chosen("t.c", "c", "chosen", index="j")
    whole = Quantity("t.s", "S", "derived", product(factor.sym), index="")
    table = tabulate("t.t", (factor, whole), ("1", "2"), {"c": (Fraction(1, 2), Fraction(2, 3))}, function="f")
    assert table.explain(0, "s").general == r"S = \prod_{j} c(j)"
    assert table.value(0, "s") == Fraction(1, 3)
    assert table.explain(1, "s").substituted == r"S = 0.5 \cdot \frac{2}{3}"


def test_published_derivation() -> None:
    """The acceptance probability of the first token reads as in Leviathan et al., §2.3: min(1, p/q)."""
    told = ledger(PRESETS["zero_in_draft"]).explain(0, "acceptance_probability")
    assert told.general == r"a(v) = \min\left(1, \frac{p(v)}{q(v)}\right)"
    assert told.substituted == r"a(\text{A}) = \min\left(1, \frac{0.4}{0.7}\right)"
    assert (told.exact, told.decimal, told.unit, told.kind) == ("4/7", "0.571429", "1", "exact")
    assert told.condition == "q(v) > 0"


def test_impossible_outputs_show_where_infinity_comes_from() -> None:
    """Where p forbids an output, the formula of chi-square denotes the infinity that the cell holds."""
    fit = fit_table(check(PRESETS["zero_in_draft"], rule("target_argmax"), 50, seed=1))
    assert agrees(fit, 0, fit.columns[0])
    fit = fit_table(check(PRESETS["disjoint"], rule("accept_all"), 50, seed=1))
    assert is_infinite(fit.value(0, "chi_square"))  # type: ignore[arg-type]
    assert agrees(fit, 0, fit.columns[0])


def test_frames_lose_nothing() -> None:
    """A frame holds the exact values under the same names, rows and order."""
    table = ledger(PRESETS["top_k_draft"])
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == [q.name for q in table.columns] and list(frame.index) == list(table.rows)
    for quantity, cells in zip(table.columns, table.cells, strict=True):
        for ours, cell in zip(frame[quantity.name], cells, strict=True):
            assert (ours == cell and type(ours) is type(cell)) or (cell is None and pd.isna(ours))


def test_columns_are_found_by_name() -> None:
    """A column that does not exist is a KeyError that names those which do."""
    with pytest.raises(KeyError, match="acceptance_rate"):
        summary(PRESETS["identical"]).column("alpha")


@pytest.mark.parametrize("values", [{}, {"a": [Fraction(1)]}], ids=["missing", "short"])
def test_given_columns_must_be_complete(values: dict[str, list[Fraction]]) -> None:
    """A given column that is missing or too short is a ValueError that names it."""
    with pytest.raises(ValueError, match="'a'"):
        tabulate("t.t", (A,), ("x", "y"), values, function="f")


def test_sums_run_over_the_other_table() -> None:
    """With `over`, sums take its rows; without it, those of the table itself. Worked by hand: 1 + 2 + 4."""
    total = Quantity("t.s", "s", "derived", Total(A.sym), index="")
    rows = tabulate("t.rows", (A, total), ("x", "y", "z"), {"a": [Fraction(n) for n in (1, 2, 4)]}, function="f")
    assert rows.column("s") == (7, 7, 7)
    assert tabulate("t.sum", (total,), ("",), {}, function="f", over=rows).cells == ((7,),)
    assert rows.terms == 3 and set(rows.known) == {"a", "s"}


def test_float_columns_are_marked_and_have_no_fraction() -> None:
    """A column of kind float is computed in 50 digits even where a rational would do."""
    third = Quantity("t.t", "t", "derived", A.sym / 3, kind="float")
    exact = replace(third, id="t.u", kind="exact")
    table = tabulate("t.t", (A, third, exact), ("x",), {"a": [Fraction(1)]}, function="f")
    assert table.explain(0, "t").exact is None and table.explain(0, "u").exact == "1/3"
    assert table.value(0, "t") == real(Fraction(1)) / 3


@pytest.mark.parametrize(("id", "make"), VALUES.items(), ids=list(VALUES))
def test_quoted_values_are_cells(id: str, make: object) -> None:
    """Every number that the lesson quotes is a defined cell whose derivation can be opened."""
    table, row, name = make()  # type: ignore[operator]
    assert table.value(row, name) is not None and table.explain(row, name).decimal
    assert id.startswith("rejection_ledger.")


def test_quoted_values_by_hand() -> None:
    """The lesson's numbers, worked by hand from the presets' probabilities."""
    wanted = {
        "prefix": 6, "drafts": 4, "processed": 5, "agree_rejected": "1/2", "agree_favourite_p": "2/5",
        "agree_favourite_q": "9/10", "agree_favourite_accept": "4/9", "differ_accepted": "49/50",
        "never_drafted_final": "1/4", "never_drafted_residual": "5/6", "zero_rate": "7/10", "zero_error": 0,
        "identical_argmax_distance": "9/20", "identical_argmax_emitted": 1, "identical_favourite": "11/20",
        "equality_accepted": "77/200", "zero_tokens": "219/100",
    }  # fmt: skip
    found = {id.removeprefix("rejection_ledger."): make() for id, make in VALUES.items()}
    assert {id: table.value(row, name) for id, (table, row, name) in found.items() if id in wanted} == {
        id: Fraction(text) for id, text in wanted.items()
    }
