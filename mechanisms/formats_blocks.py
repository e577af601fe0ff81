"""Blocks of E2M1 numbers with a shared scale: MXFP4 (one power of two per 32) and NVFP4 (E4M3 per 16, and one more).

Teaches: that the rule for the scale is part of the format's name. MXFP4's FLOOR lets the largest value be cut from
just below 8 to 6; EVEN rounds that value first. Everything is exact: a tensor scale is a rational here, while NVFP4
stores it in binary32, so that stored values differ by about 1e-7 of themselves. Leaves out: packing of nibbles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from mechanisms.formats_floats import E2M1, E4M3, MiniFloat, decode, encode, floor_log2

ScaleRule = Literal["floor", "even"]
MX_BLOCK, NV_BLOCK = 32, 16
E8M0_BIAS, E8M0_LARGEST = 127, 254  # code 255 is NaN; there is no zero and no sign


@dataclass(frozen=True, slots=True)
class Blocks:
    """Scales (one per block, the tensor's scale multiplied in), element codes and restored values."""

    scales: tuple[Fraction, ...]
    codes: tuple[int, ...]
    restored: tuple[Fraction, ...]


def e8m0_decode(code: int) -> Fraction | None:
    """2^(code − 127); None for code 255, which is NaN. Source: ocp2023, §5.4.1.

    >>> e8m0_decode(127)
    Fraction(1, 1)
    """
    if not 0 <= code <= 255:
        raise ValueError(f"code={code}: must be 0 … 255")
    return Fraction(2) ** (code - E8M0_BIAS) if code <= E8M0_LARGEST else None


def e8m0_encode(x: Fraction) -> int:
    """Code of the nearest power of two, a tie upwards (1.5 becomes 2), held within 2^−127 … 2^127. x: positive.

    >>> e8m0_encode(Fraction(3, 2)), e8m0_encode(Fraction(1))
    (128, 127)

    Source: ocp2023 leaves rounding open; this is what ml_dtypes and torch do.
    """
    if x <= 0:
        raise ValueError(f"x={x}: E8M0 has neither zero nor sign")
    e = floor_log2(x)
    return max(0, min(E8M0_LARGEST, e + (x / Fraction(2) ** e >= Fraction(3, 2)) + E8M0_BIAS))


def mx_exponent(peak: Fraction, rule: ScaleRule, form: MiniFloat = E2M1) -> int:
    """Exponent of an MX block's scale: that of the block's largest value, less that of the format's largest number.

    floor: ⌊log₂ m⌋ − e_max. even: m is first rounded to the fraction bits of the format, halves up. A block of zeros
    gets the least exponent, −127. peak: m ≥ 0.

    >>> mx_exponent(Fraction(7), "floor"), mx_exponent(Fraction(7), "even")
    (0, 1)

    Source: ocp2023, §6.3 (floor); the even rule as in torchao's and compressed-tensors' MX code.
    """
    if peak < 0:
        raise ValueError(f"peak={peak}: must not be negative")
    if not peak:
        return -E8M0_BIAS
    e = floor_log2(peak)
    half_unit = Fraction(1, 2 ** (form.fraction_bits + 1))
    carried = rule == "even" and peak / Fraction(2) ** e + half_unit >= 2
    return max(-E8M0_BIAS, min(E8M0_LARGEST - E8M0_BIAS, e + carried - floor_log2(form.largest)))


def mxfp4(
    values: Sequence[Fraction], rule: ScaleRule = "floor", block: int = MX_BLOCK, form: MiniFloat = E2M1
) -> Blocks:
    """MXFP4, or another MX format: x̂ = 2^k · E2M1(x/2^k), overflow saturating. The last block may be short.

    >>> mxfp4([Fraction(7), Fraction(1)]).restored
    (Fraction(6, 1), Fraction(1, 1))

    Source: ocp2023, §6.3.
    """
    scales = [Fraction(2) ** mx_exponent(max(map(abs, b)), rule, form) for b in _cut(values, block)]
    return _store(values, scales, block, form)


def nvfp4(values: Sequence[Fraction], block: int = NV_BLOCK, *, subnormal_scales: bool = True) -> Blocks:
    """NVFP4: tensor scale g = max|x|/(448·6), block scale E4M3(max|block|/(6g)), elements E2M1.

    subnormal_scales: False keeps block scales at least 2^−6, as torchao does; compressed-tensors lets them get smaller.
    A block whose scale is 0 restores zeros.

    >>> nvfp4([Fraction(6), Fraction(1)]).restored
    (Fraction(6, 1), Fraction(1, 1))

    Source: nvidia2025; the range 448·6 is the product of the largest E4M3 and E2M1 numbers.
    """
    peak = max(map(abs, values), default=Fraction(0))
    if not peak:
        return _store(values, [Fraction(0) for _ in _cut(values, block)], block, E2M1)
    tensor = peak / (E4M3.largest * E2M1.largest)
    least = Fraction(0) if subnormal_scales else Fraction(2) ** (1 - E4M3.bias)
    scales: list[Fraction] = []
    for part in _cut(values, block):
        scale = decode(E4M3, encode(E4M3, max(map(abs, part)) / E2M1.largest / tensor))
        assert isinstance(scale, Fraction)
        scales.append(max(scale, least) * tensor)
    return _store(values, scales, block, E2M1)


def _cut(values: Sequence[Fraction], block: int) -> list[Sequence[Fraction]]:
    if not values or block < 1:
        raise ValueError(f"values: {len(values)}, block={block}: both must be at least 1")
    return [values[i : i + block] for i in range(0, len(values), block)]


def _store(values: Sequence[Fraction], scales: Sequence[Fraction], block: int, form: MiniFloat) -> Blocks:
    codes: list[int] = []
    restored: list[Fraction] = []
    for i, x in enumerate(values):
        scale = scales[i // block]
        codes.append(encode(form, x / scale) if scale else 0)
        number = decode(form, codes[-1])
        assert isinstance(number, Fraction)
        restored.append(scale * number)
    return Blocks(tuple(scales), tuple(codes), tuple(restored))
