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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch

from gpu_demos.measure.laws import Scores, score, states
from gpu_demos.measure.provenance import provenance
from gpu_demos.measure.sheet import RESULTS, Sheet
from gpu_demos.measure.subject import REAL_TEXTS, Subject, real_texts, subject
from gpu_demos.measure.tasks import Item, answers, items
from gpu_demos.models_fetch import ModelUnavailable
from gpu_demos.quantize_calibrated import Seen
from gpu_demos.quantize_model import VARIANTS, Variant, observe, quantized
from gpu_demos.target import Target

MODULE = "gpu_demos.measure.quantization"


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


def measure(
    on: Subject, sheet: Sheet, *, texts: int, length: int, count: int, calibration: int, seed: int, workers: int
) -> None:
    """Baseline and all variants, on `texts` excerpts of `length` tokens a domain and `count` items a task."""
    target = on.target
    ids = real_texts(on.tokenizer, "held_out", count=texts, length=length, seed=seed)
    every = items(on.tokenizer, count, seed=seed)
    base, chosen = states(target, ids), answers(target, every)
    same = score(target, ids, base, base)
    told = real_texts(on.tokenizer, "train", count=calibration, length=length, seed=seed)
    sheet.add("calibration_tokens", told.numel(), "token", None, 1)
    _texts(sheet, same, same, texts, "baseline")
    sheet.tasks(every, chosen, chosen, variant="baseline")
    trial = Trial(target, ids, base, every, observe(target, told))
    for variant, bits, found, answered in _all(trial, workers):
        sheet.add("effective_bits", bits, "bit", None, 1, variant=variant.id)
        _texts(sheet, found, same, texts, variant.id)
        sheet.tasks(every, answered, chosen, variant=variant.id)
        _say(sheet, variant)


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


def _texts(sheet: Sheet, found: Scores, baseline: Scores, texts: int, variant: str) -> None:
    for i, domain in enumerate((*REAL_TEXTS, "all")):
        rows = list(range(2 * texts)) if domain == "all" else list(range(i * texts, (i + 1) * texts))
        sheet.texts(found.rows(rows), baseline.rows(rows), variant=variant, domain=domain)


def _say(sheet: Sheet, variant: Variant) -> None:
    """A line of progress with what was just found."""
    own = [r for r in sheet.records if r.at.get("variant") == variant.id and "all" in r.at.values()]
    print(variant.id, *(f"{r.id.split('.')[1]}={r.value:.4g}" for r in own), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Measure and write the records; 0 if done, 1 with one sentence where the model cannot be had."""
    typed = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(f"python -m {MODULE}", description=main.__doc__)
    parser.add_argument("--small", action="store_true", help="a random model and few texts, in seconds")
    parser.add_argument("--texts", type=int, default=12, help="excerpts a domain")
    parser.add_argument("--length", type=int, default=128, help="tokens an excerpt")
    parser.add_argument("--items", type=int, default=30, help="items a task and size")
    parser.add_argument("--calibration", type=int, default=16, help="excerpts a domain for AWQ and GPTQ")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1, help="processes, on a processor only")
    parser.add_argument("--out", type=Path, default=RESULTS / "quantization.json")
    options = parser.parse_args(typed)
    try:
        shared = provenance(MODULE, typed, device=options.device)  # first: it names the code that runs
        on = subject(small=options.small, device=options.device)
    except (ModelUnavailable, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    sizes = {
        "texts": options.texts,
        "length": options.length,
        "count": options.items,
        "calibration": options.calibration,
    }
    if options.small:
        sizes = {"texts": 2, "length": 16, "count": 2, "calibration": 4}
    sheet = Sheet("quantization", shared, on.dtype)
    measure(on, sheet, **sizes, seed=options.seed, workers=options.workers)
    sheet.write(options.out)
    return 0


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    sys.exit(main())
