"""Reading what a learner types for this chapter: chains, costs, batches and selection examples, all exact.

Each reader takes the texts of its fields and returns exact numbers, or raises `InvalidFields` with one `Problem` per
fault, named by field and place. Leaves out: the words for a fault, which belong to the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from mechanisms.distribution import read_number, split_list
from mechanisms.dspark import MOST_POSITIONS, Chain
from mechanisms.dspark_batch import MOST_DRAFTS, MOST_REQUESTS
from mechanisms.dspark_presets import Example

Code = Literal[
    "empty", "not_a_number", "not_finite", "too_precise", "not_a_chance", "not_positive", "negative", "too_many",
    "too_few", "too_long", "sum_not_one", "reached",
]  # fmt: skip
Row = tuple[Fraction, ...]
MOST_TEXT = 4000  # characters of one field that are looked at
MOST_NAMED = 3  # faults that are named per field
UNDEFINED = "?"
REQUEST_FIELDS = tuple(f"r{i}" for i in range(1, MOST_REQUESTS + 1))
MOST_TOKENS = 6
NAMES = "ABCDEF"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: `place` counts values from 1, 0 for the whole field; `detail` is quoted, `limit` is allowed."""

    field: str
    code: Code
    place: int = 0
    detail: str = ""
    limit: str = ""


class InvalidFields(ValueError):
    """Input that cannot be used, with one `Problem` per fault."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.field}[{p.place or ''}]: {p.code} {p.detail}".rstrip() for p in problems))
        self.problems = tuple(problems)


def chance(x: Fraction) -> Code | None:
    return None if 0 <= x <= 1 else "not_a_chance"


def positive(x: Fraction) -> Code | None:
    return None if x > 0 else "not_positive"


def not_negative(x: Fraction) -> Code | None:
    return None if x >= 0 else "negative"


def read_list(
    field: str, text: str, rule: Callable[[Fraction], Code | None], *, least: int = 1, most: int,
    blanks: bool = False,
) -> tuple[Fraction | None, ...]:  # fmt: skip
    """Numbers separated by blanks, commas or semicolons, each allowed by `rule`; with `blanks`, `?` reads as None.

    >>> read_list("c", "0.5，1/4", chance, most=4)
    (Fraction(1, 2), Fraction(1, 4))
    """
    parts = split_list(text[:MOST_TEXT])
    if not parts:
        raise InvalidFields([Problem(field, "empty")])
    if len(text) > MOST_TEXT:
        raise InvalidFields([Problem(field, "too_long", 0, "", f"{MOST_TEXT:,}")])
    if len(parts) > most:
        raise InvalidFields([Problem(field, "too_many", 0, str(len(parts)), str(most))])
    found: list[Fraction | None] = []
    bad: list[Problem] = []
    for place, part in enumerate(parts, 1):
        if blanks and part in (UNDEFINED, "？"):
            found.append(None)
            continue
        value = read_number(part)
        code = rule(value) if isinstance(value, Fraction) else _code(value, rule)
        if code is None and isinstance(value, Fraction):
            found.append(value)
        elif code is not None:
            bad.append(Problem(field, code, place, part[:24]))
    if bad:
        raise InvalidFields(bad[:MOST_NAMED])
    if len(parts) < least:
        raise InvalidFields([Problem(field, "too_few", 0, str(len(parts)), str(least))])
    return tuple(found)


def _code(code: str, rule: Callable[[Fraction], Code | None]) -> Code:
    """`read_number` calls every number below 0 negative; the field's own rule says what that means here."""
    if code == "negative":
        return rule(Fraction(-1)) or "negative"
    return code if code in ("empty", "not_finite", "too_precise") else "not_a_number"  # type: ignore[return-value]


def _numbers(field: str, text: str, rule: Callable[[Fraction], Code | None], **more: int) -> Row:
    return tuple(x for x in read_list(field, text, rule, **more) if x is not None)  # type: ignore[arg-type]


def _together(readers: Mapping[str, Callable[[], Row]]) -> dict[str, Row]:
    """All fields, or all their faults at once."""
    found, bad = dict[str, Row](), list[Problem]()
    for field, read in readers.items():
        try:
            found[field] = read()
        except InvalidFields as error:
            bad += error.problems
    if bad:
        raise InvalidFields(bad)
    return found


def read_chain(text: str) -> Chain:
    """c_1 … c_K, at most sixteen; `?` behind a zero stands for a c that no prefix reaches."""
    chain = read_list("chain", text, chance, most=MOST_POSITIONS, blanks=True)
    alive = True
    for place, c in enumerate(chain, 1):
        if c is None and alive:
            raise InvalidFields([Problem("chain", "reached", place, UNDEFINED)])
        alive = alive and c != 0
    return chain


@dataclass(frozen=True, slots=True)
class Costs:
    """Two curves of verification times and the two other times of a round."""

    a: Row
    b: Row
    draft: Fraction
    fixed: Fraction


def read_costs(texts: Mapping[str, str]) -> Costs:
    """Fields a, b: positive times from K = 0; draft, fixed: one time each, at least 0."""
    most = MOST_POSITIONS + 1
    found = _together({
        "a": lambda: _numbers("a", texts.get("a", ""), positive, most=most),
        "b": lambda: _numbers("b", texts.get("b", ""), positive, most=most),
        "draft": lambda: _numbers("draft", texts.get("draft", ""), not_negative, most=1),
        "fixed": lambda: _numbers("fixed", texts.get("fixed", ""), not_negative, most=1),
    })  # fmt: skip
    return Costs(found["a"], found["b"], found["draft"][0], found["fixed"][0])


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests with their chains, and the curve that they share."""

    requests: tuple[Row, ...]
    curve: Row


def read_batch(texts: Mapping[str, str]) -> Batch:
    """Fields r1 … r4: up to five c each, empty ones are left out; sps: SPS(1) … up to the largest batch."""
    named = [r for r in REQUEST_FIELDS if texts.get(r, "").strip()]
    if not named:
        raise InvalidFields([Problem("r1", "empty")])
    most = MOST_REQUESTS * (1 + MOST_DRAFTS)
    readers: dict[str, Callable[[], Row]] = {
        r: lambda r=r: _numbers(r, texts[r], chance, most=MOST_DRAFTS) for r in named
    }
    readers["sps"] = lambda: _numbers("sps", texts.get("sps", ""), positive, most=most)
    found = _together(readers)
    requests, curve = tuple(found[r] for r in named), found["sps"]
    needed = sum(1 + len(c) for c in requests)
    if len(curve) < needed:
        raise InvalidFields([Problem("sps", "too_few", 0, str(len(curve)), str(needed))])
    return Batch(requests, curve)


def read_example(texts: Mapping[str, str]) -> Example:
    """Fields p, q, second: two to six numbers each, p and q sum to 1; sps: three positive numbers."""
    found = _together({
        **{n: lambda n=n: _numbers(n, texts.get(n, ""), chance, least=2, most=MOST_TOKENS)
           for n in ("p", "q", "second")},
        "sps": lambda: _numbers("sps", texts.get("sps", ""), positive, least=3, most=3),
    })  # fmt: skip
    width = len(found["p"])
    bad = [
        Problem(n, "too_few" if len(found[n]) < width else "too_many", 0, str(len(found[n])), str(width))
        for n in ("q", "second")
        if len(found[n]) != width
    ]
    bad += [Problem(n, "sum_not_one", 0, str(sum(found[n]))) for n in ("p", "q") if sum(found[n]) != 1]
    if bad:
        raise InvalidFields(bad)
    return Example(tuple(NAMES[:width]), found["p"], found["q"], found["second"], found["sps"])
