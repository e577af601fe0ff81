"""The drafter's toy written a second time: every block listed, integers and decimals only, nothing of `mechanisms`.

`python -m tests.oracle_drafter` writes the reference files again.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent / "reference"
TOKENS = ["New", "Los", "York", "Angeles", "to", "."]
CHAIN = [
    [1, 1, 94, 1, 1, 2], [1, 1, 1, 93, 1, 3], [1, 1, 1, 1, 20, 76],
    [1, 1, 1, 1, 16, 80], [57, 38, 1, 1, 1, 2], [6, 4, 1, 1, 80, 8],
]  # fmt: skip
# the head's bias in bits, written out instead of multiplied
BIAS = [
    [0, 0, 4, -4, 0, 0], [0, 0, -4, 4, 0, 0], [-4, -4, 0, 0, 0, 4],
    [-4, -4, 0, 0, 0, 4], [4, 4, 0, 0, 0, -4], [0, 0, 0, 0, 0, 0],
]  # fmt: skip
BAD = [(0, 3), (1, 2)]
QUARTERS = range(9)
ANCHORS = [4, 0, 5]


def target(anchor: int) -> dict[tuple[int, ...], Fraction]:
    """Probability of each of the 216 blocks under the target."""
    laws = {}
    for block in product(range(6), repeat=3):
        chain = [anchor, *block]
        laws[block] = Fraction(math.prod(CHAIN[a][b] for a, b in pairwise(chain)), 10**6)
    return laws


def at(laws: dict[tuple[int, ...], Fraction], place: int, token: int) -> Fraction:
    return sum((w for block, w in laws.items() if block[place] == token), Fraction(0))


def conditional(anchor: int, quarters: int) -> list[list[list[Fraction]]]:
    """[place][previous][token]: the draft's law; at the first place the same for every previous token."""
    laws = target(anchor)
    rows = [[at(laws, k, v) for v in range(6)] for k in range(3)]
    found = [[rows[0]] * 6]
    for k in (1, 2):
        weights = [[rows[k][v] * Fraction(2) ** (quarters * BIAS[x][v] // 4) for v in range(6)] for x in range(6)]
        found.append([[w / sum(row) for w in row] for row in weights])
    return found


def draft(anchor: int, quarters: int) -> dict[tuple[int, ...], Fraction]:
    """Probability of each of the 216 blocks under the drafter."""
    q = conditional(anchor, quarters)
    return {b: q[0][0][b[0]] * q[1][b[0]][b[1]] * q[2][b[1]][b[2]] for b in product(range(6), repeat=3)}


def clash(laws: dict[tuple[int, ...], Fraction], place: int) -> Fraction:
    return sum((w for b, w in laws.items() if (b[place], b[place + 1]) in BAD), Fraction(0))


def collisions() -> Iterator[dict[str, str]]:
    for a, place, quarters in product(ANCHORS, (0, 1), QUARTERS):
        yield {
            "anchor": TOKENS[a], "position": str(place + 1), "strength": str(Fraction(quarters, 4)),
            "clash_parallel": str(clash(draft(a, 0), place)), "clash_headed": str(clash(draft(a, quarters), place)),
            "clash_target": str(clash(target(a), place)),
        }  # fmt: skip


def acceptance() -> Iterator[dict[str, str]]:
    """Acceptance of the second draft by trying every draft: drawn with q, kept with min(1, p/q)."""
    for a, quarters in product(ANCHORS, QUARTERS):
        plain, headed = conditional(a, 0), conditional(a, quarters)
        kept = {}
        for name, q in (("label_parallel", plain), ("label_headed", headed)):
            kept[name] = [
                sum(q[1][x][v] * min(Fraction(1), Fraction(CHAIN[x][v], 100) / q[1][x][v]) for v in range(6))
                for x in range(6)
            ]
        first = [headed[0][0][x] * min(Fraction(1), Fraction(CHAIN[a][x], 100) / headed[0][0][x]) for x in range(6)]
        mean = sum(s * c for s, c in zip(first, kept["label_headed"], strict=True)) / sum(first)
        for x in range(6):
            yield {
                "anchor": TOKENS[a], "strength": str(Fraction(quarters, 4)), "previous": TOKENS[x],
                "arrives": str(first[x]), "label_parallel": str(kept["label_parallel"][x]),
                "label_headed": str(kept["label_headed"][x]), "mean_headed": str(mean),
            }  # fmt: skip


def logistic(c: str, temperature: Fraction) -> Decimal:
    """σ(ln(c / (1 − c)) / T) in forty decimals, as the logistic of a scaled logit."""
    x = Decimal(c)
    z = (x / (1 - x)).ln() * temperature.denominator / temperature.numerator
    return 1 / (1 + (-z).exp())


def order() -> Iterator[dict[str, str]]:
    for lock in ("second", "both"):
        for quarters in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16):
            t = Fraction(quarters, 4)
            with localcontext() as context:
                context.prec = 40
                pair = [
                    (logistic(one, t) if lock == "both" else Decimal(one)) * logistic(two, t)
                    for one, two in ((".9", ".6"), (".7", ".8"))
                ]
                shown = [str(x.quantize(Decimal(10) ** -12)) for x in pair]
            yield {"lock": lock, "temperature": str(t), "a_after": shown[0], "b_after": shown[1]}


FILES = {"drafter_collisions": collisions, "drafter_acceptance": acceptance, "drafter_order": order}


def write() -> None:
    for name, rows in FILES.items():
        found = list(rows())
        with (REFERENCE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    write()
