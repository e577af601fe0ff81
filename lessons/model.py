"""What a parsed lesson is: blocks of prose and slots, with the facts that both languages must share."""

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lessons.syntax import Piece, pieces


class LessonError(Exception):
    """A mistake in a lesson file; reads `path:line: what to do`."""

    def __init__(self, path: Path | str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Prose:
    """Running Markdown; `line` is where it starts in the file."""

    markdown: str
    line: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A place the page fills; the body is its caption or help, and `line` is that of the opening colons."""

    name: str
    id: str
    body: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A labelled part of a lesson. `heading` is the Markdown of its first heading, which stays in `parts` too."""

    label: str
    stamp: str | None
    heading: str | None
    parts: tuple[Prose | Slot, ...]
    line: int
    source: str

    @property
    def digest(self) -> str:
        """First 8 hex digits of SHA-256 over `source`, so that a translation can say what it was made from."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:8]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots in order."""
        return tuple(part for part in self.parts if isinstance(part, Slot))

    @property
    def roles(self) -> tuple[tuple[str, str], ...]:
        """Every (role, target), sorted, repeated as often as it is used."""
        return tuple(sorted((piece.name, piece.content) for piece, _ in self.pieces() if piece.kind == "role"))

    @property
    def formulas(self) -> tuple[str, ...]:
        """The TeX of every formula, blanks unified, sorted, repeated as often as it is used."""
        return tuple(sorted(" ".join(piece.content.split()) for piece, _ in self.pieces() if piece.kind == "math"))

    def pieces(self) -> Iterator[tuple[Piece, int]]:
        """Every piece of prose and slot bodies with its line in the file."""
        for part in self.parts:
            text, first = (part.markdown, part.line) if isinstance(part, Prose) else (part.body, part.line + 1)
            for piece in pieces(text):
                yield piece, first + piece.line


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson in one language."""

    topic: str
    language: str
    path: Path
    title: str
    blocks: tuple[Block, ...]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots of all blocks in order."""
        return tuple(slot for block in self.blocks for slot in block.slots)


def normalized(lines: list[str]) -> str:
    """Block source for the digest: composed characters, no blanks at line ends, no runs of empty lines."""
    kept: list[str] = []
    for line in (unicodedata.normalize("NFC", line).rstrip() for line in lines):
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip("\n")


def split_cite(target: str) -> tuple[str, str]:
    """Source key and locator of a citation: `("key", "§2.3")`; the locator may be empty."""
    key, _, locator = target.partition(" ")
    return key, locator.strip()
