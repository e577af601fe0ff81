"""Five recipes of one MTP head on held-out text: acceptance per depth, tokens per round, and paired differences.

The first head is the one that the others started from; differences are taken text by text, which is far sharper than
comparing two means.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_demos.drafters.mtp import lm_head_weight
from gpu_demos.measure.common import Sheet, parser, run
from gpu_demos.models import load, show
from gpu_demos.models_fetch import cache_folder
from gpu_demos.options import counted
from gpu_demos.record import Spread
from gpu_demos.training import artifact
from gpu_demos.training.compare import compare
from gpu_demos.training.corpus import read


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.recipes", (__doc__ or "").splitlines()[0], "recipes")
    made.add_argument("heads", type=Path, nargs="+", help="folders of exported heads, named after their recipes")
    made.add_argument("--text", type=Path, default=cache_folder() / "text", help="folder of the shards")
    made.add_argument("--shards", type=counted, default=36)
    return run(made, measure, "recipes", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Score all heads on the same anchors of the same texts."""
    loaded = load(options.model, dtype="fp32", device=options.device, progress=show)
    held_out = read(options.text, "held_out", limit=options.shards)
    try:
        heads = {f.name: artifact.load(f, loaded.model, base_sha256=loaded.sha256) for f in options.heads}
        table = compare({name: h.head for name, h in heads.items()}, lm_head_weight(loaded.model), held_out)
    except artifact.WeightsUnusable as error:
        raise ValueError(str(error)) from error
    about = {"text": held_out.sha256[:12]}
    for recipe, found in table["heads"].items():
        add(sheet, found, "", {"recipe": recipe, **about})
    for recipe, found in table["differences"].items():
        add(sheet, found, "_gain", {"recipe": recipe, "over": table["difference_to"], **about})


def add(sheet: Sheet, table: Mapping[str, Any], ending: str, at: Mapping[str, str]) -> None:
    """One record for each domain, measure, temperature and depth."""
    for domain, measures in table.items():
        for name, entry in measures.items():
            quantity, temperature = split(name)
            unit = "token" if quantity == "tokens_per_round" else "1"
            for where, value, half in places(entry):
                sheet.add(
                    quantity + ending, value, Spread(half, "ci95"),
                    {**at, "domain": domain, "temperature": temperature, **where}, samples=entry["texts"],
                    dtype="fp32", shape=[entry["texts"]], unit=unit,
                )  # fmt: skip


def split(name: str) -> tuple[str, str]:
    """`acceptance_rate_t0.6` -> its quantity and temperature; greedy measures have temperature 0."""
    head, _, temperature = name.rpartition("_t")
    if head and temperature.replace(".", "").isdigit():
        return head, temperature
    return name.removesuffix("_greedy"), "0"


def places(entry: Mapping[str, Any]) -> Iterator[tuple[dict[str, str], float, float]]:
    """Value and half width for each depth, or of the whole round."""
    if isinstance(entry["mean"], list):
        for depth, pair in enumerate(zip(entry["mean"], entry["ci95"], strict=True), 1):
            yield {"position": str(depth)}, *pair
    else:
        yield {}, entry["mean"], entry["ci95"]


if __name__ == "__main__":
    sys.exit(main())
