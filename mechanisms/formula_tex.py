"""LaTeX of an expression: with symbols, or with numbers in their place and sums written out term by term."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import sympy as sp
from sympy.printing.latex import LatexPrinter

_OPEN, _SHUT = "⟪", "⟫"  # brackets of a written-out sum, dropped where the sum stands alone
_ALONE = re.compile(rf"(^|\}}\{{){_OPEN}([^{_OPEN}{_SHUT}]*){_SHUT}(?=\}}|$)")


class _Tex(LatexPrinter):
    """LaTeX with names and order chosen by the caller; `rows` > 0 writes sums out term by term."""

    def __init__(
        self, name: Callable[[str, int | None], str], order: Sequence[str], rows: int, limit: int, letter: str
    ) -> None:
        super().__init__({"mul_symbol": r"\cdot" if rows else None, "order": "none"})
        self._name, self._order, self._rows = name, list(order), rows
        self._range = rf"_{{{letter}=1}}^{{{limit}}}" if limit else f"_{{{letter}}}"
        self._row: int | None = None

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        return self._name(expr.name, self._row)

    def _place(self, arg: sp.Basic) -> int:
        """Constants first, then in the order of the table's columns: SymPy keeps min and max as sets."""
        return min((self._order.index(str(s)) for s in arg.free_symbols), default=-1)

    def _print_Min(self, expr: sp.Basic, exp: None = None) -> str:
        return self._extreme(r"\min", expr)

    def _print_Max(self, expr: sp.Basic, exp: None = None) -> str:
        return self._extreme(r"\max", expr)

    def _extreme(self, head: str, expr: sp.Basic) -> str:
        return rf"{head}\left({', '.join(self._print(a) for a in sorted(expr.args, key=self._place))}\right)"

    def _terms(self, expr: sp.Basic) -> list[str]:
        """The argument of a reducer: once with its index, or once per row with numbers."""
        inner, written = expr.args[0], []
        for row in range(self._rows) if self._rows else (None,):
            self._row = row
            body = self._print(inner)
            written.append(rf"\left({body}\right)" if isinstance(inner, sp.Add) else body)
        self._row = None
        return written

    def _print_Total(self, expr: sp.Basic) -> str:
        terms = self._terms(expr)
        if not self._rows:
            return rf"\sum{self._range} {terms[0]}"
        return terms[0] if len(terms) == 1 else f"{_OPEN}{' + '.join(terms)}{_SHUT}"

    def _print_Product(self, expr: sp.Basic) -> str:
        terms = self._terms(expr)
        return r" \cdot ".join(terms) if self._rows else rf"\prod{self._range} {terms[0]}"

    def _print_Largest(self, expr: sp.Basic) -> str:
        terms, separator = self._terms(expr), r",\; "
        return rf"\max\left({separator.join(terms)}\right)" if self._rows else rf"\max{self._range} {terms[0]}"

    def _print_Share(self, expr: sp.Basic) -> str:
        weight, law = (
            rf"\left({self._print(a)}\right)" if isinstance(a, sp.Add) else self._print(a) for a in expr.args
        )
        return rf"{weight} \cdot {law}"

    def _print_Pow(self, expr: sp.Pow) -> str:
        base, exponent = expr.args
        if self._rows and isinstance(base, sp.Symbol) and exponent.is_Integer and exponent > 0:
            return rf"\left({self._print(base)}\right)^{{{exponent}}}"  # a fraction put in needs its bracket
        return str(super()._print_Pow(expr))

    def _print_EntropyTerm(self, expr: sp.Basic) -> str:
        p, q = (self._print(a) for a in expr.args)
        return rf"{p}\,\ln\frac{{{p}}}{{{q}}}"


def write_tex(
    expr: sp.Basic, name: Callable[[str, int | None], str], order: Sequence[str], rows: int = 0, limit: int = 0,
    letter: str = "v",
) -> str:  # fmt: skip
    """LaTeX of `expr`; `name(symbol, row)` says how each symbol is written, `rows` how many terms a sum has, `limit`
    up to which index a sum that is not written out runs, `letter` its index."""
    text = _ALONE.sub(r"\1\2", str(_Tex(name, order, rows, limit, letter).doprint(expr)))
    return text.replace(_OPEN, r"\left(").replace(_SHUT, r"\right)")
