"""The drafter with fewer bits: does rounding cost acceptance, and does it save time?

The linear layers of the MTP head are rounded; embedding and LM head belong to the target and stay. Acceptance comes
from whole decodings with an unrounded fp32 target on the same prompts with the same random numbers, so that two formats
are compared text by text. Time comes from torch's own CPU kernels, where they exist (`low_bit_linear`): a step of the
head, and greedy decoding from end to end against plain decoding, in one process and by turns. A rounded weight that is
computed with as a wide number saves no time, hence no time for the other formats.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import cast

import torch
from torch import nn

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Decoded
from gpu_demos.drafters.choose import choose
from gpu_demos.drafters.mtp import MtpDrafter, MtpHead, Steps
from gpu_demos.low_bit_linear import KERNELS
from gpu_demos.measure.common import SURE, Sheet, domain_prompts, mean, middle, parser, progress, ratio, run
from gpu_demos.measure.speed import speed_up
from gpu_demos.models import LINEARS, Loaded, load, show
from gpu_demos.options import counted
from gpu_demos.prompts import end_tokens
from gpu_demos.quantize_calibrated import Seen
from gpu_demos.quantize_model import Variant, convert, inputs_of
from gpu_demos.target import Target
from mechanisms.calibration_grid import Grid

INT4 = Grid(bits=4, group=64, symmetric=True)
FORMATS = (
    Variant("fp8_e4m3", "fp8"),
    Variant("int8_channel", "rtn", Grid(bits=8, granularity="channel")),
    Variant("rtn_int4_g64", "rtn", INT4),
    Variant("awq_int4_g64", "awq", INT4),
    Variant("gptq_int4_g64", "gptq", INT4),
    Variant("rtn_int3_g64", "rtn", Grid(bits=3, group=64, symmetric=True)),
)
WIDE = "fp32"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.draft_precision", (__doc__ or "").splitlines()[0], "draft_precision")
    made.add_argument("--temperatures", type=lambda text: tuple(map(float, text.split(","))), default=(0.0, 1.0))
    made.add_argument("--texts", type=counted, default=8, help="prompts of each domain, and as many for calibration")
    made.add_argument("--timed-texts", type=counted, default=3, help="of them, those that are timed")
    made.add_argument("--prompt-tokens", type=counted, default=48)
    made.add_argument("--tokens", type=counted, default=64)
    made.add_argument("--drafts", type=counted, default=5)
    made.add_argument("--linear", choices=("auto", *LINEARS), default="auto", help="layers of what is timed")
    made.add_argument("--timed-drafts", type=counted, default=2, help="drafts per round where time is measured")
    made.add_argument("--turns", type=counted, default=60, help="timed steps of each head")
    return run(made, measure, "draft_precision", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Acceptance of every format in fp32, then the times of the formats that have a kernel, in bf16."""
    loaded = load(options.model, dtype="fp32", device=options.device, progress=show)
    asked = _asked(loaded, options)
    head = head_of(loaded)
    seen = inputs_of(linears(head), lambda: _all(loaded, head, _asked(loaded, options, told=True), 1.0, options))
    wide: dict[tuple[float, str], list[float]] = {}
    for variant in (None, *FORMATS):
        with rounded(head, variant, seen) as bits:
            name = WIDE if variant is None else variant.id
            sheet.add("effective_bits", bits, SURE, {"format": name}, samples=1, unit="bit", dtype="fp32")
            for temperature in options.temperatures:
                for domain, done in _all(loaded, head, asked, temperature, options).items():
                    at = {"format": name, "temperature": f"{temperature:g}", "domain": domain}
                    base = wide.setdefault((temperature, domain), [d.tokens_per_round for d in done])
                    add(sheet, done, base, at, options)
            progress(name)
    narrow = load(options.model, dtype="bf16", device=options.device, linear=options.linear, progress=show)
    heads = heads_by_kernel(head_of(narrow))
    add_steps(sheet, heads, narrow.linear, options)
    add_speeds(sheet, narrow, heads, options)


def head_of(loaded: Loaded) -> MtpHead:
    """The shipped head beside this target."""
    return cast(MtpDrafter, choose("mtp", loaded)).head


def linears(head: MtpHead) -> dict[str, nn.Linear]:
    """Name -> trained linear layer."""
    return {name: layer for name, layer in head.named_modules() if isinstance(layer, nn.Linear)}


@contextmanager
def rounded(head: MtpHead, variant: Variant | None, seen: Mapping[str, Seen]) -> Generator[float]:
    """The head's linear layers in this format until the end of the block, None for as they are; gives the mean bits."""
    kept = {name: layer.weight.data for name, layer in linears(head).items()}
    sizes = {name: weights.numel() for name, weights in kept.items()}
    try:
        for name, layer in linears(head).items() if variant else ():
            layer.weight.data = convert(kept[name], cast(Variant, variant), seen[name]).to(kept[name].dtype)
        bits = {name: variant.bits(w.shape[1]) if variant else 32.0 for name, w in kept.items()}
        yield sum(bits[name] * size for name, size in sizes.items()) / sum(sizes.values())
    finally:
        for name, layer in linears(head).items():
            layer.weight.data = kept[name]


