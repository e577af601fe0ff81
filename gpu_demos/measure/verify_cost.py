"""What a target pass costs against its width and its batch: the cost curve of speculative decoding, measured.

Every turn visits every width once, with torch's product and with our own in turn, so that a slow moment of the machine
hits all of them. Beside each time stands what the memory allows at best: a pass must read every weight once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from time import perf_counter

import torch

from gpu_demos.measure.common import Sheet, linears_on, middle, parser, progress, run
from gpu_demos.models import load, show
from gpu_demos.options import counted
from gpu_demos.record import Bound
from gpu_demos.target import Target

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
BATCHES = (1, 4)
BUFFER = 2**28  # bytes read for the bandwidth, far more than the caches hold


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.verify_cost", (__doc__ or "").splitlines()[0], "verify_cost")
    made.add_argument("--widths", type=_numbers, default=WIDTHS, help="positions of one pass, e.g. 1,2,4")
    made.add_argument("--batches", type=_numbers, default=BATCHES)
    made.add_argument("--dtypes", type=lambda text: tuple(text.split(",")), default=("fp32", "bf16"))
    made.add_argument("--linears", type=lambda text: tuple(text.split(",")), help="torch,invariant; on CUDA torch")
    made.add_argument("--context", type=counted, default=256, help="cached positions before the pass")
    made.add_argument("--turns", type=counted, default=15)
    return run(made, measure, "verify_cost", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Read bandwidth, then the time of a pass with its logits for each dtype, batch and width."""
    rate = bandwidth(options.device, options.turns)
    value, spread = middle(rate)
    sheet.add("read_bandwidth", value, spread, {}, unit="GB/s", samples=len(rate), dtype="fp32", shape=[BUFFER // 4])
    for dtype in options.dtypes:
        targets = {
            linear: Target(load(options.model, dtype=dtype, device=options.device, linear=linear, progress=show).model)
            for linear in options.linears or linears_on(options.device)
        }
        weights = sum(p.numel() * p.element_size() for p in next(iter(targets.values())).model.parameters())
        bound = Bound(1e3 * weights / (1e9 * value), "ms", "all weights read once at the measured bandwidth")
        times = pass_times(targets, options.widths, options.batches, options.context, options.turns, options.seed)
        for (linear, batch, width), found in times.items():
            taken, spread = middle([1e3 * t for t in found])
            at = {"batch": batch, "width": width, "context": options.context, "precision": dtype, "linear": linear}
            sheet.add(
                "pass_time", taken, spread, at, unit="ms", samples=len(found), dtype=dtype, bound=bound,
                shape=[batch, width, targets[linear].model.config.hidden_size],
            )  # fmt: skip
        progress(f"{dtype}: {len(times)} shapes, {options.turns} turns")


@torch.inference_mode()
def pass_times(
    targets: Mapping[str, Target], widths: Sequence[int], batches: Sequence[int], context: int, turns: int, seed: int
) -> dict[tuple[str, int, int], list[float]]:
    """(linear, batch, width) -> seconds of a pass over `width` new positions of each row, with the logits of all of
    them, after `context` cached ones; one value a turn, the first turn left out. The targets take turns."""
    generator, anyone = torch.Generator().manual_seed(seed), next(iter(targets.values()))
    caches = {(name, b): t.new_cache(b, context + max(widths)) for name, t in targets.items() for b in batches}
    for (name, batch), cache in caches.items():
        ids = torch.randint(anyone.vocabulary, (batch, context), generator=generator).to(anyone.device)
        targets[name].run(ids, [0] * batch, cache)
    times: dict[tuple[str, int, int], list[float]] = {
        (name, *shape): [] for shape in product(batches, widths) for name in targets
    }
    for turn in range(turns + 1):
        for (name, batch, width), found in times.items():
            ids = torch.randint(anyone.vocabulary, (batch, width), generator=generator).to(anyone.device)
            began = perf_counter()
            targets[name].logits(targets[name].run(ids, [context] * batch, caches[name, batch]).hidden)
            if anyone.device.type == "cuda":
                torch.cuda.synchronize(anyone.device)
            if turn:
                found.append(perf_counter() - began)
    return times


def bandwidth(device: str, turns: int) -> list[float]:
    """Gigabytes per second while summing a buffer that no cache holds, one value a turn."""
    data = torch.ones(BUFFER // 4, device=device)
    found = []
    for _ in range(turns + 1):
        began = perf_counter()
        float(data.sum())
        found.append(BUFFER / 1e9 / (perf_counter() - began))
    return found[1:]


def _numbers(text: str) -> tuple[int, ...]:
    found = tuple(int(part) for part in text.split(","))
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be whole numbers of at least 1")
    return found


if __name__ == "__main__":
    sys.exit(main())
