"""Which hidden state feeds which depth of a recursive draft head: in training, with mixing, and when drafting.

Teaches: teacher-forced training feeds depth k with states of depth k − 1 only, while a draft reads backbone states for
all confirmed tokens and its own states for the few after them. Mixing draws the state for every position.
Leaves out: what the states hold, whether mixing helps a given model, and masks of the assistant's turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import sympy as sp

from mechanisms.expression import total
from mechanisms.mtp_boosting import TOPIC
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

Mode = Literal["plain", "report", "code", "draft"]
MODES: tuple[Mode, ...] = get_args(Mode)
DEPTHS, POSITIONS, PREFIX = 6, 10, 6
SOURCES = DEPTHS  # the backbone and the depths that lie before the last one


@dataclass(frozen=True, slots=True)
class Feed:
    """Inputs of one depth: for each position its source (0 is the backbone), None where there is none, and whether an
    older state was wanted but does not reach that far."""

    depth: int
    sources: tuple[int | None, ...]
    fallback: tuple[bool, ...]


def feeds(mode: Mode, *, rng: np.random.Generator, depths: int = DEPTHS, positions: int = POSITIONS) -> list[Feed]:
    """The inputs of depths 1 … `depths`.

    "plain": all states of the depth before. "report": one of depths 1 … k − 1, drawn for each position. "code": the
    backbone may be drawn, too. "draft": the backbone for confirmed tokens, then depths 1, 2, …, one for each token
    that is already drafted. Older states are shifted so that all candidates belong to the same target token; where
    that leaves none, the newest is used.

    >>> [f.sources for f in feeds("draft", rng=np.random.default_rng(0), depths=3, positions=8)][-1]
    (0, 0, 0, 0, 0, 0, 1, 2)

    Source: nemotron3ultra, §3.4 for "report" and "draft"; megatron2026 for "code", uniform draws and the fallback.
    """
    return [_feed(mode, depth, positions, rng) for depth in range(1, depths + 1)]


def _feed(mode: Mode, depth: int, positions: int, rng: np.random.Generator) -> Feed:
    sure = (False,) * positions
    newest = depth - 1
    if mode == "draft":
        prefix = min(PREFIX, positions)
        own = [i - prefix + 1 if i - prefix + 1 < depth else None for i in range(prefix, positions)]
        return Feed(depth, (*(0,) * prefix, *own), sure)
    first = 0 if mode == "code" else 1
    if mode == "plain" or depth < 2 or first >= newest:
        return Feed(depth, (newest,) * positions, sure)
    drawn = [int(x) for x in rng.integers(first, depth, positions)]
    lost = tuple(i >= positions - (newest - s) for i, s in enumerate(drawn))
    return Feed(depth, tuple(newest if gone else s for s, gone in zip(drawn, lost, strict=True)), lost)


DEPTH = given(f"{TOPIC}.depth", "k", "chosen", index="", counts=True)
PREFIX_SIZE = given(f"{TOPIC}.prefix_length", "n", "chosen", index="", counts=True)
ORDINAL = given(f"{TOPIC}.source_depth", "j", "derived", index="", counts=True)
EXISTS = Quantity(f"{TOPIC}.source_exists", "e", "derived", index="s", counts=True)
NEWEST = Quantity(f"{TOPIC}.source_newest", "m", "derived", index="s", counts=True)
BACKBONE = Quantity(f"{TOPIC}.source_backbone", "b", "derived", index="s", counts=True)
_k, _n, _e, _w, _b = DEPTH.sym, PREFIX_SIZE.sym, EXISTS.sym, NEWEST.sym, BACKBONE.sym


def _share(name: str, tex: str, source: str, expression: sp.Basic) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, index="s")


PLAIN = _share("share_plain", "u", "nemotron3ultra §3.4", _w)
REPORT = _share("share_report", "r", "nemotron3ultra §3.4", (_e - _b) / (_k - 1))
CODE = _share("share_code", "c", "megatron2026", _e / _k)
DRAFTING = _share("share_draft", "w", "nemotron3ultra §3.4", (_b * _n + _e - _b) / (_n + _k - 1))
SHARES = (ORDINAL, DEPTH, PREFIX_SIZE, BACKBONE, EXISTS, NEWEST, PLAIN, REPORT, CODE, DRAFTING)
_w_draft = DRAFTING.sym
MISMATCH = tuple(
    Quantity(f"{TOPIC}.mismatch_{name}", rf"\mathrm{{TV}}_{{{q.symbol}}}", "derived",
             total(sp.Abs(q.sym - _w_draft)) / 2, index="")
    for name, q in (("plain", PLAIN), ("report", REPORT), ("code", CODE))
)  # fmt: skip


def shares(depth: int, *, prefix: int = PREFIX, names: Sequence[str] = ()) -> Table:
    """From which source how large a part of the inputs of one depth comes, under three trainings and when drafting.

    Plain: all from depth k − 1. Report: 1/(k − 1) from each earlier depth. Code: 1/k, backbone included. Drafting: n
    of n + k − 1 from the backbone, one from each earlier depth. depth: 2 … 6; prefix: n ≥ 1 confirmed tokens;
    names: labels of the six sources.

    >>> shares(4).column("share_draft")
    (Fraction(2, 3), Fraction(1, 9), Fraction(1, 9), Fraction(1, 9), Fraction(0, 1), Fraction(0, 1))

    Source: nemotron3ultra, §3.4; megatron2026. That draws are even is said by the code alone.
    """
    if not 2 <= depth <= DEPTHS or prefix < 1:
        raise ValueError(f"depth={depth}, prefix={prefix}: allowed are 2 … {DEPTHS} and at least 1")
    every = range(SOURCES)
    rows = {
        ORDINAL.name: [Fraction(j) for j in every], DEPTH.name: [Fraction(depth)] * SOURCES,
        PREFIX_SIZE.name: [Fraction(prefix)] * SOURCES, BACKBONE.name: [Fraction(int(j == 0)) for j in every],
        EXISTS.name: [Fraction(int(j < depth)) for j in every],
        NEWEST.name: [Fraction(int(j == depth - 1)) for j in every],
    }  # fmt: skip
    labels = tuple(names) or tuple(str(j) for j in every)
    return tabulate(f"{TOPIC}.shares", SHARES, labels, rows, function="mechanisms.mtp_mixing.shares")


def mismatch(table: Table) -> Table:
    """Total variation between each training's mixture of sources and that of drafting, in one row. Source: derived."""
    return tabulate(f"{TOPIC}.mismatch", MISMATCH, ("",), {}, function="mechanisms.mtp_mixing.mismatch", over=table)
