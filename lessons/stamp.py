"""Lists Chinese blocks made from an English text that has changed since, and stamps them anew.

python -m lessons.stamp                          list; exit status 1 if there are any
python -m lessons.stamp --write TOPIC [LABEL]    after a look at the Chinese: record today's English
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lessons.model import Lesson
from lessons.parse import parse
from lessons.store import FOLDER


@dataclass(frozen=True, slots=True)
class Stale:
    """A translated block whose stamp is not the digest of its English block."""

    topic: str
    label: str
    line: int
    stamp: str | None
    digest: str

    def __str__(self) -> str:
        return f"{self.topic} ({self.label})= line {self.line}: made from {self.stamp}, English is {self.digest}"


def stale(english: Lesson, translated: Lesson) -> Iterator[Stale]:
    """Blocks out of date, in the order of the translation; labels without an English block are left to the tests."""
    digests = {block.label: block.digest for block in english.blocks}
    for block in translated.blocks:
        digest = digests.get(block.label)
        if digest is not None and block.stamp != digest:
            yield Stale(translated.topic, block.label, block.line, block.stamp, digest)


def write(path: Path, found: list[Stale]) -> None:
    """Put the new digests under the labels of one Chinese file, and change nothing else in it."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for item in sorted(found, key=lambda item: -item.line):
        after = item.line + (item.stamp is not None)
        lines[item.line : after] = [f"<!-- en {item.digest} -->\n"]
    path.write_text("".join(lines), encoding="utf-8")


def main(arguments: list[str] | None = None, *, folder: Path = FOLDER) -> int:
    """Command line; the exit status is 1 if blocks are out of date and were not written."""
    parser = argparse.ArgumentParser(prog="python -m lessons.stamp", description="Stamps of translated blocks.")
    parser.add_argument("--write", nargs="+", metavar=("TOPIC", "LABEL"), help="stamp a topic's blocks, or the named")
    chosen: list[str] | None = parser.parse_args(arguments).write
    topics = [chosen[0]] if chosen else sorted(path.parent.name for path in folder.glob("*/zh.md"))
    found = {topic: list(stale(_read(folder, topic, "en"), _read(folder, topic, "zh"))) for topic in topics}
    if chosen:
        labels = chosen[1:]
        known = {block.label for block in _read(folder, chosen[0], "zh").blocks}
        if unknown := sorted(set(labels) - known):
            parser.error(f"no block ({unknown[0]})= in {chosen[0]}/zh.md")
        found[chosen[0]] = [item for item in found[chosen[0]] if not labels or item.label in labels]
        write(folder / chosen[0] / "zh.md", found[chosen[0]])
    items = [item for topic in topics for item in found[topic]]
    for item in items:
        print(f"{'stamped ' if chosen else ''}{item}")
    return 0 if chosen or not items else 1


def _read(folder: Path, topic: str, language: str) -> Lesson:
    path = folder / topic / f"{language}.md"
    return parse(path.read_text(encoding="utf-8"), path=path, topic=topic, language=language)


if __name__ == "__main__":
    raise SystemExit(main())