def add(
    sheet: Sheet, done: Sequence[Decoded], wide: Sequence[float], at: dict[str, str], options: argparse.Namespace
) -> None:
    """Tokens per round, its difference to the unrounded head text by text, and accepted of judged drafts."""
    shape, each = [len(done), options.tokens], [d.tokens_per_round for d in done]
    sheet.add("tokens_per_round", *mean(each), at, samples=len(done), dtype="fp32", shape=shape, unit="token")
    if at["format"] != WIDE:
        gains = [a - b for a, b in zip(each, wide, strict=True)]
        sheet.add("tokens_per_round_gain", *mean(gains), at, samples=len(done), dtype="fp32", shape=shape, unit="token")
    judged = [float(sum(j for j, _ in d.accepted_at())) for d in done]
    taken = [float(sum(a for _, a in d.accepted_at())) for d in done]
    if (found := ratio(taken, judged)) is not None:
        sheet.add("acceptance_rate", *found, at, samples=int(sum(judged)), dtype="fp32", shape=shape)


def heads_by_kernel(head: MtpHead) -> dict[str, MtpHead]:
    """bf16 as it is, and copies whose linear layers stay packed."""
    made = {"bf16": head}
    for kernel, layer in KERNELS.items():
        packed = copy.deepcopy(head)
        for name, linear in linears(head).items():
            parent, _, last = name.rpartition(".")
            setattr(packed.get_submodule(parent), last, layer(linear.weight.detach()))
        made[kernel] = packed
    return made


@torch.inference_mode()
def add_steps(sheet: Sheet, heads: Mapping[str, MtpHead], linear: str, options: argparse.Namespace) -> None:
    """Time of one drafted token, law included, after 64 cached positions; every turn visits every head once."""
    taken: dict[str, list[float]] = {name: [] for name in heads}
    rng, cached = random.Random(options.seed), 64
    width = heads["bf16"].shape.width
    state = torch.randn(1, cached, width).to(heads["bf16"].lm_rows)
    tokens = torch.zeros(1, cached, dtype=torch.int64, device=state.device)
    steps = {name: Steps(head, 1, cached + options.turns + 1) for name, head in heads.items()}
    for step in steps.values():
        step(state, tokens, [0])
    for turn in range(options.turns + 1):
        for name in rng.sample(list(heads), len(heads)):
            began = perf_counter()
            guess = steps[name](state[:, -1:], tokens[:, -1:], [cached + turn])
            heads[name].logits(guess).float().softmax(-1)
            if turn:
                taken[name].append(1e3 * (perf_counter() - began))
    for name, found in taken.items():
        at = {"kernel": name, "linear": linear}
        sheet.add("step_time", *middle(found), at, unit="ms", samples=len(found), dtype="bf16", shape=[1, 1, width])


def add_speeds(sheet: Sheet, loaded: Loaded, heads: Mapping[str, MtpHead], options: argparse.Namespace) -> None:
    """Greedy decoding with each head against plain decoding of the same prompt, over all domains."""
    target, rng = Target(loaded.model), random.Random(options.seed)
    asked = [p for texts in _asked(loaded, options).values() for p in texts[: options.timed_texts]]
    taken: dict[str, list[float]] = {name: [] for name in ("plain", *heads)}
    for number, prompt in enumerate([asked[0], *asked]):
        for name in rng.sample(list(taken), len(taken)):
            drafter = MtpDrafter(heads[name]) if name in heads else None
            began = perf_counter()
            decode(target, [prompt], drafter=drafter, drafts=options.timed_drafts, max_tokens=options.tokens)
            if number:  # the first turn warms up
                taken[name].append(perf_counter() - began)
    for name in heads:
        at = {"kernel": name, "linear": loaded.linear}
        speed_up(sheet, taken[name], taken["plain"], at, dtype="bf16", shape=[1, options.tokens])


def _asked(loaded: Loaded, options: argparse.Namespace, *, told: bool = False) -> dict[str, list[list[int]]]:
    return domain_prompts(
        loaded.tokenizer, count=options.texts, length=options.prompt_tokens, seed=options.seed,
        side="train" if told else "held_out",
    )  # fmt: skip


def _all(
    loaded: Loaded, head: MtpHead, asked: Mapping[str, Sequence[Sequence[int]]], temperature: float,
    options: argparse.Namespace,
) -> dict[str, list[Decoded]]:  # fmt: skip
    """Domain -> its prompts decoded, each with random numbers of its own; `all` of them together."""
    found = {
        domain: decode(
            Target(loaded.model),
            texts,
            drafter=MtpDrafter(head),
            drafts=options.drafts,
            max_tokens=options.tokens,
            sampling=Sampling(temperature),
            eos=end_tokens(loaded),
            seeds=[options.seed * 10_000 + i for i in range(len(texts))],
        )
        for domain, texts in asked.items()
    }
    return found | {"all": [text for texts in found.values() for text in texts]}


if __name__ == "__main__":
    sys.exit(main())
