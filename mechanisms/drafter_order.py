"""Two requests, two places each: does a calibration keep their order?

Teaches: an increasing map applied to every confidence keeps the order at one place and can still turn the order of
products around, because ln f(c) need not be a straight line in ln c. Leaves out: how a scheduler uses the products.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechanisms.dspark_drafter import TOPIC
from mechanisms.quantity import Quantity, as_fraction, given
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.drafter_order"
REQUESTS = {"A": (Fraction(9, 10), Fraction(3, 5)), "B": (Fraction(7, 10), Fraction(4, 5))}
TEMPERATURES = tuple(Fraction(n, 4) for n in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16))
LOCKS = ("second", "both")  # which places the temperature of the slider acts on


def scaled(c: Any, temperature: Any) -> Any:
    """σ(logit(c) / T) = c^{1/T} / (c^{1/T} + (1 − c)^{1/T}), which also holds at c = 0 and c = 1."""
    return c ** (1 / temperature) / (c ** (1 / temperature) + (1 - c) ** (1 / temperature))


FIRST, SECOND = (
    given(f"{TOPIC}.first_confidence", "c_1", "chosen", index="r"),
    given(f"{TOPIC}.second_confidence", "c_2", "chosen", index="r"),
)
HEAT_1 = given(f"{TOPIC}.first_temperature", "T_1", "chosen", index="")
HEAT_2 = given(f"{TOPIC}.second_temperature", "T_2", "chosen", index="")
BEFORE = Quantity(f"{TOPIC}.product_before", "a_2", "dspark2026 §3.2.1", FIRST.sym * SECOND.sym, index="r")
SCALED_1 = Quantity(
    f"{TOPIC}.first_scaled", r"\tilde c_1", "guo2017 §4.2", scaled(FIRST.sym, HEAT_1.sym), index="r", kind="float"
)
SCALED_2 = Quantity(
    f"{TOPIC}.second_scaled", r"\tilde c_2", "guo2017 §4.2", scaled(SECOND.sym, HEAT_2.sym), index="r", kind="float"
)
AFTER = Quantity(
    f"{TOPIC}.product_after", r"\tilde a_2", "dspark2026 §3.2.1", SCALED_1.sym * SCALED_2.sym, index="r", kind="float"
)
COLUMNS = (FIRST, SECOND, BEFORE, HEAT_1, HEAT_2, SCALED_1, SCALED_2, AFTER)

A_BEFORE, B_BEFORE = (given(f"{TOPIC}.{x}_before", f"a_2({x.upper()})", "derived", index="") for x in "ab")
A_AFTER, B_AFTER = (
    Quantity(f"{TOPIC}.{x}_after", rf"\tilde a_2({x.upper()})", "derived", index="", kind="float") for x in "ab"
)
LEAD_BEFORE = Quantity(f"{TOPIC}.lead_before", r"\Delta", "derived", A_BEFORE.sym - B_BEFORE.sym, index="")
LEAD_AFTER = Quantity(
    f"{TOPIC}.lead_after", r"\tilde\Delta", "derived", A_AFTER.sym - B_AFTER.sym, index="", kind="float"
)
LEADS = (A_BEFORE, B_BEFORE, LEAD_BEFORE, A_AFTER, B_AFTER, LEAD_AFTER)


def order_table(temperature: Fraction, lock: str = "second") -> Table:
    """Both requests before and after scaling. temperature: T > 0, of the second place only or of both.

    >>> [round(float(x), 3) for x in order_table(Fraction(2)).column("product_after")]
    [0.495, 0.467]

    Source: guo2017, §4.2, for the scaling of one confidence; the two requests are the wiki's own.
    """
    if temperature <= 0:
        raise ValueError(f"temperature={temperature}: must be positive")
    if lock not in LOCKS:
        raise ValueError(f"lock={lock!r}: must be one of {LOCKS}")
    first = temperature if lock == "both" else Fraction(1)
    rows = {
        FIRST.name: [c[0] for c in REQUESTS.values()], SECOND.name: [c[1] for c in REQUESTS.values()],
        HEAT_1.name: [first] * len(REQUESTS), HEAT_2.name: [temperature] * len(REQUESTS),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.order", COLUMNS, tuple(REQUESTS), rows, function=f"{_MODULE}.order_table")


def leads(order: Table) -> Table:
    """By how much A leads B, before and after; negative where B leads.

    >>> found = leads(order_table(Fraction(2)))
    >>> str(found.value(0, "lead_before")), float(found.value(0, "lead_after")) > 0
    ('-1/50', True)

    Source: derived.
    """
    before, after = order.column(BEFORE.name), order.column(AFTER.name)
    rows = {
        A_BEFORE.name: [before[0]], B_BEFORE.name: [before[1]], A_AFTER.name: [after[0]], B_AFTER.name: [after[1]],
    }  # fmt: skip
    return tabulate(f"{TOPIC}.leads", LEADS, ("",), rows, function=f"{_MODULE}.leads")


def turning_point(lock: str = "second", digits: int = 12) -> Fraction:
    """The temperature above 1 at which both requests draw level, by bisection. Source: derived.

    >>> round(float(turning_point()), 3)
    1.32
    """
    low, high = Fraction(1), Fraction(4)
    while high - low > Fraction(1, 10**digits):
        middle = (low + high) / 2
        lead = leads(order_table(middle, lock)).value(0, LEAD_AFTER.name)
        assert lead is not None
        low, high = (middle, high) if as_fraction(lead) < 0 else (low, middle)
    return (low + high) / 2
