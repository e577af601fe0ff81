"""What the experiments share: prompts of three domains, means with intervals, writing one results file."""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from scipy import stats

from gpu_demos.measure.provenance import ROOT, provenance
from gpu_demos.models import LINEARS, SMOLLM2, Linear
from gpu_demos.models_fetch import ModelUnavailable
from gpu_demos.record import Bound, Record, Spread, dump
from gpu_demos.training.acceptance import LEVEL, interval
from gpu_demos.training.domains import DOMAINS, Side, Tokenizer, prompts

RESULTS = ROOT / "gpu_demos/results"
SURE = Spread(0.0, "range")  # of a number without chance: every repetition gives it again


@dataclass(slots=True)
class Sheet:
    """The records of one command; `add` fills in what they share."""

    topic: str
    shared: Mapping[str, Any]
    records: list[Record] = field(default_factory=list)

    def add(
        self, name: str, value: float, spread: Spread, at: Mapping[str, object], *, samples: int, unit: str = "1",
        dtype: str, shape: Sequence[int] = (), bound: Bound | None = None,
    ) -> None:  # fmt: skip
        """One number; `at` are its conditions, kept as texts."""
        self.records.append(Record(
            id=f"{self.topic}.{name}", at={k: str(v) for k, v in at.items()}, value=value, unit=unit, spread=spread,
            samples=samples, dtype=dtype, shape=tuple(shape), bound=bound, **self.shared,
        ))  # fmt: skip


def middle(values: Sequence[float]) -> tuple[float, Spread]:
    """Median with the distance of the quartiles, of at least two values."""
    low, _, high = quantiles(values, n=4, method="inclusive")
    return median(values), Spread(high - low, "iqr")


def mean(values: Sequence[float]) -> tuple[float, Spread]:
    """Mean with half the width of Student's 95 % interval, of at least two independent values."""
    found = interval(np.asarray(values, dtype=np.float64))
    return found.mean, Spread(found.half_width, "ci95")


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> tuple[float, Spread] | None:
    """Sum of `parts` over sum of `wholes`, one pair per text, with a 95 % interval by linearisation (texts are the
    independent units, not the tokens in them). None where the wholes are 0 or fewer than two texts have any."""
    a, b = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    n = int((b > 0).sum())
    if n < 2:
        return None
    value = float(a.sum() / b.sum())
    error = math.sqrt(float(((a - value * b) ** 2).sum()) * n / (n - 1)) / float(b.sum())
    return value, Spread(float(stats.t.ppf((1 + LEVEL) / 2, n - 1)) * error, "ci95")


def domain_prompts(
    tokenizer: Tokenizer, *, count: int, length: int, seed: int, side: Side = "held_out"
) -> dict[str, list[list[int]]]:
    """Domain -> token ids of `count` prompts from files that no drafter was trained on, or of those for training; chat
    prompts share a length."""
    found = {}
    for number, domain in enumerate(DOMAINS):
        rng = random.Random(1_000 * seed + number)
        found[domain] = prompts(tokenizer, domain, side, count=count, length=length, rng=rng)
    return found


def linears_on(device: str) -> tuple[Linear, ...]:
    """Whose linear layers are compared on this device."""
    return LINEARS if device == "cpu" else ("torch",)


def parser(module: str, description: str, out: str) -> argparse.ArgumentParser:
    """Options of every experiment: the model, the device, the seed and where the results go."""
    made = argparse.ArgumentParser(f"python -m {module}", description=description)
    made.add_argument("--model", default=SMOLLM2)
    made.add_argument("--device", default="cpu")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--out", type=Path, default=RESULTS / f"{out}.json")
    return made


def run(
    made: argparse.ArgumentParser, measure: Callable[[argparse.Namespace, Sheet], None], topic: str,
    arguments: Sequence[str] | None,
) -> int:  # fmt: skip
    """Measure, then write all records at once: 0 when it is done, 1 with one sentence when it could not be.

    `--out` is no part of the command in the records: where a number is kept is not how it came about.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = made.parse_args(given)
    try:
        module = made.prog.removeprefix("python -m ")
        sheet = Sheet(topic, provenance(module, _without_out(given), device=options.device))
        measure(options, sheet)
    except (ModelUnavailable, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; nothing was written.", file=sys.stderr)
        return 130
    options.out.parent.mkdir(parents=True, exist_ok=True)
    partial = options.out.with_suffix(".part")
    dump(sheet.records, partial)
    partial.replace(options.out)
    print(f"Wrote {len(sheet.records)} records to {options.out}")
    return 0


def _without_out(given: Sequence[str]) -> list[str]:
    kept = list(given)
    if "--out" in kept:
        place = kept.index("--out")
        del kept[place : place + 2]
    return kept


def progress(text: str) -> None:
    """One line that says how far it is."""
    print(text, file=sys.stderr, flush=True)
