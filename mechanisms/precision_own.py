"""The same audit for a row that the reader types: rate, draft length, tokens, draft step, speedup.

Teaches: which figures of such a row follow from the others. Leaves out: rounding, and verification at a
price other than one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.distribution import read_number
from mechanisms.draft_precision import EQUATION, derived, expected_tokens, id_of, needed_rate
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

FIELDS = ("rate", "length", "tokens", "step", "speedup")
LIMITS: dict[str, tuple[Fraction, Fraction]] = {
    "rate": (Fraction(0), Fraction("99.999")), "length": (Fraction(1), Fraction(16)),
    "tokens": (Fraction(1), Fraction(17)), "step": (Fraction(0), Fraction(10_000)),
    "speedup": (Fraction("0.01"), Fraction(100)),
}  # fmt: skip
FINEST = 10**6  # largest denominator: the formula's powers of a finer number would not fit a line


@dataclass(frozen=True, slots=True)
class Problem:
    """One field that cannot be used: code of the fault and the text to quote."""

    field: str
    code: str
    detail: str


class InvalidRow(ValueError):
    """A row that cannot be used, with one `Problem` per field."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.field}: {p.code} {p.detail}" for p in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Own:
    """A row: rate in percent, whole draft length, tokens of a round with the last one, ms of a draft step, speedup."""

    rate: Fraction
    length: Fraction
    tokens: Fraction
    step: Fraction
    speedup: Fraction


def _fault(field: str, value: Any) -> str:
    if not isinstance(value, Fraction):
        return str(value)
    low, high = LIMITS[field]
    if not low <= value <= high:
        return "out_of_range"
    if value.denominator > FINEST:
        return "too_precise"
    return "not_whole" if field == "length" and value.denominator != 1 else ""


def read_own(texts: Mapping[str, str]) -> Own:
    """Numbers from typed texts, one per field. Raises InvalidRow with every field that cannot be used.

    >>> read_own({"rate": "80", "length": "5", "tokens": "3.7", "step": "1", "speedup": "2"}).tokens
    Fraction(37, 10)

    Source: derived.
    """
    values = {f: read_number(texts.get(f, "")) for f in FIELDS}
    problems = [Problem(f, code, texts.get(f, "").strip()[:24]) for f in FIELDS if (code := _fault(f, values[f]))]
    if problems:
        raise InvalidRow(problems)
    return Own(**{f: v for f, v in values.items() if isinstance(v, Fraction)})


def _typed(name: str, tex: str, **more: Any) -> Quantity:
    return given(id_of(name), tex, "chosen", index="", **more)


PERCENT = _typed("own_percent", "A", unit="%")
LENGTH = _typed("draft_length", "K", counts=True)
SAID = _typed("own_tokens", "N", unit="token")
STEP = _typed("own_step", "t", unit="ms")
SPEEDUP = _typed("own_speedup", "S", unit="×")
RATE = derived("own_rate", r"\alpha", PERCENT.sym / 100, index="")
TOKENS = derived(
    "tokens", "E", expected_tokens(RATE.sym, LENGTH.sym), unit="token", index="", source=EQUATION
)  # fmt: skip
GAP = derived("gap", "g", SAID.sym - TOKENS.sym, unit="token", index="")
NEEDED = Quantity(id_of("needed_rate"), r"\alpha^*", "derived", index="", kind="float")


def _implied(name: str, tex: str, tokens: Any) -> Quantity:
    rest: Any = sp.Add(tokens, -SPEEDUP.sym, evaluate=False)
    expression = SPEEDUP.sym * LENGTH.sym * STEP.sym / rest
    return derived(name, tex, expression, unit="ms", index="", defined=rest > 0)


OURS = _implied("own_target", "T_E", TOKENS.sym)
THEIRS = _implied("said_target", "T_N", SAID.sym)
COLUMNS = (PERCENT, LENGTH, SAID, STEP, SPEEDUP, RATE, TOKENS, GAP, NEEDED, OURS, THEIRS)


def own_table(own: Own) -> Table:
    """What the formula makes of a typed row: tokens, gap, the rate the typed tokens need, and both implied times.

    E = (1 − α^(K+1))/(1 − α), g = N − E, T = S·K·t/(E − S); undefined where the tokens do not exceed the speedup.

    >>> table = own_table(Own(Fraction(50), Fraction(1), Fraction(2), Fraction(1), Fraction(1)))
    >>> table.value(0, "tokens"), table.value(0, "own_target")
    (Fraction(3, 2), Fraction(2, 1))

    Source: leviathan2022, Eq. 1 and §3.3.
    """
    row: dict[str, tuple[Cell, ...]] = {
        PERCENT.name: (own.rate,), LENGTH.name: (own.length,), SAID.name: (own.tokens,), STEP.name: (own.step,),
        SPEEDUP.name: (own.speedup,), NEEDED.name: (needed_rate(own.tokens, int(own.length)),),
    }  # fmt: skip
    return tabulate(id_of("own"), COLUMNS, ("",), row, function="mechanisms.precision_own.own_table")
