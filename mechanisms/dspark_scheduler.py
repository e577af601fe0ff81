"""Which drafts of a batch are verified: greedy admission with an early stop, the best point of its whole path, and the
same for thousands of requests at once.

Teaches: Algorithm 1 of the paper step by step, and that it is a sort and a running sum. Ties between equal survivals
go to the earlier position, then to the earlier request, so that no token's value decides. Leaves out: where SPS comes
from, and whether a rule may look at a survival at all (`dspark_selection`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechanisms.dspark import survivals

Floats = NDArray[np.float64]
Curve = Sequence[Fraction]  # SPS(1), SPS(2), …


@dataclass(frozen=True, slots=True)
class Admission:
    """One point of the greedy path. request, position: what was admitted, counted from 1, 0 at the start; survival:
    its chance; lengths: ℓ per request; positions B, tokens τ, throughput Θ = τ·SPS(B).
    """

    request: int
    position: int
    survival: Fraction
    lengths: tuple[int, ...]
    positions: int
    tokens: Fraction
    throughput: Fraction


@dataclass(frozen=True, slots=True)
class Schedule:
    """What the fast scheduler decides. lengths: (R,) integers."""

    lengths: NDArray[np.int64]
    positions: int
    tokens: float
    throughput: float


def admissions(requests: Sequence[Sequence[Fraction]], curve: Curve) -> tuple[Admission, ...]:
    """The whole path: every draft with a survival above 0, in falling order of survival.

    requests: per request its c, each in [0, 1]; curve: SPS(1) … SPS(R + Σγ), positive.

    >>> from mechanisms.dspark_presets import CURVES, REQUESTS
    >>> [a.lengths for a in admissions(REQUESTS, CURVES["smooth"])][:4]
    [(0, 0), (1, 0), (2, 0), (2, 1)]

    Source: dspark2026, Algorithm 1, without its break.
    """
    check_batch(requests, curve)
    chances = [survivals(c) for c in requests]
    waiting = [(-s[1], 1, r) for r, s in enumerate(chances) if len(s) > 1 and s[1]]
    heapq.heapify(waiting)
    r0 = len(requests)
    path = [Admission(0, 0, Fraction(0), (0,) * r0, r0, Fraction(r0), r0 * curve[r0 - 1])]
    while waiting:
        negative, j, r = heapq.heappop(waiting)
        last, s = path[-1], chances[r]
        lengths = tuple(j if i == r else n for i, n in enumerate(last.lengths))
        tokens, positions = last.tokens - negative, last.positions + 1
        path.append(Admission(r + 1, j, -negative, lengths, positions, tokens, tokens * curve[positions - 1]))
        if j + 1 < len(s) and s[j + 1]:
            heapq.heappush(waiting, (-s[j + 1], j + 1, r))
    return tuple(path)


def check_batch(requests: Sequence[Sequence[Fraction]], curve: Curve) -> None:
    """Raise ValueError unless there is a request and SPS is positive and known for the largest batch."""
    most = sum(1 + len(c) for c in requests)
    if not requests:
        raise ValueError("requests is empty: at least one is needed")
    if len(curve) < most:
        raise ValueError(f"curve has {len(curve)} values: this batch can reach {most} positions")
    if min(curve) <= 0:
        raise ValueError(f"curve={[str(x) for x in curve]}: SPS must be positive")


def early_stop(path: Sequence[Admission]) -> int:
    """Where Algorithm 1 ends: before the first point that is not better. Source: dspark2026, Algorithm 1."""
    falls = (i for i in range(1, len(path)) if path[i].throughput <= path[i - 1].throughput)
    return next(falls, len(path)) - 1


def path_best(path: Sequence[Admission]) -> int:
    """The best point of the whole path, the first on a tie. Source: dspark2026, §5.2."""
    return max(range(len(path)), key=lambda i: (path[i].throughput, -i))


def schedule(conditional: Floats, sps: Floats, *, early: bool = False) -> Schedule:
    """The same decision for many requests of equal draft length, in float64.

    conditional: (R, γ) in [0, 1]; sps: (≥ R(1 + γ),) SPS(1), SPS(2), …, positive. Sorts values only: how many drafts
    are admitted follows from the running sum, which ones from the smallest survival among them.

    >>> schedule(np.array([[0.5, 0.5], [0.25, 1.0]]), np.array([1, 1, .9, .8, .1, .1])).lengths.tolist()
    [1, 0]

    Source: dspark2026, Algorithm 1; early=False searches the whole path as in §5.2.
    """
    r = _check_arrays(conditional, sps)
    survival = np.multiply.accumulate(conditional, axis=1)
    falling = np.sort(survival, axis=None)[::-1]
    falling = falling[: np.count_nonzero(falling)]
    tokens = np.concatenate(([float(r)], r + np.cumsum(falling)))
    theta = tokens * sps[r - 1 : r + len(falling)]
    if early:
        falls = theta[1:] <= theta[:-1]
        m = int(falls.argmax()) if falls.any() else len(falling)
    else:
        m = int(theta.argmax())
    lengths = _admitted(survival, falling, m)
    return Schedule(lengths, r + m, float(tokens[m]), float(theta[m]))


def _admitted(survival: Floats, falling: Floats, m: int) -> NDArray[np.int64]:
    """How many drafts of each request are among the m likeliest."""
    if m == 0:
        return np.zeros(len(survival), dtype=np.int64)
    least = falling[m - 1]
    lengths = np.count_nonzero(survival > least, axis=1)
    short = m - int(lengths.sum())
    ties = np.argwhere((survival == least).T)  # by position, then by request
    np.add.at(lengths, ties[:short, 1], 1)
    return lengths


def _check_arrays(conditional: Floats, sps: Floats) -> int:
    if conditional.ndim != 2 or not len(conditional):
        raise ValueError(f"conditional has shape {conditional.shape}: must be (R, γ) with R of at least 1")
    r, width = conditional.shape
    if not ((conditional >= 0) & (conditional <= 1)).all():
        raise ValueError("conditional: every value must lie in [0, 1]")
    if len(sps) < r * (1 + width) or not (sps > 0).all():
        raise ValueError(f"sps has {len(sps)} values: needs {r * (1 + width)}, all positive")
    return r
