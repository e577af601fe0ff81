"""Totals of a ledger too long to show: up to 200,000 tokens, exact as long as a common denominator stays small.

Teaches: that α needs one pass over both lists. Leaves out: the rows. Where the common denominator has more than
512 bits (many unlike fractions), sums are float64 and say so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mechanisms.distribution import InvalidInput, Problem, read_number, split_list, sum_problem
from mechanisms.expression import REAL, Real
from mechanisms.quantity import Kind, Quantity
from mechanisms.rejection_ledger import ERROR, KL, LEDGER, RATE, REJECT, REJECT_AGAIN, TOPIC
from mechanisms.table import Cell, Table, tabulate

MAX_LIST = 200_000
_BITS = 512


@dataclass(frozen=True, slots=True)
class Weights:
    """A distribution over many tokens as `parts[i] / whole`: integers and exact, or float64 with whole 1."""

    parts: list[int] | list[float]
    whole: int
    exact: bool = True

    def rounded(self) -> Weights:
        """The same in float64."""
        return Weights([x / self.whole for x in self.parts], 1, exact=False)


def read_lists(p_text: str, q_text: str, *, normalise: bool = False) -> tuple[Weights, Weights]:
    """Two pasted lists. Raises InvalidInput; of many bad numbers in a list only the first is named."""
    p, q = split_list(p_text), split_list(q_text)
    long = [Problem("too_many", "p", None, str(len(p)))] if len(p) > MAX_LIST else []
    long += [Problem("too_many", "q", None, str(len(q)))] if len(q) > MAX_LIST else []
    if long:
        raise InvalidInput(long)
    if p and q and len(p) != len(q):
        raise InvalidInput([Problem("lengths_differ", "q", None, f"{len(p)} ≠ {len(q)}")])
    a, b = _read(p, normalise), _read(q, normalise)
    problems = [replace(x, column=c) for x, c in ((a, "p"), (b, "q")) if isinstance(x, Problem)]
    if problems:
        raise InvalidInput(problems)
    assert isinstance(a, Weights) and isinstance(b, Weights)
    return a, b


def _read(texts: Sequence[str], normalise: bool) -> Weights | Problem:
    numbers: list[int | Fraction] = []
    places: list[int] = []
    for i, text in enumerate(texts):
        head, _, tail = text.partition(".")
        digits = head + tail
        if digits.isascii() and digits.isdigit() and len(digits) <= 40:  # the common case, twenty times faster
            numbers.append(int(digits))
            places.append(len(tail))
            continue
        number = read_number(text)
        if isinstance(number, str):
            return Problem(number, "p", i, text[:24])
        numbers.append(number)
        places.append(0)
    if not numbers:
        return Problem("empty", "p")
    return _weights(_scaled(numbers, places), normalise)


def _scaled(numbers: Sequence[int | Fraction], places: Sequence[int]) -> tuple[list[int], int] | list[float]:
    """Numerators over one denominator, or floats where that denominator would be too large."""
    ten = 10 ** max(places)
    common = ten
    for x in numbers:
        if isinstance(x, Fraction) and common % x.denominator:
            common = math.lcm(common, x.denominator)
            if common.bit_length() > _BITS:
                return [float(x) / 10**k for x, k in zip(numbers, places, strict=True)]
    return [int(x * (common // 10**k)) for x, k in zip(numbers, places, strict=True)], common


def _weights(read: tuple[list[int], int] | list[float], normalise: bool) -> Weights | Problem:
    if isinstance(read, tuple):
        parts, common = read
        total = sum(parts)
        if total == 0 or (total != common and not normalise):
            return sum_problem(Fraction(total, common), "p")
        return Weights(parts, total)
    total_float = math.fsum(read)
    if total_float == 0 or (abs(total_float - 1) > 1e-9 and not normalise):
        return sum_problem(Fraction(total_float), "p")
    return Weights([x / total_float for x in read], 1, exact=False)


def _divergence(p: Weights, q: Weights) -> Real:
    if any(a and not b for a, b in zip(p.parts, q.parts, strict=True)):
        return REAL.inf
    shift = math.log(q.whole) - math.log(p.whole)
    terms = (a / p.whole * (math.log(a / b) + shift) for a, b in zip(p.parts, q.parts, strict=True) if a)
    return REAL.mpf(math.fsum(terms))


def _sums(p: Weights, q: Weights) -> tuple[Kind, list[Cell]]:
    """α, 1 − α, Σ[p − q]₊ and the largest |P − p|, over the product of both denominators; one list in float64 makes
    all of it float64."""
    exact = p.exact and q.exact
    if not exact:
        p, q = p.rounded(), q.rounded()
    a, b = [x * q.whole for x in p.parts], [x * p.whole for x in q.parts]
    accepted = [min(x, y) for x, y in zip(a, b, strict=True)]
    added = [max(0, x - y) for x, y in zip(a, b, strict=True)]
    worst = max(abs(d + r - x) for d, r, x in zip(accepted, added, a, strict=True))
    if exact:
        one, alpha, gain = p.whole * q.whole, sum(accepted), sum(added)
        return "exact", [Fraction(int(n), one) for n in (alpha, one - alpha, gain, worst)]
    alpha_float = math.fsum(accepted)
    return "float", [REAL.mpf(v) for v in (alpha_float, 1 - alpha_float, math.fsum(added), worst)]


def list_summary(p: Weights, q: Weights) -> Table:
    """α, both forms of the rejection probability, the largest |P − p| and KL of two long lists, in one row.

    p, q: (V,) each. The largest |P − p| is the difference of final mass and p, token by token.
    Source: as `rejection_ledger.summary`.
    """
    kind, sums = _sums(p, q)
    columns = [_kind(c, kind) for c in (RATE, REJECT, REJECT_AGAIN, ERROR)]
    given = {c.name: (v,) for c, v in zip(columns, sums, strict=True)} | {KL.name: (_divergence(p, q),)}
    shape = Table(f"{TOPIC}.ledger", LEDGER, (), ((),) * len(LEDGER), "mechanisms.rejection_ledger.ledger")
    return tabulate(
        f"{TOPIC}.list_summary", (*columns, KL), ("",), given, function="mechanisms.rejection_lists.list_summary",
        over=shape, long=len(p.parts),
    )  # fmt: skip


def _kind(quantity: Quantity, kind: Kind) -> Quantity:
    return quantity if quantity.kind == kind else replace(quantity, kind=kind)
