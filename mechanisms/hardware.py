"""Accelerators as records: peak arithmetic and memory bandwidth, each with unit, source and the day it was looked at.

Dense figures for sixteen-bit matrix products. Vendors also print twice as much, which holds for 2:4 sparse weights
only. Leaves out: what a kernel reaches; an unknown device is an error, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Figure:
    """One published figure: value in SI units, unit, source key, and the day on which it was read."""

    value: Fraction
    unit: str
    source: str
    checked_on: date


@dataclass(frozen=True, slots=True)
class Device:
    """A device by its usual name: dense sixteen-bit operations and bytes from memory, both per second."""

    id: str
    name: str
    flops: Figure
    bandwidth: Figure


_READ = date(2026, 11, 29)


def _device(id: str, name: str, teraflops: str, terabytes: str, source: str) -> Device:
    flops = Figure(Fraction(teraflops) * 10**12, "FLOP/s", source, _READ)
    return Device(id, name, flops, Figure(Fraction(terabytes) * 10**12, "B/s", source, _READ))


DEVICES = (
    _device("h100", "H100 SXM", "989", "3.35", "hardware_figures"),
    _device("h200", "H200 SXM", "989", "4.8", "hardware_figures"),
    _device("b200", "B200", "2250", "8", "hardware_figures"),
    _device("a100", "A100 40 GB", "312", "1.555", "hardware_figures"),
    _device("rtx4090", "RTX 4090", "165", "1.008", "hardware_figures"),
)


def device(id: str) -> Device:
    """The record of a device. Raises ValueError for an unknown one.

    >>> device("h100").bandwidth.value / 10**9
    Fraction(3350, 1)
    """
    for found in DEVICES:
        if found.id == id:
            return found
    raise ValueError(f"device={id!r}: must be one of {[d.id for d in DEVICES]}")
