"""Confidences and what became of their drafts: simulated rounds, and pairs that a reader types.

Teaches: the data that a calibration needs are whole blocks with the length of their accepted prefix. Simulated rounds
are over- or under-confident by a known amount at every place, so that a fit can be checked. Leaves out: a real model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from mechanisms.distribution import read_number, split_list

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Temper = Literal["over", "under", "right"]
TEMPERS: tuple[Temper, ...] = get_args(Temper)
PLACES = 5  # of a block, as in the deployment that the paper describes
MOST = 20_000  # typed pairs
# what the logit of each place is multiplied with: the temperature that would undo it
FACTORS: dict[Temper, tuple[float, ...]] = {
    "over": (2.0, 1.75, 1.5, 1.75, 2.0), "under": (0.6, 0.7, 0.7, 0.6, 0.5), "right": (1.0,) * PLACES,
}  # fmt: skip
_MEANS = (1.6, 1.4, 1.3, 1.2, 1.1)  # of the true logits of conditional acceptance
_SHARED, _OWN = 0.8, 0.9  # spread between requests, and between the places of one
_LEAST = 1e-4  # confidences are logged with four decimals, and none is 0 or 1

Code = Literal[
    "empty", "not_a_number", "not_finite", "too_precise", "out_of_range", "not_binary", "lengths_differ", "too_many"
]
Column = Literal["p", "q"]  # confidences and outcomes, in the order in which they are typed


@dataclass(frozen=True, slots=True)
class Rounds:
    """`confidence`: (N, places), conditional; `survived`: (N, places), whether the draft up to here was accepted."""

    confidence: Floats
    survived: Flags

    def __post_init__(self) -> None:
        if self.confidence.shape != self.survived.shape or self.confidence.ndim != 2 or not self.confidence.size:
            raise ValueError(f"confidence {self.confidence.shape}, survived {self.survived.shape}: equal shapes (N, k)")
        if not ((self.confidence >= 0) & (self.confidence <= 1)).all():
            raise ValueError("confidence: every value must lie in [0, 1]")

    def halves(self) -> tuple[Rounds, Rounds]:
        """The first half to fit on, the second to judge by."""
        n = len(self.confidence) // 2
        return (
            Rounds(self.confidence[:n], self.survived[:n]),
            Rounds(self.confidence[n:], self.survived[n:]),
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a typed list: `row` is its place, None for the whole list; `detail` is what was written."""

    code: Code
    column: Column
    row: int | None = None
    detail: str = ""


class InvalidPairs(ValueError):
    """Lists that cannot be used, with their problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.column}[{p.row}]: {p.code} {p.detail}" for p in problems))
        self.problems = tuple(problems)


def simulate(temper: Temper, count: int, rng: np.random.Generator) -> Rounds:
    """`count` blocks of five drafts. The true logit s of a place is its mean plus a part shared by the block plus one
    of its own; the draft passes with probability σ(s); the head reports σ(f·s), rounded to four decimals.

    count: 2 … 100,000.

    >>> simulate("over", 4, np.random.default_rng(1)).survived.shape
    (4, 5)

    Source: none, the wiki's own.
    """
    if temper not in TEMPERS:
        raise ValueError(f"temper={temper!r}: must be one of {TEMPERS}")
    if not 2 <= count <= 100_000:
        raise ValueError(f"count={count}: must lie in 2 … 100,000")
    shared, own = rng.normal(0, _SHARED, (count, 1)), rng.normal(0, _OWN, (count, PLACES))
    true = np.array(_MEANS) + shared + own
    passed = rng.random((count, PLACES)) < 1 / (1 + np.exp(-true))
    reported = np.round(1 / (1 + np.exp(-true * np.array(FACTORS[temper]))), 4)
    return Rounds(np.clip(reported, _LEAST, 1 - _LEAST), np.logical_and.accumulate(passed, axis=1))


def read_pairs(confidences: str, outcomes: str) -> Rounds:
    """Two typed lists: confidences in [0, 1], and 1 or 0 for accepted or not. Raises InvalidPairs; of many bad values
    in a list the first three are named.

    >>> read_pairs("0.9, 1/2", "1 0").survived.tolist()
    [[True], [False]]

    Source: none.
    """
    columns: tuple[tuple[Column, list[str]], ...] = (("p", split_list(confidences)), ("q", split_list(outcomes)))
    whole = [Problem("empty", c) for c, parts in columns if not parts]
    whole += [Problem("too_many", c, None, f"{len(parts):,}") for c, parts in columns if len(parts) > MOST]
    if not whole and len(columns[0][1]) != len(columns[1][1]):
        whole = [Problem("lengths_differ", "q", None, f"{len(columns[0][1]):,} ≠ {len(columns[1][1]):,}")]
    if whole:
        raise InvalidPairs(whole)
    read: dict[Column, list[Fraction | Code]] = {c: [_read(text, c) for text in parts] for c, parts in columns}
    bad: list[Problem] = []
    for c, parts in columns:
        bad += [Problem(x, c, i, parts[i][:24]) for i, x in enumerate(read[c]) if not isinstance(x, Fraction)][:3]
    if bad:
        raise InvalidPairs(bad)
    values = {c: np.array([float(x) for x in read[c] if isinstance(x, Fraction)]) for c in read}
    return Rounds(values["p"][:, None], values["q"][:, None] > 0)


def _read(text: str, column: Column) -> Fraction | Code:
    """A confidence or an outcome, or the code of what is wrong with it."""
    number = read_number(text)
    if isinstance(number, Fraction):
        if column == "q" and number not in (0, 1):
            return "not_binary"
        return number if number <= 1 else "out_of_range"
    if number == "negative":
        return "not_binary" if column == "q" else "out_of_range"
    if number in ("not_finite", "too_precise"):
        return number  # type: ignore[return-value]
    return "not_a_number"
