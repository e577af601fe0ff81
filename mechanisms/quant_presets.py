"""Vectors of the chapter: the source document's five values, our eight for the sliders, and seven exact ties."""

from __future__ import annotations

from fractions import Fraction


def _numbers(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(t) for t in text.split())


LAB = _numbers("-1.0 -0.37 0.04 0.29 0.83")  # printed in the source document
LAB_BITS = (4, 8)
OUTLIER = Fraction(100)
LAB_GROUPS: dict[str, tuple[int, ...]] = {
    "one group": (5,),
    "first two | last three": (2, 3),
    "first three | last two": (3, 2),
    "outlier alone": (1, 4),
}
ORDINARY = _numbers("-0.61 -0.33 -0.14 0.02 0.20 0.44 0.59")  # ours: no x/s of these comes within 1/64 of a tie
LAST_VALUES = ("0.8", "1.6", "3.2", "6.4", "12.8", "25.6")
SLIDER_BITS = (2, 3, 4, 5, 6, 8)
TIES = _numbers("-2.5 -1.5 -0.5 0.5 1.5 2.5 7")  # at 4 bits the 7 makes the step exactly 1
NOT_NESTED = _numbers("1 3/7")  # 3/7 lies on the 4-bit grid and not on the 8-bit one


def widget(last: str | Fraction) -> tuple[Fraction, ...]:
    """The seven ordinary values and a last one."""
    return (*ORDINARY, Fraction(last))
