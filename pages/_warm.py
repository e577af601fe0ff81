"""Tables that every visitor asks for first, computed before the first one comes."""

from __future__ import annotations

from mechanisms.rejection_presets import PRESETS
from pages._rejection_ledger import numbers


def presets() -> None:
    for pair in PRESETS.values():
        numbers(pair)
