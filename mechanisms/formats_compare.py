"""One tensor through every format: bits per value with metadata, and the error that is left.

Teaches: that formats are compared at equal stored bits or not at all. Integer scales are exact here; stored as FP16
they would differ by up to 2^−11 of themselves. Leaves out: which of these a device can multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from scipy.special import ndtri

from mechanisms.error_budget import ERROR, TOPIC, VALUE, Scheme, labels, restored
from mechanisms.formats_blocks import MX_BLOCK, NV_BLOCK, mxfp4, nvfp4
from mechanisms.formats_floats import E2M1, E4M3, E5M2, MiniFloat, decode, encode
from mechanisms.formats_nf4 import BLOCK, SCALE_BLOCK, double_quantized, nf4_block
from mechanisms.quant_summary import COUNT, LARGEST, LOST, MSE, RMSE
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate

Values = Sequence[Fraction]
Restored = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Format:
    """A way to store a tensor: what comes back, and how many bits n values take."""

    id: str
    restore: Callable[[Values], Restored]
    bits: Callable[[int], int]


def _integer(id: str, scheme: Scheme) -> Format:
    return Format(
        id,
        lambda values: restored(values, scheme),
        lambda n: n * scheme.bits + scheme.metadata_bits * len(scheme.sizes(n)),
    )


def scaled_float(values: Values, form: MiniFloat) -> Restored:
    """A float format with one scale for the tensor that puts the largest magnitude at its largest number. Zeros stay.

    >>> scaled_float([Fraction(896), Fraction(34)], E4M3)
    (Fraction(896, 1), Fraction(32, 1))

    Source: derived.
    """
    scale = max(map(abs, values), default=Fraction(0)) / form.largest
    if not scale:
        return tuple(Fraction(0) for _ in values)
    numbers = (decode(form, encode(form, x / scale)) for x in values)
    return tuple(scale * y for y in numbers if isinstance(y, Fraction))


def nf4(values: Values, *, double: bool = False) -> Restored:
    """NF4 in blocks of 64; double: block scales quantized again, in groups of 256. Source: as `formats_nf4`."""
    blocks = [values[i : i + BLOCK] for i in range(0, len(values), BLOCK)]
    scales = [nf4_block(part)[0] for part in blocks]
    if double:
        groups = [scales[i : i + SCALE_BLOCK] for i in range(0, len(scales), SCALE_BLOCK)]
        second = [s for group in groups for s in double_quantized(group)[2]]
    else:
        second = scales
    shares = (
        (y / first if first else y, new)
        for part, first, new in zip(blocks, scales, second, strict=True)
        for y in nf4_block(part)[2]
    )
    return tuple(share * scale for share, scale in shares)


FORMATS: tuple[Format, ...] = (
    _integer("int8", Scheme(bits=8)),
    _integer("int4", Scheme(bits=4)),
    *(_integer(f"int4_g{g}", Scheme(bits=4, group=g)) for g in (256, 128, 64, 32)),
    *(_integer(f"int4_g{g}_zero", Scheme(bits=4, group=g, symmetric=False)) for g in (128, 32)),
    Format("fp8_e4m3", lambda v: scaled_float(v, E4M3), lambda n: 8 * n + 32),
    Format("fp8_e5m2", lambda v: scaled_float(v, E5M2), lambda n: 8 * n + 32),
    Format("fp4_e2m1", lambda v: scaled_float(v, E2M1), lambda n: 4 * n + 32),
    Format("mxfp4_floor", lambda v: mxfp4(v).restored, lambda n: 4 * n + 8 * ceil(n / MX_BLOCK)),
    Format("mxfp4_even", lambda v: mxfp4(v, "even").restored, lambda n: 4 * n + 8 * ceil(n / MX_BLOCK)),
    Format("nvfp4", lambda v: nvfp4(v).restored, lambda n: 4 * n + 8 * ceil(n / NV_BLOCK) + 32),
    Format("nf4", nf4, lambda n: 4 * n + 32 * ceil(n / BLOCK)),
    Format(
        "nf4_double",
        lambda v: nf4(v, double=True),
        lambda n: 4 * n + 8 * ceil(n / BLOCK) + 32 * ceil(n / BLOCK / SCALE_BLOCK) + 32,
    ),
)

RESTORED = Quantity(f"{TOPIC}.restored", r"\hat x", "derived")
STORED = Quantity(f"{TOPIC}.stored_bits", "B", "derived", unit="bit", index="", counts=True)
PER_VALUE = Quantity(
    f"{TOPIC}.effective_bits", r"b_{\mathrm{eff}}", "derived", STORED.sym / COUNT.sym, unit="bit", index=""
)
POWER = given(f"{TOPIC}.mean_square", r"\overline{x^2}", "chosen", index="")
NOISE = Quantity(f"{TOPIC}.relative_error", r"\rho", "derived", MSE.sym / POWER.sym, index="", defined=POWER.sym > 0)
COLUMNS = (COUNT, STORED, PER_VALUE, MSE, RMSE, LARGEST, LOST, POWER, NOISE)


def through(values: Values, form: Format) -> tuple[Table, Table]:
    """Value, restored value and error of every number, and one row of totals.

    Source: derived; the formats' own sources stand in their modules.
    """
    columns = {VALUE.name: tuple(values), RESTORED.name: form.restore(values)}
    over = tabulate(
        f"{TOPIC}.through", (VALUE, RESTORED, ERROR), labels(len(values)), columns,
        function="mechanisms.formats_compare.through",
    )  # fmt: skip
    row = {
        COUNT.name: (Fraction(len(values)),),
        STORED.name: (Fraction(form.bits(len(values))),),
        POWER.name: (sum((x * x for x in values), Fraction(0)) / len(values),),
    }
    totals = tabulate(
        f"{TOPIC}.format", COLUMNS, (form.id,), row, function="mechanisms.formats_compare.through", over=over
    )
    return over, totals


def bell(count: int = 256, outlier: Fraction | None = Fraction(8)) -> Restored:
    """Quantiles of a unit Gaussian to three decimals, in an order that spreads them over the blocks.

    The last value is replaced by `outlier` unless that is None. count: a power of two, at least 64, so that the stride
    visits every quantile once.

    >>> bell(64)[-1], sum(bell(64, None))
    (Fraction(8, 1), Fraction(0, 1))

    Source: derived.
    """
    if count < 64 or count & (count - 1):
        raise ValueError(f"count={count}: must be a power of two, at least 64")
    places = [37 * i % count for i in range(count)]
    values = [Fraction(round(1000 * float(ndtri((p + 0.5) / count))), 1000) for p in places]
    return tuple(values if outlier is None else [*values[:-1], outlier])
