"""From a lesson file to labelled blocks; every mistake is a `LessonError` with file and line.

    (label)=                     opens a block
    <!-- en 1a2b3c4d -->         next line of a translated block: digest of the English block it was made from
    :::{plot} topic.name         a slot; the lines up to ::: are its caption
    {value}`topic.name`          a reference: value, term or cite (`key` or `key §2.3`)

The first block opens with the only `#` title of the lesson, as plain words. Everything else is CommonMark with
tables and dollar maths; raw HTML and images are refused.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it.token import Token

from lessons.authoring import SLOT_ID, mistakes
from lessons.model import Block, Lesson, LessonError, Prose, Slot, normalized
from lessons.syntax import structure, tidy

DIRECTIVES = ("predict", "control", "table", "plot", "player", "formula", "quiz", "aside", "source")
_LABEL = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_STAMP = re.compile(r"<!-- en ([0-9a-f]{8}) -->")
_OPENING = re.compile(r"\{([^}]*)\}(.*)")


def parse(text: str, *, path: Path, topic: str, language: str) -> Lesson:
    """Read one lesson file; raises `LessonError` at its first mistake."""
    source = tidy(text)
    lines = source.split("\n")[:-1]
    tokens = structure(source)
    starts = [index for index, token in enumerate(tokens) if token.type == "myst_target"]
    _opens_with_label(tokens, starts, lines, path)
    blocks: list[Block] = []
    seen: dict[str, int] = {}
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        last = _line(tokens[end]) - 1 if end < len(tokens) else len(lines)
        block = _block(tokens[start:end], lines, last, path=path, language=language)
        for name, line in [(f"label ({block.label})=", block.line), *((f"id {s.id}", s.line) for s in block.slots)]:
            if name in seen:
                raise LessonError(path, line, f"{name} is already used on line {seen[name]}; choose another")
            seen[name] = line
        for line, message in sorted(mistakes(block, language=language, first=not blocks), key=lambda found: found[0]):
            raise LessonError(path, line, message)
        blocks.append(block)
    return Lesson(topic, language, path, _title(blocks[0], path), tuple(blocks))


def _opens_with_label(tokens: list[Token], starts: list[int], lines: list[str], path: Path) -> None:
    first = _line(tokens[starts[0]]) - 1 if starts else len(lines)
    early = next((number for number, line in enumerate(lines[:first], 1) if line.strip()), None)
    if early is not None:
        raise LessonError(path, early, "text before the first label; open a block with (label)= on a line of its own")
    if not starts:
        raise LessonError(path, 1, "no block; open one with (label)= on a line of its own")


def _block(tokens: list[Token], lines: list[str], last: int, *, path: Path, language: str) -> Block:
    label, line = tokens[0].content, _line(tokens[0])
    if not _LABEL.fullmatch(label):
        raise LessonError(path, line, f"label ({label})= must be lower case words joined by - or _")
    stamp = _stamp(tokens[1:2], line, path=path, language=language)
    body = line + (stamp is not None)
    parts = tuple(_parts(tokens[1 + (stamp is not None) :], lines, (body, last), path))
    if not parts:
        raise LessonError(path, line, f"block ({label})= is empty; give it text or a directive, or remove it")
    bare = Block(label, stamp, None, parts, line, normalized(lines[body:last]))
    heading = next((piece.content for piece, _ in bare.pieces() if piece.kind == "heading"), None)
    return Block(label, stamp, heading, parts, line, bare.source)


def _stamp(following: list[Token], label_line: int, *, path: Path, language: str) -> str | None:
    if not following or following[0].type != "html_block" or _line(following[0]) != label_line + 1:
        return None
    found = _STAMP.fullmatch(following[0].content.strip())
    if not found:
        raise LessonError(path, label_line + 1, "only a stamp like <!-- en 1a2b3c4d --> may stand under a label")
    if language == "en":
        raise LessonError(path, label_line + 1, "the English block is the original and carries no stamp")
    return found[1]


def _parts(tokens: list[Token], lines: list[str], span: tuple[int, int], path: Path) -> Iterator[Prose | Slot]:
    start, last = span
    for token in tokens:
        if token.type == "colon_fence" and token.map:
            yield from _prose(lines, start, token.map[0])
            yield _slot(token, lines, path)
            start = token.map[1]
    yield from _prose(lines, start, last)


def _prose(lines: list[str], start: int, end: int) -> Iterator[Prose]:
    while start < end and not lines[start].strip():
        start += 1
    text = "\n".join(lines[start:end]).rstrip()
    if text:
        yield Prose(text, start + 1)


def _slot(token: Token, lines: list[str], path: Path) -> Slot:
    line, info = _line(token), token.info.strip()
    if not info:
        raise LessonError(path, line, "::: closes nothing; a directive opens with :::{name} id")
    opening = _OPENING.fullmatch(info)
    name = opening[1] if opening else info
    if not opening or name not in DIRECTIVES:
        raise LessonError(path, line, f"unknown directive {name!r}; write :::{{name}} id with {', '.join(DIRECTIVES)}")
    slot_id = opening[2].strip()
    if not SLOT_ID.fullmatch(slot_id):
        problem = f"id {slot_id!r} is not topic.name in lower case" if slot_id else "no id; write topic.name after it"
        raise LessonError(path, line, f"directive {{{name}}}: {problem}")
    slot = Slot(name, slot_id, token.content.rstrip(), line)
    closing = lines[token.map[1] - 1].strip() if token.map else ""
    if set(closing) != {":"} or len(closing) < len(token.markup):
        raise LessonError(path, line, f"directive {{{name}}} {slot_id} has no end; close it with {token.markup}")
    return slot


def _title(block: Block, path: Path) -> str:
    pieces = [(piece, line) for piece, line in block.pieces() if piece.kind == "heading"]
    if not pieces or pieces[0][0].name != "1":
        raise LessonError(path, block.line, "the first block needs a title: a heading with a single #")
    title, line = pieces[0]
    if set(title.content) & set("`$*{["):
        raise LessonError(path, line, f"title {title.content!r} must be plain words; it is also the page's name")
    return title.content


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 1
