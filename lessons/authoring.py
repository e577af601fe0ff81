"""Mistakes an author makes inside a block, each refused with its line.

Rules for dollars: a formula has no blank just inside its dollars and no digit just outside them; whatever dollar
is left over after that is an error, so prices are written `\\$5`. Rules for stars: a star that did not become
emphasis is an error, and in Chinese the punctuation goes outside the stars even where it happens to work.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from lessons.model import Block, split_cite
from lessons.syntax import Piece

SLOT_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
ENTRY_ID = re.compile(r"[a-z][a-z0-9_]*")
ROLES: dict[str, Callable[[str], bool]] = {
    "value": lambda target: bool(SLOT_ID.fullmatch(target)),
    "term": lambda target: bool(ENTRY_ID.fullmatch(target)),
    "cite": lambda target: bool(ENTRY_ID.fullmatch(split_cite(target)[0])),
}
_ROLE_SHAPES = {"value": "topic.name", "term": "id", "cite": "key or key and locator"}
_CJK_PUNCTUATION = "，。、；：？！（）《》〈〉「」『』【】〔〕“”‘’…—·"
_DETACHED_ROLE = re.compile(r"\{[A-Za-z_]+\}")
_LEFT_OVER = (
    ("$", "a $ that belongs to no formula; write $x$ with no blank inside and no digit outside, or \\$ for money"),
    ("**", "these ** stayed literal; close the emphasis and put punctuation outside the stars"),
    ("*", "this * stayed literal; close the emphasis or write \\*"),
)


def mistakes(block: Block, *, language: str, first: bool) -> Iterator[tuple[int, str]]:
    """Line and message of every mistake in the order of the file."""
    found = [(piece, line) for piece, line in block.pieces()]
    yield from _headings(found, first=first)
    for index, (piece, line) in enumerate(found):
        message = _refused(piece) or _text(piece) or _role(piece)
        if not message and language == "zh":
            message = _stars(found[max(0, index - 1) : index + 2], piece)
        if message:
            yield line, message


def _headings(found: Sequence[tuple[Piece, int]], *, first: bool) -> Iterator[tuple[int, str]]:
    headings = [(piece, line) for piece, line in found if piece.kind == "heading"]
    for index, (piece, line) in enumerate(headings):
        if piece.name == "1" and not (first and index == 0):
            yield line, f"heading {piece.content!r} is a second title; inside blocks headings start at ##"


def _refused(piece: Piece) -> str:
    match piece.kind:
        case "html":
            return f"raw HTML {piece.content.strip()!r} is not part of the grammar; use Markdown or a directive"
        case "image":
            return "images are not part of the grammar; use a plot directive"
        case "label":
            return f"label ({piece.content})= inside a directive, list or quote; close it first (missing :::?)"
        case "directive":
            return f"directive :::{piece.name} inside a directive, list or quote; close the outer one with ::: first"
        case "fence" if piece.name.startswith("{"):
            return f"directive {piece.name} written with backticks; directives use :::"
        case _:
            return ""


def _text(piece: Piece) -> str:
    if piece.kind != "text":
        return ""
    if detached := _DETACHED_ROLE.search(piece.content):
        return f"role {detached[0]} without a target; the back-ticked target follows the brace directly"
    return next((message for sign, message in _LEFT_OVER if sign in piece.content), "")


def _role(piece: Piece) -> str:
    if piece.kind != "role":
        return ""
    if piece.name not in ROLES:
        return f"unknown role {{{piece.name}}}; allowed: {', '.join(ROLES)}"
    if not ROLES[piece.name](piece.content):
        return f"role {{{piece.name}}} has target {piece.content!r}; expected {_ROLE_SHAPES[piece.name]}"
    return ""


def _stars(around: Sequence[tuple[Piece, int]], piece: Piece) -> str:
    inner = ""
    if piece.kind in ("strong_open", "em_open"):
        inner = around[-1][0].content[:1]
    elif piece.kind in ("strong_close", "em_close"):
        inner = around[0][0].content[-1:]
    if inner and inner in _CJK_PUNCTUATION:
        return f"emphasis beside {inner} would stay literal in running text; put the punctuation outside the stars"
    return ""
