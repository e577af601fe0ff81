"""The number that a line of LaTeX denotes, for the few commands that substituted formulas contain.

Arithmetic is exact (Fraction) until a root or logarithm; infinity and undefined parts behave as a reader takes them:
x/0 is undefined except in p · ln(p/0) = ∞, 0 · undefined = 0, 0 · ln(0/q) = 0.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

Number = Fraction | float | None
_TOKEN = re.compile(r"\\text\{undefined\}|\\[a-zA-Z]+|\\[,;]|\d+(?:\.\d+)?|[-+^,(){}|]")
_SKIP = {r"\,", r"\;"}
UNDEFINED = r"\text{undefined}"


def right_side(line: str) -> str:
    """What stands after the first ` = ` of a formula."""
    head, separator, tail = line.partition(" = ")
    return tail if separator else head


def tex_number(text: str) -> Number:
    """Value of an expression; ValueError where a character is not understood."""
    if rest := _TOKEN.sub("", text).replace(" ", ""):
        raise ValueError(f"not understood: {rest!r} in {text!r}")
    parser = _Parser([t for t in _TOKEN.findall(text) if t not in _SKIP])
    value = parser.sum()
    if parser.tokens:
        raise ValueError(f"left over: {parser.tokens} in {text!r}")
    return value


def times(a: Number, b: Number) -> Number:
    if 0 in (a, b):
        return Fraction(0)
    return None if a is None or b is None else a * b


def over(a: Number, b: Number) -> Number:
    if a is None or b is None:
        return None
    return None if b == 0 else a / b


def logarithm(x: Number) -> Number:
    if x is None or x == 0:
        return None  # only ever multiplied by 0
    return float(x) if x == math.inf else math.log(x)


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def take(self, *wanted: str) -> bool:
        if self.tokens[: len(wanted)] == list(wanted):
            del self.tokens[: len(wanted)]
            return True
        return False

    def need(self, *wanted: str) -> None:
        if not self.take(*wanted):
            raise ValueError(f"{' '.join(wanted)} wanted before {self.tokens[:5]}")

    def sum(self) -> Number:
        sign = -1 if self.take("-") else 1
        value = times(Fraction(sign), self.product())
        while self.tokens and self.tokens[0] in "+-":
            sign = -1 if self.tokens.pop(0) == "-" else 1
            term = times(Fraction(sign), self.product())
            value = None if value is None or term is None else value + term
        return value

    def product(self) -> Number:
        value = self.power()
        while self.tokens and (self.take(r"\cdot") or self._starts_factor()):
            value = times(value, self.power())
        return value

    def _starts_factor(self) -> bool:
        return self.tokens[0] in (r"\ln", r"\frac", r"\left", r"\min", r"\max", r"\sqrt")

    def power(self) -> Number:
        base = self.factor()
        if not self.take("^"):
            return base
        exponent = self.group()
        assert base is not None and exponent is not None
        return base**exponent if exponent != exponent.__trunc__() else base ** int(exponent)

    def group(self) -> Number:
        self.need("{")
        value = self.sum()
        self.need("}")
        return value

    def many(self) -> list[Number]:
        self.need(r"\left", "(")
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        self.need(r"\right", ")")
        return values

    def factor(self) -> Number:
        if self.tokens and self.tokens[0][0].isdigit():
            return Fraction(self.tokens.pop(0))
        if self.take(UNDEFINED):
            return None
        if self.take(r"\infty"):
            return math.inf
        if self.take(r"\frac"):
            return over(self.group(), self.group())
        if self.take(r"\sqrt"):
            inside = self.group()
            return None if inside is None else math.sqrt(inside)
        if self.take(r"\ln", r"\frac"):
            top, bottom = self.group(), self.group()
            return math.inf if bottom == 0 and top else logarithm(over(top, bottom))
        return self.enclosed()

    def enclosed(self) -> Number:
        if self.take(r"\left", "|", "{"):
            inside = self.sum()
            self.need("}", r"\right", "|")
            return None if inside is None else abs(inside)
        if self.tokens[0] in (r"\min", r"\max"):
            pick = min if self.tokens.pop(0) == r"\min" else max
            values = self.many()
            return None if None in values else pick(v for v in values if v is not None)
        self.need(r"\left", "(")
        inside = self.sum()
        self.need(r"\right", ")")
        return inside
