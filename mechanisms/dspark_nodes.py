"""One SymPy node of this chapter: a sum of powers whose upper end is a quantity. Prints itself, like `quant_nodes`."""

from __future__ import annotations

from typing import Any

import sympy as sp


class PowerSum(sp.Function):
    """1 + a + a² + … + aⁿ."""

    nargs = (2,)

    def _pythoncode(self, printer: Any) -> str:
        a, n = (printer._print(x) for x in self.args)
        return f"sum(({a})**_i for _i in range(int({n}) + 1))"

    def _numpycode(self, printer: Any) -> str:
        a, n = (printer._print(x) for x in self.args)
        return f"sum(({a})**_i * (_i <= {n}) for _i in range(int(numpy.max({n})) + 1))"

    def _latex(self, printer: Any) -> str:
        a, n = (printer._print(x) for x in self.args)
        return rf"\sum_{{i=0}}^{{{n}}} \left({a}\right)^{{i}}"


def power_sum(a: Any, n: Any) -> Any:
    """Σ_{i=0}^{n} aⁱ. (SymPy ships no types; this function stands where an expression is written.)"""
    return PowerSum(a, n)
