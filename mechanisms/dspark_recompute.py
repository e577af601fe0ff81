"""Ten thousand rounds through the verification function itself, on a grid of uniforms instead of random ones.

Teaches: that an enumeration can be exact: where every c is a multiple of a tenth, the ten midpoints 0.05, 0.15, …, 0.95
fall on the right side in exactly the right share, so counts over all 10⁴ vectors are the probabilities.
Leaves out: chains longer than four, for which the grid would grow tenfold with each position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product

from mechanisms.distribution import Pair
from mechanisms.dspark import ENDS, TOPIC, cap_table, law_table, quantity
from mechanisms.expression import total
from mechanisms.quantity import given, signed
from mechanisms.rejection_walk import verify_round
from mechanisms.table import Table, tabulate

MODULE = "mechanisms.dspark_recompute"
POINTS, CHUNK, MOST = 10, 500, 4

LENGTH = given(f"{TOPIC}.accepted_count", "L", "chosen", unit="token", index="", counts=True)
VECTORS = given(f"{TOPIC}.vectors", "n", "chosen", index="", counts=True)
FOUND = quantity("rounds_counted", "h", index="L", counts=True)
CHANCE = quantity(ENDS.name, r"\Pr", source="leviathan2022 §3.1", index="L")
EXPECTED = quantity("rounds_expected", r"n\Pr", VECTORS.sym * CHANCE.sym, index="L", counts=True)
OFF = quantity("rounds_difference", r"\Delta", signed(FOUND) - signed(EXPECTED), index="L", counts=True)
ROWS = (LENGTH, VECTORS, FOUND, CHANCE, EXPECTED, OFF)

COUNTED_MEAN = quantity(
    "counted_tokens", r"\bar N", total(FOUND.sym * (LENGTH.sym + 1)) / total(FOUND.sym), unit="token", index=""
)
EXACT_MEAN = quantity(
    "exact_tokens", r"\tau", total(CHANCE.sym * (LENGTH.sym + 1)), "leviathan2022 §3.1", unit="token", index=""
)
MEANS = (COUNTED_MEAN, EXACT_MEAN)

CAP = given(f"{TOPIC}.output_cap", "m", "chosen", unit="token", index="", counts=True)
CAP_COUNTED = quantity("capped_counted", r"\overline{\min(N,m)}", unit="token", index="")
CAP_EXACT = quantity("capped_tokens", r"\mathrm{E}[\min(N,m)]", unit="token", index="")
CAP_OFF = quantity("capped_difference", r"\Delta", signed(CAP_COUNTED) - signed(CAP_EXACT), unit="token", index="")
CAPS = (CAP, CAP_COUNTED, CAP_EXACT, CAP_OFF)


def position_pair(c: Fraction) -> Pair:
    """A position whose drafted token passes with probability c: the draft always says `draft`, the target says it
    with probability c."""
    return Pair(("draft", "other"), (c, 1 - c), (Fraction(1), Fraction(0)))


def count_rounds(chain: Sequence[Fraction], *, points: int = POINTS) -> Iterator[tuple[int, Counter[int]]]:
    """Run every vector of the grid (i + ½)/points through `verify_round`; yields (done, counts of L) chunk by chunk.

    chain: at most four c, each in [0, 1].

    >>> dict(list(count_rounds([Fraction(1, 2)]))[-1][1])
    {1: 5, 0: 5}

    Source: leviathan2022, Algorithm 1, as `rejection_walk.verify_round` runs it.
    """
    if not 1 <= len(chain) <= MOST:
        raise ValueError(f"chain has {len(chain)} positions: must be 1 … {MOST}")
    pairs = [position_pair(c) for c in chain]
    middle = [Fraction(2 * i + 1, 2 * points) for i in range(points)]
    zero, counts, done = Fraction(0), Counter[int](), 0
    vectors = product(middle, repeat=len(chain))
    while chunk := list(islice(vectors, CHUNK)):
        for vector in chunk:
            round_ = verify_round(
                pairs, draft_uniforms=[zero] * len(chain), accept_uniforms=vector, correction_uniform=zero,
                bonus_uniform=zero,
            )  # fmt: skip
            counts[round_.accepted_tokens] += 1
        done += len(chunk)
        yield done, counts


def count_table(chain: Sequence[Fraction], counts: Mapping[int, int]) -> Table:
    """Counted rounds per accepted length beside n·P(L). Source: derived."""
    law = law_table(chain)
    n, width = sum(counts.values()), len(chain) + 1
    columns = {
        LENGTH.name: tuple(Fraction(i) for i in range(width)), VECTORS.name: (Fraction(n),) * width,
        FOUND.name: tuple(Fraction(counts.get(i, 0)) for i in range(width)), CHANCE.name: law.column(ENDS.name),
    }  # fmt: skip
    rows = [str(i) for i in range(width)]
    return tabulate(f"{TOPIC}.counted", ROWS, rows, columns, function=f"{MODULE}.count_table")


def mean_table(counted: Table, name: str = "") -> Table:
    """Tokens per round, counted and exact. Source: derived."""
    return tabulate(f"{TOPIC}.counted_mean", MEANS, (name,), {}, function=f"{MODULE}.mean_table", over=counted)


def counted_caps(chain: Sequence[Fraction], counts: Mapping[int, int]) -> Table:
    """Mean of min(N, m) over the counted rounds beside its exact value. Source: derived."""
    exact, n = cap_table(chain), sum(counts.values())
    caps = range(len(exact.rows))
    columns = {
        CAP.name: tuple(Fraction(m) for m in caps),
        CAP_COUNTED.name: tuple(Fraction(sum(k * min(i + 1, m) for i, k in counts.items()), n) for m in caps),
        CAP_EXACT.name: exact.column(CAP_EXACT.name),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.counted_caps", CAPS, exact.rows, columns, function=f"{MODULE}.counted_caps")


CELLS = quantity("checked_cells", "n", counts=True)
DIFFERENT = quantity("checked_mismatches", "d", counts=True)
ALL_CELLS = quantity("all_cells", r"\Sigma n", total(CELLS.sym), index="", counts=True)
ALL_DIFFERENT = quantity("all_mismatches", r"\Sigma d", total(DIFFERENT.sym), index="", counts=True)


def checked_table(results: Sequence[tuple[str, int, int]]) -> tuple[Table, Table]:
    """What a comparison with reference files found, by table and in total. results: name, cells, mismatches of each."""
    columns = {
        CELLS.name: tuple(Fraction(n) for _, n, _ in results), DIFFERENT.name: tuple(Fraction(d) for *_, d in results),
    }  # fmt: skip
    names = [name for name, *_ in results]
    rows = tabulate(f"{TOPIC}.checked", (CELLS, DIFFERENT), names, columns, function="mechanisms.verify.compare")
    sums = tabulate(
        f"{TOPIC}.checked_all", (ALL_CELLS, ALL_DIFFERENT), ("",), {}, function=f"{MODULE}.checked_table", over=rows
    )
    return rows, sums
