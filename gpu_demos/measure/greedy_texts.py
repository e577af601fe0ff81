"""Does speculation change greedy texts? Token by token against plain decoding.

Passes of unlike width may round differently, so that texts can part at a near tie: how many do, how close the two
logits were there, and whether layers that give a token the same bits in every width help.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
import torch

from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Decoded
from gpu_demos.drafters.choose import NAMES, choose
from gpu_demos.measure.common import SURE, Sheet, domain_prompts, linears_on, parser, progress, run
from gpu_demos.models import DTYPES, LINEARS, Linear, Loaded, load, show
from gpu_demos.options import counted
from gpu_demos.record import Spread
from gpu_demos.target import Target

Passes = Sequence[tuple[str, Linear]]
PASSES: Passes = (("fp32", "invariant"), ("bf16", "torch"), ("bf16", "invariant"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.greedy_texts", (__doc__ or "").splitlines()[0], "greedy_texts")
    made.add_argument("--drafters", type=lambda text: tuple(text.split(",")), default=NAMES)
    made.add_argument("--passes", type=_passes, help="dtype:linear, one after the other")
    made.add_argument("--texts", type=counted, default=7, help="prompts of each domain")
    made.add_argument("--prompt-tokens", type=counted, default=32)
    made.add_argument("--tokens", type=counted, default=64)
    return run(made, measure, "greedy_texts", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Plain texts once for each sort of pass, then those of every drafter beside them."""
    passes: Passes = options.passes or [p for p in PASSES if p[1] in linears_on(options.device)]
    for dtype, linear in passes:
        loaded = load(options.model, dtype=dtype, device=options.device, linear=linear, progress=show)
        asked = domain_prompts(loaded.tokenizer, count=options.texts, length=options.prompt_tokens, seed=options.seed)
        prompts = [prompt for texts in asked.values() for prompt in texts]
        target = Target(loaded.model)
        plain = [decode(target, [prompt], max_tokens=options.tokens)[0] for prompt in prompts]
        for name in options.drafters:
            greedy(sheet, loaded, name, plain, options)
            progress(f"{dtype}, {linear}, {name}")


def greedy(sheet: Sheet, loaded: Loaded, name: str, plain: Sequence[Decoded], options: argparse.Namespace) -> None:
    """How many of the texts part from the plain ones, and how close the two best logits were where they do."""
    target, drafter = Target(loaded.model), choose(name, loaded)
    gaps: list[float] = []
    for text in plain:
        (fast,) = decode(target, [text.prompt], drafter=drafter, max_tokens=options.tokens)
        parted = next((i for i, (a, b) in enumerate(zip(text.tokens, fast.tokens, strict=True)) if a != b), None)
        if parted is not None:
            gaps.append(gap(loaded, [*text.prompt, *text.tokens[:parted]]))
    at = {"drafter": name, "precision": loaded.dtype, "linear": loaded.linear}
    shape, dtype = [len(plain), options.tokens], loaded.dtype
    sheet.add("parted", len(gaps), SURE, at, unit="text", samples=len(plain), dtype=dtype, shape=shape)
    if gaps:
        spread = Spread(max(gaps) - min(gaps), "range")
        value = float(np.median(gaps))
        sheet.add("gap_where_parted", value, spread, at, unit="logit", samples=len(gaps), dtype=dtype, shape=shape)


@torch.inference_mode()
def gap(loaded: Loaded, ids: Sequence[int]) -> float:
    """Distance of the two largest next-token logits after `ids`."""
    best = loaded.model(torch.tensor([list(ids)], device=loaded.model.device)).logits[0, -1].float().topk(2).values
    return float(best[0] - best[1])


def _passes(text: str) -> Passes:
    known: dict[str, tuple[str, Linear]] = {
        f"{dtype}:{linear}": (dtype, linear) for dtype in DTYPES for linear in LINEARS
    }
    try:
        return tuple(known[one] for one in text.split(","))
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"{error.args[0]!r} must be one of {', '.join(known)}") from error


if __name__ == "__main__":
    sys.exit(main())
