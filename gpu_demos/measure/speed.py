"""Tokens per second from end to end: plain, speculative with each drafter, with low-bit kernels, and both together.

All ways take turns on one prompt after another, in one process, and write the same number of tokens; a way's speed-up
is the ratio to plain decoding on the same prompt with the first of `--linears`, and prompts are the independent units.
transformers' own prompt lookup takes part with the same layers, draft budget and n-gram length. A drafter that looks up
may propose more than one that has to run for each draft. Two decide for themselves how long a draft is: `confident`,
the MTP head that ends it by its own probabilities, and `scheduled`, the block head by Algorithm 1 of DSpark. `long`
copies further than the others: that pays where a wide pass costs little more than a narrow one.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import cast

from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Drafter
from gpu_demos.drafters.block_drafter import BlockDrafter, Scheduled
from gpu_demos.drafters.choose import NAMES, choose
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.low_bit_linear import KERNELS, replaced
from gpu_demos.measure.common import Sheet, domain_prompts, linears_on, mean, middle, parser, progress, run
from gpu_demos.measure.verify_cost import pass_times
from gpu_demos.models import Loaded, load, show
from gpu_demos.options import counted
from gpu_demos.record import Spread
from gpu_demos.speculative import library_lookup
from gpu_demos.target import Target

Run = Callable[[Sequence[int]], None]
Way = tuple[str, str]  # what decodes, and the linear layers that it computes with
LIBRARY = "transformers_lookup"
LOOKUP = "lookup"
LONG = "long"
CONFIDENT = "confident"
SCHEDULED = "scheduled"
SCHEDULE_TURNS = 9  # passes of each width before the schedule is known


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.speed", (__doc__ or "").splitlines()[0], "speed")
    made.add_argument("--dtypes", type=_texts, default=("fp32", "bf16"))
    made.add_argument("--drafters", type=_texts, default=NAMES)
    made.add_argument("--linears", type=_texts, help="invariant,torch, and on CUDA torch; the first is the yardstick")
    made.add_argument("--kernels", type=_texts, default=tuple(KERNELS), help="an empty text for none")
    made.add_argument("--kernels-in", type=_texts, default=("bf16",), help="dtypes of the passes that use the kernels")
    made.add_argument("--texts", type=counted, default=12, help="prompts of each domain")
    made.add_argument("--prompt-tokens", type=counted, default=64)
    made.add_argument("--tokens", type=counted, default=96)
    made.add_argument("--drafts", type=counted, default=5, help="of the lookups and of those who decide, at most")
    made.add_argument("--long-drafts", type=counted, default=10, help="of the lookup that copies further, at most")
    made.add_argument("--head-drafts", type=counted, default=2, help="of every other drafter")
    made.add_argument("--floor", type=float, default=0.4, help="of the confident MTP head, see MtpDrafter")
    made.add_argument("--ngram", type=counted, default=3, help="longest n-gram of both lookups")
    return run(made, measure, "speed", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Each dtype on its own, all ways of one dtype interleaved."""
    linears = options.linears or linears_on(options.device)[::-1]
    for dtype in options.dtypes:
        loaded = {
            linear: load(options.model, dtype=dtype, device=options.device, linear=linear, progress=show)
            for linear in linears
        }
        first = loaded[linears[0]]
        asked = domain_prompts(
            first.tokenizer, count=options.texts, length=options.prompt_tokens, seed=options.seed
        )  # fmt: skip
        seconds = interleaved(all_ways(loaded, options), asked, random.Random(options.seed))
        for (way, domain), found in seconds.items():
            plain = None if way == ("plain", first.linear) else seconds[("plain", first.linear), domain]
            add(sheet, dtype, way, domain, found, plain, options)


def all_ways(loaded: Mapping[str, Loaded], options: argparse.Namespace) -> dict[Way, Run]:
    """Way -> decode a prompt greedily to full length. Every drafter with the first linear layers; with the others and
    with the low-bit kernels plain decoding, and what looks up."""
    first, *others = loaded.values()
    copying = [n for n in options.drafters if n == LOOKUP]
    ways: dict[Way, Run] = {}
    for model, drafters in ((first, options.drafters), *((m, copying) for m in others)):
        ways |= {(n, model.linear): _ours(model, n, options) for n in ("plain", *drafters)}
        if copying:
            ways[LIBRARY, model.linear] = partial(_library, model, options)
    for drafter, way in ((LOOKUP, LONG), ("mtp", CONFIDENT), ("block", SCHEDULED)):
        if drafter in options.drafters:
            ways[way, first.linear] = _ours(first, way, options)
    for kernel in options.kernels if first.dtype in options.kernels_in else ():
        packed = dataclasses.replace(first, model=replaced(first.model, KERNELS[kernel]))
        ways |= {(n, kernel): _ours(packed, n, options) for n in ("plain", *copying)}
    return ways


