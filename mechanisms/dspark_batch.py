"""A batch on one cost curve as tables: the greedy path, every allocation, each request on its own, and the outcome.

Teaches: that requests share one curve, so that lengths which are best alone need not be best together, and where
Algorithm 1's early stop gives the optimum away. Leaves out: more allocations than `MOST_ALLOCATIONS`; the path still
finds the best one then, because for a given number of positions the likeliest drafts yield most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from mechanisms.dspark import PAPER, TOPIC, quantity, survivals
from mechanisms.dspark_scheduler import Admission, Curve, admissions, check_batch, early_stop, path_best
from mechanisms.expression import largest, total
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import Quantity, as_fraction, given, signed
from mechanisms.table import Table, tabulate

MODULE = "mechanisms.dspark_batch"
MOST_ALLOCATIONS = 256
MOST_REQUESTS, MOST_DRAFTS = 4, 5
Batch = Sequence[Sequence[Fraction]]

ADMITTED = quantity("admitted_survival", "a", source=PAPER, index="i")
TOKENS_SO_FAR = quantity("batch_so_far", r"\tau^{\leftarrow}", unit="token", index="i")
TOKENS = quantity("batch_tokens", r"\tau", TOKENS_SO_FAR.sym + ADMITTED.sym, PAPER, unit="token", index="i")
POSITIONS = quantity("batch_positions", "B", source=PAPER, unit="position", index="i", counts=True)
SPS = given(f"{TOPIC}.steps_per_time", r"\mathrm{SPS}", "chosen", unit="step/time", index="i")
THROUGHPUT = quantity("throughput", r"\Theta", TOKENS.sym * SPS.sym, PAPER, unit="token/time", index="i")
THROUGHPUT_SO_FAR = quantity("throughput_so_far", r"\Theta^{\leftarrow}", unit="token/time", index="i")
GAIN = quantity(
    "throughput_gain", r"\Delta\Theta", signed(THROUGHPUT) - signed(THROUGHPUT_SO_FAR), PAPER, unit="token/time",
    index="i",
)  # fmt: skip
BEST = quantity("is_best", r"\ast", is_zero(largest(THROUGHPUT.sym) - THROUGHPUT.sym), index="i", counts=True)
PATH = (ADMITTED, TOKENS_SO_FAR, TOKENS, POSITIONS, SPS, THROUGHPUT, THROUGHPUT_SO_FAR, GAIN, BEST)

ROW = r"\ell"  # rows of a table of lengths
LENGTHS = tuple(given(f"{TOPIC}.length_{r}", rf"\ell_{r}", "chosen", unit="token", index="", counts=True)
                for r in range(1, MOST_REQUESTS + 1))  # fmt: skip
OWN_TOKENS = tuple(quantity(f"tokens_{r}", rf"\tau_{r}", unit="token", index="") for r in range(1, MOST_REQUESTS + 1))

ALONE_LENGTH = given(f"{TOPIC}.alone_length", r"\ell", "chosen", unit="token", index="", counts=True)
ALONE_TOKENS = quantity("alone_tokens", r"\tau", unit="token", index=ROW)
ALONE_POSITIONS = quantity("alone_positions", "B", 1 + ALONE_LENGTH.sym, PAPER, unit="position", index=ROW, counts=True)
ALONE_SPS = given(f"{TOPIC}.alone_steps_per_time", r"\mathrm{SPS}", "chosen", unit="step/time", index=ROW)
ALONE = quantity("alone_throughput", r"\Theta", ALONE_TOKENS.sym * ALONE_SPS.sym, PAPER, unit="token/time", index=ROW)
ALONE_BEST = quantity("is_best", r"\ast", is_zero(largest(ALONE.sym) - ALONE.sym), index=ROW, counts=True)
SINGLE = (ALONE_LENGTH, ALONE_TOKENS, ALONE_POSITIONS, ALONE_SPS, ALONE, ALONE_BEST)

PROMISED = quantity("promised", r"\Sigma", total(ALONE.sym), unit="token/time", index="")
TOGETHER_TOKENS = quantity("together_tokens", r"\tau", total(ALONE_TOKENS.sym), unit="token", index="")
TOGETHER_POSITIONS = quantity(
    "together_positions", "B", total(ALONE_POSITIONS.sym), unit="position", index="", counts=True
)
TOGETHER_SPS = given(f"{TOPIC}.together_steps", r"\mathrm{SPS}", "chosen", unit="step/time", index="")
TOGETHER = quantity("together", r"\Theta", TOGETHER_TOKENS.sym * TOGETHER_SPS.sym, PAPER, unit="token/time", index="")
JOINT = quantity("joint_best", r"\Theta^\ast", unit="token/time", index="")
SHORTFALL = quantity("shortfall", r"\Theta^\ast-\Theta", signed(JOINT) - signed(TOGETHER), unit="token/time", index="")


def lengths_text(lengths: Sequence[int]) -> str:
    return f"({', '.join(map(str, lengths))})"


def path_table(path: Sequence[Admission], curve: Curve) -> Table:
    """One row per admission: a, τ, B, SPS(B), Θ and its gain. Source: dspark2026, Algorithm 1.

    >>> from mechanisms.dspark_presets import CURVES, REQUESTS
    >>> t = path_table(admissions(REQUESTS, CURVES["smooth"]), CURVES["smooth"])
    >>> str(t.value(2, "throughput"))
    '8507/2500'
    """
    before = (None, *path[:-1])
    columns = {
        ADMITTED.name: tuple(a.survival for a in path),
        TOKENS_SO_FAR.name: tuple(a.tokens if b is None else b.tokens for a, b in zip(path, before, strict=True)),
        POSITIONS.name: tuple(Fraction(a.positions) for a in path),
        SPS.name: tuple(curve[a.positions - 1] for a in path),
        THROUGHPUT_SO_FAR.name: tuple(None if b is None else b.throughput for b in before),
    }  # fmt: skip
    rows = [lengths_text(a.lengths) for a in path]
    return tabulate(f"{TOPIC}.path", PATH, rows, columns, function=f"{MODULE}.path_table")


def live_drafts(chain: Sequence[Fraction]) -> int:
    """How many drafts can survive at all: only these are candidates, as in Algorithm 1."""
    return sum(s > 0 for s in survivals(chain)[1:])


def count_allocations(batch: Batch) -> int:
    """Π (1 + live drafts): how many ways there are to choose a length for every request."""
    return math.prod(1 + live_drafts(c) for c in batch)


def allocation_table(batch: Batch, curve: Curve) -> Table:
    """Every choice of lengths: τ = Σ τ_r, B = R + Σ ℓ_r, Θ = τ·SPS(B), and 1 at the largest Θ.

    Raises ValueError where there are more than 256 of them or more than four requests. Source: dspark2026, Eq. in
    §3.2.2, by enumeration.
    """
    check_batch(batch, curve)
    if count_allocations(batch) > MOST_ALLOCATIONS or len(batch) > MOST_REQUESTS:
        raise ValueError(f"batch has {count_allocations(batch)} allocations: at most {MOST_ALLOCATIONS} are enumerated")
    lengths, own = LENGTHS[: len(batch)], OWN_TOKENS[: len(batch)]
    chances = [survivals(c) for c in batch]
    every = list(product(*(range(1 + live_drafts(c)) for c in batch)))
    positions = _row("batch_positions", "B", len(batch) + sum(q.sym for q in lengths), "position", counts=True)
    tokens = _row("batch_tokens", r"\tau", sum(q.sym for q in own), "token")
    sps = given(f"{TOPIC}.steps_per_time", r"\mathrm{SPS}", "chosen", unit="step/time", index=ROW)
    theta = _row("throughput", r"\Theta", tokens.sym * sps.sym, "token/time")
    best = quantity("is_best", r"\ast", is_zero(largest(theta.sym) - theta.sym), index=ROW, counts=True)
    columns = {q.name: tuple(Fraction(x[r]) for x in every) for r, q in enumerate(lengths)}
    for r, q in enumerate(own):
        columns[q.name] = tuple(sum(chances[r][: x[r] + 1], Fraction(0)) for x in every)
    columns[sps.name] = tuple(curve[len(batch) + sum(x) - 1] for x in every)
    return tabulate(
        f"{TOPIC}.allocation", (*lengths, *own, positions, tokens, sps, theta, best),
        [lengths_text(x) for x in every], columns, function=f"{MODULE}.allocation_table",
    )  # fmt: skip


def _row(name: str, tex: str, expression: object, unit: str, **more: object) -> Quantity:
    return quantity(name, tex, expression, PAPER, unit=unit, index=ROW, **more)  # type: ignore[arg-type]


def single_table(chain: Sequence[Fraction], curve: Curve, name: str = "single") -> Table:
    """One request alone on the curve, ℓ = 0 … γ. Source: dspark2026, Algorithm 1 with R = 1."""
    check_batch([chain], curve)
    found = survivals(chain)
    columns = {
        ALONE_LENGTH.name: tuple(Fraction(i) for i in range(len(found))),
        ALONE_TOKENS.name: tuple(sum(found[: i + 1], Fraction(0)) for i in range(len(found))),
        ALONE_SPS.name: tuple(curve[: len(found)]),
    }  # fmt: skip
    rows = [str(i) for i in range(len(found))]
    return tabulate(f"{TOPIC}.{name}", SINGLE, rows, columns, function=f"{MODULE}.single_table")


def alone_best(batch: Batch, curve: Curve) -> Table:
    """Per request the row of its `single_table` with the largest Θ, the shortest on a tie."""
    tables = [single_table(c, curve) for c in batch]
    picks = [t.column(ALONE_BEST.name).index(Fraction(1)) for t in tables]
    columns = {
        q.name: tuple(t.value(i, q.name) for t, i in zip(tables, picks, strict=True))
        for q in (ALONE_LENGTH, ALONE_TOKENS, ALONE_SPS)
    }
    names = [f"r{r}" for r in range(1, len(batch) + 1)]
    columns_of = [replace(q, index="r") for q in SINGLE[:-1]]
    return tabulate(f"{TOPIC}.alone", columns_of, names, columns, function=f"{MODULE}.alone_best")


def sum_table(batch: Batch, curve: Curve, name: str = "") -> Table:
    """What the separate optima promise, what their lengths give together, and the joint optimum.

    Source: derived; the joint optimum is the best point of the greedy path.
    """
    over = alone_best(batch, curve)
    positions = int(sum((as_fraction(x) for x in over.column(ALONE_POSITIONS.name) if x is not None), Fraction(0)))
    joint = max(a.throughput for a in admissions(batch, curve))
    row = {TOGETHER_SPS.name: (curve[positions - 1],), JOINT.name: (joint,)}
    order = (PROMISED, TOGETHER_TOKENS, TOGETHER_POSITIONS, TOGETHER_SPS, TOGETHER, JOINT, SHORTFALL)
    return tabulate(f"{TOPIC}.sums", order, (name,), row, function=f"{MODULE}.sum_table", over=over)


OUTCOME_POSITIONS = quantity("batch_positions", "B", source=PAPER, unit="position", counts=True, index="w")
OUTCOME_TOKENS = quantity("batch_tokens", r"\tau", unit="token", index="w")
OUTCOME_SPS = given(f"{TOPIC}.steps_per_time", r"\mathrm{SPS}", "chosen", unit="step/time", index="w")
OUTCOME = quantity("throughput", r"\Theta", OUTCOME_TOKENS.sym * OUTCOME_SPS.sym, PAPER, unit="token/time", index="w")
OUTCOME_LOST = quantity(
    "throughput_lost", r"\Theta^\ast-\Theta", largest(OUTCOME.sym) - OUTCOME.sym, unit="token/time", index="w"
)
OUTCOMES = (OUTCOME_POSITIONS, OUTCOME_TOKENS, OUTCOME_SPS, OUTCOME, OUTCOME_LOST)
WAYS = ("early", "path", "alone", "full")


def outcome_table(batch: Batch, curve: Curve) -> tuple[Table, tuple[str, ...]]:
    """Where four ways end: early stop, best of the path, each request's own optimum, every draft; and their lengths.

    The best of the path is the best of all allocations, so what is lost is measured against it. Source: derived.
    """
    path = admissions(batch, curve)
    chances = [survivals(c) for c in batch]
    own = tuple(int(as_fraction(x)) for x in alone_best(batch, curve).column(ALONE_LENGTH.name) if x is not None)
    ends = [path[early_stop(path)].lengths, path[path_best(path)].lengths, own, tuple(len(c) for c in batch)]
    positions = [len(batch) + sum(x) for x in ends]
    columns = {
        OUTCOME_POSITIONS.name: tuple(Fraction(b) for b in positions),
        OUTCOME_TOKENS.name: tuple(
            sum((sum(s[: n + 1], Fraction(0)) for s, n in zip(chances, x, strict=True)), Fraction(0)) for x in ends
        ),
        OUTCOME_SPS.name: tuple(curve[b - 1] for b in positions),
    }
    table = tabulate(f"{TOPIC}.outcomes", OUTCOMES, WAYS, columns, function=f"{MODULE}.outcome_table")
    return table, tuple(lengths_text(x) for x in ends)
