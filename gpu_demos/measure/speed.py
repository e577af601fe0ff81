"""Tokens per second from end to end: plain, speculative with each drafter, with low-bit kernels, and both together.

All ways take turns on one prompt after another, in one process, and write the same number of tokens; a way's speed-up
is the ratio to plain decoding on the same prompt, and prompts are the independent units. transformers' own prompt
lookup takes part with the same draft budget and n-gram length.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter

from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Drafter
from gpu_demos.drafters.choose import NAMES, choose
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.low_bit_linear import KERNELS, replaced
from gpu_demos.measure.common import Sheet, domain_prompts, mean, middle, parser, progress, run
from gpu_demos.models import Loaded, load, show
from gpu_demos.record import Spread
from gpu_demos.speculative import library_lookup
from gpu_demos.target import Target

Way = Callable[[Sequence[int]], int]
LIBRARY = "transformers_lookup"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.speed", (__doc__ or "").splitlines()[0], "speed")
    made.add_argument("--dtypes", type=_texts, default=("fp32", "bf16"))
    made.add_argument("--drafters", type=_texts, default=NAMES)
    made.add_argument("--kernels", type=_texts, default=tuple(KERNELS), help="an empty text for none")
    made.add_argument("--kernels-in", type=_texts, default=("bf16",), help="dtypes of the passes that use the kernels")
    made.add_argument("--texts", type=int, default=4, help="prompts of each domain")
    made.add_argument("--prompt-tokens", type=int, default=64)
    made.add_argument("--tokens", type=int, default=64)
    made.add_argument("--drafts", type=int, default=5)
    made.add_argument("--ngram", type=int, default=3, help="longest n-gram of both lookups")
    return run(made, measure, "speed", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Each dtype on its own, all ways of one dtype interleaved."""
    for dtype in options.dtypes:
        loaded = load(options.model, dtype=dtype, device=options.device, progress=show)
        ways = all_ways(loaded, options)
        asked = domain_prompts(
            loaded.tokenizer, count=options.texts, length=options.prompt_tokens, seed=options.seed
        )  # fmt: skip
        speeds = interleaved(ways, asked, random.Random(options.seed))
        for (way, domain), found in speeds.items():
            add(sheet, dtype, way, domain, found, speeds["plain", domain], options)


def all_ways(loaded: Loaded, options: argparse.Namespace) -> dict[str, Way]:
    """Name -> decode a prompt greedily to full length and return the number of target passes."""
    target = Target(loaded.model)

    def ours(target: Target, name: str, prompt: Sequence[int]) -> int:
        drafter = None if name == "plain" else _drafter(name, loaded, options.ngram)
        (done,) = decode(
            target, [prompt], drafter=drafter, drafts=options.drafts, max_tokens=options.tokens
        )  # fmt: skip
        return len(done.rounds)

    def library(prompt: Sequence[int]) -> int:
        end, loaded.model.generation_config.eos_token_id = loaded.model.generation_config.eos_token_id, None
        library_lookup(loaded, prompt, drafts=options.drafts, max_tokens=options.tokens, ngram=options.ngram)
        loaded.model.generation_config.eos_token_id = end
        return 0

    ways: dict[str, Way] = {n: partial(ours, target, n) for n in ("plain", *options.drafters)}
    if "lookup" in options.drafters:
        ways[LIBRARY] = library
    for kernel in options.kernels if loaded.dtype in options.kernels_in else ():
        quantized = Target(replaced(loaded.model, KERNELS[kernel]))
        ways |= {f"{n}_{kernel}": partial(ours, quantized, n) for n in ("plain", *options.drafters[:1])}
    return ways


def interleaved(
    ways: dict[str, Way], asked: dict[str, list[list[int]]], rng: random.Random
) -> dict[tuple[str, str], list[float]]:
    """(way, domain) -> seconds for each prompt. The order of the ways is drawn anew for each prompt, so that none
    always runs after the same other; one uncounted turn comes first."""
    found: dict[tuple[str, str], list[float]] = {(w, d): [] for d in asked for w in ways}
    for way in ways.values():
        way(next(iter(asked.values()))[0])
    for domain, texts in asked.items():
        for number, prompt in enumerate(texts, 1):
            for name in rng.sample(list(ways), len(ways)):
                began = perf_counter()
                ways[name](prompt)
                found[name, domain].append(perf_counter() - began)
            progress(f"{domain} {number}/{len(texts)}")
    return found


def add(
    sheet: Sheet, dtype: str, way: str, domain: str, seconds: Sequence[float], plain: Sequence[float],
    options: argparse.Namespace,
) -> None:  # fmt: skip
    """Speed, and the speed-up over plain decoding."""
    at = {"way": way, "domain": domain, "precision": dtype}
    shape = [1, options.tokens]
    value, spread = middle([options.tokens / s for s in seconds])
    sheet.add("decode_speed", value, spread, at, samples=len(seconds), unit="token/s", dtype=dtype, shape=shape)
    if way != "plain":
        speed_up(sheet, seconds, plain, at, dtype=dtype, shape=shape)


def speed_up(
    sheet: Sheet, seconds: Sequence[float], plain: Sequence[float], at: Mapping[str, object], *, dtype: str,
    shape: Sequence[int],
) -> None:  # fmt: skip
    """Geometric mean of the ratios plain / seconds, prompt by prompt, with the wider half of its interval."""
    log, half = mean([math.log(p / s) for p, s in zip(plain, seconds, strict=True)])
    wide = math.exp(log) * (math.exp(half.value) - 1)
    sheet.add("speedup", math.exp(log), Spread(wide, "ci95"), at, samples=len(seconds), dtype=dtype, shape=shape)


def _drafter(name: str, loaded: Loaded, ngram: int) -> Drafter:
    return Lookup(longest=ngram) if name == "lookup" else choose(name, loaded)


def _texts(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


if __name__ == "__main__":
    sys.exit(main())
