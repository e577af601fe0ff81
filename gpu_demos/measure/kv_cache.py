"""The real model with a coarser or a shorter memory: keys and values at 2–8 bits, and a window with and without a sink.

Perplexity, KL and flips on held-out text that people wrote, and a fact to be found again at growing distance. Keys get
one scale a channel (over 32 tokens) or one a token; the first shows what outlier channels do to the second.

    python -m gpu_demos.measure.kv_cache
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import torch

from gpu_demos.measure.common import SURE, Sheet, parser, progress, run
from gpu_demos.measure.compared import add_tasks, add_texts
from gpu_demos.measure.laws import Read, score, states
from gpu_demos.measure.subject import DTYPE, real_texts, subject
from gpu_demos.measure.tasks import answers, items
from gpu_demos.options import counted
from gpu_demos.quantize_cache import BLOCK, CacheGrid, Keys, QuantizedCache, WindowCache, read_in_steps
from gpu_demos.target import Target

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


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Baseline and all caches, on `texts` excerpts of `length` tokens a domain and `items` needles a distance."""
    windows = WINDOWS
    if options.small:
        options.texts, options.length, options.items, windows = 2, 48, 2, (8,)
    on = subject(options.model, small=options.small, device=options.device)
    target = on.target
    ids = real_texts(on.tokenizer, "held_out", count=options.texts, length=options.length, seed=options.seed)
    every = items(on.tokenizer, options.items, kinds=NEEDLES, seed=options.seed)
    base, chosen = states(target, ids), answers(target, every)
    same = score(target, ids, base, base)
    add_texts(sheet, same, same, {"cache": "exact"})
    add_tasks(sheet, every, chosen, chosen, {"cache": "exact"})
    for size in sorted({item.size for item in every}):
        lengths = [len(item.ids) for item in every if item.size == size]
        average = sum(lengths) / len(lengths)
        sheet.add("needle_tokens", average, SURE, {"size": size}, samples=len(lengths), unit="token", dtype=DTYPE)
    for at, grid in grids():
        bits = grid.bits(target.head_size)
        sheet.add("effective_bits", bits, SURE, {"cache": "quantized", **at}, samples=1, unit="bit", dtype=DTYPE)
    for at, read in readers(target, windows):
        found = score(target, ids, states(target, ids, read=read, rows=len(ids)), base)
        add_texts(sheet, found, same, at)
        add_tasks(sheet, every, answers(target, every, read=read, rows=32), chosen, at)
        told = [r for r in sheet.records if r.at.items() >= at.items() and r.at.get("task") in (None, "all")]
        progress(" ".join([*at.values(), *(f"{r.id.split('.')[1]}={r.value:.4g}" for r in told)]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.kv_cache", (__doc__ or "").splitlines()[0], "kv_cache")
    made.set_defaults(seed=0)
    made.add_argument("--small", action="store_true", help="a random model and few texts, in seconds")
    made.add_argument("--texts", type=counted, default=6, help="excerpts a domain")
    made.add_argument("--length", type=counted, default=256, help="tokens an excerpt")
    made.add_argument("--items", type=counted, default=24, help="needles a distance")
    return run(made, measure, "kv_cache", arguments)


if __name__ == "__main__":
    sys.exit(main())
