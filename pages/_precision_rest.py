"""Memory, what reading it costs, and sentences of the article done again."""

from __future__ import annotations

from dataclasses import replace

from mechanisms.precision_claims import held, noise, relative, totals
from mechanisms.precision_memory import READINGS, memory, parameters, reading
from pages._parts import Block
from pages._precision_latency import order_of, strip_of
from pages._precision_state import TOPIC, audit, note, show
from pages._words import t

_MEMORY = (
    "memory_printed",
    "weight_gigabytes",
    "other_gigabytes",
    "weight_bytes",
    "weight_gibibytes",
    "memory_reached",
)
_PARTS = ("embedding_weights", "linear_weights", "bias_weights", "norm_weights", "all_weights")


def parameter_strip(block: Block, words: str) -> None:
    note(block, words, "parameters_head")
    found = parameters()
    show(block, found, "parameters", words, layout="strip", **strip_of(found, _PARTS))


def memory_table(block: Block, words: str) -> None:
    found = memory()
    order = order_of(found, _MEMORY)
    marks = audit(
        ("memory_printed",), {"memory_printed": ("weight_gigabytes",)},
        computed={"memory_printed": ("memory_reached", ("missed", "reached"))}, hide=order[len(_MEMORY) :],
    )  # fmt: skip
    named = replace(found, rows=tuple(t(f"{TOPIC}.reading_{r}") for r in READINGS))
    show(block, named, "memory", words, head="row_reading", order=order, audit=marks)


def reading_table(block: Block, words: str) -> None:
    show(block, reading(), "reading", words, audit=audit(("memory_printed", "step_printed", "bandwidth")))


def relative_table(block: Block, words: str) -> None:
    found = relative()
    named = replace(found, rows=tuple(t(f"{TOPIC}.claim_{r}") for r in found.rows))
    marks = audit(
        ("claimed_percent", "before", "after"), {"claimed_percent": ("relative_drop",)},
        fixed={"claimed_percent": ("points", "contradicted")},
    )  # fmt: skip
    show(block, named, "relative", words, head="row_claim", audit=marks)


def totals_table(block: Block, words: str) -> None:
    marks = audit(
        ("total_said", "step_printed"), {"total_said": ("draft_total",)}, fixed={"total_said": ("contradicted",) * 2}
    )  # fmt: skip
    show(block, totals(), "totals", words, audit=marks)


def held_table(block: Block, words: str) -> None:
    found = held()
    named = replace(found, rows=(t(f"{TOPIC}.claim_step"),))
    marks = audit(
        ("held_percent", "before", "after"), {"held_percent": ("relative_drop",)}, fixed={"held_percent": ("agrees",)}
    )  # fmt: skip
    show(block, named, "held", words, head="row_claim", audit=marks)


def noise_strip(block: Block, words: str) -> None:
    note(block, words, "noise_head")
    found = noise()
    shown = ("drop_points", "standard_error", "difference_error", "drop_in_errors")
    show(block, found, "noise", words, layout="strip", **strip_of(found, shown))
