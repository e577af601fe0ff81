"""The source document's experiment, exact: five values at 4 and 8 bits, one of them made large, groups, ties.

Teaches: how far apart two bit widths are on one vector, and that none of it is a law. More bits may be worse
(`nested`), and more groups may be worse as well (`grouping`, "first two | last three" at 4 bits). Leaves out: models.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.quant_nodes import Rounding
from mechanisms.quant_presets import LAB, LAB_BITS, LAB_GROUPS, NOT_NESTED, OUTLIER, TIES
from mechanisms.quant_summary import errors, summary
from mechanisms.quantity import as_fraction
from mechanisms.table import Table

HALF = Fraction(1, 2)


def scale_of(values: Sequence[Fraction], scheme: Scheme) -> Fraction:
    """Scale of the first group. Source: as `ranges`."""
    cell = ranges(values, scheme)[0].value(0, "scale")
    assert cell is not None
    return as_fraction(cell)


def lab(bits: int) -> Table:
    """The map of the five values of the source document. Source: derived from the document's formula."""
    return quantize(LAB, Scheme(bits=bits))


def lab_summary(bits: int) -> Table:
    """Errors and size of `lab`.

    >>> lab_summary(8).value(0, "mean_squared_error")
    Fraction(407, 161290000)

    Source: derived.
    """
    return summary(lab(bits), Scheme(bits=bits), f"b = {bits}")


def tie_distance(value: Fraction, scale: Fraction) -> Fraction:
    """How far x/s lies from the nearest place where rounding changes, in steps: 0 on a tie, at most 1/2.

    >>> tie_distance(Fraction("0.29"), Fraction(1, 7))
    Fraction(47, 100)

    Source: derived.
    """
    if scale <= 0:
        raise ValueError(f"scale={scale}: must be positive")
    return abs((value / scale) % 1 - HALF)


def outlier(bits: int, place: int) -> tuple[Table, Table, Table]:
    """One value set to 100: the map, the errors of all five values and those of the other four.

    place: 0 … 4. Source: exercise of the source document.
    """
    if not 0 <= place < len(LAB):
        raise ValueError(f"place={place}: must be 0 … {len(LAB) - 1}")
    table = quantize([OUTLIER if i == place else v for i, v in enumerate(LAB)], Scheme(bits=bits))
    return table, errors(table), errors(table, rows=[i for i in range(len(LAB)) if i != place])


def grouping(bits: int, groups: str, *, with_outlier: bool = False) -> Table:
    """Errors and bits where the five values are cut into groups with one 16-bit scale each.

    groups: a key of `LAB_GROUPS`. with_outlier: the first value is 100.

    >>> [grouping(4, g).value(0, "mean_squared_error") for g in ("one group", "first two | last three")]
    [Fraction(81, 70000), Fraction(1917, 1225000)]

    Source: exercise of the source document.
    """
    scheme = Scheme(bits=bits, group=LAB_GROUPS[groups])
    return summary(quantize((OUTLIER, *LAB[1:]) if with_outlier else LAB, scheme), scheme, groups)


def ties(rule: Rounding) -> tuple[Table, Table]:
    """Six exact ties and the 7 that makes the step 1: the map under one tie rule, and its errors.

    >>> from mechanisms.quant_nodes import RULES
    >>> [str(ties(rule)[1].value(0, "mean_error")) for rule in RULES]
    ['0', '3/7', '0']

    Source: derived.
    """
    table = quantize(TIES, Scheme(bits=4, rule=rule))
    return table, errors(table, name=rule)


def nested(values: Sequence[Fraction] = NOT_NESTED, bits: tuple[int, int] = LAB_BITS) -> tuple[Table, Table]:
    """Errors of the same vector at two widths; the default is worse at 8 bits than at 4.

    The 8-bit grid would hold the 4-bit grid if 2^3 − 1 divided 2^7 − 1, but 7 does not divide 127; it divides 63, so
    7 bits are never worse than 4. Thus "more bits never hurt" is false for the error, although true for its bound s/2.

    >>> [t.value(0, "mean_squared_error") for t in nested()]
    [Fraction(0, 1), Fraction(9, 1580642)]

    Source: derived.
    """
    small, large = (errors(quantize(values, Scheme(bits=b)), name=f"b = {b}") for b in bits)
    return small, large
