"""Stored decodings, read once, and the latest ones that readers ran themselves."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path

from gpu_demos.trace import Trace, load

TRACES = Path(__file__).parents[1] / "gpu_demos/traces"
MOST_KEPT = 64  # a reader's own trace is put back by every run that shows it
OWN = "own-"
_kept: OrderedDict[str, Trace] = OrderedDict()


def stored(name: str) -> Trace:
    """The trace of a file, `code_lookup_0`, or one that `keep` named."""
    return _kept[name] if name.startswith(OWN) else _read(name)


def keep(trace: Trace) -> str:
    """The name under which a reader's own trace can be asked for during this run of the page."""
    name = OWN + hashlib.sha256(repr(trace).encode()).hexdigest()[:16]
    _kept[name] = trace
    _kept.move_to_end(name)
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return name


@lru_cache(maxsize=32)
def _read(name: str) -> Trace:
    return load(TRACES / f"{name}.json")


def first(pattern: str) -> Trace:
    """One of several traces that were written together, `*_lookup_*`: they share machine, versions, commit and day.
    Or a reader's own one."""
    if pattern.startswith(OWN):
        return stored(pattern)
    return stored(min(path.stem for path in TRACES.glob(f"{pattern}.json")))
