"""Stored decodings, read once."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from gpu_demos.trace import Trace, load

TRACES = Path(__file__).parents[1] / "gpu_demos/traces"


@lru_cache(maxsize=32)
def stored(name: str) -> Trace:
    """The trace of a file, `code_lookup_0`."""
    return load(TRACES / f"{name}.json")


def first(pattern: str) -> Trace:
    """One of several traces that were written together, `*_lookup_*`: they share machine, versions, commit and day."""
    return stored(min(path.stem for path in TRACES.glob(f"{pattern}.json")))
