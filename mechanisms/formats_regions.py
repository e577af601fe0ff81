"""Spacing and worst error of a format, region by region.

Teaches: that an integer grid has one absolute error everywhere, and a float one relative error in every binade.
"""

from __future__ import annotations

from fractions import Fraction

from mechanisms.error_budget import TOPIC
from mechanisms.formats_floats import MiniFloat, decoded
from mechanisms.quantity import Quantity
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.formats_regions"
LOW = Quantity(f"{TOPIC}.region_low", "a", "derived")
HIGH = Quantity(f"{TOPIC}.region_high", "a'", "derived")
SPACING = Quantity(f"{TOPIC}.spacing", r"\Delta", "derived")
WORST = Quantity(f"{TOPIC}.worst_error", r"e_{\max}", "derived", SPACING.sym / 2)
RELATIVE = Quantity(f"{TOPIC}.worst_relative_error", r"\rho_{\max}", "derived", WORST.sym / (LOW.sym + WORST.sym))
COLUMNS = (LOW, HIGH, SPACING, WORST, RELATIVE)


def float_regions(form: MiniFloat) -> Table:
    """Subnormal numbers, then one row per binade: from, to, spacing, largest error, largest relative error.

    e_max = Δ/2, ρ_max = e_max/(a + e_max): the relative error is largest at the first midpoint of a region.

    >>> from mechanisms.formats_floats import E4M3
    >>> [str(x) for x in float_regions(E4M3).column("worst_relative_error")[:2]]
    ['1', '1/17']

    Source: derived from the code points.
    """
    points = [v for v in decoded(form)[: form.largest_code + 1] if isinstance(v, Fraction)]
    size = 2**form.fraction_bits
    rows = [points[i : i + size + 1] for i in range(0, len(points), size) if len(points[i:]) > 1]
    columns = {
        LOW.name: [row[0] for row in rows],
        HIGH.name: [row[-1] for row in rows],
        SPACING.name: [row[1] - row[0] for row in rows],
    }
    names = ["subnormal", *(f"2^{i + 1 - form.bias}" for i in range(len(rows) - 1))]
    return tabulate(f"{TOPIC}.regions", COLUMNS, names, columns, function=f"{_MODULE}.float_regions")


def integer_region(scale: Fraction, largest_code: int) -> Table:
    """The one region of an integer grid, 0 … s·q_max. Source: derived.

    >>> integer_region(Fraction(1, 7), 7).value(0, "worst_error")
    Fraction(1, 14)
    """
    if scale <= 0 or largest_code < 1:
        raise ValueError(f"scale={scale}, largest_code={largest_code}: must be positive")
    columns = {LOW.name: (Fraction(0),), HIGH.name: (scale * largest_code,), SPACING.name: (scale,)}
    return tabulate(f"{TOPIC}.regions", COLUMNS, ("integer",), columns, function=f"{_MODULE}.integer_region")
