"""How often two neighbouring drafts contradict each other: exact probabilities of pairs.

Teaches: a drafter whose every single place is perfect still proposes pairs that nobody would write, because it draws
them independently; and a bias can also be too strong. Leaves out: pairs that are further apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from mechanisms.drafter_toy import (
    BLOCK,
    CITIES,
    CLASHES,
    TARGET,
    VOCABULARY,
    Row,
    corrected,
    known,
    marginal,
)
from mechanisms.dspark_drafter import TOPIC
from mechanisms.expression import total
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.drafter_pairs"


def _pair(name: str, tex: str, source: str = "derived", expression: object = None) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, index="i")  # type: ignore[arg-type]


def _sum(name: str, tex: str, expression: object, source: str = "derived") -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, index="")  # type: ignore[arg-type]


CLASH = given(f"{TOPIC}.clash", r"\kappa", "chosen", index="i", counts=True)
HEAD_FIRST = _pair("head_first", "Q_a")  # of the first token, drafted with the head
TARGET_FIRST = _pair("target_first", "m_a")  # of the first token, under the target and so under the backbone
SINGLE = _pair("single_second", "m_b")
GUIDED = _pair("guided_second", "q_{b|a}", "dspark2026 §3.1")
TRUE = given(f"{TOPIC}.target_second", "p_{b|a}", "chosen", index="i")
PARALLEL = _pair("parallel_pair", r"P_{\parallel}", "derived", TARGET_FIRST.sym * SINGLE.sym)
HEADED = _pair("headed_pair", r"P_{\lambda}", "derived", HEAD_FIRST.sym * GUIDED.sym)
WANTED = _pair("target_pair", r"P_{p}", "derived", TARGET_FIRST.sym * TRUE.sym)
PAIRS = (CLASH, TARGET_FIRST, SINGLE, PARALLEL, HEAD_FIRST, GUIDED, HEADED, TRUE, WANTED)

CLASH_PARALLEL = _sum("clash_parallel", r"C_{\parallel}", total(CLASH.sym * PARALLEL.sym))
CLASH_HEADED = _sum("clash_headed", r"C_{\lambda}", total(CLASH.sym * HEADED.sym))
CLASH_TARGET = _sum("clash_target", r"C_{p}", total(CLASH.sym * WANTED.sym))
MAJOR = given(f"{TOPIC}.major_share", "s", "chosen", index="")
ONE_WAY = _sum("one_way", "C_1", MAJOR.sym * (1 - MAJOR.sym))
EITHER_WAY = _sum("either_way", "C", 2 * ONE_WAY.sym)
MATCHED = _sum("matched", "M", 1 - EITHER_WAY.sym)
TWO_CITIES = (MAJOR, ONE_WAY, EITHER_WAY, MATCHED)
COLLISIONS = (CLASH_PARALLEL, CLASH_HEADED, CLASH_TARGET)


def draft_law(anchor: str, position: int, strength: Fraction) -> Row:
    """Law of the token that the head's draft has at a place: Σ_x Q(x) q(v | x), from the anchor on.

    >>> draft_law("to", 2, Fraction(0)) == marginal("to", 2)
    True

    Source: derived.
    """
    law = marginal(anchor, 1)
    for k in range(2, position + 1):
        rows = [corrected(anchor, k, x, strength) for x in VOCABULARY]
        law = tuple(sum((m * row[v] for m, row in zip(law, rows, strict=True)), Fraction(0)) for v in range(len(rows)))
    return law


def pair_table(anchor: str, position: int, strength: Fraction) -> Table:
    """The four city pairs at places `position` and `position` + 1: without the head, with it, and under the target.

    position: 1 or 2; strength: λ, a multiple of 1/4 in [0, 2].

    >>> float(pair_table("to", 1, Fraction(0)).value(1, "parallel_pair"))
    0.204972

    Source: derived.
    """
    known(anchor)
    if not 1 <= position < BLOCK:
        raise ValueError(f"position={position}: must lie in 1 … {BLOCK - 1}")
    first, second = marginal(anchor, position), marginal(anchor, position + 1)
    drafted = draft_law(anchor, position, strength)
    places = [(VOCABULARY.index(a), VOCABULARY.index(b)) for a, b in CITIES]
    guided = {a: corrected(anchor, position + 1, a, strength) for a, _ in CITIES}
    rows: Mapping[str, Sequence[Cell]] = {
        CLASH.name: tuple(Fraction(pair in CLASHES) for pair in CITIES),
        TARGET_FIRST.name: tuple(first[a] for a, _ in places),
        SINGLE.name: tuple(second[b] for _, b in places),
        HEAD_FIRST.name: tuple(drafted[a] for a, _ in places),
        GUIDED.name: tuple(guided[a][VOCABULARY.index(b)] for a, b in CITIES),
        TRUE.name: tuple(TARGET[a][VOCABULARY.index(b)] for a, b in CITIES),
    }
    names = [f"{a} {b}" for a, b in CITIES]
    return tabulate(f"{TOPIC}.pairs", PAIRS, names, rows, function=f"{_MODULE}.pair_table")


def collisions(pairs: Table) -> Table:
    """Probability that the two places name no city: Σ κP for the parallel draft, the head's draft and the target.

    >>> pairs = pair_table("to", 1, Fraction(0))
    >>> float(collisions(pairs).value(0, "clash_parallel"))
    0.41021

    Source: derived.
    """
    return tabulate(f"{TOPIC}.collisions", COLLISIONS, ("",), {}, function=f"{_MODULE}.collisions", over=pairs)


def two_cities(share: Fraction) -> Table:
    """The bare case: two cities of two words each, every place drafted with exactly the right shares. share: of the
    first city, in [0, 1].

    >>> two_cities(Fraction(1, 2)).value(0, "either_way")
    Fraction(1, 2)

    Source: derived.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share}: must lie in [0, 1]")
    rows = {MAJOR.name: (share,)}
    return tabulate(f"{TOPIC}.two_cities", TWO_CITIES, ("",), rows, function=f"{_MODULE}.two_cities")
