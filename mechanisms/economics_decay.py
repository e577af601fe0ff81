"""Acceptance that falls with the position, against the closed form that assumes it does not.

Teaches: survival is a product of conditional acceptances, tokens per round a sum of survivals; one rate put into the
closed form is right only by accident. Leaves out: where the conditionals come from, and how the rounds vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul

from mechanisms.economics_nodes import geometric
from mechanisms.expression import total
from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import TOPIC, check
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.economics_decay"
MOST_POSITIONS = 12


@dataclass(frozen=True, slots=True)
class Chain:
    """Conditional acceptances by position; `printed` is the tokens per round that the source prints for them."""

    id: str
    rates: tuple[Fraction, ...]
    source: str
    printed: str = ""


def _rates(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(x) for x in text.split())


CHAINS = (
    Chain("linear", tuple(Fraction(4, 5) - Fraction(3 * i, 40) for i in range(5)), "derived"),
    Chain("eagle", _rates("0.79 0.74 0.72 0.73 0.67"), "eagle2024"),
    Chain("fastmtp", _rates("81/100 56/81 36/56"), "fastmtp2025", "2.73"),
    Chain("dflash2", _rates("0.854 0.803 0.794 0.783 0.775 0.759 0.729"), "dflash2_2026", "4.27"),
    Chain("constant", (Fraction(4, 5),) * 5, "derived"),
)


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


POSITION = given(_id("position"), "j", "chosen", counts=True, index="")
CONDITIONAL = given(_id("conditional_acceptance"), "c", "chosen", index="j")
BEFORE = Quantity(_id("survival_before"), "B", "derived", index="j")
SURVIVAL = Quantity(_id("prefix_survival"), "S", "leviathan2022 §3.1", BEFORE.sym * CONDITIONAL.sym, index="j")
SUMMED = Quantity(_id("survival_sum"), r"\Sigma", "derived", index="j")
FALLING = Quantity(_id("tokens_falling"), "E", "derived", 1 + SUMMED.sym, unit="token", index="j")
PLUGGED = given(_id("constant_rate"), r"\alpha", "chosen", index="")
CONSTANT = Quantity(
    _id("tokens_constant"), "K", "leviathan2022 Eq. 1", geometric(PLUGGED.sym, POSITION.sym), unit="token", index="j"
)  # fmt: skip
DIFFERENCE = Quantity(
    _id("tokens_difference"), r"\Delta", "derived", CONSTANT.sym - FALLING.sym, unit="token", index="j"
)  # fmt: skip
COLUMNS = (POSITION, CONDITIONAL, BEFORE, SURVIVAL, SUMMED, FALLING, PLUGGED, CONSTANT, DIFFERENCE)

LENGTH = Quantity(_id("accepted_tokens"), "L", "derived", total(SURVIVAL.sym), unit="token", index="")
TOKENS = Quantity(_id("tokens_per_round"), r"\tau", "derived", 1 + LENGTH.sym, unit="token", index="")


def rate_of(rates: Sequence[Fraction], which: str) -> Fraction:
    """The one number that stands for all positions: the `first` rate, the `mean` rate, or accepted per `proposed`."""
    if which == "first":
        return rates[0]
    if which == "mean":
        return sum(rates, Fraction(0)) / len(rates)
    if which == "proposed":
        return sum(accumulate(rates, mul), Fraction(0)) / len(rates)
    raise ValueError(f"which={which!r}: must be 'first', 'mean' or 'proposed'")


PLUGS = ("first", "mean", "proposed")


def chain(rates: Sequence[Fraction], which: str = "first") -> Table:
    """One row per position: survival, tokens so far, and what the closed form makes of a single rate.

    S_j = c_1 … c_j, E_j = 1 + Σ S_i, K_j = Σ αⁱ (i = 0 … j), Δ = K − E.
    rates: 1 … 12 conditional acceptances in [0, 1]; which: the rate put in for α (`rate_of`).

    >>> t = chain(CHAINS[0].rates)
    >>> str(t.value(4, "prefix_survival")), float(t.value(4, "tokens_difference"))
    ('8671/80000', 0.6071175)

    Source: derived; leviathan2022, Eq. 1, for the closed form.
    """
    if not 1 <= len(rates) <= MOST_POSITIONS:
        raise ValueError(f"rates={len(rates)} values: must be 1 … {MOST_POSITIONS}")
    for rate in rates:
        check("rates", rate, 0, 1)
    survival = list(accumulate(rates, mul))
    values = {
        POSITION.name: [Fraction(j) for j in range(1, len(rates) + 1)], CONDITIONAL.name: list(rates),
        BEFORE.name: [Fraction(1), *survival[:-1]], SUMMED.name: list(accumulate(survival)),
        PLUGGED.name: [rate_of(rates, which)] * len(rates),
    }  # fmt: skip
    names = tuple(str(j) for j in range(1, len(rates) + 1))
    return tabulate(_id("chain"), COLUMNS, names, values, function=f"{_MODULE}.chain")


CLOSED = Quantity(_id("tokens_constant"), "K", "leviathan2022 Eq. 1", unit="token", index="")
GAP = Quantity(
    _id("overstatement"), r"\delta", "derived",
    100 * (CLOSED.sym - TOKENS.sym) / TOKENS.sym, unit="%", index="",
)  # fmt: skip
PROPOSED = Quantity(_id("drafts_proposed"), "n", "derived", counts=True, index="")
PER_PROPOSED = Quantity(_id("accepted_per_proposed"), "u", "derived", LENGTH.sym / PROPOSED.sym, index="")
TOTALS = (PROPOSED, LENGTH, TOKENS, PER_PROPOSED, CLOSED, GAP)


def chain_totals(table: Table) -> Table:
    """Totals of a `chain`: accepted length, tokens per round, accepted per proposed, and the closed form's error.

    L = Σ S_j, τ = 1 + L, u = L/n, δ = 100 (K − τ)/τ percent.

    >>> round(float(chain_totals(chain(CHAINS[2].rates)).value(0, "tokens_per_round")), 6)
    2.73

    Source: derived; fastmtp2025 prints 2.73 for these three positions.
    """
    last = len(table.rows) - 1
    values = {
        PROPOSED.name: (Fraction(len(table.rows)),), CLOSED.name: (table.value(last, CONSTANT.name),)
    }  # fmt: skip
    return tabulate(_id("chain_totals"), TOTALS, ("",), values, function=f"{_MODULE}.chain_totals", over=table)
