"""Bits per value of a format with its metadata: scales, zero points, scales of scales.

Teaches: that "4 bit" is 4.08 to 5 bits once everything is stored. Leaves out: padding and values kept in 16 bits
(`quant_bytes`), and one number per tensor, which vanishes in a large one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechanisms.error_budget import TOPIC
from mechanisms.quant_summary import FULL_BITS
from mechanisms.quantity import Quantity, given
from mechanisms.table import Table, tabulate


@dataclass(frozen=True, slots=True)
class Layout:
    """What is stored: code bits, scale and zero point of a group, bits per value of the second level (of scales)."""

    id: str
    payload_bits: int
    scale_bits: int
    zero_bits: int
    group: int
    second_level_bits: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.payload_bits < 1 or self.group < 1 or min(self.scale_bits, self.zero_bits, self.second_level_bits) < 0:
            raise ValueError(f"{self}: bits must not be negative, payload and group at least 1")


DOUBLE = Fraction(32, 64 * 256)  # one 32-bit scale for 256 block scales of 64 values each
LAYOUTS: tuple[Layout, ...] = (
    Layout("int4_g128_zero", 4, 16, 4, 128),
    Layout("int4_g32_zero", 4, 16, 4, 32),
    Layout("int4_g256_zero", 4, 16, 4, 256),
    Layout("mxfp4", 4, 8, 0, 32),
    Layout("nvfp4", 4, 8, 0, 16),
    Layout("nf4", 4, 32, 0, 64),
    Layout("nf4_double", 4, 8, 0, 64, DOUBLE),
    Layout("kivi4", 4, 16, 16, 32),
    Layout("kivi2", 2, 16, 16, 32),
    Layout("int4_g32", 4, 16, 0, 32),
    Layout("int4_g64", 4, 16, 0, 64),
    Layout("int4_g128", 4, 16, 0, 128),
    Layout("int4_g256", 4, 16, 0, 256),
    Layout("int4_g64_zero", 4, 16, 4, 64),
    Layout("mxfp8", 8, 8, 0, 32),
)


def _bits(name: str, tex: str) -> Quantity:
    return given(f"{TOPIC}.{name}", tex, "chosen", unit="bit", index="", counts=True)


PAYLOAD, SCALE_BITS, ZERO_BITS = (
    _bits("payload_bits", "b"), _bits("scale_bits", "b_s"), _bits("zero_bits", "b_z")
)  # fmt: skip
GROUP = given(f"{TOPIC}.group_size", "g", "chosen", index="", counts=True)
SECOND = given(f"{TOPIC}.second_level_bits", "b_2", "chosen", unit="bit", index="")
METADATA = Quantity(
    f"{TOPIC}.metadata_per_value", r"b_{\mathrm{meta}}", "derived",
    (SCALE_BITS.sym + ZERO_BITS.sym) / GROUP.sym + SECOND.sym, unit="bit", index="",
)  # fmt: skip
EFFECTIVE = Quantity(
    f"{TOPIC}.effective_bits", r"b_{\mathrm{eff}}", "derived", PAYLOAD.sym + METADATA.sym, unit="bit", index=""
)
RATIO = Quantity(f"{TOPIC}.compression_ratio", "r", "derived", FULL_BITS / EFFECTIVE.sym, unit="×", index="")
OF_PAYLOAD = Quantity(
    f"{TOPIC}.metadata_of_payload", r"f_b", "derived", 100 * METADATA.sym / PAYLOAD.sym, unit="%", index=""
)
OF_TOTAL = Quantity(
    f"{TOPIC}.metadata_of_total", r"f_{\mathrm{eff}}", "derived", 100 * METADATA.sym / EFFECTIVE.sym, unit="%", index=""
)
COLUMNS = (PAYLOAD, SCALE_BITS, ZERO_BITS, GROUP, SECOND, METADATA, EFFECTIVE, RATIO, OF_PAYLOAD, OF_TOTAL)


def layout(id: str) -> Layout:
    """A layout by its id; ValueError names what exists."""
    for found in LAYOUTS:
        if found.id == id:
            return found
    raise ValueError(f"id={id!r}: must be one of {[x.id for x in LAYOUTS]}")


def effective_bits(stored: Layout) -> Table:
    """Bits per value and the share of metadata, in one row.

    b_meta = (b_s + b_z)/g + b_2, b_eff = b + b_meta, r = 16/b_eff.

    >>> [str(effective_bits(layout(i)).value(0, "effective_bits")) for i in ("int4_g128_zero", "nf4_double")]
    ['133/32', '2113/512']

    Source: derived; sizes of the formats from ocp2023 (MXFP4), nvidia2025 (NVFP4), dettmers2023 (NF4), liu2024 (KIVI).
    """
    row = {
        PAYLOAD.name: (Fraction(stored.payload_bits),),
        SCALE_BITS.name: (Fraction(stored.scale_bits),),
        ZERO_BITS.name: (Fraction(stored.zero_bits),),
        GROUP.name: (Fraction(stored.group),),
        SECOND.name: (stored.second_level_bits,),
    }
    return tabulate(
        f"{TOPIC}.effective_bits", COLUMNS, (stored.id,), row, function="mechanisms.formats_bits.effective_bits"
    )
