"""From weight errors to output errors, and from bits to bytes."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from mechanisms.quant_bytes import CACHE_128K, LLAMA_70B, SEVEN_BILLION, weight_bytes
from mechanisms.quant_output import INPUT_VECTOR, LOUD, QUIET, damage
from mechanisms.quant_stack import stacked
from mechanisms.table import Table
from pages import _payload
from pages._budget_state import TOPIC, choose, get, note, show, slide
from pages._parts import Block
from pages._words import t

SIZES = tuple(2**k for k in range(6))  # of the loud input channel
ERRORS = {"quiet": QUIET, "loud": LOUD}
FIRST = (
    "weight_gigabytes", "weight_gibibytes", "ratio_to_16_bit", "total_ratio", "code_bytes", "metadata_bytes",
    "kept_bytes", "weight_bytes", "cache_bytes", "total_bytes",
)  # fmt: skip
GIVEN = ("quantized_weights", "kept_weights", "payload_bits", "metadata_per_value")
METADATA = Fraction(5, 32)  # INT4, groups of 128, 16-bit scale and 4-bit zero point


def loud_range(block: Block, words: str) -> None:
    slide(block, "loud", [str(k) for k in SIZES], words)


@lru_cache(maxsize=4)
def _damage(name: str) -> tuple[list[Table], list[Table]]:
    found = [damage(ERRORS[name], (Fraction(k), *INPUT_VECTOR[1:])) for k in SIZES]
    return found, [x.over for x in found if x.over is not None]


def damage_strips(block: Block, words: str) -> None:
    """Both errors one below the other, so that equal norms and unequal damage are seen at once."""
    note(block, words, "damage_head")
    for name in ERRORS:
        found, outputs = _damage(name)
        title = t(f"{TOPIC}.error_{name}")
        block.prose(f"<h3>{title}</h3>", key=f"{TOPIC}.damage_{name}_head")
        topic = f"{TOPIC}.loud"
        show(block, outputs[0], f"outputs_{name}", t(f"{TOPIC}.outputs_caption"), head="row_output", topic=topic,
             frames=_payload.printed(outputs))  # fmt: skip
        show(block, found[0], f"damage_{name}", title, layout="strip", topic=topic, over=f"{TOPIC}.outputs_{name}",
             frames=_payload.printed(found))  # fmt: skip


def model_choice(block: Block, words: str) -> None:
    choose(block, "model", ("seven", "large"), words)


@lru_cache(maxsize=4)
def _sizes(model: str) -> dict[str, Table]:
    every = SEVEN_BILLION if model == "seven" else LLAMA_70B.weights
    found = {
        "bf16": weight_bytes(every, Fraction(16)),
        "int8": weight_bytes(every, Fraction(8)),
        "int4": weight_bytes(every, Fraction(4)),
        "int4_meta": weight_bytes(every, Fraction(4), metadata=METADATA),
    }
    if model == "large":
        inner, rest = LLAMA_70B.linear_weights, LLAMA_70B.other_weights
        found["int4_kept"] = weight_bytes(inner, Fraction(4), metadata=METADATA, kept=rest)
        found["int4_cache"] = weight_bytes(inner, Fraction(4), metadata=METADATA, kept=rest, cache=CACHE_128K)
    return found


def bytes_table(block: Block, words: str) -> None:
    found = _sizes(get("model"))
    tables = list(found.values())
    names = [t(f"{TOPIC}.bytes_{n}") for n in found]
    whole = stacked(tables, names, [q.name for q in tables[0].columns])
    show(block, whole, "bytes", words, head="row_storage", order=[*FIRST, *GIVEN])