def _ours(loaded: Loaded, name: str, options: argparse.Namespace) -> Run:
    """Our own loop, its drafter made beforehand: reading weights is not decoding."""
    drafter: Drafter | None = None
    if name in (LOOKUP, LONG):
        drafter = Lookup(longest=options.ngram)
    elif name == SCHEDULED:
        drafter = scheduled(loaded, options)
    elif name == CONFIDENT:
        drafter = choose("mtp", loaded, floor=options.floor)
    elif name != "plain":
        drafter = choose(name, loaded)
    budgets = {LOOKUP: options.drafts, CONFIDENT: options.drafts, SCHEDULED: options.drafts, LONG: options.long_drafts}
    drafts = budgets.get(name, options.head_drafts)

    def write(prompt: Sequence[int]) -> None:
        decode(Target(loaded.model), [prompt], drafter=drafter, drafts=drafts, max_tokens=options.tokens)

    return write


def scheduled(loaded: Loaded, options: argparse.Namespace) -> Drafter:
    """The block head, its draft ended by Algorithm 1 on the times that a pass takes on this machine, measured now."""
    drafter = cast(BlockDrafter, choose("block", loaded))
    widths = range(1, options.drafts + 2)
    times = pass_times(
        {loaded.linear: Target(loaded.model)}, widths, (1,), options.prompt_tokens, SCHEDULE_TURNS, options.seed
    )  # fmt: skip
    drafter.stop = Scheduled(tuple(median(times[loaded.linear, 1, width]) for width in widths))
    return drafter


def _library(loaded: Loaded, options: argparse.Namespace, prompt: Sequence[int]) -> None:
    end, loaded.model.generation_config.eos_token_id = loaded.model.generation_config.eos_token_id, None
    library_lookup(loaded, prompt, drafts=options.drafts, max_tokens=options.tokens, ngram=options.ngram)
    loaded.model.generation_config.eos_token_id = end


def interleaved(
    ways: dict[Way, Run], asked: dict[str, list[list[int]]], rng: random.Random
) -> dict[tuple[Way, str], list[float]]:
    """(way, domain) -> seconds for each prompt. The order of the ways is drawn anew for each prompt, so that none
    always runs after the same other; one uncounted turn comes first."""
    found: dict[tuple[Way, str], list[float]] = {(w, d): [] for d in asked for w in ways}
    for write in ways.values():
        write(next(iter(asked.values()))[0])
    for domain, texts in asked.items():
        for number, prompt in enumerate(texts, 1):
            for way in rng.sample(list(ways), len(ways)):
                began = perf_counter()
                ways[way](prompt)
                found[way, domain].append(perf_counter() - began)
            progress(f"{domain} {number}/{len(texts)}")
    return found


def add(
    sheet: Sheet, dtype: str, way: Way, domain: str, seconds: Sequence[float], plain: Sequence[float] | None,
    options: argparse.Namespace,
) -> None:  # fmt: skip
    """Speed, and the speed-up over plain decoding, None where this is it."""
    at = {"way": way[0], "linear": way[1], "domain": domain, "precision": dtype}
    shape = [1, options.tokens]
    value, spread = middle([options.tokens / s for s in seconds])
    sheet.add("decode_speed", value, spread, at, samples=len(seconds), unit="token/s", dtype=dtype, shape=shape)
    if plain is not None:
        speed_up(sheet, seconds, plain, at, dtype=dtype, shape=shape)


def speed_up(
    sheet: Sheet, seconds: Sequence[float], plain: Sequence[float], at: Mapping[str, object], *, dtype: str,
    shape: Sequence[int],
) -> None:  # fmt: skip
    """Geometric mean of the ratios plain / seconds, prompt by prompt, with the wider half of its interval."""
    log, half = mean([math.log(p / s) for p, s in zip(plain, seconds, strict=True)])
    wide = math.exp(log) * (math.exp(half.value) - 1)
    sheet.add("speedup", math.exp(log), Spread(wide, "ci95"), at, samples=len(seconds), dtype=dtype, shape=shape)


def _texts(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


if __name__ == "__main__":
    sys.exit(main())
