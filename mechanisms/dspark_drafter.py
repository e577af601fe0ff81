"""One place of a DSpark draft block: the backbone's logits, the head's low-rank bias, the law that is sampled from.

Teaches: that a bias looked up by the previous token turns an independent guess into a dependent one, and that the law
stays an ordinary softmax, so its probabilities are known exactly. Logits are counted in bits: 2^U instead of e^U, which
keeps every probability rational. Leaves out: how U, W1 and W2 are learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.drafter_toy import BLOCK, LOOKUP, OUTPUT, RANK, VOCABULARY, bias, corrected, marginal
from mechanisms.expression import total
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

TOPIC = "dspark_drafter"
_MODULE = f"mechanisms.{TOPIC}"
_PAPER = "dspark2026 §3.1"


class Bits(sp.Function):
    """Logarithm to the base of two."""

    nargs = (1,)

    def _pythoncode(self, printer: Any) -> str:
        return f"(log({printer._print(self.args[0])})/log(2))"

    def _numpycode(self, printer: Any) -> str:
        return f"numpy.log2({printer._print(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        return rf"\log_2\left({printer._print(self.args[0])}\right)"


def bits(x: Any) -> Any:
    """log₂ x. (SymPy ships no types; this function stands where an expression is written.)"""
    return Bits(x)


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


MARGINAL = Quantity(_id("marginal"), "m", "derived")  # of the target at this place, seen from the anchor
LOGIT = Quantity(_id("logit"), "U", _PAPER, bits(MARGINAL.sym), unit="bit", kind="float", defined=MARGINAL.sym > 0)
STRENGTH = given(_id("strength"), r"\lambda", "chosen", index="", counts=True)
FIRST, SECOND = (given(_id(f"lookup_{i}"), f"e_{i}", "chosen", index="", counts=True) for i in (1, 2))
OUT_FIRST, OUT_SECOND = (given(_id(f"output_{i}"), f"g_{i}", "chosen", counts=True) for i in (1, 2))
BIAS = Quantity(
    _id("bias"), "B", _PAPER, signed(FIRST) * signed(OUT_FIRST) + signed(SECOND) * signed(OUT_SECOND), unit="bit",
    counts=True,
)  # fmt: skip
BIAS_ROW = (FIRST, SECOND, OUT_FIRST, OUT_SECOND, BIAS)

WEIGHT = Quantity(_id("weight"), "w", _PAPER, MARGINAL.sym * 2 ** sp.Mul(STRENGTH.sym, signed(BIAS), evaluate=False))
DRAFT = Quantity(_id("draft_probability"), "q", _PAPER, WEIGHT.sym / total(WEIGHT.sym))
LAW = (MARGINAL, LOGIT, STRENGTH, Quantity(BIAS.id, BIAS.symbol, _PAPER, unit="bit", counts=True), WEIGHT, DRAFT)

WORDS = given(_id("vocabulary"), "V", "chosen", index="", counts=True, unit="token")
WIDTH = given(_id("rank"), "r", "chosen", index="", counts=True)
FULL = Quantity(_id("full_table"), "n_1", "derived", WORDS.sym**2, index="", counts=True)
FACTORS = Quantity(_id("two_factors"), "n_2", _PAPER, 2 * WORDS.sym * WIDTH.sym, index="", counts=True)
SAVED = Quantity(_id("size_ratio"), r"\rho", "derived", FACTORS.sym / FULL.sym, index="")
SIZES = (WORDS, WIDTH, FULL, FACTORS, SAVED)
DRAFTED = given(_id("block"), r"\gamma", "chosen", index="", counts=True, unit="token")
MASKS = Quantity(_id("masks"), "n_m", _PAPER, DRAFTED.sym - 1, index="", counts=True)
REAL_SIZES = (49_152, 256)  # the vocabulary of the small model that the wiki ships; the rank of the paper


def bias_table(previous: str | None) -> Table:
    """One row of the bias matrix: B(x, v) = e₁(x) g₁(v) + e₂(x) g₂(v). previous: x, or None at the first place, where
    nothing is looked up.

    >>> str(bias_table("New").value(3, "bias"))
    '-4'

    Source: dspark2026, §3.1 (W1 is an embedding, W2 a linear layer without bias).
    """
    seen = (0,) * RANK if previous is None else LOOKUP[previous]
    rows: Mapping[str, Sequence[Cell]] = {
        FIRST.name: (Fraction(seen[0]),) * len(VOCABULARY),
        SECOND.name: (Fraction(seen[1]),) * len(VOCABULARY),
        OUT_FIRST.name: tuple(Fraction(OUTPUT[v][0]) for v in VOCABULARY),
        OUT_SECOND.name: tuple(Fraction(OUTPUT[v][1]) for v in VOCABULARY),
    }
    return tabulate(_id("bias_row"), BIAS_ROW, VOCABULARY, rows, function=f"{_MODULE}.bias_table")


def law_table(anchor: str, position: int, previous: str | None, strength: Fraction) -> Table:
    """From logits to the law of one place: U = log₂ m, w = m · 2^{λB} = 2^{U + λB}, q = w / Σw.

    position: 1 … 3; previous: the token drafted before, None at the first place; strength: λ, a multiple of 1/4.

    >>> t = law_table("to", 2, "New", Fraction(0))
    >>> t.column("draft_probability") == t.column("marginal")
    True

    Source: dspark2026, §3.1.
    """
    if (previous is None) != (position == 1):
        raise ValueError(f"previous={previous!r}: position {position} needs {'none' if position == 1 else 'one'}")
    found = tuple(Fraction(0) if previous is None else bias(previous, v) for v in VOCABULARY)
    rows: Mapping[str, Sequence[Cell]] = {
        MARGINAL.name: marginal(anchor, position), STRENGTH.name: (strength,) * len(VOCABULARY), BIAS.name: found,
    }  # fmt: skip
    table = tabulate(_id("law"), LAW, VOCABULARY, rows, function=f"{_MODULE}.law_table")
    assert table.column(DRAFT.name) == corrected(anchor, position, previous or anchor, strength)
    return table


def size_table() -> Table:
    """Numbers stored by a full table of biases and by its two factors, for the toy and for a real vocabulary.

    >>> str(size_table().value(1, "size_ratio"))
    '1/96'

    Source: dspark2026, §3.1 for the rank; the vocabulary is that of the small model that the wiki ships.
    """
    rows = {
        WORDS.name: (Fraction(len(VOCABULARY)), Fraction(REAL_SIZES[0])),
        WIDTH.name: (Fraction(RANK), Fraction(REAL_SIZES[1])),
    }
    return tabulate(_id("sizes"), SIZES, ("toy", "real"), rows, function=f"{_MODULE}.size_table")


def block_table() -> Table:
    """How many masks stand behind the anchor: one less than tokens are drafted, as the anchor's own row is used.

    >>> block_table().value(0, "masks")
    Fraction(2, 1)

    Source: dspark2026, §3.1.
    """
    rows = {DRAFTED.name: (Fraction(BLOCK),)}
    return tabulate(_id("block"), (DRAFTED, MASKS), ("",), rows, function=f"{_MODULE}.block_table")
