"""Three SymPy nodes that losses on softmax outputs need: a sign, a natural logarithm, a power with exponent 1/T.

Each prints itself as Python, as numpy and as LaTeX, so that the number engine needs to know none of them.
"""

from __future__ import annotations

from typing import Any

import sympy as sp


class Sign(sp.Function):
    """1, 0 or −1. SymPy's own would be computed with floats."""

    nargs = (1,)

    def _pythoncode(self, printer: Any) -> str:
        x = printer._print(self.args[0])
        return f"((({x}) > 0) - (({x}) < 0))"

    def _numpycode(self, printer: Any) -> str:
        return f"numpy.sign({printer._print(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{sgn}}\left({printer._print(self.args[0])}\right)"


class Ln(sp.Function):
    """Natural logarithm, written ln."""

    nargs = (1,)

    def _pythoncode(self, printer: Any) -> str:
        return f"log({printer._print(self.args[0])})"

    def _numpycode(self, printer: Any) -> str:
        return f"numpy.log({printer._print(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        x = printer._print(self.args[0])
        return rf"\ln {x}" if x.startswith("⟪") else rf"\ln\left({x}\right)"  # a written-out sum has its bracket


class Tempered(sp.Function):
    """p^(1/T): a probability before it is scaled to sum to one again at temperature T."""

    nargs = (2,)

    def _pythoncode(self, printer: Any) -> str:
        p, t = (f"({printer._print(a)})" for a in self.args)
        return f"({p} ** (1 / {t}))"

    def _numpycode(self, printer: Any) -> str:
        return self._pythoncode(printer)

    def _latex(self, printer: Any) -> str:
        p, t = (printer._print(a) for a in self.args)
        return rf"\left({p}\right)^{{1/{t}}}"


def sign(x: Any) -> Any:
    """(SymPy ships no types; these functions stand where an expression is written.)"""
    return Sign(x)


def ln(x: Any) -> Any:
    return Ln(x)


def tempered(p: Any, temperature: Any) -> Any:
    return Tempered(p, temperature)
