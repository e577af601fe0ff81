"""The reader's own numbers, for the case that is trained and for the pair that is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechanisms.distribution import normalised, read_number
from mechanisms.mtp_cases import LARGEST_LOGIT, MAX_TOKENS
from mechanisms.mtp_read import BadInput, Problem, read_case, read_drafts
from mechanisms.quantity import short_text
from pages._mtp_state import TOPIC, case_now, drafts_now, fields_of, get, put, remember, remembered
from pages._parts import Block
from pages._words import t

WORDS = ("remove", "add", "normalise")
ROLES = {"token": "", "p": "target", "z": "draft", "a": "draft", "b": "draft"}


@dataclass(frozen=True, slots=True)
class Editor:
    """One editor: its columns in order, how they are read, and which control takes what was read."""

    name: str
    columns: tuple[str, ...]
    read: Callable[..., Any]
    control: str


CASE = Editor("case_editor", ("token", "p", "z"), read_case, "own")
PAIR = Editor("pair_editor", ("token", "p", "a", "b"), read_drafts, "drafts")


def _now(editor: Editor) -> dict[str, list[str]]:
    found = case_now() if editor is CASE else drafts_now()
    numbers = {n: [short_text(x).replace("−", "-") for x in getattr(found, n)] for n in editor.columns[1:]}
    return {"token": list(found.tokens), **numbers}


def _edit(editor: Editor, event: Any) -> None:
    """Usable fields become the case; others stay as typed, and the last good result stays on the page."""
    count = event.get("count") if isinstance(event, Mapping) else None
    fields = fields_of(event, editor.columns)
    if isinstance(count, int) and count > MAX_TOKENS:
        kept = remembered(editor.name)
        remember(editor.name, kept[0] if kept else _now(editor), [Problem("too_many", "p", None, str(count))])
        return
    try:
        found = editor.read(*fields.values())
    except BadInput as error:
        remember(editor.name, fields, error.problems)
        return
    remember(editor.name, None)
    put(**{editor.control: found})


def _normalise(editor: Editor, event: Any) -> None:
    """Divide one column by its sum, because the reader asked for it."""
    column = event.get("column") if isinstance(event, Mapping) else None
    fields = fields_of(event, editor.columns)
    if column not in editor.columns[1:] or column == "z":
        return
    numbers = [x for x in map(read_number, fields[column]) if isinstance(x, Fraction)]
    if len(numbers) == len(fields[column]) and sum(numbers):
        fields[column] = [str(x) for x in normalised(numbers)]
    _edit(editor, {"fields": fields})


def _problem(problem: Problem) -> dict[str, Any]:
    own = problem.code in ("too_few", "too_large", "zero")
    key = f"{TOPIC}.bad_{problem.code}" if own else f"problems.{problem.code}"
    text = t(key, detail=problem.detail, limit=LARGEST_LOGIT if problem.code == "too_large" else MAX_TOKENS)
    if problem.row is None and problem.code in ("sum_not_one", "no_mass"):
        text = f"{t(f'{TOPIC}.column_{problem.column}')}: {text}"
    return {"code": problem.code, "column": problem.column, "row": problem.row, "text": text}


def draw(editor: Editor, block: Block, words: str) -> None:
    fields, problems = remembered(editor.name) or (_now(editor), ())
    data = {
        "title": t(f"{TOPIC}.{editor.name}"), "help": words, "fields": fields, "most": MAX_TOKENS,
        "columns": [{"name": n, "label": t(f"{TOPIC}.column_{n}"), "role": ROLES[n]} for n in editor.columns],
        "problems": [_problem(p) for p in problems], "open": bool(problems) or get(editor.control) is not None,
        "words": {w: t(f"editor.{w}") for w in WORDS} | {n: t(f"{TOPIC}.editor_{n}") for n in ("kept", "hint")},
    }  # fmt: skip
    block.part(
        "columns", data, key=f"{TOPIC}.{editor.name}", edit=lambda e: _edit(editor, e),
        normalise=lambda e: _normalise(editor, e),
    )  # fmt: skip


def case_editor(block: Block, words: str) -> None:
    draw(CASE, block, words)


def pair_editor(block: Block, words: str) -> None:
    draw(PAIR, block, words)
