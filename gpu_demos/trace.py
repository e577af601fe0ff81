"""A stored decoding, round by round, for pages that run without the model; needs nothing but Python.

The module reads and checks. What it can check is what must hold whatever the model: counts that add up, a verdict that
follows from its numbers, a cache that keeps what was confirmed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

ROUNDING = 1e-6  # p and q are stored with seven digits


@dataclass(frozen=True, slots=True)
class TraceRound:
    """One round. drafts: texts of the drafted tokens; p, q: probabilities of each under target and draft; uniforms: one
    for each judged draft; emitted: texts of the tokens that entered the text, the last of them a correction, a bonus or
    "" (an accepted end of text); cached: positions in the target's cache before, after the pass, after the rollback."""

    drafts: tuple[str, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]
    uniforms: tuple[float, ...]
    accepted: int
    emitted: tuple[str, ...]
    last: str
    cached: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Trace:
    """A continuation and how it came about. parted: index of the first token in which plain decoding of the same prompt
    differs, None where it does not (greedy) or where that says nothing (sampled)."""

    domain: str
    drafter: str
    temperature: float
    seed: int
    prompt: str
    prompt_tokens: int
    rounds: tuple[TraceRound, ...]
    stopped: str
    parted: int | None
    model: str
    device: str
    dtype: str
    versions: Mapping[str, str]
    commit: str
    command: str
    date: str

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple(text for r in self.rounds for text in r.emitted)


def load(path: Path) -> Trace:
    """Read and check one trace; ValueError names the file, the round and what does not hold."""
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error


def parse(value: object) -> Trace:
    """A trace from what JSON made of it, checked; ValueError or TypeError says what does not hold."""
    entry = _entry("trace", value, Trace)
    entry["rounds"] = tuple(_round(i, one) for i, one in enumerate(_list("rounds", entry["rounds"])))
    trace = Trace(**entry)
    check(trace)
    return trace


def dump(trace: Trace, path: Path) -> None:
    """Check and write one trace, a round on each line."""
    check(trace)
    entry = {f.name: getattr(trace, f.name) for f in fields(trace) if f.name != "rounds"}
    entry["versions"] = dict(trace.versions)
    text = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False)[:-2]
    lines = ",\n".join(f"    {json.dumps(asdict(r), ensure_ascii=False, allow_nan=False)}" for r in trace.rounds)
    path.write_text(f'{text},\n  "rounds": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def check(trace: Trace) -> None:
    """ValueError for a round that cannot have happened."""
    length = trace.prompt_tokens
    if not trace.rounds:
        _refuse(0, "there is no round")
    for i, r in enumerate(trace.rounds, 1):
        _numbers(i, r)
        _verdict(i, r)
        before, passed, after = r.cached
        if passed != length + len(r.drafts) or before != (length - 1 if i > 1 else 0):
            _refuse(i, f"cached={r.cached} does not follow from {length} confirmed tokens and {len(r.drafts)} drafts")
        if after != length + r.accepted:
            _refuse(i, f"cached={r.cached} must keep {length} confirmed tokens and {r.accepted} accepted drafts")
        length += len(r.emitted)


def _numbers(i: int, r: TraceRound) -> None:
    if not len(r.drafts) == len(r.p) == len(r.q):
        _refuse(i, f"{len(r.drafts)} drafts need as many p and q")
    if not all(0 <= x <= 1 for x in (*r.p, *r.q)) or not all(x > 0 for x in r.q):
        _refuse(i, "p must lie in [0, 1] and q in (0, 1]")
    if not all(0 <= u < 1 for u in r.uniforms):
        _refuse(i, "uniforms must lie in [0, 1)")


def _verdict(i: int, r: TraceRound) -> None:
    rejected = len(r.uniforms) == r.accepted + 1
    if len(r.uniforms) != min(r.accepted + 1, len(r.drafts)) and not (r.last == "" and len(r.uniforms) == r.accepted):
        _refuse(i, f"{r.accepted} accepted of {len(r.drafts)} drafts cannot have {len(r.uniforms)} uniforms")
    for k, u in enumerate(r.uniforms):
        margin = min(1.0, r.p[k] / r.q[k]) - u
        if (margin < -ROUNDING and k < r.accepted) or (margin > ROUNDING and k >= r.accepted):
            _refuse(i, f"draft {k + 1}: the verdict does not follow from p, q and u")
    if r.last != ("" if r.last == "" else "correction" if rejected else "bonus"):
        _refuse(i, f"last={r.last!r} does not fit {r.accepted} accepted drafts")
    if len(r.emitted) != r.accepted + (r.last != "") or r.emitted[: r.accepted] != r.drafts[: r.accepted]:
        _refuse(i, "emitted must be the accepted drafts and the last token")


def _round(i: int, value: object) -> TraceRound:
    entry = _entry(f"round {i + 1}", value, TraceRound)
    for name in ("drafts", "p", "q", "uniforms", "emitted", "cached"):
        entry[name] = tuple(_list(name, entry[name]))
    return TraceRound(**entry)


def _list(name: str, value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list")
    return value


def _entry(name: str, value: object, kind: type[Any]) -> dict[str, Any]:
    known = {f.name for f in fields(kind)}
    if not isinstance(value, dict) or set(value) != known:
        odd = sorted(set(value) ^ known) if isinstance(value, dict) else "no object"
        raise ValueError(f"{name}: keys must be those of {kind.__name__}: {odd}")
    return dict(value)


def _refuse(i: int, why: str) -> NoReturn:
    raise ValueError(f"round {i}: {why}")
