"""Four SymPy nodes that quantization needs: rounding with a tie rule, clipping, a place on a grid, a test for zero.

Each prints itself as Python for exact rationals, as numpy and as LaTeX, so that the number engine needs to know none
of them. Leaves out: reducers, which the engine has to know (`expression.REDUCERS`).
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import sympy as sp

Rounding = Literal["half_even", "half_up", "half_away"]
RULES: tuple[Rounding, ...] = get_args(Rounding)


class Round(sp.Function):
    """Nearest integer; the second argument is the place of the tie rule in `RULES`."""

    nargs = (2,)

    def _pythoncode(self, printer: Any) -> str:
        x, half = f"({printer._print(self.args[0])})", "Fraction(1, 2)"
        return (
            f"round({x})",
            f"(({x} + {half}) // 1)",
            f"(({x} + {half}) // 1 if {x} >= 0 else -((-{x} + {half}) // 1))",
        )[int(self.args[1])]  # type: ignore[call-overload]

    def _numpycode(self, printer: Any) -> str:
        x = f"({printer._print(self.args[0])})"
        away = f"numpy.copysign(numpy.floor(numpy.abs({x}) + 0.5), {x})"
        return (f"numpy.rint({x})", f"numpy.floor({x} + 0.5)", away)[int(self.args[1])]  # type: ignore[call-overload]

    def _latex(self, printer: Any) -> str:
        x = printer._print(self.args[0])
        return (
            rf"\operatorname{{round}}\left({x}\right)",
            rf"\left\lfloor {x} + \frac{{1}}{{2}} \right\rfloor",
            rf"\operatorname{{sgn}}\left({x}\right) \left\lfloor \left|{x}\right| + \frac{{1}}{{2}} \right\rfloor",
        )[int(self.args[1])]  # type: ignore[call-overload]


class Clip(sp.Function):
    """The first argument, held between the second and the third."""

    nargs = (3,)

    def _pythoncode(self, printer: Any) -> str:
        x, low, high = (printer._print(a) for a in self.args)
        return f"max({low}, min({high}, {x}))"

    def _numpycode(self, printer: Any) -> str:
        x, low, high = (printer._print(a) for a in self.args)
        return f"numpy.clip({x}, {low}, {high})"

    def _latex(self, printer: Any) -> str:
        separator = r",\; "
        return rf"\operatorname{{clip}}\left({separator.join(printer._print(a) for a in self.args)}\right)"


class Steps(sp.Function):
    """x/s, and 0 where s = 0: on a grid without a step every value lies at its only level."""

    nargs = (2,)

    def _pythoncode(self, printer: Any) -> str:
        x, s = (f"({printer._print(a)})" for a in self.args)
        return f"({x}/{s} if {s} else Fraction(0))"

    def _numpycode(self, printer: Any) -> str:
        x, s = (f"({printer._print(a)})" for a in self.args)
        return f"numpy.where({s} == 0, 0.0, {x}/{s})"

    def _latex(self, printer: Any) -> str:
        x, s = (printer._print(a) for a in self.args)
        return rf"\frac{{{x}}}{{{s}}}"


class IsZero(sp.Function):
    """1 where the argument is 0, else 0."""

    nargs = (1,)

    def _pythoncode(self, printer: Any) -> str:
        return f"int(({printer._print(self.args[0])}) == 0)"

    def _numpycode(self, printer: Any) -> str:
        return f"(({printer._print(self.args[0])}) == 0).astype(int)"

    def _latex(self, printer: Any) -> str:
        return rf"\left[{printer._print(self.args[0])} = 0\right]"


def nearest(x: Any, rule: Rounding) -> Any:
    """x rounded to an integer. (SymPy ships no types; these functions stand where an expression is written.)"""
    return Round(x, RULES.index(rule))


def clip(x: Any, low: Any, high: Any) -> Any:
    return Clip(x, low, high)


def steps(x: Any, scale: Any) -> Any:
    return Steps(x, scale)


def is_zero(x: Any) -> Any:
    return IsZero(x)
