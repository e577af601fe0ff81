"""A named quantity: one expression that yields value, formula, substituted formula, unit and source.

Teaches: that a formula and the number beside it can come from the same object, so that they cannot drift apart.
Leaves out: rows and columns (see `table`). Kinds are those of the wiki: a number is `given`, `exact`, `float`,
`simulated`, `measured`, `quoted` or `contradicted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import sympy as sp

from mechanisms.expression import REAL, Value, real

Kind = Literal["given", "exact", "float", "simulated", "measured", "quoted", "contradicted"]
PLACES = 6  # as the source documents print
_HALF_UNIT = 2 * 10**PLACES


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of one topic.

    `id` is `<topic>.<name>`; `symbol` is LaTeX without its index; `index` names the row ("v" for a token, "" for a
    number of the whole table); `expression` is over `sp.Symbol(name)` of other quantities, None when it is given;
    `defined` is the condition under which it has a value. Source: none, this is the wiki's own notation.
    """

    id: str
    symbol: str
    source: str
    expression: sp.Basic | None = None
    unit: str = "1"
    index: str = "v"
    kind: Kind = "exact"
    counts: bool = False  # whole numbers are printed without decimals
    defined: sp.Basic | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind={self.kind!r}: must be one of {get_args(Kind)}")
        if self.id.count(".") != 1:
            raise ValueError(f"id={self.id!r}: must be '<topic>.<name>'")

    @property
    def name(self) -> str:
        return self.id.split(".")[1]

    @property
    def sym(self) -> sp.Symbol:
        """The symbol by which other expressions refer to this quantity."""
        return symbol(self.name)

    def tex(self, row: str | None = None) -> str:
        """The symbol with its index: `a(v)`, or `a(\\text{A})` for a row."""
        if not self.index:
            return self.symbol
        return f"{self.symbol}({self.index if row is None else text_tex(row)})"


def symbol(name: str) -> sp.Symbol:
    """The SymPy symbol of a quantity: non-negative, as most are masses or counts; `signed` is for the others."""
    return sp.Symbol(name, nonnegative=True)


def signed(of: Quantity | str) -> Any:
    """The symbol of a quantity that may be negative: for a non-negative one SymPy drops |x| and max(0, x)."""
    return sp.Symbol(of if isinstance(of, str) else of.name, real=True)


def given(id: str, tex: str, source: str, **more: Any) -> Quantity:
    """A quantity that is chosen, not computed."""
    return Quantity(id, tex, source, kind="given", **more)


def text_tex(words: str) -> str:
    """A row name as upright LaTeX text."""
    escaped = "".join(
        {"\\": r"\backslash ", "^": r"\hat{}", "~": r"\sim "}.get(c, f"\\{c}" if c in "#$%&_{}" else c) for c in words
    )
    return rf"\text{{{escaped}}}"


def as_fraction(value: Value) -> Fraction:
    """A finite value as a rational (a 50-digit real is one, too)."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int):
        return Fraction(value)
    sign, man, exp, _ = value._mpf_
    return Fraction((-int(man) if sign else int(man)) << max(exp, 0), 1 << max(-exp, 0))


def is_infinite(value: Value) -> bool:
    return not isinstance(value, Fraction | int) and bool(REAL.isinf(value))


def decimal_text(value: Value, places: int = PLACES) -> str:
    """Fixed decimals, rounded half to even from the exact value.

    >>> decimal_text(Fraction(4, 7))
    '0.571429'
    """
    if is_infinite(value):
        return "∞" if value > 0 else "−∞"
    x = as_fraction(value)
    scaled = _half_even(x.numerator * 10**places, x.denominator)
    whole, rest = divmod(abs(scaled), 10**places)
    sign = "−" if scaled < 0 else ""
    return f"{sign}{whole}.{rest:0{places}d}" if places else f"{sign}{whole}"


def _half_even(numerator: int, denominator: int) -> int:
    """The nearest integer, ties to even: what `round` does with a Fraction, without making one."""
    whole, rest = divmod(numerator, denominator)
    twice = 2 * rest
    return whole + (twice > denominator or (twice == denominator and whole % 2 == 1))


def print_text(quantity: Quantity, value: Value) -> str:
    """A value as its table prints it: six places, a bare integer for counts, a power of ten where six places show 0; a
    measured real with the places that it has."""
    if is_infinite(value):
        return decimal_text(value)
    x = as_fraction(value)
    if x and abs(x.numerator) * _HALF_UNIT < x.denominator:
        return tiny_text(value)
    if quantity.kind == "measured" and not isinstance(value, Fraction):  # rounded to its spread: no zeros beyond that
        return decimal_text(x).rstrip("0").rstrip(".")
    return decimal_text(x, 0 if quantity.counts and x.denominator == 1 else PLACES)


def tiny_text(value: Value) -> str:
    """Three significant digits and a power of ten, `1.23e−42`."""
    x = real(value) if isinstance(value, Fraction | int) else value
    return str(REAL.nstr(x, 3, min_fixed=1, max_fixed=0)).replace("-", "−")


def exact_text(value: Fraction) -> str:
    """The reduced fraction, `4/7`, or the integer."""
    return str(Fraction(value)).replace("-", "−")


def short_text(value: Value) -> str:
    """For a substituted line: the decimal where it ends within six places, else the fraction.

    >>> short_text(Fraction(2, 5)), short_text(Fraction(4, 7))
    ('0.4', '4/7')
    """
    if is_infinite(value):
        return decimal_text(value)
    x = as_fraction(value)
    if isinstance(value, Fraction | int) and 10**PLACES % x.denominator:
        return exact_text(x)  # does not end within six places
    return decimal_text(x).rstrip("0").rstrip(".")


def number_tex(text: str) -> str:
    """`short_text` as LaTeX; negative numbers in brackets so that they can stand after any operator."""
    text = text.replace("−", "-").replace("∞", r"\infty")
    sign, body = ("-", text[1:]) if text.startswith("-") else ("", text)
    if "/" in body:
        a, b = body.split("/")
        body = rf"\frac{{{a}}}{{{b}}}"
    return rf"\left(-{body}\right)" if sign else body
