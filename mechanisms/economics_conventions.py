"""Why two calculators print different speed-ups for the same inputs.

Teaches: a published speed-up is tokens over time, and both need a convention: whether the target's own token counts,
how often the draft runs, and what a verification costs. Leaves out: which convention is meant where none is stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import COST, LENGTH, RATE, TOKENS, TOPIC, check
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.economics_conventions"


@dataclass(frozen=True, slots=True)
class Example:
    """Inputs that a document prints, with the figures it prints for them (as text, or empty)."""

    id: str
    rate: Fraction
    gamma: int
    cost: Fraction
    tokens_printed: str = ""
    speedup_printed: str = ""


def _example(id: str, rate: str, gamma: int, cost: str, tokens: str = "", speedup: str = "") -> Example:
    return Example(id, Fraction(rate), gamma, Fraction(cost), tokens, speedup)


EXAMPLES = (
    _example("recap", "0.8", 4, "0.1", "", "2.4"),
    _example("feature", "0.7", 3, "0.05", "2.53", "2.2"),
    _example("small", "0.7", 3, "0.11", "2.53", "1.9"),
    _example("small_low", "0.6", 3, "0.11"),
    _example("small_high", "0.75", 5, "0.11"),
    _example("mtp_low", "0.85", 1, "0"),
    _example("mtp_high", "0.9", 1, "0"),
    _example("mtp", "0.875", 1, "0.04", "", "1.8"),
)


@dataclass(frozen=True, slots=True)
class Convention:
    """What is left out of the tokens, how many draft steps are paid beyond γ, and the price of a verification."""

    id: str
    left_out: int = 0
    more_steps: int = 0
    verification: Fraction = Fraction(1)


CONVENTIONS = (
    Convention("bonus"),
    Convention("no_bonus", left_out=1),
    Convention("extra_draft", more_steps=1),
    Convention("dear_verify", verification=Fraction(6, 5)),
)


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


LEFT_OUT = given(_id("tokens_left_out"), "u", "chosen", counts=True, index="k", unit="token")
MORE = given(_id("more_draft_steps"), "m", "chosen", counts=True, index="k")
VERIFY = given(_id("verification_cost"), "V", "chosen", index="k", unit="step")
_TOKENS = Quantity(TOKENS.id, TOKENS.symbol, TOKENS.source, TOKENS.expression, unit="token", index="")
COUNTED = Quantity(_id("tokens_counted"), "n", "derived", _TOKENS.sym - LEFT_OUT.sym, unit="token", index="k")
TIME = Quantity(
    _id("round_time"), "t", "derived", (LENGTH.sym + MORE.sym) * COST.sym + VERIFY.sym, unit="step", index="k"
)  # fmt: skip
SPEED = Quantity(_id("speedup"), "S", "derived", COUNTED.sym / TIME.sym, unit="×", index="k")
COLUMNS = (RATE, LENGTH, COST, _TOKENS, LEFT_OUT, MORE, VERIFY, COUNTED, TIME, SPEED)

WITH = Quantity(
    _id("with_bonus"), "S", "leviathan2022 Theorem 3.8", _TOKENS.sym / (LENGTH.sym * COST.sym + 1), unit="×", index=""
)  # fmt: skip
WITHOUT = Quantity(
    _id("without_bonus"), "S'", "derived", (_TOKENS.sym - 1) / (LENGTH.sym * COST.sym + 1), unit="×", index=""
)  # fmt: skip
GAP = Quantity(_id("bonus_term"), r"\Delta", "derived", 1 / (LENGTH.sym * COST.sym + 1), unit="×", index="")
RATIO = Quantity(_id("bonus_ratio"), "r", "derived", WITH.sym / WITHOUT.sym, index="", defined=WITHOUT.sym > 0)
SPLIT = (RATE, LENGTH, COST, _TOKENS, WITH, WITHOUT, GAP, RATIO)


def _inputs(rate: Fraction, gamma: int, cost: Fraction, rows: int) -> dict[str, list[Fraction]]:
    check("rate", rate, 0, 1)
    check("gamma", Fraction(gamma))
    check("cost", cost)
    return {RATE.name: [rate] * rows, LENGTH.name: [Fraction(gamma)] * rows, COST.name: [cost] * rows}


def reconcile(rate: Fraction, gamma: int, cost: Fraction) -> Table:
    """The same inputs under every convention: n = τ − u, t = (γ + m)c + V, S = n/t.

    rate: α in [0, 1]; gamma: drafts, ≥ 0; cost: c ≥ 0.

    >>> t = reconcile(Fraction(4, 5), 4, Fraction(1, 10))
    >>> [str(x) for x in t.column("speedup")]
    ['2101/875', '1476/875', '4202/1875', '2101/1000']

    Source: derived.
    """
    values = _inputs(rate, gamma, cost, len(CONVENTIONS))
    values[LEFT_OUT.name] = [Fraction(c.left_out) for c in CONVENTIONS]
    values[MORE.name] = [Fraction(c.more_steps) for c in CONVENTIONS]
    values[VERIFY.name] = [c.verification for c in CONVENTIONS]
    names = tuple(c.id for c in CONVENTIONS)
    return tabulate(_id("reconcile"), COLUMNS, names, values, function=f"{_MODULE}.reconcile")


def bonus_split(rate: Fraction, gamma: int, cost: Fraction) -> Table:
    """With and without the bonus token in one row; they differ by Δ = 1/(γc + 1) at every acceptance rate.

    >>> bonus_split(Fraction(4, 5), 4, Fraction(1, 10)).value(0, "bonus_term")
    Fraction(5, 7)

    Source: leviathan2022, Theorem 3.8, for the first; the rest derived.
    """
    values = _inputs(rate, gamma, cost, 1)
    return tabulate(_id("bonus_split"), SPLIT, ("",), values, function=f"{_MODULE}.bonus_split")
