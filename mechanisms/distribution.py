"""A target and a draft distribution, exact, and how to read them from what people type.

Teaches: that p and q are rationals, so nothing has to be rounded. Leaves out: where the numbers come from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal

Code = Literal[
    "empty", "not_a_number", "not_finite", "too_precise", "negative", "no_mass", "sum_not_one",
    "lengths_differ", "too_few", "too_many", "name_empty", "name_too_long", "name_repeated",
]  # fmt: skip
Column = Literal["token", "p", "q"]
MAX_TOKENS = 12  # a ledger that fits a screen
MAX_NAME = 24
_SEPARATOR = re.compile(r"[\s,;，；、]+")
_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?")
_RATIO = re.compile(r"([+-]?[0-9]{1,40})\s*/\s*([0-9]{1,40})")
_LONG = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[0-9]+\s*/\s*[0-9]+")
_ENDLESS = re.compile(r"[+-]?(nan|inf|infinity|∞)")
# what a Chinese input method types: full-width ASCII, the ideographic blank, and the minus sign of typesetting
_WIDE = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: 0x20, 0x2212: 0x2D}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: `row` is None for the whole column, `detail` a value to quote."""

    code: Code
    column: Column
    row: int | None = None
    detail: str = ""


class InvalidInput(ValueError):
    """Input that cannot be used, with one `Problem` per fault."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(
            "; ".join(f"{p.column}[{'' if p.row is None else p.row}]: {p.code} {p.detail}".rstrip() for p in problems)
        )
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Pair:
    """Target p and draft q over the same tokens; a row of multiplicity m stands for m equal tokens and holds their sum.

    p, q: (rows,) probabilities that sum to exactly 1. Raises ValueError otherwise.
    """

    tokens: tuple[str, ...]
    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    multiplicity: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.tokens)
        if not self.multiplicity:
            object.__setattr__(self, "multiplicity", (1,) * n)
        if len(self.multiplicity) != n or min(self.multiplicity, default=1) < 1:
            raise ValueError(f"multiplicity={self.multiplicity}: {n} rows need as many whole numbers of at least 1")
        for name, row in (("p", self.p), ("q", self.q)):
            if len(row) != n or n == 0:
                raise ValueError(f"{name} has {len(row)} values: {n} tokens need as many, and at least one")
            if min(row) < 0 or sum(row) != 1:
                raise ValueError(f"{name}={[str(x) for x in row]}: must be non-negative and sum to exactly 1")

    @property
    def labels(self) -> tuple[str, ...]:
        """Row labels; a class of equal tokens says how many it holds."""
        return tuple(t if m == 1 else f"{t} ×{m}" for t, m in zip(self.tokens, self.multiplicity, strict=True))

    def single(self) -> Pair:
        """The same pair with every class split into its tokens, `tail#1`, `tail#2`, …"""
        tokens, p, q = [], [], []
        for t, a, b, m in zip(self.tokens, self.p, self.q, self.multiplicity, strict=True):
            tokens += [t] if m == 1 else [f"{t}#{k}" for k in range(1, m + 1)]
            p += [a / m] * m
            q += [b / m] * m
        return Pair(tuple(tokens), tuple(p), tuple(q))

    def favourite(self, which: Literal["p", "q"]) -> int:
        """Row whose single token is most likely; the first one on a tie."""
        each = [x / m for x, m in zip(getattr(self, which), self.multiplicity, strict=True)]
        return each.index(max(each))


def blend(pair: Pair, weight: Fraction) -> Pair:
    """Move the draft towards the target: q ← (1 − w)·q + w·p, 0 ≤ w ≤ 1.

    >>> blend(Pair(("A", "B"), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))), Fraction(1, 4)).q
    (Fraction(1, 4), Fraction(3, 4))
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight={weight}: must lie in [0, 1]")
    q = tuple((1 - weight) * b + weight * a for a, b in zip(pair.p, pair.q, strict=True))
    return Pair(pair.tokens, pair.p, q, pair.multiplicity)


def inverse_cdf(u: Fraction, weights: Sequence[Fraction]) -> int:
    """First row whose cumulative sum lies above u, 0 ≤ u < Σ weights: a tie goes to the next row.

    >>> inverse_cdf(Fraction(1, 2), [Fraction(1, 2), Fraction(1, 2)])
    1
    """
    for i, edge in enumerate(accumulate(weights)):
        if u < edge:
            return i
    raise ValueError(f"u={u}: must lie below the sum of the weights")


