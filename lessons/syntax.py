"""The closed Markdown dialect of the lessons, and its content as a flat list of pieces.

`dialect` is shared by the parser, which refuses raw HTML, and the renderer, which escapes it.
Inline positions are lines of the text given; inside a code span that wraps, later lines count one too few.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import table as gfm_table
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

Kind = Literal[
    "text", "escaped", "code", "math", "role", "image", "html", "heading",
    "strong_open", "strong_close", "em_open", "em_close", "label", "directive", "fence", "other",
]  # fmt: skip

_KINDS: dict[str, Kind] = {
    "text": "text",
    "text_special": "escaped",
    "code_inline": "code",
    "math_inline": "math",
    "math_inline_double": "math",
    "math_block": "math",
    "myst_role": "role",
    "image": "image",
    "html_inline": "html",
    "html_block": "html",
    "strong_open": "strong_open",
    "strong_close": "strong_close",
    "em_open": "em_open",
    "em_close": "em_close",
    "myst_target": "label",
    "colon_fence": "directive",
    "fence": "fence",
}
_SPANS = re.compile(r"(`+)(?:(?!`).)+?\1(?!`)|(?<!\\)\$(?:\\.|[^$\\])+\$")
_PIPE = "\ue000"


@dataclass(frozen=True, slots=True)
class Piece:
    """One inline or leaf element: `name` is a role's name, a directive's or fence's info, a heading's level."""

    kind: Kind
    content: str
    line: int
    name: str = ""


def dialect(*, html: bool) -> MarkdownIt:
    """CommonMark with tables, dollar maths, labels, roles and colon fences."""
    md = MarkdownIt("commonmark", {"html": html}).enable("table")
    md.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    dollarmath_plugin(
        md, allow_labels=False, allow_space=False, allow_digits=False, allow_blank_lines=False, double_inline=True
    )
    myst_block_plugin(md)
    # A line that starts with % or +++ is a sentence here, not MyST's comment or page break.
    md.disable(["myst_line_comment", "myst_block_break"])
    myst_role_plugin(md)
    colon_fence_plugin(md)
    return md


def tidy(text: str) -> str:
    """One kind of line end, and exactly one at the end: colon_fence reads past a last line made of blanks."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip() + "\n"


@lru_cache(maxsize=1024)
def pieces(markdown: str) -> tuple[Piece, ...]:
    """Everything a reader or a checker meets, in order; `line` counts from 0."""
    found: list[Piece] = []
    tokens = _PARSER.parse(tidy(markdown))
    for index, token in enumerate(tokens):
        line = token.map[0] if token.map else 0
        if token.type == "heading_open":
            found.append(Piece("heading", tokens[index + 1].content, line, token.tag[1:]))
        elif token.type == "inline":
            found.extend(_inline(token.children or (), line))
        elif token.type in _KINDS:
            found.append(Piece(_KINDS[token.type], token.content, line, token.info.strip()))
    return tuple(found)


def structure(text: str) -> list[Token]:
    """The outermost tokens of a whole lesson, in order."""
    return [token for token in _PARSER.parse(text) if token.level == 0 and token.nesting >= 0]


def _inline(children: Sequence[Token], line: int) -> Iterator[Piece]:
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            line += 1
            continue
        yield Piece(_KINDS.get(child.type, "other"), child.content, line, str(child.meta.get("name", "")))
        line += child.content.count("\n")


def _hide(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("`") else match[0].replace("|", _PIPE)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The GFM table rule, except that a | inside $…$ belongs to the formula (\\| stays TeX's double bar)."""
    source, first = state.src, len(state.tokens)
    lines = source[state.bMarks[start] : state.eMarks[end - 1]].split("\n")
    hidden = "\n".join(_SPANS.sub(_hide, line) for line in lines)
    state.src = source[: state.bMarks[start]] + hidden + source[state.eMarks[end - 1] :]
    try:
        return gfm_table(state, start, end, silent)
    finally:
        state.src = source
        for token in state.tokens[first:]:
            token.content = token.content.replace(_PIPE, "|")


# Joining would merge an escaped \$ with the text around it and hide which dollars were typed on purpose.
_PARSER = dialect(html=True).disable("text_join")
