"""Prompts of three domains that every machine with Python has, split by file into train and held out.

Code: excerpts of the standard library's sources. Prose: excerpts of Python's own reference (`pydoc_data.topics`). Chat:
questions about topics, modules and functions, in the model's chat template. A file (or a topic) and all that is made
from it belongs to one side of the split only. The texts differ between versions of Python; `describe` records theirs.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import random
import sysconfig
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

Domain = Literal["code", "prose", "chat"]
DOMAINS: tuple[Domain, ...] = ("code", "prose", "chat")
Side = Literal["train", "held_out"]
HELD_OUT_OF = 10  # one file in ten is held out
SKIPPED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "pydoc_data", "__pycache__"}
LEAST = 2000  # characters; shorter files leave no excerpt to continue
DRAWS = 60  # questions drawn for one batch of chat, for each prompt wanted: they must agree in length

QUESTIONS = (
    "What does the Python module {module} do?",
    "Give me a short example that uses the module {module}.",
    "How do I use {module}.{name} in Python?",
    "When should I use {module}.{name}, and what should I watch out for?",
    "Explain what a function called {name} could do, step by step.",
    "Write a small function {name} in Python and explain it.",
    "Explain {topic} in Python to a beginner.",
    "What are common mistakes with {topic} in Python?",
    "Compare {topic} and {other} in Python.",
    "Write three quiz questions about {topic}.",
    "Write a short story in which {topic} and {other} meet.",
    "Give me five tips about {topic} for someone who learns programming.",
)


class Tokenizer(Protocol):
    """The two calls of a transformers tokenizer that are used here."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...

    def apply_chat_template(self, conversation: list[dict[str, str]], **settings: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Source:
    """One file or topic: its name decides the side, its text gives excerpts and names."""

    name: str
    text: str

    @property
    def side(self) -> Side:
        """Held out where the hash of the name says so, whatever else exists."""
        return "held_out" if int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % HELD_OUT_OF == 0 else "train"


def prompts(
    tokenizer: Tokenizer, domain: Domain, side: Side, *, count: int, length: int, rng: random.Random
) -> list[list[int]]:
    """`count` prompts of one equal number of tokens, so that a batch needs no padding.

    length: tokens of an excerpt; a batch of questions has the length that most of its candidates share. Raises
    ValueError for an unknown domain or side, or where too few questions share a length.
    """
    if domain not in DOMAINS or side not in ("train", "held_out"):
        raise ValueError(f"domain={domain!r}, side={side!r} must be one of {DOMAINS} and train or held_out")
    if domain != "chat":
        return [_excerpt(tokenizer, _sources(domain, side), length, rng) for _ in range(count)]
    buckets: dict[int, list[list[int]]] = {}
    for _ in range(DRAWS * count):
        question = [{"role": "user", "content": _question(side, rng)}]
        ids = tokenizer.apply_chat_template(question, add_generation_prompt=True, tokenize=True, return_dict=False)
        bucket = buckets.setdefault(len(ids), [])
        bucket.append(list(ids))
        if len(bucket) == count:
            return bucket
    raise ValueError(f"count={count} must be smaller: at most {max(map(len, buckets.values()))} questions agree")


def describe() -> Mapping[str, Any]:
    """What the prompts were made from: Python's version, and per domain the files of either side and their hash."""
    return {
        "python": platform.python_version(),
        "split": f"held out where sha256(name) mod {HELD_OUT_OF} is 0",
        "sources": {
            kind: {
                side: {
                    "files": len(found := _sources(kind, side)),
                    "characters": sum(len(s.text) for s in found),
                    "sha256": hashlib.sha256("".join(s.name + s.text for s in found).encode()).hexdigest(),
                }
                for side in ("train", "held_out")
            }
            for kind in ("code", "prose")
        },
        "chat": f"{len(QUESTIONS)} patterns of questions, filled with names from the same files and topics",
    }


@cache
def _sources(domain: Domain, side: Side) -> tuple[Source, ...]:
    every = _topics() if domain == "prose" else _files()
    return tuple(s for s in every if s.side == side and len(s.text) >= LEAST)


@cache
def _files() -> tuple[Source, ...]:
    root = Path(sysconfig.get_path("stdlib"))
    paths = [p for p in sorted(root.rglob("*.py")) if not SKIPPED & set(p.relative_to(root).parts)]
    return tuple(Source(p.relative_to(root).as_posix(), p.read_text("utf-8", "replace")) for p in paths)


@cache
def _topics() -> tuple[Source, ...]:
    from pydoc_data.topics import topics

    return tuple(Source(f"topic {name}", text) for name, text in sorted(topics.items()))


@cache
def _names(source: Source) -> tuple[str, ...]:
    """Public functions and classes of a file; the file's own name where it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a file may hold an escape that newer Pythons dislike; it is only read here
        tree = ast.parse(source.text)
    found = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")]
    return tuple(found) or (_module(source),)


def _module(source: Source) -> str:
    return source.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _excerpt(tokenizer: Tokenizer, sources: tuple[Source, ...], length: int, rng: random.Random) -> list[int]:
    """The first `length` tokens from the start of some line; tried again where a file ends too soon."""
    while True:
        text = rng.choice(sources).text
        start = text.find("\n", rng.randrange(len(text))) + 1
        ids = tokenizer.encode(text[start : start + 16 * length], add_special_tokens=False)
        if start > 0 and len(ids) >= length:
            return ids[:length]


def _question(side: Side, rng: random.Random) -> str:
    source = rng.choice(_sources("code", side))
    topic, other = (rng.choice(_sources("prose", side)).name.removeprefix("topic ") for _ in range(2))
    values = {"module": _module(source), "name": rng.choice(_names(source)), "topic": topic, "other": other}
    return rng.choice(QUESTIONS).format(**values)
