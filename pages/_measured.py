"""Numbers of the real model beside what a chapter computes: which records, in which columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from gpu_demos.live_queue import DRAFTERS
from pages import _records
from pages._controls import Chapter
from pages._frame import Slot
from pages._parts import Block
from pages._records import Column
from pages._words import t

At = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """A table. file: of gpu_demos/results; rows: name -> conditions; head: what the rows are. The interface texts
    `measured` have the words for both; a number stands for itself."""

    file: str
    head: str
    columns: tuple[Column, ...]
    rows: Mapping[str, At]


def _with_half(name: str, tex: str, record: str, at: At, unit: str = "1") -> tuple[Column, Column]:
    """A value, and half the width of its interval."""
    return Column(name, tex, record, at, unit), Column(f"{name}_half", r"\pm", record, at, unit, spread=True)


def _each(key: str, names: Iterable[str], **more: str) -> dict[str, At]:
    return {name: {key: name, **more} for name in names}


DOMAINS = ("code", "prose", "chat")
LOSS = (
    Column("real_bits", "b", "effective_bits", {}, "bit"),
    Column("real_perplexity", "e^L", "perplexity", {"domain": "all"}),
    *_with_half("real_loss", r"\Delta L", "loss_change", {"domain": "all"}, "nat"),
    Column("real_kl", "D", "kl_mean", {"domain": "all"}, "nat"),
    Column("real_kl_tail", "D_{99}", "kl_p99", {"domain": "all"}, "nat"),
    Column("real_flips", "f", "top1_flips", {"domain": "all"}),
)
TASKS = (
    Column("real_right", "a", "task_accuracy", {"task": "all"}),
    Column("real_lost", "n_-", "task_lost", {"task": "all"}),
    Column("real_gained", "n_+", "task_gained", {"task": "all"}),
    Column("real_p", "p", "task_mcnemar_p", {"task": "all"}),
)
OWN = "invariant"  # linear layers of our own; plain decoding with them is what the others are compared with
WAYS: dict[str, At] = {
    **{f"{d}_{p}": {"way": d, "precision": p, "linear": OWN}
       for p in ("fp32", "bf16") for d in (*DRAFTERS, "confident", "scheduled", "long", "transformers_lookup")},
    **{f"{w}_torch_{p}": {"way": w, "precision": p, "linear": "torch"}
       for p in ("fp32", "bf16") for w in ("plain", "lookup", "transformers_lookup")},
    **{f"{w}_{k}_bf16": {"way": w, "precision": "bf16", "linear": k}
       for w in ("plain", "lookup") for k in ("int8", "int4")},
}  # fmt: skip
COPIES = ("lookup_bf16", "long_bf16", "transformers_lookup_bf16")
SPEEDS = tuple(c for d in DOMAINS for c in _with_half(f"real_{d}", "S", "speedup", {"domain": d}, "×"))
CACHES: dict[str, At] = {
    "kv_exact": {"cache": "exact"},
    **{f"kv_{k}_{b}": {"keys": k, "key_bits": b, "value_bits": b}
       for b in ("8", "4", "3", "2") for k in ("channel", "token")},
    **{f"kv_{k}_keys": {"keys": k, "key_bits": "2", "value_bits": "exact"} for k in ("channel", "token")},
    "kv_values": {"keys": "exact", "value_bits": "2"},
    **{f"window_{w}_{s}": {"window": w, "sink": s} for w in ("128", "64", "32") for s in ("0", "4")},
}  # fmt: skip
PASSES = tuple(
    Column(f"real_{p}_{k}_{b}", rf"T_{{{b}}}", "pass_time", {"precision": p, "batch": b, "linear": k}, "ms")
    for b, k in (("1", "torch"), ("1", OWN), ("4", OWN)) for p in ("fp32", "bf16")
)  # fmt: skip
WIDTHS = _each("width", ("1", "2", "3", "4", "5", "6", "8", "12", "16", "24", "32"))
TABLES: dict[str, Shown] = {
    "error_budget.real_formats": Shown(
        "quantization", "format", (*LOSS, *TASKS),
        _each("variant", ("baseline", "q4_1_g32", "int8_channel", "fp8_e4m3", "int4_asym_g32", "nf4_b64",
                          "mxfp4_even", "mxfp4_floor", "rtn_int4_g128", "rtn_int3_g64")),
    ),
    "calibration.real_methods": Shown(
        "quantization", "method", (*LOSS, *TASKS),
        _each("variant", ("rtn_int4_g32", "awq_int4_g32", "gptq_int4_g32", "rtn_int4_g64", "awq_int4_g64",
                          "gptq_int4_g64", "hadamard_int4_g64", "hadamard_gptq_int4_g64", "rtn_int4_g128",
                          "awq_int4_g128", "gptq_int4_g128", "rtn_int3_g64", "gptq_int3_g64")),
    ),
    "speculation_economics.real_passes": Shown("verify_cost", "width", PASSES, WIDTHS),
    "speculation_economics.real_passes_newer": Shown("verify_cost_avx512", "width", PASSES, WIDTHS),
    "speculation_economics.real_speeds": Shown("speed", "way", SPEEDS, WAYS),
    "speculation_economics.real_copies": Shown("speed_copying", "way", SPEEDS, {n: WAYS[n] for n in COPIES}),
    "draft_precision.real_formats": Shown(
        "draft_precision", "format",
        (Column("real_bits", "b", "effective_bits", {}, "bit"),
         *_with_half("real_rate", r"\alpha", "acceptance_rate", {"temperature": "1", "domain": "all"}),
         Column("real_tokens", r"\tau", "tokens_per_round", {"temperature": "1", "domain": "all"}, "token"),
         *_with_half("real_gain", r"\Delta\tau", "tokens_per_round_gain", {"temperature": "1", "domain": "all"},
                     "token")),
        _each("format", ("fp32", "fp8_e4m3", "int8_channel", "rtn_int4_g64", "awq_int4_g64", "gptq_int4_g64",
                         "rtn_int3_g64")),
    ),
    "draft_precision.real_kernels": Shown(
        "draft_precision", "kernel",
        (Column("real_step", "t_d", "step_time", {}, "ms"),
         Column("real_step_iqr", "Q", "step_time", {}, "ms", spread=True),
         *_with_half("real_speedup", "S", "speedup", {}, "×")),
        _each("kernel", ("bf16", "int8", "int4")),
    ),
    "dspark.real_positions": Shown(
        "acceptance", "position",
        tuple(c for d in DRAFTERS for c in _with_half(
            f"real_{d}", r"\alpha_k", "acceptance_rate", {"drafter": d, "temperature": "1", "domain": "all"})),
        _each("position", ("1", "2", "3", "4", "5")),
    ),
    "mtp_boosting.real_recipes": Shown(
        "recipes", "recipe",
        (Column("measured_tokens", r"\tau", "tokens_per_round", {}, "token"),
         Column("measured_gain", r"\Delta\tau", "tokens_per_round_gain", {}, "token"),
         Column("measured_gain_half", r"\pm", "tokens_per_round_gain", {}, "token", spread=True),
         Column("measured_first", r"\alpha_1", "acceptance_rate", {"position": "1"}),
         Column("measured_third", r"\alpha_3", "acceptance_rate", {"position": "3"}),
         Column("measured_fifth", r"\alpha_5", "acceptance_rate", {"position": "5"})),
        _each("recipe", ("base", "kl", "kl_mixing", "lk", "lk_mixing"), domain="all", temperature="1"),
    ),
    "mtp_boosting.real_states": Shown(
        "hidden_states", "reads",
        tuple(c for k in "234" for c in _with_half(f"real_cosine_{k}", r"\cos", "cosine", {"depth": k})),
        {f"{r}_{reads}": {"recipe": r, "reads": reads}
         for r in ("lk", "lk_mixing") for reads in ("training", "drafting")},
    ),
    "error_budget.real_cache": Shown(
        "kv_cache", "cache",
        (Column("real_bits", "b", "effective_bits", {}, "bit"), Column("real_perplexity", "e^L", "perplexity", {}),
         Column("real_kl", "D", "kl_mean", {}, "nat"), Column("real_kl_tail", "D_{99}", "kl_p99", {}, "nat"),
         Column("real_flips", "f", "top1_flips", {}), *TASKS),
        CACHES,
    ),
    "model_lab.real_lengths": Shown(
        "acceptance", "drafter",
        tuple(c for d in DOMAINS for c in _with_half(f"real_{d}", r"\tau", "tokens_per_round", {"domain": d}, "token")),
        {f"{d}_{t}": {"drafter": d, "temperature": t} for t in ("0", "0.6", "1") for d in DRAFTERS},
    ),
    "model_lab.real_distances": Shown(
        "acceptance", "drafter",
        tuple(Column(f"real_{name}_{d}", tex, record, {"domain": d}, unit)
              for name, tex, record, unit in (
                  ("tv", "V", "total_variation", "1"), ("kl", "D", "kl_draft_target", "nat"),
                  ("pinsker", r"\sqrt{D/2}", "pinsker_bound", "1"),
              ) for d in DOMAINS),
        {f"{d}_1": {"drafter": d, "temperature": "1"} for d in DRAFTERS},
    ),
    "model_lab.real_parted": Shown(
        "greedy_texts", "drafter",
        (Column("real_parted_fp32", "n", "parted", {"precision": "fp32", "linear": OWN}),
         Column("real_parted_bf16_torch", "n", "parted", {"precision": "bf16", "linear": "torch"}),
         Column("real_gap_torch", "g", "gap_where_parted", {"precision": "bf16", "linear": "torch"}),
         Column("real_parted_bf16_invariant", "n", "parted", {"precision": "bf16", "linear": OWN})),
        _each("drafter", DRAFTERS),
    ),
    "model_lab.real_law": Shown(
        "sampled_law", "rule",
        (Column("real_chi", r"\chi^2", "chi_square", {}), Column("real_freedom", r"\nu", "degrees_of_freedom", {}),
         Column("real_p", "p", "p_value", {})),
        _each("rule", ("exact", "no_residual")),
    ),
}  # fmt: skip


def slots(chapter: Chapter) -> dict[str, Slot]:
    """Every table here of a chapter, under the name that its lesson uses."""
    return {name: partial(_show, chapter, name) for name in TABLES if name.startswith(f"{chapter.topic}.")}


def _show(chapter: Chapter, name: str, block: Block, words: str) -> None:
    shown = TABLES[name]
    rows = {key if key.isdigit() else t(f"measured.row_{key.replace('.', '_')}"): at for key, at in shown.rows.items()}
    table = _records.table(name, shown.file, shown.columns, rows)
    data = chapter.table(table, name.partition(".")[2], words)
    block.part("table", {**data, "head": t(f"measured.head_{shown.head}")}, key=name)
