"""Three SymPy nodes of the cost of speculation: a geometric sum, a power that keeps its bracket, a whole number.

Each prints itself as Python for exact rationals, as numpy and as LaTeX. The geometric sum is written as a sum, because
its closed form (1 − αⁿ⁺¹)/(1 − α) says nothing at α = 1. Leaves out: reducers over rows (see `expression`).
"""

from __future__ import annotations

from typing import Any

import sympy as sp


def _bracketed(printer: Any, text: str) -> str:
    """Numbers put in may be fractions, which need a bracket under an exponent."""
    return rf"\left({text}\right)" if printer._rows else text


class Geometric(sp.Function):
    """1 + a + a² + … + aⁿ for a whole number n ≥ 0."""

    nargs = (2,)

    def _pythoncode(self, printer: Any) -> str:
        a, n = (printer._print(x) for x in self.args)
        return f"sum(({a})**i for i in range(int({n}) + 1))"

    def _numpycode(self, printer: Any) -> str:
        a, n = (printer._print(x) for x in self.args)
        return f"numpy.where({a} == 1, {n} + 1.0, (1 - {a}**({n} + 1)) / (1 - {a}))"

    def _latex(self, printer: Any) -> str:
        a, n = (printer._print(x) for x in self.args)
        return rf"\sum_{{i=0}}^{{{n}}} {_bracketed(printer, a)}^{{i}}"


class Power(sp.Function):
    """The first argument to the power of the second."""

    nargs = (2,)

    def _pythoncode(self, printer: Any) -> str:
        base, exponent = (printer._print(x) for x in self.args)
        return f"({base})**({exponent})"

    def _numpycode(self, printer: Any) -> str:
        base, exponent = (printer._print(x) for x in self.args)
        return f"numpy.power({base}, {exponent})"

    def _latex(self, printer: Any) -> str:
        base, exponent = (printer._print(x) for x in self.args)
        return rf"{_bracketed(printer, base)}^{{{exponent}}}"


class Whole(sp.Function):
    """The largest whole number that is not above the argument."""

    nargs = (1,)

    def _pythoncode(self, printer: Any) -> str:
        return f"(({printer._print(self.args[0])}) // 1)"

    def _numpycode(self, printer: Any) -> str:
        return f"numpy.floor({printer._print(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        return rf"\left\lfloor {printer._print(self.args[0])} \right\rfloor"


def geometric(a: Any, n: Any) -> Any:
    """Σ aⁱ, i = 0 … n. (SymPy ships no types; these functions stand where an expression is written.)"""
    return Geometric(a, n)


def power(base: Any, exponent: Any) -> Any:
    return Power(base, exponent)


def whole(x: Any) -> Any:
    return Whole(x)
