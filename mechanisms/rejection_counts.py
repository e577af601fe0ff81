"""The counts of a simulation as a table whose cells derive themselves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from mechanisms.expression import REAL, total
from mechanisms.quantity import Quantity, given
from mechanisms.rejection_ledger import TARGET, TOPIC, p
from mechanisms.rejection_sampling import Check
from mechanisms.table import Cell, Table, tabulate

_FUNCTION = "mechanisms.rejection_sampling.check"
COUNT = Quantity(f"{TOPIC}.count", "n", "derived", kind="simulated", unit="draw", counts=True)
DRAWS = given(f"{TOPIC}.draws", "N", "chosen", unit="draw", index="", counts=True)
FREQUENCY = Quantity(f"{TOPIC}.frequency", r"\hat P", "derived", COUNT.sym / DRAWS.sym, kind="simulated")
LOW = Quantity(f"{TOPIC}.interval_low", r"\ell", "wilson1927", kind="simulated")
HIGH = Quantity(f"{TOPIC}.interval_high", "h", "wilson1927", kind="simulated")
EXPECTED = Quantity(f"{TOPIC}.expected_count", "E", "derived", DRAWS.sym * p, unit="draw", counts=True)
TERM = Quantity(
    f"{TOPIC}.chi_square_term", r"\chi^2", "pearson1900",
    (COUNT.sym - EXPECTED.sym) ** 2 / EXPECTED.sym, kind="simulated",
)  # fmt: skip
ROW_COLUMNS = (TARGET, DRAWS, COUNT, FREQUENCY, LOW, HIGH, EXPECTED, TERM)

STATISTIC = Quantity(f"{TOPIC}.chi_square", r"X^2", "pearson1900", total(TERM.sym), kind="simulated", index="")
DEGREES = Quantity(f"{TOPIC}.degrees_of_freedom", r"\nu", "pearson1900", kind="exact", index="", counts=True)
P_VALUE = Quantity(f"{TOPIC}.p_value", r"\Pr(\chi^2_\nu \ge X^2)", "pearson1900", kind="simulated", index="")
ACCEPTED = Quantity(f"{TOPIC}.accepted_per_proposed", r"\hat\alpha", "derived", kind="simulated", index="")


def _term(count: int, expected: Fraction) -> Cell:
    """(n − E)²/E; infinite where something came out that p forbids, undefined where nothing did."""
    if expected:
        return (count - expected) ** 2 / expected
    return REAL.inf if count else None


def counts_table(check: Check) -> Table:
    """One row per token: p, N, count, frequency with its 95 % interval, expected count and chi-square term.

    Source: pearson1900 for the statistic, wilson1927 for the interval.
    """
    rows = check.rows
    columns: dict[str, tuple[Cell, ...]] = {
        TARGET.name: tuple(r.target for r in rows),
        DRAWS.name: (Fraction(check.draws),) * len(rows),
        COUNT.name: tuple(Fraction(r.count) for r in rows),
        LOW.name: tuple(REAL.mpf(r.low) for r in rows),
        HIGH.name: tuple(REAL.mpf(r.high) for r in rows),
        TERM.name: tuple(_term(r.count, r.target * check.draws) for r in rows),
    }
    names = [r.token for r in rows]
    return tabulate(f"{TOPIC}.counts", ROW_COLUMNS, names, columns, function=_FUNCTION)


def fit_table(check: Check) -> Table:
    """Chi-square, degrees of freedom, p-value and accepted share in one row; infinite where p forbids what was seen."""
    row: dict[str, tuple[Cell, ...]] = {
        STATISTIC.name: (REAL.mpf(check.chi_square),),
        DEGREES.name: (Fraction(check.degrees),),
        P_VALUE.name: (check.p_value,),
        ACCEPTED.name: (Fraction(check.accepted, check.draws),),
    }
    live = counts_table(replace(check, rows=tuple(r for r in check.rows if r.target > 0 or r.count)))
    columns = (STATISTIC, DEGREES, P_VALUE, ACCEPTED)
    return tabulate(f"{TOPIC}.test", columns, ("",), row, function=_FUNCTION, over=live)
