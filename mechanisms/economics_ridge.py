"""How many positions one pass may verify before arithmetic, not memory, sets its time.

Teaches: below the ridge of a device further positions are free, above it every one is paid; speculation lives in that
gap, and a batch uses the gap up. Leaves out: attention, caches, communication, kernels. The model is the ideal roofline
of the weights alone: a pass takes the longer of reading all weights once and multiplying them with every position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from mechanisms.economics_nodes import geometric, whole
from mechanisms.hardware import Device
from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import COST, LENGTH, RATE, TOPIC, check
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.economics_ridge"
POSITIONS = (1, 2, 3, 26, 60, 64)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
FOUR_BITS = Fraction("4.15625")  # with a sixteen-bit scale and a four-bit zero for every 128 weights
FULL_BITS = 16
TERA = 10**12  # the table shows figures as they are printed


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


FLOPS = Quantity(_id("peak_flops"), "F", "hardware_figures", unit="TFLOP/s", index="", kind="quoted")
BYTES = Quantity(_id("bandwidth"), "M", "hardware_figures", unit="TB/s", index="", kind="quoted")
RIDGE = Quantity(_id("ridge"), r"\rho", "derived", FLOPS.sym / BYTES.sym, unit="FLOP/B", index="")
BITS = given(_id("stored_bits"), "b", "chosen", index="", unit="bit")
NODES = given(_id("positions_per_request"), "N", "chosen", counts=True, index="", unit="position")
LARGEST = Quantity(
    _id("largest_batch"), "B", "derived", whole(RIDGE.sym / NODES.sym), counts=True, index="N", unit="request"
)  # fmt: skip
LARGEST_4 = Quantity(
    _id("largest_batch_w4"), "B_4", "derived", whole(RIDGE.sym * BITS.sym / (FULL_BITS * NODES.sym)), counts=True,
    index="N", unit="request",
)  # fmt: skip
LIMITS = (FLOPS, BYTES, RIDGE, BITS, NODES, LARGEST, LARGEST_4)

BATCH = given(_id("batch"), "B", "chosen", counts=True, index="", unit="request")
TOKENS = Quantity(
    _id("tokens_per_round"), r"\tau", "leviathan2022 Eq. 1", geometric(RATE.sym, LENGTH.sym), unit="token", index=""
)  # fmt: skip
PLAIN = Quantity(_id("plain_pass"), "T", "derived", sp.Max(1, BATCH.sym / RIDGE.sym), index="B", unit="read")
CHECKED = Quantity(
    _id("verify_pass"), "W", "derived", sp.Max(1, BATCH.sym * (LENGTH.sym + 1) / RIDGE.sym), index="B", unit="read"
)  # fmt: skip
VERIFY = Quantity(
    _id("verification_cost"), "V", "derived", CHECKED.sym / PLAIN.sym, index="B", unit="step"
)  # fmt: skip
SPEED = Quantity(
    _id("speedup"), "S", "leviathan2022 Theorem 3.8", TOKENS.sym / (LENGTH.sym * COST.sym + VERIFY.sym), unit="×",
    index="B",
)  # fmt: skip
BATCHED = (BATCH, LENGTH, RATE, COST, replace(RIDGE, expression=None), TOKENS, PLAIN, CHECKED, VERIFY, SPEED)


def _figures(of: Device, rows: int) -> dict[str, list[Fraction]]:
    return {FLOPS.name: [of.flops.value / TERA] * rows, BYTES.name: [of.bandwidth.value / TERA] * rows}


def ridge_limits(of: Device, positions: Sequence[int] = POSITIONS) -> Table:
    """Largest batch for which N positions per request stay below the ridge, with 16-bit and with 4-bit weights.

    ρ = F/M, B = ⌊ρ/N⌋, B₄ = ⌊ρ b/(16 N)⌋. With 16-bit weights a position costs 2 FLOP per 2 bytes read, so ρ counts
    positions. positions: N ≥ 1.

    >>> from mechanisms.hardware import device
    >>> [int(x) for x in ridge_limits(device("h100")).column("largest_batch")]
    [295, 147, 98, 11, 4, 4]

    Source: derived; figures of the device quoted.
    """
    for n in positions:
        check("positions", Fraction(n), 1)
    values = _figures(of, len(positions)) | {
        BITS.name: [FOUR_BITS] * len(positions), NODES.name: [Fraction(n) for n in positions]
    }  # fmt: skip
    names = tuple(map(str, positions))
    return tabulate(_id("ridge_limits"), LIMITS, names, values, function=f"{_MODULE}.ridge_limits")


def batches(
    of: Device, gamma: int, *, rate: Fraction = Fraction(4, 5), cost: Fraction = Fraction("0.05"),
    sizes: Sequence[int] = BATCHES,
) -> Table:  # fmt: skip
    """Speed-up of a chain of γ drafts in batches: T = max(1, B/ρ), W = max(1, B(γ + 1)/ρ), V = W/T, S = τ/(γc + V).

    gamma ≥ 0; rate: α in [0, 1]; cost: c ≥ 0, the draft's price in plain steps of the same batch; sizes ≥ 1.

    >>> from mechanisms.hardware import device
    >>> round(float(batches(device("h100"), 4).value(-1, "speedup")), 4)
    0.6465

    Source: derived from the roofline of the weights; leviathan2022, Theorem 3.8, for S with V = 1.
    """
    check("gamma", Fraction(gamma))
    check("rate", rate, 0, 1)
    check("cost", cost)
    for n in sizes:
        check("sizes", Fraction(n), 1)
    rows = len(sizes)
    values = {
        BATCH.name: [Fraction(n) for n in sizes], LENGTH.name: [Fraction(gamma)] * rows, RATE.name: [rate] * rows,
        COST.name: [cost] * rows, RIDGE.name: [of.flops.value / of.bandwidth.value] * rows,
    }  # fmt: skip
    names = tuple(map(str, sizes))
    return tabulate(_id("batches"), BATCHED, names, values, function=f"{_MODULE}.batches")
