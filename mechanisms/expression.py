"""One SymPy expression, three readings: exact rationals, numpy arrays and 50-digit reals.

Teaches: how a formula that is written once becomes code. Leaves out: anything about tables, names or sources
(see `quantity`). `Total`, `Product` and `Largest` reduce a column to one number; everything else acts row by row.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

Real = Any  # a 50-digit mpmath number; mpmath ships no types
Value = Fraction | Real
REAL = mpmath.MPContext()  # a context of its own: the precision is not a global setting
REAL.dps = 50


class Total(sp.Function):
    """Sum of its argument over all rows of a table."""

    nargs = (1,)


class Product(sp.Function):
    """Product of its argument over all rows of a table."""

    nargs = (1,)


class Largest(sp.Function):
    """Largest value of its argument over all rows of a table."""

    nargs = (1,)


class EntropyTerm(sp.Function):
    """p ln(p/q) with 0 ln(0/q) = 0, and infinity where p > 0 = q."""

    nargs = (2,)


class Share(sp.Function):
    """w · x, and 0 where w = 0 even if x is undefined: what is never drawn needs no further probability."""

    nargs = (2,)


REDUCERS = (Total, Product, Largest)


def total(term: Any) -> Any:
    """Σ over the rows. (SymPy ships no types; these functions stand where an expression is written.)"""
    return Total(term)


def product(factor: Any) -> Any:
    """Π over the rows."""
    return Product(factor)


def largest(term: Any) -> Any:
    return Largest(term)


def entropy_term(p: Any, q: Any) -> Any:
    return EntropyTerm(p, q)


def share(weight: Any, law: Any) -> Any:
    return Share(weight, law)


def real(x: Fraction | int) -> Real:
    """A rational as a 50-digit real."""
    x = Fraction(x)
    return REAL.mpf(x.numerator) / x.denominator


def _entropy_term(p: Any, q: Any) -> Any:
    if p == 0:
        return REAL.mpf(0)
    return REAL.inf if q == 0 else p * REAL.log(p / q)


def _share(w: Any, x: Any) -> Any:
    if w == 0:
        return w
    return None if x is None else w * x


def _share_array(w: Any, x: Any) -> Any:
    return np.where(w == 0, 0.0, w * x)


def _entropy_term_array(p: Any, q: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p == 0, 0.0, p * np.log(p / q))


class _ScalarPrinter(PythonCodePrinter):
    """Python source in which a rational constant stays a rational."""

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"Fraction({expr.p}, {expr.q})"

    def _call(self, name: str, expr: sp.Basic) -> str:
        return f"{name}({', '.join(self._print(a) for a in expr.args)})"

    def _print_Min(self, expr: sp.Basic) -> str:
        return self._call("min", expr)

    def _print_Max(self, expr: sp.Basic) -> str:
        return self._call("max", expr)

    def _print_EntropyTerm(self, expr: sp.Basic) -> str:
        return self._call("entropy_term", expr)

    def _print_Share(self, expr: sp.Basic) -> str:
        return self._call("share", expr)

    def _hprint_Pow(self, expr: sp.Basic, rational: bool = False, sqrt: str = "sqrt") -> str:
        # a/b and powers go to Python's operators; the square root to the 50-digit context
        return super()._hprint_Pow(expr, rational=rational, sqrt="sqrt")


class _ArrayPrinter(NumPyPrinter):
    def _print_EntropyTerm(self, expr: sp.Basic) -> str:
        return f"entropy_term({', '.join(self._print(a) for a in expr.args)})"

    def _print_Share(self, expr: sp.Basic) -> str:
        return f"share({', '.join(self._print(a) for a in expr.args)})"

    by_row = False  # an expression of rows keeps the axis that its reducers sum over

    def _print_Total(self, expr: sp.Basic) -> str:
        return f"numpy.sum({self._print(expr.args[0])}, axis=-1, keepdims={self.by_row})"

    def _print_Product(self, expr: sp.Basic) -> str:
        return f"numpy.prod({self._print(expr.args[0])}, axis=-1, keepdims={self.by_row})"

    def _print_Largest(self, expr: sp.Basic) -> str:
        return f"numpy.max({self._print(expr.args[0])}, axis=-1, keepdims={self.by_row})"


_SCALAR: dict[str, Any] = {
    "Fraction": Fraction, "min": min, "max": max, "abs": abs,
    "sqrt": REAL.sqrt, "log": REAL.log, "exp": REAL.exp, "entropy_term": _entropy_term, "share": _share,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compiled:
    """A row function whose reducers have been taken out, so that each of them is computed once per table."""

    row_names: tuple[str, ...]
    spared: frozenset[str]  # names that may be undefined, as a `Share` decides whether they are needed
    reducers: tuple[tuple[type[sp.Function], tuple[str, ...], Callable[..., Any]], ...]
    function: Callable[..., Any]


def _lambdify(expr: sp.Basic, names: tuple[str, ...], exact: bool) -> Callable[..., Any]:
    scope = _SCALAR if exact else {**_SCALAR, "Fraction": lambda a, b: REAL.mpf(a) / b}  # constants of the same kind
    printer = _ScalarPrinter({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
    made: Callable[..., Any] = sp.lambdify([sp.Symbol(n) for n in names], expr, modules=[scope], printer=printer)
    return made


def _plain(expr: sp.Basic) -> sp.Basic:
    """The same expression over bare symbols: assumptions serve simplification, not evaluation."""
    return expr.xreplace({s: sp.Symbol(str(s)) for s in expr.free_symbols})


def names_of(expr: sp.Basic) -> tuple[str, ...]:
    return tuple(sorted(map(str, expr.free_symbols)))


def _spared(expr: sp.Basic) -> frozenset[str]:
    return frozenset(names_of(expr)) & {n for share in expr.atoms(Share) for n in names_of(share.args[1])}


@cache
def compile_rows(expr: sp.Basic, exact: bool = True) -> Compiled:
    """Compile for rationals or 50-digit reals; reducers become extra arguments `_r0`, `_r1`, …"""
    found = sorted(expr.atoms(*REDUCERS), key=str)
    outer = _plain(expr.xreplace({f: sp.Symbol(f"_r{i}") for i, f in enumerate(found)}))
    reducers = tuple((type(f), names_of(f), _lambdify(_plain(f.args[0]), names_of(f), exact)) for f in found)
    names = names_of(outer)
    return Compiled(names, _spared(outer), reducers, _lambdify(outer, names, exact))


@cache
def _compile_array(expr: sp.Basic) -> tuple[tuple[str, ...], Callable[..., Any]]:
    names = names_of(expr)
    printer = _ArrayPrinter({"fully_qualified_modules": True, "allow_unknown_functions": True})
    printer.by_row = bool(expr.xreplace(dict.fromkeys(expr.atoms(*REDUCERS), sp.S.One)).free_symbols)
    scope: dict[str, Any] = {
        "numpy": np,
        "functools": functools,
        "entropy_term": _entropy_term_array,
        "share": _share_array,
    }
    return names, sp.lambdify([sp.Symbol(n) for n in names], _plain(expr), modules=[scope], printer=printer)


def evaluate_array(expr: sp.Basic, values: Mapping[str, Any]) -> Any:
    """The expression on numpy arrays; rows lie on the last axis, and the reducers sum, multiply or compare along it."""
    names, function = _compile_array(expr)
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # 0/0 and x/0 are nan and inf here, as arrays have no "undefined"
        return function(*(np.asarray(values[n]) for n in names))
