"""The real model with a coarser or a shorter memory: keys and values at 2–8 bits, and a window with and without a sink.

Perplexity, KL and flips on held-out text that people wrote, and a fact to be found again at growing distance. Keys get
one scale a channel (over 32 tokens) or one a token; the first shows what outlier channels do to the second.

    python -m gpu_demos.measure.kv_cache
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from gpu_demos.measure.laws import Read, score, states
from gpu_demos.measure.provenance import provenance
from gpu_demos.measure.sheet import RESULTS, Sheet
from gpu_demos.measure.subject import Subject, real_texts, subject
from gpu_demos.measure.tasks import answers, items
from gpu_demos.models_fetch import ModelUnavailable
from gpu_demos.quantize_cache import BLOCK, CacheGrid, Keys, QuantizedCache, WindowCache, read_in_steps
from gpu_demos.target import Target

MODULE = "gpu_demos.measure.kv_cache"
NEEDLES = tuple(("needle", size) for size in (1, 4, 12, 24))
KEYS: tuple[Keys, ...] = ("channel", "token")
BITS = (8, 4, 3, 2)
WINDOWS, SINK = (32, 64, 128), 4
At = dict[str, str]


def grids() -> Iterator[tuple[At, CacheGrid]]:
    """Keys and values together at every width, and at two bits each of them alone."""
    for keys in KEYS:
        for bits in BITS:
            yield {"keys": keys, "key_bits": str(bits), "value_bits": str(bits)}, CacheGrid(keys, bits, bits)
        yield {"keys": keys, "key_bits": "2", "value_bits": "exact"}, CacheGrid(keys, 2, None)
    yield {"keys": "exact", "key_bits": "exact", "value_bits": "2"}, CacheGrid("token", None, 2)


def readers(target: Target, windows: tuple[int, ...]) -> Iterator[tuple[At, Read]]:
    """Every way to remember, as conditions and as a way to read a text."""

    def coarse(grid: CacheGrid) -> Read:
        return lambda ids: read_in_steps(target, ids, QuantizedCache(target, len(ids), ids.shape[1], grid), BLOCK)

    def short(window: int, sink: int) -> Read:
        def read(ids: torch.Tensor) -> torch.Tensor:
            cache = WindowCache(target, len(ids), ids.shape[1], window=window, sink=sink)
            return read_in_steps(target, ids, cache, 1)

        return read

    for at, grid in grids():
        yield {"cache": "quantized", **at}, coarse(grid)
    for window in windows:
        for sink in (0, SINK):
            yield {"cache": "window", "window": str(window), "sink": str(sink)}, short(window, sink)


def measure(
    on: Subject, sheet: Sheet, *, texts: int, length: int, count: int, windows: tuple[int, ...], seed: int
) -> None:
    """Baseline and all caches, on `texts` excerpts of `length` tokens a domain and `count` needles a distance."""
    target = on.target
    ids = real_texts(on.tokenizer, "held_out", count=texts, length=length, seed=seed)
    every = items(on.tokenizer, count, kinds=NEEDLES, seed=seed)
    base, chosen = states(target, ids), answers(target, every)
    same = score(target, ids, base, base)
    sheet.texts(same, same, cache="exact")
    sheet.tasks(every, chosen, chosen, cache="exact")
    for size in sorted({item.size for item in every}):
        lengths = [len(item.ids) for item in every if item.size == size]
        sheet.add("needle_tokens", sum(lengths) / len(lengths), "token", None, len(lengths), size=str(size))
    for at, grid in grids():
        sheet.add("effective_bits", grid.bits(target.head_size), "bit", None, 1, cache="quantized", **at)
    for at, read in readers(target, windows):
        found = score(target, ids, states(target, ids, read=read, rows=len(ids)), base)
        sheet.texts(found, same, **at)
        sheet.tasks(every, answers(target, every, read=read, rows=32), chosen, **at)
        own = [r for r in sheet.records if r.at.items() >= at.items() and r.at.get("task") in (None, "all")]
        print(*at.values(), *(f"{r.id.split('.')[1]}={r.value:.4g}" for r in own), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Measure and write the records; 0 if done, 1 with one sentence where the model cannot be had."""
    typed = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(f"python -m {MODULE}", description=main.__doc__)
    parser.add_argument("--small", action="store_true", help="a random model and few texts, in seconds")
    parser.add_argument("--texts", type=int, default=6, help="excerpts a domain")
    parser.add_argument("--length", type=int, default=256, help="tokens an excerpt")
    parser.add_argument("--items", type=int, default=24, help="needles a distance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=RESULTS / "kv_cache.json")
    options = parser.parse_args(typed)
    try:
        shared = provenance(MODULE, typed, device=options.device)  # first: it names the code that runs
        on = subject(small=options.small, device=options.device)
    except (ModelUnavailable, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    sheet = Sheet("kv_cache", shared, on.dtype)
    if options.small:
        measure(on, sheet, texts=2, length=48, count=2, windows=(8,), seed=options.seed)
    else:
        sizes = {"texts": options.texts, "length": options.length, "count": options.items}
        measure(on, sheet, **sizes, windows=WINDOWS, seed=options.seed)
    sheet.write(options.out)
    return 0


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    sys.exit(main())
