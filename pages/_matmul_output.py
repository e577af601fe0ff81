"""Requantization of one sum, and the lane of sixteen bits that saturates."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechanisms.integer_matmul_requantize import requantize_table
from mechanisms.integer_matmul_running import pair_table
from mechanisms.values.integer_matmul import W_SCALE, X_SCALE, Y_SCALE
from pages import _payload
from pages._matmul_state import FIRST_SUM, LAST_SUM, MULTIPLIERS, TOPIC, WEIGHT_TOP, choose, get, slide
from pages._parts import Block
from pages._words import language

Json = dict[str, Any]
LARGEST_ACTIVATION = 255
# output scales: the multiplier becomes 1/10, 3/32 (a mantissa without a rest) and 2/5 (which leaves the code range)
OUTPUT_SCALES = {"tenth": Y_SCALE, "binary": Fraction(32, 3000), "clipped": Fraction(1, 400)}
SHOWN = (
    "accumulated", "multiplier", "real_output", "exact_code", "fixed_point_code", "reconstructed", "mantissa", "shift",
    "multiplier_error", "activation_scale", "weight_scale", "output_scale", "output_zero_point", "lowest_code",
    "highest_code",
)  # fmt: skip


def multiplier_choice(block: Block, words: str) -> None:
    choose(block, "multiplier", MULTIPLIERS, words, notes=True)


def sum_range(block: Block, words: str) -> None:
    slide(block, "sum", [str(a) for a in range(FIRST_SUM, LAST_SUM + 1)], words)


@lru_cache(maxsize=16)
def _requantized(name: str, lang: str, caption: str) -> Json:
    frames = [
        requantize_table(a, x_scale=X_SCALE, w_scale=W_SCALE, y_scale=OUTPUT_SCALES[name])
        for a in range(FIRST_SUM, LAST_SUM + 1)
    ]
    return _payload.table(
        frames[0], id=f"{TOPIC}.requantize", lang=lang, caption=caption, topic=f"{TOPIC}.sum", layout="strip",
        order=SHOWN, frames=_payload.printed(frames, SHOWN),
    )  # fmt: skip


def requantize_strip(block: Block, words: str) -> None:
    block.part("table", _requantized(get("multiplier"), language(), words), key=f"{TOPIC}.requantize")


def pair_range(block: Block, words: str) -> None:
    slide(block, "weight", [str(w) for w in range(WEIGHT_TOP + 1)], words)


@lru_cache(maxsize=8)
def _pairs(lang: str, caption: str) -> Json:
    frames = [pair_table((LARGEST_ACTIVATION, LARGEST_ACTIVATION), (w, w)) for w in range(WEIGHT_TOP + 1)]
    return _payload.table(
        frames[0], id=f"{TOPIC}.pair", lang=lang, caption=caption, topic=f"{TOPIC}.weight", layout="strip",
        frames=_payload.printed(frames),
    )  # fmt: skip


def pair_strip(block: Block, words: str) -> None:
    block.part("table", _pairs(language(), words), key=f"{TOPIC}.pair")
