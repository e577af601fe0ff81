"""The real model with fewer bits: does perplexity show what rounding does?

For each variant of `gpu_demos.quantize_model`: perplexity, KL and flips on held-out text that people wrote, and small
tasks on the same items as the baseline, with a paired test. Calibration sees other files than the measurement does. The
baseline is the dequantized Q4_1 model: variants on its own grid (`q4_1_g32`) lose nothing, and the others round weights
for a second time.

    python -m gpu_demos.measure.quantization
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context

import torch

from gpu_demos.measure.common import SURE, Sheet, parser, progress, run
from gpu_demos.measure.compared import add_tasks, add_texts
from gpu_demos.measure.laws import Scores, score, states
from gpu_demos.measure.subject import DTYPE, REAL_TEXTS, real_texts, subject
from gpu_demos.measure.tasks import Item, answers, items
from gpu_demos.options import counted
from gpu_demos.quantize_calibrated import Seen
from gpu_demos.quantize_model import VARIANTS, Variant, observe, quantized
from gpu_demos.target import Target


@dataclass(frozen=True, slots=True)
class Trial:
    """Everything that a variant is judged on: texts with the baseline's states, items, and what calibration saw."""

    target: Target
    ids: torch.Tensor
    base: torch.Tensor
    every: list[Item]
    seen: Mapping[str, Seen]

    def of(self, variant: Variant) -> tuple[Variant, float, Scores, list[int]]:
        """Mean bits a weight, scores of the texts and chosen candidates."""
        with quantized(self.target, variant, self.seen) as bits:
            found = score(self.target, self.ids, states(self.target, self.ids), self.base)
            return variant, bits, found, answers(self.target, self.every)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Baseline and all variants, on `texts` excerpts of `length` tokens a domain and `items` of each task and size."""
    if options.small:
        options.texts, options.length, options.items, options.calibration = 2, 16, 2, 4
    on = subject(options.model, small=options.small, device=options.device)
    shape = {"length": options.length, "seed": options.seed}
    ids = real_texts(on.tokenizer, "held_out", count=options.texts, **shape)
    every = items(on.tokenizer, options.items, seed=options.seed)
    base, chosen = states(on.target, ids), answers(on.target, every)
    same = score(on.target, ids, base, base)
    told = real_texts(on.tokenizer, "train", count=options.calibration, **shape)
    sheet.add("calibration_tokens", told.numel(), SURE, {}, samples=1, unit="token", dtype=DTYPE)
    _add(sheet, same, same, "baseline")
    add_tasks(sheet, every, chosen, chosen, {"variant": "baseline"})
    trial = Trial(on.target, ids, base, every, observe(on.target, told))
    for variant, bits, found, answered in _all(trial, options.workers):
        at = {"variant": variant.id}
        sheet.add("effective_bits", bits, SURE, at, samples=1, unit="bit", dtype=DTYPE)
        _add(sheet, found, same, variant.id)
        add_tasks(sheet, every, answered, chosen, at)
        told_now = [r for r in sheet.records if r.at.get("variant") == variant.id and "all" in r.at.values()]
        progress(" ".join([variant.id, *(f"{r.id.split('.')[1]}={r.value:.4g}" for r in told_now)]))


def _all(trial: Trial, workers: int) -> Iterator[tuple[Variant, float, Scores, list[int]]]:
    """All variants in their order; with several workers each has a copy of the model, which forking makes cheap."""
    if workers == 1:
        yield from map(trial.of, VARIANTS)
        return
    with get_context("fork").Pool(workers, initializer=_PRESENT.append, initargs=(trial,)) as pool:
        yield from pool.imap(_in_worker, VARIANTS)


_PRESENT: list[Trial] = []  # of a worker process: what it was started with


def _in_worker(variant: Variant) -> tuple[Variant, float, Scores, list[int]]:
    return _PRESENT[0].of(variant)


def _add(sheet: Sheet, found: Scores, baseline: Scores, variant: str) -> None:
    """The records of each domain and of all texts; `real_texts` gives the domains one after another, equally many."""
    texts = len(found.loss) // len(REAL_TEXTS)
    for i, domain in enumerate((*REAL_TEXTS, "all")):
        rows = list(range(len(found.loss)) if domain == "all" else range(i * texts, (i + 1) * texts))
        add_texts(sheet, found.rows(rows), baseline.rows(rows), {"variant": variant, "domain": domain})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.quantization", (__doc__ or "").splitlines()[0], "quantization")
    made.set_defaults(seed=0)
    made.add_argument("--small", action="store_true", help="a random model and few texts, in seconds")
    made.add_argument("--texts", type=counted, default=12, help="excerpts a domain")
    made.add_argument("--length", type=counted, default=128, help="tokens an excerpt")
    made.add_argument("--items", type=counted, default=30, help="items a task and size")
    made.add_argument("--calibration", type=counted, default=16, help="excerpts a domain for AWQ and GPTQ")
    made.add_argument("--workers", type=counted, default=1, help="processes, on a processor only")
    return run(made, measure, "quantization", arguments)


if __name__ == "__main__":
    sys.exit(main())