def split_list(text: str) -> list[str]:
    """Numbers separated by blanks, commas, semicolons or their full-width forms."""
    return [part for part in _SEPARATOR.split(text.strip()) if part]


def read_number(text: str) -> Fraction | Code:
    """A typed decimal (`0.4`, `4e-1`) or ratio (`1/3`) as an exact rational, or the code of what is wrong.

    Full-width digits and signs count as their ASCII forms, as Chinese input methods produce them.
    """
    text = text.translate(_WIDE).strip()
    if not text:
        return "empty"
    if _ENDLESS.fullmatch(text.lower()):
        return "not_finite"
    if ratio := _RATIO.fullmatch(text):
        value = Fraction(int(ratio[1]), int(ratio[2])) if int(ratio[2]) else None
        return "not_finite" if value is None else "negative" if value < 0 else value
    if not _NUMBER.fullmatch(text):
        return "too_precise" if _LONG.fullmatch(text) else "not_a_number"
    value = Fraction(text)
    return "negative" if value < 0 else value


def read_column(texts: Sequence[str], column: Column) -> tuple[tuple[Fraction, ...], tuple[Problem, ...]]:
    """All numbers of a column, or its problems (bad fields first, then what is wrong with the whole)."""
    numbers: list[Fraction | Code] = [read_number(t) for t in texts]
    good = tuple(n for n in numbers if isinstance(n, Fraction))
    bad = [
        Problem(n, column, i, texts[i].strip()[:MAX_NAME]) for i, n in enumerate(numbers) if not isinstance(n, Fraction)
    ]
    if not bad:
        total = sum(good)
        if not good:
            bad = [Problem("empty", column)]
        elif total != 1:
            bad = [sum_problem(Fraction(total), column)]
    return good, tuple(bad)


def sum_problem(total: Fraction, column: Column) -> Problem:
    """What to say of a column whose sum is not 1."""
    return Problem("sum_not_one", column, None, _total_text(total)) if total else Problem("no_mass", column)


def _total_text(total: Fraction) -> str:
    """The sum as people can compare it with 1: exact if short, else the difference."""
    text = str(total)
    if len(text) <= MAX_NAME:
        return text
    return f"1 {'+' if total > 1 else '−'} {abs(float(total - 1)):.3g}"


def read_names(names: Sequence[str]) -> tuple[Problem, ...]:
    problems, seen = [], set[str]()
    for i, name in enumerate(n.strip() for n in names):
        code: Code | None = "name_empty" if not name else "name_too_long" if len(name) > MAX_NAME else None
        if code is None and name in seen:
            code = "name_repeated"
        seen.add(name)
        if code:
            problems.append(Problem(code, "token", i, name[:MAX_NAME]))
    return tuple(problems)


def read_pair(
    names: Sequence[str], p: Sequence[str], q: Sequence[str], *, least: int = 1, most: int = MAX_TOKENS
) -> Pair:
    """A pair of `least` to `most` tokens from typed fields; never normalises by itself.

    Raises InvalidInput with every problem found.
    """
    problems = list(read_names(names))
    columns: tuple[tuple[Column, Sequence[str]], ...] = (("p", p), ("q", q))
    for column, texts in columns:
        if len(texts) > most:
            problems.append(Problem("too_many", column, None, str(len(texts))))
    if 0 < len(names) < least:  # none at all is told at the columns, as "empty"
        problems.append(Problem("too_few", "token", None, str(len(names))))
    if len(p) != len(q) or len(names) != len(p):
        problems.append(
            Problem("lengths_differ", "q", None, " ≠ ".join(map(str, dict.fromkeys(map(len, (names, p, q))))))
        )
    if any(x.code in ("too_few", "too_many", "lengths_differ") for x in problems):
        raise InvalidInput(problems)
    (target, bad_p), (draft, bad_q) = read_column(p, "p"), read_column(q, "q")
    problems += [*bad_p, *bad_q]
    if problems:
        raise InvalidInput(problems)
    return Pair(tuple(n.strip() for n in names), target, draft)


def normalised(values: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Divide by the sum. Raises ValueError where the sum is 0."""
    total = sum(values)
    if total == 0:
        raise ValueError("values sum to 0: nothing to divide by")
    return tuple(v / total for v in values)
