"""The tables of the draft-precision audit in the shape of their reference files.

Columns ending in `_printed` repeat the article; they are read from its records. `status` is computed: a printed figure
that neither scenario nor a mixture of both gives is a mismatch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from mechanisms.draft_precision import DRAFTS, TOKENS_HALF, matrix
from mechanisms.precision_break import CASES, breaks
from mechanisms.precision_choice import LONG, SHORT, choices
from mechanisms.precision_free import free_verification
from mechanisms.precision_latency import Model, common, implied
from mechanisms.precision_memory import READINGS, memory
from mechanisms.quant_reference import exact, get, places
from mechanisms.quantity import short_text

Row = Mapping[str, str]
MODEL_NAMES: dict[Model, str] = {
    "printed": "printed tokens per step", "code": "formula, code rate", "chat": "formula, chat rate",
    "mean": "mean of the two formula values", "mean_rate": "formula at the mean rate",
}  # fmt: skip
READING_NAMES = (
    "BF16 weights", "FP8, every weight", "FP8, tied embedding BF16", "INT4 g128 (4.15625 bit), tied embedding BF16",
    "INT4 g128, every weight", "INT4 without metadata, every weight",
)  # fmt: skip
CHOICE_CASES = (
    ("threshold, FP8 latency", "0.6", "4.2"), ("threshold, INT4 latency", "0.6", "3.9"), ("INT4 code", "0.612", "3.9"),
    ("INT4 chat", "0.495", "3.9"), ("FP8 code", "0.769", "4.2"), ("FP8 chat", "0.668", "4.2"),
)  # fmt: skip
BREAK_NAMES = {"int4_code": "INT4 code", "int4_chat": "INT4 chat", "rounded": "rounded as in the text"}
FREE_NAMES = (
    ("free_target", "target step T from rows BF16 and FP8", "ms"),
    ("free_verification", "verification plus overhead C from the same rows", "ms"),
    ("free_price", "C/T", ""),
    ("predicted_int4", "speedup predicted for INT4 (printed 1.81)", "x"),
)


def _matrix() -> Iterator[Row]:
    table = matrix()
    for i, d in enumerate(DRAFTS):
        code, chat, said = (get(table, n, i) for n in ("tokens_code", "tokens_chat", "tokens_printed"))
        inside = min(code, chat) - TOKENS_HALF <= said <= max(code, chat) + TOKENS_HALF
        row = {
            "draft": d.id, "memory_gb_printed": d.memory, "step_ms_printed": d.step, "accept_code_printed": d.code,
            "accept_chat_printed": d.chat, "tokens_per_step_printed": d.tokens, "speedup_printed": d.speedup,
        }  # fmt: skip
        for name in ("tokens_code", "tokens_chat", "tokens_mean"):
            row |= {f"{name}_exact": exact(table.value(i, name)), f"{name}_12dp": places(table.value(i, name), 12)}
        names = {"tokens_at_mean_rate": "tokens_at_mean_rate", "excess_over_code": "excess_over_code",
                 "implied_rate": "needed_rate", "upper_bound": "upper_bound"}  # fmt: skip
        row |= {f"{short}_12dp": places(table.value(i, name), 12) for short, name in names.items()}
        row |= {"draft_total_ms_exact": exact(table.value(i, "draft_total")), "status": "ok" if inside else "mismatch"}
        yield row


def _implied() -> Iterator[Row]:
    for model, name in MODEL_NAMES.items():
        table = implied(model)
        for i, d in enumerate(DRAFTS):
            yield {
                "tokens_model": name, "draft": d.id, "tokens_12dp": places(table.value(i, "tokens"), 12),
                "speedup_printed": d.speedup, "step_ms": d.step,
                "target_ms_exact": exact(table.value(i, "implied_target")),
                "target_ms_12dp": places(table.value(i, "implied_target"), 12),
                "target_ms_low_12dp": places(table.value(i, "implied_low"), 12),
                "target_ms_high_12dp": places(table.value(i, "implied_high"), 12),
            }  # fmt: skip


def _models() -> Iterator[Row]:
    for model, name in MODEL_NAMES.items():
        table = common(model)
        yield {
            "tokens_model": name, "common_low_ms_12dp": places(table.value(0, "common_low"), 12),
            "common_high_ms_12dp": places(table.value(0, "common_high"), 12),
            "one_latency_possible": exact(table.value(0, "one_target_possible")),
        }  # fmt: skip


def _free() -> Iterator[Row]:
    table = free_verification()
    for name, words, unit in FREE_NAMES:
        value = table.value(0, name)
        yield {"quantity": words, "value_exact": exact(value), "value_12dp": places(value, 12), "unit": unit}


def _choices() -> Iterator[Row]:
    for case, rate, step in CHOICE_CASES:
        table = choices(Fraction(rate), Fraction(step))
        for target, which in ((SHORT, "short"), (LONG, "long")):
            for k in range(len(table.rows)):
                value = table.value(k, f"speedup_{which}")
                yield {
                    "case": case, "rate": rate, "step_ms": step, "target_ms": short_text(target), "K": table.rows[k],
                    "speedup": places(value), "speedup_exact": exact(value),
                    "best": exact(table.value(k, f"best_{which}")),
                }  # fmt: skip


def _breaks() -> Iterator[Row]:
    for case, name in BREAK_NAMES.items():
        table = breaks(CASES[case])
        for j in range(len(table.rows)):
            chance = table.value(j, "break_probability")
            yield {
                "case": name, "rate": short_text(CASES[case]), "accepted": table.rows[j],
                "probability": places(chance), "probability_exact": exact(chance),
                "cumulative": places(table.value(j, "break_so_far")),
            }  # fmt: skip


def _memory() -> Iterator[Row]:
    table = memory()
    for i, name in zip(range(len(READINGS)), READING_NAMES, strict=True):
        gb = table.value(i, "weight_gigabytes")
        yield {
            "reading": name, "gb_printed": short_text(get(table, "memory_printed", i)),
            "bytes_exact": exact(table.value(i, "weight_bytes")), "gb_12dp": places(gb, 12),
            "gib_12dp": places(table.value(i, "weight_gibibytes"), 12),
            "within_rounding": exact(table.value(i, "memory_reached")),
        }  # fmt: skip


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "draft_precision_matrix": _matrix,
    "draft_precision_implied_latency": _implied,
    "draft_precision_latency_models": _models,
    "draft_precision_free_verification": _free,
    "draft_precision_k_choice": _choices,
    "draft_precision_rejection": _breaks,
    "draft_memory": _memory,
}
