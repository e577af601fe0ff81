"""Ready-made small cases, and a case from what a reader typed.

Leaves out: ranges of code types; a code is any integer within `CODE_LIMIT`, so that the sums can be tried freely.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mechanisms.integer_matmul import CODE_LIMIT, MAX_TERMS, PRESET, Case

Code = Literal["empty", "not_an_integer", "too_large", "too_many"]
_INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_SHIFTED = tuple(w + 128 for w in PRESET.q_w)

# signed weights with a zero point, weights without one, the same weights stored as uint8, and nothing but zeros
CASES: dict[str, Case] = {
    "worked": PRESET,
    "symmetric": Case(PRESET.q_x, PRESET.q_w, PRESET.z_x, 0),
    "unsigned": Case(PRESET.q_x, _SHIFTED, PRESET.z_x, PRESET.z_w + 128),
    "zeros": Case((PRESET.z_x,) * 4, PRESET.q_w, PRESET.z_x, PRESET.z_w),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one field: column "x", "w" or "zero", its row, and the text as typed."""

    code: Code
    column: str
    row: int | None
    detail: str


class BadCase(ValueError):
    """Every problem of a case that cannot be used."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.column}[{p.row}] {p.code}: {p.detail}" for p in problems))
        self.problems = tuple(problems)


def read_case(x: Sequence[str], w: Sequence[str], zero: str, *, z_x: int) -> Case:
    """A case from texts; a true minus sign is one, too. Raises BadCase with all problems.

    >>> read_case(["3", "−2"], ["1", "0"], "0", z_x=0)
    Case(q_x=(3, -2), q_w=(1, 0), z_x=0, z_w=0)
    """
    if max(len(x), len(w)) > MAX_TERMS:
        raise BadCase([Problem("too_many", "x", None, str(max(len(x), len(w))))])
    problems = list[Problem]()
    columns = {"x": x, "w": w, "zero": [zero]}
    read = {name: [_integer(text, name, row, problems) for row, text in enumerate(texts)]
            for name, texts in columns.items()}  # fmt: skip
    if len(x) != len(w) or not x:
        problems.append(Problem("empty", "x" if len(x) < len(w) else "w", None, ""))
    if problems:
        raise BadCase(problems)
    return Case(tuple(read["x"]), tuple(read["w"]), z_x, read["zero"][0])


def _integer(text: str, column: str, row: int, problems: list[Problem]) -> int:
    plain = text.strip().replace("−", "-").replace("＋", "+")
    if _INTEGER.fullmatch(plain) and abs(int(plain)) <= CODE_LIMIT:
        return int(plain)
    code: Code = "too_large" if _INTEGER.fullmatch(plain) else "not_an_integer" if plain else "empty"
    problems.append(Problem(code, column, row, text.strip()[:24]))
    return 0
