"""A reader's vector: read from text, drawn from a law, and where its grid lies.

Teaches: what counts as a number here, and why the rest is refused by name. Values are exact rationals; magnitudes
outside 10^−9 … 10^9 are refused because the tables could not print them (`quant_floats` shows what such values do to
floating point). Leaves out: names of values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal

import numpy as np

from mechanisms.distribution import split_list
from mechanisms.error_budget import Scheme, ranges
from mechanisms.quant_noise import LAWS
from mechanisms.quantity import as_fraction

Code = Literal["empty", "not_a_number", "not_finite", "too_precise", "too_large", "too_small", "too_many"]
MOST_SHOWN, MOST = 24, 4096  # values with a table of their own; values with totals only
LEAST_SIZE, LARGEST_SIZE = Fraction(1, 10**9), Fraction(10**9)
GENERATED = ("gaussian", "student", "laplace", "outlier")
_COUNT, _OUTLIER = 16, Fraction(8)
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?")
_RATIO = re.compile(r"([+-]?\d{1,40})/(\d{1,40})")
_LONG = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?\d+/\d+")
_ENDLESS = re.compile(r"[+-]?(nan|inf|infinity|∞)", re.IGNORECASE)
_WIDE = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: 0x20, 0x2212: 0x2D}  # what Chinese input methods type


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: `place` is the index of the value, None for the whole list; `detail` is what was written."""

    code: Code
    place: int | None = None
    detail: str = ""


class InvalidVector(ValueError):
    """A list that cannot be used, with its problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.code} at {p.place}: {p.detail}" for p in problems))
        self.problems = tuple(problems)


def read_value(text: str) -> Fraction | Code:
    """One decimal or ratio, exact, or the code of what is wrong with it.

    >>> read_value("-1/4"), read_value("1e300"), read_value("5e-324"), read_value("nan")
    (Fraction(-1, 4), 'too_large', 'too_small', 'not_finite')
    """
    if _ENDLESS.fullmatch(text):
        return "not_finite"
    if ratio := _RATIO.fullmatch(text):
        if not int(ratio[2]):
            return "not_finite"
        value = Fraction(int(ratio[1]), int(ratio[2]))
    elif _NUMBER.fullmatch(text):
        value = Fraction(text)
    else:
        return "too_precise" if _LONG.fullmatch(text) else "not_a_number"
    if value and not LEAST_SIZE <= abs(value) <= LARGEST_SIZE:
        return "too_large" if abs(value) > 1 else "too_small"
    return value


def read_vector(text: str) -> tuple[Fraction, ...]:
    """Numbers separated by blanks, commas or semicolons. Raises InvalidVector; at most three bad values are named.

    >>> read_vector("0.5，-1/4")
    (Fraction(1, 2), Fraction(-1, 4))
    """
    parts = split_list(text.translate(_WIDE))
    if not parts:
        raise InvalidVector([Problem("empty")])
    if len(parts) > MOST:
        raise InvalidVector([Problem("too_many", None, str(len(parts)))])
    read: list[Fraction | Code] = [read_value(p) for p in parts]
    bad = [Problem(v, i, parts[i][:24]) for i, v in enumerate(read) if not isinstance(v, Fraction)]
    if bad:
        raise InvalidVector(bad[:3])
    return tuple(v for v in read if isinstance(v, Fraction))


def generate(law: str, seed: int) -> tuple[Fraction, ...]:
    """Sixteen values of deviation 1 to two decimals; `outlier` is Gaussian with a last value of 8.

    >>> generate("outlier", 1)[-1]
    Fraction(8, 1)
    """
    if law not in GENERATED:
        raise ValueError(f"law={law!r}: must be one of {GENERATED}")
    found = next(x for x in LAWS if x.id == ("gaussian" if law == "outlier" else law))
    drawn = found.draw(np.random.default_rng(seed), _COUNT)
    values = [Fraction(round(100 * float(x)), 100) for x in drawn]
    return tuple([*values[:-1], _OUTLIER] if law == "outlier" else values)


def levels(values: Sequence[Fraction], scheme: Scheme) -> tuple[tuple[Fraction, ...], ...]:
    """Per group, every number that its grid can restore, ascending; one level 0 where the scale is 0.

    >>> [str(y) for y in levels([Fraction(1)], Scheme(bits=2))[0]]
    ['-1', '0', '1']
    """
    found = []
    for table in ranges(values, scheme):
        row = {name: table.value(0, name) for name in ("scale", "largest_code")}
        scale, top = as_fraction(row["scale"] or Fraction(0)), int(as_fraction(row["largest_code"] or Fraction(0)))
        zero = 0 if scheme.symmetric else int(as_fraction(table.value(0, "zero_point") or Fraction(0)))
        codes = range(-top, top + 1) if scheme.symmetric else range(top + 1)
        found.append(tuple(scale * (q - zero) for q in codes) if scale else (Fraction(0),))
    return tuple(found)


def cut(count: int, scheme: Scheme) -> tuple[range, ...]:
    """The rows of each group."""
    sizes = scheme.sizes(count)
    return tuple(range(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True))
