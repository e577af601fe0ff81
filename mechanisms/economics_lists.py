"""A reader's own list of numbers: read from text, each refused with a reason, never mended.

Teaches: what counts as an acceptance, a time or an accepted length here. Leaves out: names of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from mechanisms.distribution import read_number, split_list

Code = Literal[
    "empty", "not_a_number", "not_finite", "too_precise", "negative", "not_positive", "above_one", "not_whole",
    "too_long_round", "too_many", "too_large",
]  # fmt: skip
Kind = Literal["rates", "costs", "lengths"]
MOST: dict[Kind, int] = {"rates": 12, "costs": 13, "lengths": 60}
LARGEST = Fraction(10**6)
LONGEST = 12


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: `place` is the index of the value, None for the whole list; `detail` is what was written."""

    code: Code
    place: int | None = None
    detail: str = ""


class InvalidList(ValueError):
    """A list that cannot be used, with its faults."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(f"{f.code} at {f.place}: {f.detail}" for f in faults))
        self.faults = tuple(faults)


def _fault(kind: Kind, x: Fraction) -> Code | None:
    if kind == "rates":
        return "above_one" if x > 1 else None
    if kind == "costs":
        return "not_positive" if x <= 0 else "too_large" if x > LARGEST else None
    return "not_whole" if x.denominator != 1 else "too_long_round" if x > LONGEST else None


def read_list(text: str, kind: Kind) -> tuple[Fraction, ...]:
    """Numbers between blanks, commas or semicolons. rates: 1 … 12 values in [0, 1]; costs: 1 … 13 values above 0;
    lengths: 1 … 60 whole numbers in 0 … 12. Raises InvalidList with every fault.

    >>> [str(x) for x in read_list("0.8, 1/2", "rates")]
    ['4/5', '1/2']
    """
    words = split_list(text.replace("~", " "))  # as a link has it
    if not words:
        raise InvalidList([Fault("empty")])
    if len(words) > MOST[kind]:
        raise InvalidList([Fault("too_many", None, f"{len(words):,}")])
    values: list[Fraction] = []
    faults: list[Fault] = []
    for i, word in enumerate(words):
        x = read_number(word)
        code = _fault(kind, x) if isinstance(x, Fraction) else x
        if code is not None:
            faults.append(Fault(code, i, word[:24]))  # type: ignore[arg-type]
        elif isinstance(x, Fraction):
            values.append(x)
    if faults:
        raise InvalidList(faults)
    return tuple(values)
