"""The three readings of an expression agree: exact rationals, float64 arrays and 50-digit reals."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.distribution import Pair
from mechanisms.expression import (
    REAL,
    EntropyTerm,
    Largest,
    Product,
    Share,
    Total,
    compile_rows,
    evaluate_array,
    names_of,
    real,
)
from mechanisms.quantity import Quantity, as_fraction
from mechanisms.quantity import given as chosen
from mechanisms.rejection_ledger import ACCEPT, KL, PINSKER, RESIDUAL, ledger, summary
from mechanisms.table import Cell, Table, tabulate
from tests.oracle_rejection import SEEDED, Law, laws, two_laws

ROOT = Path(__file__).resolve().parent.parent
A, B = chosen("t.a", "a", "chosen"), chosen("t.b", "b", "chosen")
a, b = A.sym, B.sym
# name -> (expression, the same in plain Python over one row and all rows)
READINGS = {
    "constant": (sp.Rational(1, 3) + 0 * a, lambda x, y, rows: Fraction(1, 3)),
    "rational-factor": (sp.Rational(2, 7) * a, lambda x, y, rows: Fraction(2, 7) * x),
    "sum": (a + 2 * b, lambda x, y, rows: x + y + y),
    "difference": (a - b, lambda x, y, rows: x - y),
    "ratio": (a / (1 + b), lambda x, y, rows: x / (y + 1)),
    "power": ((a - b) ** 3, lambda x, y, rows: (x - y) * (x - y) * (x - y)),
    "inverse-square": ((1 + a) ** -2, lambda x, y, rows: 1 / ((1 + x) * (1 + x))),
    "least-of-three": (sp.Min(a, b, sp.Rational(1, 5)), lambda x, y, rows: sorted([x, y, Fraction(1, 5)])[0]),
    "most-of-three": (sp.Max(0, a - b, b / 2), lambda x, y, rows: sorted([Fraction(0), x - y, y / 2])[-1]),
    "absolute": (sp.Abs(a - b), lambda x, y, rows: x - y if x > y else y - x),
    "total": (a / (1 + Total(sp.Min(a, b))), lambda x, y, rows: x / (1 + sum(min(r) for r in rows))),
    "product": (Product(1 - a) * b, lambda x, y, rows: math.prod(1 - r[0] for r in rows) * y),
    "largest": (Largest(sp.Abs(a - b)) - b, lambda x, y, rows: max(abs(r[0] - r[1]) for r in rows) - y),
    "two-totals": (Total(a * b) - Total(a) * b, lambda x, y, rows: sum(r[0] * (r[1] - y) for r in rows)),
    "share": (Share(a, b + 1), lambda x, y, rows: x * (y + 1)),
}  # fmt: skip


def table_of(rows: list[tuple[Fraction, Fraction]], *made: Quantity) -> Table:
    given_columns = {"a": [r[0] for r in rows], "b": [r[1] for r in rows]}
    return tabulate("t.t", (A, B, *made), [str(i) for i in range(len(rows))], given_columns, function="f")


@pytest.mark.parametrize("name", READINGS)
@SEEDED
@given(rows=st.lists(st.tuples(*[st.fractions(0, 3, max_denominator=40)] * 2), min_size=1, max_size=5))
def test_readings_agree(name: str, rows: list[tuple[Fraction, Fraction]]) -> None:
    """An expression gives exactly what plain Python gives, its reals agree to 1e-45 and its arrays to 1e-12."""
    expression, plain = READINGS[name]
    wanted = [plain(x, y, rows) for x, y in rows]
    exact, rounded = (Quantity(f"t.{k}", k, "derived", expression, kind=k) for k in ("exact", "float"))  # type: ignore[arg-type]
    table = table_of(rows, exact, rounded)
    assert list(table.column("exact")) == wanted
    assert all(isinstance(cell, Fraction) for cell in table.column("exact"))
    for ours, value in zip(table.column("float"), wanted, strict=True):
        assert abs(as_fraction(ours) - value) < Fraction(1, 10**45)  # type: ignore[arg-type]
    columns = {n: np.array([float(r[i]) for r in rows]) for i, n in enumerate("ab")}
    array = np.broadcast_to(evaluate_array(expression, columns), len(rows))
    np.testing.assert_allclose(array, [float(w) for w in wanted], rtol=1e-12, atol=1e-12)


def floats(cells: tuple[Cell, ...]) -> np.ndarray:
    """Cells as float64, nan where undefined."""
    return np.array([np.nan if x is None else float(x) for x in cells])


@SEEDED
@given(two_laws(1, 6))
def test_arrays_equal_the_ledger(both: tuple[Law, Law]) -> None:
    """The array reading of every ledger and summary column equals its exact cells to 1e-12, nan where undefined."""
    p, q = both
    pair = Pair(tuple(map(str, range(len(p)))), tuple(p), tuple(q))
    rows, totals = ledger(pair), summary(pair)
    columns = {c.name: floats(cells) for c, cells in zip(rows.columns, rows.cells, strict=True)}
    for quantity in rows.columns[2:]:
        ours, wanted = evaluate_array(quantity.expression, columns), columns[quantity.name]
        defined = ~np.isnan(wanted)
        np.testing.assert_allclose(ours[defined], wanted[defined], rtol=1e-12, atol=1e-12)
    assert quantity is RESIDUAL
    for quantity in totals.columns[:-1]:
        wanted = floats(totals.column(quantity.name))
        assert evaluate_array(quantity.expression, columns) == pytest.approx(wanted[0], abs=1e-12)
    kl = evaluate_array(KL.expression, columns)
    assert evaluate_array(PINSKER.expression, {KL.name: kl}) == pytest.approx(math.sqrt(max(kl, 0) / 2), abs=1e-12)


def test_arrays_may_hold_several_tables() -> None:
    """Rows lie on the last axis, so a batch of laws gives what each law gives by itself, also where it is square."""
    p, q = np.array([[0.4, 0.6], [0.5, 0.5]]), np.array([[0.7, 0.3], [0.3, 0.7]])
    gain = np.array([[0.0, 0.3], [0.4, 0.1]])
    values = {"target_probability": p, "draft_probability": q, "correction_mass": gain}
    for expression in (ACCEPT.expression, KL.expression, RESIDUAL.expression):
        together = evaluate_array(expression, values)
        alone = [evaluate_array(expression, {n: v[i] for n, v in values.items()}) for i in range(2)]
        np.testing.assert_allclose(together, np.array(alone), rtol=1e-12)


@SEEDED
@given(laws(4), laws(4))
def test_square_roots_and_logarithms_have_fifty_digits(p: Law, q: Law) -> None:
    """√ and ln of rationals agree with mpmath at 70 digits to 1e-45."""
    exact = mpmath.MPContext()
    exact.dps = 70
    root = Quantity("t.root", "s", "derived", sp.sqrt(a / 3, evaluate=False), kind="float")
    log = Quantity("t.log", "l", "derived", sp.log(1 + a / 3), kind="float")
    table = table_of(list(zip(p, q, strict=True)), root, log)
    for x, r, ell in zip(p, table.column("root"), table.column("log"), strict=True):
        third = exact.mpf(x.numerator) / x.denominator / 3
        assert abs(exact.mpf(r) - exact.sqrt(third)) < exact.mpf(10) ** -45
        assert abs(exact.mpf(ell) - exact.log(1 + third)) < exact.mpf(10) ** -45


@pytest.mark.parametrize(
    ("p", "q", "term"), [(0, 0, 0.0), (0, 1, 0.0), (1, 0, math.inf), (1, 1, 0.0)], ids=["0-0", "0-1", "1-0", "1-1"]
)
def test_entropy_term_at_its_edges(p: int, q: int, term: float) -> None:
    """0 ln(0/q) is 0 and p ln(p/0) is infinite, in both readings and without a warning."""
    quantity = Quantity("t.e", "e", "derived", EntropyTerm(a, b), kind="float")
    assert table_of([(Fraction(p), Fraction(q))], quantity).value(0, "e") == term
    assert evaluate_array(EntropyTerm(a, b), {"a": np.array([float(p)]), "b": np.array([float(q)])}).tolist() == [term]


def test_undefined_parts_spread_unless_nothing_is_drawn() -> None:
    """An undefined cell makes every cell undefined that needs it; a share of weight 0 does not need it."""
    undefined = Quantity("t.u", "u", "derived", 1 / b, defined=b > 0)
    share = Quantity("t.s", "s", "derived", Share(a, undefined.sym))
    total = Quantity("t.t", "t", "derived", Total(undefined.sym))
    rows = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(0)), (Fraction(1), Fraction(2))]
    table = table_of(rows, undefined, share, total, Quantity("t.v", "v", "derived", undefined.sym + 1))
    assert table.column("u") == (None, None, Fraction(1, 2))
    assert table.column("s") == (0, None, Fraction(1, 2))
    assert table.column("v") == (None, None, Fraction(3, 2))
    assert table.column("t") == (None,) * 3
    assert evaluate_array(Share(a, b), {"a": np.array([0.0, 2.0]), "b": np.array([np.nan, 3.0])}).tolist() == [0.0, 6.0]


def test_reducers_are_taken_out_once() -> None:
    """A reducer that occurs twice is computed once per table, and the names of a row function are sorted."""
    compiled = compile_rows(b / Total(a) + a / Total(a) + Largest(b))
    assert [kind for kind, _, _ in compiled.reducers] == [Largest, Total]
    assert compiled.row_names == ("_r0", "_r1", "a", "b") and names_of(a * b) == ("a", "b")


def test_precision_is_not_a_global_setting() -> None:
    """The 50 digits belong to a context of their own: mpmath's global precision stays as it was."""
    assert mpmath.mp.dps == 15 and REAL.dps == 50
    assert abs(real(Fraction(1, 3)) * 3 - 1) < REAL.mpf(10) ** -49


def test_mechanisms_need_neither_pandas_nor_torch_nor_streamlit() -> None:
    """Importing every mechanism, and computing with one, loads none of them."""
    modules = ["mechanisms." + ".".join(p.relative_to(ROOT / "mechanisms").with_suffix("").parts)
               for p in sorted((ROOT / "mechanisms").rglob("*.py")) if p.name != "__init__.py"]  # fmt: skip
    code = (
        f"import importlib, sys\nfor m in {modules}: importlib.import_module(m)\n"
        "from mechanisms.rejection_presets import PRESETS\nfrom mechanisms.rejection_ledger import summary\n"
        "summary(PRESETS['disjoint']).explain(0, 'acceptance_rate')\n"
        "print(sorted({'pandas', 'torch', 'streamlit', 'plotly', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(modules) > 15 and done.stdout.strip() == "[]"
