"""The affine map of a vector onto a few integers: scale, zero point, codes, restored values, errors.

Teaches: that one large value sets the step of every other value in its group. A group of zeros has scale 0 and
restores zeros; an empty vector is an error, as it has no error to speak of. All numbers are exact rationals, so
nothing underflows (`quant_floats` shows what floating point does to the same map). The error is restored minus
original everywhere. Leaves out: totals (`quant_summary`), other number formats (`formats_*`), outputs (`quant_output`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any

import sympy as sp

from mechanisms.expression import largest
from mechanisms.quant_nodes import RULES, Rounding, clip, nearest, steps
from mechanisms.quantity import Quantity, as_fraction, given, signed
from mechanisms.table import Cell, Table, tabulate

TOPIC = "error_budget"
_MODULE = f"mechanisms.{TOPIC}"


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a vector is mapped to integers.

    bits: at least 2. symmetric: codes −qmax … qmax with qmax = 2^(b−1) − 1, else 0 … 2^b − 1 with a zero point; the
    asymmetric range always holds 0, so that 0 is restored exactly. clip_ratio in (0, 1]: share of the range kept.
    group: values per scale, a tuple of sizes, or None for one scale. rule: what happens halfway between two codes.
    scale_bits, zero_bits: size of the metadata of one group; zero_bits None means b bits where there is a zero point.
    """

    bits: int = 4
    symmetric: bool = True
    clip_ratio: Fraction = Fraction(1)
    group: int | tuple[int, ...] | None = None
    rule: Rounding = "half_even"
    scale_bits: int = 16
    zero_bits: int | None = None

    def __post_init__(self) -> None:
        if self.bits < 2:
            raise ValueError(f"bits={self.bits}: must be at least 2")
        if not 0 < self.clip_ratio <= 1:
            raise ValueError(f"clip_ratio={self.clip_ratio}: must lie in (0, 1]")
        if self.rule not in RULES:
            raise ValueError(f"rule={self.rule!r}: must be one of {RULES}")
        sizes = (self.group,) if isinstance(self.group, int) else self.group or ()
        if any(size < 1 for size in sizes):
            raise ValueError(f"group={self.group}: sizes must be at least 1")
        if self.scale_bits < 0 or (self.zero_bits or 0) < 0:
            raise ValueError(f"scale_bits={self.scale_bits}, zero_bits={self.zero_bits}: must not be negative")

    @property
    def metadata_bits(self) -> int:
        """Bits of the scale and the zero point of one group."""
        zero = 0 if self.symmetric else self.bits
        return self.scale_bits + (zero if self.zero_bits is None else self.zero_bits)

    def sizes(self, count: int) -> tuple[int, ...]:
        """Values per group; the last group takes what is left. Raises ValueError where given sizes do not add up."""
        if isinstance(self.group, tuple):
            if sum(self.group) != count:
                raise ValueError(f"group={self.group}: sizes must add up to {count} values")
            return self.group
        size = self.group or count
        return (size,) * (count // size) + ((count % size,) if count % size else ())


VALUE = given(_id("value"), "x", "chosen")
BITS = given(_id("bits"), "b", "chosen", unit="bit", index="", counts=True)
CLIP = given(_id("clip_ratio"), "c", "chosen", index="")
x, b = signed(VALUE.name), BITS.sym


def less_one(power: Any) -> Any:
    """2^power − 1, in this order on paper."""
    return sp.Add(sp.Pow(2, power, evaluate=False), -1, evaluate=False)


PEAK = Quantity(_id("peak"), "m", "derived", largest(sp.Abs(x)), index="")
QMAX = Quantity(
    _id("largest_code"), r"q_{\max}", "derived", less_one(sp.Add(b, -1, evaluate=False)), index="", counts=True
)
SCALE = Quantity(_id("scale"), "s", "jacob2018 §2.1", CLIP.sym * PEAK.sym / QMAX.sym, index="")
SYMMETRIC_RANGE = (BITS, CLIP, PEAK, QMAX, SCALE)

BELOW = Quantity(_id("below_zero"), r"\ell", "derived", sp.Max(0, largest(-x)), index="")
ABOVE = Quantity(_id("above_zero"), "h", "derived", sp.Max(0, largest(x)), index="")
TOP_CODE = Quantity(_id("largest_code"), r"q_{\max}", "derived", less_one(b), index="", counts=True)
WIDE_SCALE = Quantity(_id("scale"), "s", "jacob2018 §2.1", CLIP.sym * (BELOW.sym + ABOVE.sym) / TOP_CODE.sym, index="")
TOP = Quantity(_id("largest_code"), r"q_{\max}", "derived", index="", counts=True)
SCALE_OF_VALUE = Quantity(_id("scale"), "s", "jacob2018 §2.1")
ZERO_OF_VALUE = Quantity(_id("zero_point"), "z", "jacob2018 §2.1", counts=True)
CODE, RESTORED = _id("code"), _id("restored")
q = signed("code")
ERROR = Quantity(_id("error"), "e", "derived", signed("restored") - x)


@cache
def _columns(symmetric: bool, rule: Rounding) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
    """Quantities of a group's range and of its values."""
    s, z = SCALE.sym, ZERO_OF_VALUE.sym
    place = nearest(steps(x, s), rule)
    if symmetric:
        code = Quantity(CODE, "q", "jacob2018 §2.1", clip(place, -TOP.sym, TOP.sym), counts=True)
        back = Quantity(RESTORED, r"\hat x", "jacob2018 Eq. 1", sp.Mul(s, q, evaluate=False))
        return SYMMETRIC_RANGE, (VALUE, TOP, SCALE_OF_VALUE, code, back, ERROR)
    zero = nearest(steps(CLIP.sym * BELOW.sym, s), rule)
    zero_point = Quantity(_id("zero_point"), "z", "jacob2018 §2.1", clip(zero, 0, TOP_CODE.sym), index="", counts=True)
    code = Quantity(CODE, "q", "jacob2018 §2.1", clip(sp.Add(place, z, evaluate=False), 0, TOP.sym), counts=True)
    back = Quantity(RESTORED, r"\hat x", "jacob2018 Eq. 1", s * (q - z))
    rows = (VALUE, TOP, SCALE_OF_VALUE, ZERO_OF_VALUE, code, back, ERROR)
    return (BITS, CLIP, BELOW, ABOVE, TOP_CODE, WIDE_SCALE, zero_point), rows


def labels(count: int) -> tuple[str, ...]:
    """Row names x1, x2, … for values without names."""
    return tuple(f"x{i}" for i in range(1, count + 1))


def ranges(values: Sequence[Fraction], scheme: Scheme) -> tuple[Table, ...]:
    """One table of one row per group: its range, scale and, where asymmetric, zero point.

    Symmetric: s = c·max|x| / (2^(b−1) − 1). Asymmetric: s = c·(ℓ + h)/(2^b − 1) and z = round(cℓ/s), where ℓ and h
    say how far the values reach below and above 0. values: at least one.

    >>> ranges([Fraction(-1), Fraction(1, 2)], Scheme(bits=4))[0].value(0, "scale")
    Fraction(1, 7)

    Source: jacob2018, §2.1 for the map; the choice of the range is ours and named above.
    """
    if not values:
        raise ValueError("values=[]: at least one value is needed, an empty vector has no error")
    columns, _ = _columns(scheme.symmetric, scheme.rule)
    names, sizes = labels(len(values)), scheme.sizes(len(values))
    tables: list[Table] = []
    for place, (size, end) in enumerate(zip(sizes, accumulate(sizes), strict=True), 1):
        group = {VALUE.name: tuple(Fraction(v) for v in values[end - size : end])}
        over = tabulate(_id("group"), (VALUE,), names[end - size : end], group, function=f"{_MODULE}.ranges")
        row: dict[str, tuple[Cell, ...]] = {BITS.name: (Fraction(scheme.bits),), CLIP.name: (scheme.clip_ratio,)}
        tables.append(tabulate(_id("range"), columns, (f"g{place}",), row, function=f"{_MODULE}.ranges", over=over))
    return tuple(tables)


def quantize(values: Sequence[Fraction], scheme: Scheme, names: Sequence[str] = ()) -> Table:
    """The table of the map: value, largest code, scale of its group, (zero point,) code, restored value, error.

    q = clip(round(x/s) + z, q_min, q_max), x̂ = s(q − z), e = x̂ − x; z = 0 where symmetric.

    >>> quantize([Fraction(-1), Fraction("0.29")], Scheme(bits=4)).column("code")
    (Fraction(-7, 1), Fraction(2, 1))

    Source: jacob2018, Eq. 1 and §2.1; the order "round, then add z" is that of torch.fake_quantize.
    """
    groups = ranges(values, scheme)
    _, columns = _columns(scheme.symmetric, scheme.rule)
    rows: dict[str, list[Cell]] = {VALUE.name: [Fraction(v) for v in values], TOP.name: [], SCALE.name: []}
    if not scheme.symmetric:
        rows[ZERO_OF_VALUE.name] = []
    for size, group in zip(scheme.sizes(len(values)), groups, strict=True):
        for name in rows.keys() - {VALUE.name}:
            rows[name] += [group.value(0, name)] * size
    named = tuple(names) or labels(len(values))
    return tabulate(_id("map"), columns, named, rows, function=f"{_MODULE}.quantize")


def restored(values: Sequence[Fraction], scheme: Scheme) -> tuple[Fraction, ...]:
    """Only the restored values of `quantize`. Source: as there."""
    return tuple(as_fraction(v) for v in quantize(values, scheme).column("restored") if v is not None)
