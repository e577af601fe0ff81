"""A case or a comparison of drafts from what a reader typed; every fault is found and named at its field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from mechanisms.distribution import Code as LawCode
from mechanisms.distribution import read_names, read_number, sum_problem
from mechanisms.mtp_cases import LARGEST_LOGIT, MAX_TOKENS, Case, Drafts

LONGEST = 24  # characters of a number or a name that a message quotes
MOST_DIGITS = 40  # of a fraction, both parts together; longer ones would be a burden in a link
Role = Literal["token", "p", "z", "a", "b"]
Code = LawCode | Literal["too_few", "too_large", "zero"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one field, or with a whole column where `row` is None; `detail` is a value to quote."""

    code: Code
    column: Role
    row: int | None = None
    detail: str = ""


class BadInput(ValueError):
    """Every problem of an input that cannot be used."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.column}[{p.row}] {p.code}: {p.detail}" for p in problems))
        self.problems = tuple(problems)


def read_case(names: Sequence[str], p: Sequence[str], z: Sequence[str]) -> Case:
    """A case from typed fields. Raises BadInput with every problem found; never normalises by itself.

    >>> read_case(["A", "B"], ["1/4", "0.75"], ["-1", "2e0"]).z
    (Fraction(-1, 1), Fraction(2, 1))
    """
    problems = _shape(names, p, z)
    target, bad_p = _law(p, "p")
    logits, bad_z = _logits(z)
    if problems := [*problems, *bad_p, *bad_z]:
        raise BadInput(problems)
    return Case(tuple(n.strip() for n in names), target, logits)


def read_drafts(names: Sequence[str], p: Sequence[str], a: Sequence[str], b: Sequence[str]) -> Drafts:
    """A teacher and two drafts from typed fields; every probability must be positive, as KL is infinite otherwise."""
    problems = _shape(names, p, a, b)
    target, bad_p = _law(p, "p", positive=True)
    first, bad_a = _law(a, "a", positive=True)
    second, bad_b = _law(b, "b", positive=True)
    if problems := [*problems, *bad_p, *bad_a, *bad_b]:
        raise BadInput(problems)
    return Drafts(tuple(n.strip() for n in names), target, first, second)


def _shape(names: Sequence[str], *columns: Sequence[str]) -> list[Problem]:
    sizes = {len(names), *map(len, columns)}
    if max(sizes) > MAX_TOKENS:
        return [Problem("too_many", "p", None, str(max(sizes)))]
    if max(sizes) < 2:
        return [Problem("too_few", "p", None, str(max(sizes)))]
    if len(sizes) > 1:
        return [Problem("lengths_differ", "p", None, " ≠ ".join(map(str, sorted(sizes))))]
    return [Problem(x.code, "token", x.row, x.detail) for x in read_names(names)]


def _number(text: str, role: Role, row: int) -> Fraction | Problem:
    """A decimal or a ratio; a logit may have a sign, also as typesetting or a Chinese input method writes it."""
    body = text.strip()
    minus = role == "z" and body[:1] in ("-", "−", "－")
    found = read_number(body[1:] if minus else body)
    if isinstance(found, Fraction) and len(str(found)) > MOST_DIGITS:
        found = "too_precise"
    if not isinstance(found, Fraction):
        return Problem(found, role, row, body[:LONGEST])
    return -found if minus else found


def _split(texts: Sequence[str], role: Role) -> tuple[list[Fraction], list[Problem]]:
    found = [_number(text, role, i) for i, text in enumerate(texts)]
    return [x for x in found if isinstance(x, Fraction)], [x for x in found if isinstance(x, Problem)]


def _law(texts: Sequence[str], role: Role, *, positive: bool = False) -> tuple[tuple[Fraction, ...], list[Problem]]:
    """A column of probabilities, or its problems: bad fields first, then a sum that is not 1."""
    good, bad = _split(texts, role)
    if positive and not bad:
        bad = [Problem("zero", role, i) for i, x in enumerate(good) if not x]
    if not bad and good and sum(good) != 1:
        whole = sum_problem(Fraction(sum(good)), "p")
        bad = [Problem(whole.code, role, None, whole.detail)]
    return tuple(good), bad


def _logits(texts: Sequence[str]) -> tuple[tuple[Fraction, ...], list[Problem]]:
    good, bad = _split(texts, "z")
    if not bad:
        bad = [
            Problem("too_large", "z", i, texts[i].strip()[:LONGEST])
            for i, x in enumerate(good)
            if abs(x) > LARGEST_LOGIT
        ]
    return tuple(good), bad
