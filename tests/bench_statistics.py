"""The sums behind `tests.bench`: percentiles, ratios and the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SERVER = (
    "ledger preset",
    "ledger rule",
    "budget vector",
    "integer types",
    "calibration bits",
    "economics tree",
    "boosting case",
    "budget curve",
    "drafter sample",
    "audit reading",
)
BROWSER = (
    "ledger blend",
    "budget bits",
    "budget last",
    "integer zero",
    "calibration column",
    "economics rate",
    "boosting rate",
    "survival drag",
    "drafter head",
    "audit target",
)
# name of the aim -> (measured, percentile, baseline or None, at most: ratio or milliseconds)
AIMS: Mapping[str, tuple[str, float, str | None, float]] = {
    **{f"{n}, against the bare {b}": (f"{n}, server", 50, f"bare {b}, server", 1.3)
       for n in SERVER for b in ("slider", "radio")},
    **{f"{n}, first paint": (f"{n}, first paint", 95, None, 25) for n in BROWSER},
    "first load, heading": ("our first load, heading", 50, "bare first load", 1.5),
    "first load, ledger": ("our first load, ledger", 50, "bare first load", 1.5),
    "a million values pasted": ("a million values, answer", 95, None, 2000),
    "four thousand values pasted": ("four thousand values, answer", 95, None, 2000),
    "page stands still, a million": ("a million values, standstill", 95, None, 2000),
    "page stands still, four thousand": ("four thousand values, standstill", 95, None, 2000),
}  # fmt: skip

# beside the aims: against the bare page with the wiki's settings, which spare it too a collection after each run; and
# how long it takes until all is there that follows from a choice
BESIDE = (
    *((f"{n}, server", "tuned radio, server") for n in SERVER),
    *((f"{n} last block, server", "bare slider, server") for n in ("ledger", "calibration")),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Times in milliseconds of one thing measured again and again."""

    name: str
    times_ms: Sequence[float]


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest rank: the smallest value that at least `percent` of all values do not exceed. 0 < percent <= 100."""
    if not values or not 0 < percent <= 100:
        raise ValueError(f"percent={percent} of {len(values)} values: must lie in (0, 100], with at least one value")
    return sorted(values)[math.ceil(percent / 100 * len(values)) - 1]


def outcome(samples: Mapping[str, Sample], aim: tuple[str, float, str | None, float]) -> tuple[float, bool]:
    """The figure of an aim and whether it is met."""
    name, percent, baseline, most = aim
    figure = percentile(samples[name].times_ms, percent)
    if baseline is not None:
        figure /= percentile(samples[baseline].times_ms, percent)
    return figure, figure <= most


def report(samples: Sequence[Sample]) -> str:
    """Percentiles of every sample, then each aim with its figure."""
    lines = [f"{'':28}{'n':>5}{'p50 ms':>9}{'p95 ms':>9}{'worst':>9}"]
    for s in samples:
        marks = (percentile(s.times_ms, 50), percentile(s.times_ms, 95), max(s.times_ms))
        lines.append(f"{s.name:28}{len(s.times_ms):>5}" + "".join(f"{x:>9.1f}" for x in marks))
    by_name = {s.name: s for s in samples}
    for title, aim in AIMS.items():
        figure, met = outcome(by_name, aim)
        unit = "x" if aim[2] else " ms"
        lines.append(f"{'met   ' if met else 'MISSED'} {title}: p{aim[1]:g} {figure:.2f}{unit}, aim {aim[3]:g}{unit}")
    for name, base in BESIDE:
        ratio = percentile(by_name[name].times_ms, 50) / percentile(by_name[base].times_ms, 50)
        lines.append(f"beside {name} against {base}: p50 {ratio:.2f}x")
    return "\n".join(lines)
