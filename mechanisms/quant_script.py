"""A script that readers can run: it prints the chapter's table with nothing but Python's standard library.

Teaches: that the numbers on the page need no package. Leaves out: everything but the symmetric map of one vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.quant_nodes import RULES, Rounding

_ROUND: dict[Rounding, str] = {
    "half_even": "return round(steps)",
    "half_up": "return floor(steps + Fraction(1, 2))",
    "half_away": "return floor(steps + Fraction(1, 2)) if steps >= 0 else -floor(Fraction(1, 2) - steps)",
}
_SCRIPT = '''\
"""Symmetric max-abs quantization, exact: python quant_table.py"""

from fractions import Fraction
from math import floor, sqrt

VALUES = [Fraction(text) for text in {values}]
BITS = {bits}


def nearest(steps):
    {rounding}


def codes_of(values, bits):
    top = 2 ** (bits - 1) - 1
    scale = max(abs(v) for v in values) / top
    return scale, [max(-top, min(top, nearest(v / scale))) if scale else 0 for v in values]


print("bits,index,x,q,restored,error")
lines = []
for bits in BITS:
    scale, codes = codes_of(VALUES, bits)
    errors = [code * scale - value for code, value in zip(codes, VALUES)]
    for index, (value, code, error) in enumerate(zip(VALUES, codes, errors)):
        print(bits, index, value, code, code * scale, error, sep=",")
    mean_square = sum(error * error for error in errors) / len(errors)
    lines.append(f"{{bits}} bits: scale {{scale}}, MSE {{mean_square}}, RMSE {{sqrt(mean_square):.6f}}")
print(*lines, sep="\\n")
'''


def script(values: Sequence[Fraction], bits: Sequence[int], rule: Rounding = "half_even") -> str:
    """Source text of a program that prints code, restored value and error of every value, then scale, MSE and RMSE.

    values: at least one; bits: widths, at least 2 each; rule: what happens on ties.

    >>> "BITS = [4, 8]" in script([Fraction(1)], [4, 8])
    True

    Source: derived; the program is this project's.
    """
    if not values:
        raise ValueError("values=[]: at least one value is needed")
    if not bits or min(bits) < 2:
        raise ValueError(f"bits={list(bits)}: at least one width, each at least 2")
    if rule not in RULES:
        raise ValueError(f"rule={rule!r}: must be one of {RULES}")
    return _SCRIPT.format(values=[str(v) for v in values], bits=list(bits), rounding=_ROUND[rule])
