"""Write the traces that the page `model_lab` plays: three prompts, every drafter, greedy and sampled.

python -m gpu_demos.tracing                   all of them into gpu_demos/traces
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Decoded, Round
from gpu_demos.drafters.choose import NAMES, choose
from gpu_demos.measure.provenance import ROOT, provenance
from gpu_demos.models import SMOLLM2, Loaded, load, show
from gpu_demos.models_fetch import ModelUnavailable
from gpu_demos.options import counted
from gpu_demos.prompts import encode, end_tokens
from gpu_demos.target import Target
from gpu_demos.trace import Trace, TraceRound, dump

TRACES = ROOT / "gpu_demos/traces"
PROMPTS = {  # text, and whether it is continued as it is
    "code": (
        "def area_of_square(side):\n    return side * side\n\n\ndef area_of_rectangle(width, height):\n"
        "    return width * height\n\n\ndef area_of_triangle(base, height):\n",
        True,
    ),
    "prose": (
        "A dictionary maps keys to values. A key may be any value that does not change. A list cannot be a key, since",
        True,
    ),
    "chat": ("Name three animals that live in the sea, and say one thing about each of them.", False),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write every trace; 0 when it is done, 1 with one sentence when it could not be."""
    made = argparse.ArgumentParser("python -m gpu_demos.tracing", description=(__doc__ or "").splitlines()[0])
    made.add_argument("--drafters", type=lambda text: tuple(text.split(",")), default=NAMES)
    made.add_argument("--temperatures", type=lambda text: tuple(map(float, text.split(","))), default=(0.0, 1.0))
    made.add_argument("--tokens", type=counted, default=48)
    made.add_argument("--drafts", type=counted, default=5)
    made.add_argument("--seed", type=int, default=3)
    made.add_argument("--model", default=SMOLLM2)
    made.add_argument("--out", type=Path, default=TRACES)
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = made.parse_args(given)
    try:
        shared = provenance("gpu_demos.tracing", [a for a in given if a not in ("--out", str(options.out))])
        loaded = load(options.model, dtype="fp32", progress=show)
        options.out.mkdir(parents=True, exist_ok=True)
        for domain, (name, temperature) in product(PROMPTS, product(options.drafters, options.temperatures)):
            trace = traced(loaded, domain, name, temperature, options, shared)
            dump(trace, options.out / f"{domain}_{name}_{temperature:g}.json")
            print(
                f"{domain}, {name}, temperature {temperature:g}: {len(trace.tokens)} tokens, {len(trace.rounds)} rounds"
            )
    except (ModelUnavailable, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def traced(
    loaded: Loaded, domain: str, name: str, temperature: float, options: argparse.Namespace, shared: dict[str, Any]
) -> Trace:
    """Decode one prompt with one drafter, and plainly beside it."""
    text, raw = PROMPTS[domain]
    prompt, target = encode(loaded, text, raw=raw), Target(loaded.model)
    write = partial(
        decode, target, [prompt], max_tokens=options.tokens, sampling=Sampling(temperature), seeds=[options.seed],
        eos=end_tokens(loaded),
    )  # fmt: skip
    (done,) = write(drafter=choose(name, loaded), drafts=options.drafts)
    parted = None
    if temperature == 0:
        pairs = zip(write()[0].tokens, done.tokens, strict=True)
        parted = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    return Trace(
        domain=domain, drafter=name, temperature=temperature, seed=options.seed, prompt=text,
        prompt_tokens=len(prompt), rounds=tuple(rounds_of(loaded, done)), stopped=done.stopped, parted=parted,
        model=f"{loaded.name}, {loaded.baseline}", dtype=loaded.dtype, **shared,
    )  # fmt: skip


def rounds_of(loaded: Loaded, done: Decoded) -> list[TraceRound]:
    """The rounds of a decoding with texts in place of token ids."""

    def texts(ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(str(loaded.tokenizer.decode([i])) for i in ids)

    def numbers(values: Sequence[float]) -> tuple[float, ...]:
        return tuple(float(f"{v:.7g}") for v in values)

    def one(r: Round) -> TraceRound:
        return TraceRound(
            texts(r.drafts), numbers(r.p), numbers(r.q), r.uniforms, r.accepted, texts(r.emitted), r.last,
            (r.cached_before, r.cached_after_verify, r.cached_after),
        )  # fmt: skip

    return [one(r) for r in done.rounds]


if __name__ == "__main__":
    sys.exit(main())
