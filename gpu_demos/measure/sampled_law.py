"""Does a drafted and judged token follow the target's law? A chi-square test over many runs of the loop on one prompt.

Its law is that of the second token, given the first: depth one, at temperature 1. A broken rule that corrects from the
target instead of the residual is the negative control: a test that cannot see it would show nothing, and is refused.
The layers are torch's: a batch of a hundred texts is no pass that our kernel is made for.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from scipy import stats

from gpu_demos import acceptance
from gpu_demos.acceptance import Laws, Sampling
from gpu_demos.decoding import decode
from gpu_demos.drafters.choose import choose
from gpu_demos.measure.common import SURE, Sheet, domain_prompts, parser, progress, run
from gpu_demos.models import Loaded, load, show
from gpu_demos.options import counted
from gpu_demos.target import Target

EXPECTED_LEAST = 5.0  # cells of a chi-square test with less are put together
SEEN = 1e-6  # a p-value of the broken rule above this has not shown it
FIRST_TOKENS = 12  # how many of the most frequent first tokens give a law to test


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.sampled_law", (__doc__ or "").splitlines()[0], "sampled_law")
    made.add_argument("--drafter", default="mtp")
    made.add_argument("--draws", type=counted, default=20_000)
    made.add_argument("--batch", type=counted, default=100)
    return run(made, measure, "sampled_law", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """The exact rule, then the broken one. Raises ValueError where the test does not see that it is broken."""
    loaded = load(options.model, dtype="fp32", device=options.device, linear="torch", progress=show)
    sampled(sheet, loaded, "exact", options)
    if sampled(sheet, loaded, "no_residual", options) > SEEN:
        raise ValueError("the test cannot tell the broken rule from the target: more --draws, or another --drafter")


def sampled(sheet: Sheet, loaded: Loaded, rule: str, options: argparse.Namespace) -> float:
    """Draw, and test the second token against the target's law given the first; the p-value."""
    asked = domain_prompts(loaded.tokenizer, count=1, length=6, seed=options.seed)
    prompt = asked["prose"][0]
    pairs = draws(loaded, prompt, rule, options)
    seen: dict[int, Counter[int]] = {}
    for first, second in pairs:
        seen.setdefault(first, Counter())[second] += 1
    ranked = sorted(seen, key=lambda token: -seen[token].total())[:FIRST_TOKENS]
    found = [chi_square(seen[first], law(loaded, [*prompt, first])) for first in ranked]
    statistic, freedom = sum(x for x, _ in found), sum(n for _, n in found)
    if not freedom:
        raise ValueError(f"--draws {options.draws}: too few for two cells in a test")
    at = {"rule": rule, "drafter": options.drafter, "linear": loaded.linear}
    tested = sum(seen[first].total() for first in ranked)
    p_value = float(stats.chi2.sf(statistic, freedom))
    for name, value in (("chi_square", statistic), ("degrees_of_freedom", freedom), ("p_value", p_value)):
        sheet.add(name, value, SURE, at, samples=tested, dtype="fp32", shape=[options.draws, 2])
    return p_value


def draws(loaded: Loaded, prompt: list[int], rule: str, options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """(first, second) token of runs of the real loop. The first comes from the prompt's own pass; three are asked for,
    since the last that is asked for is never drafted."""
    target, drafter = Target(loaded.model), choose(options.drafter, loaded)
    with rule_in_use(rule):
        for start in range(0, options.draws, options.batch):
            count = min(options.batch, options.draws - start)
            seeds = [options.seed * 10_000_000 + start + i for i in range(count)]
            for done in decode(
                target, [prompt] * count, drafter=drafter, drafts=1, max_tokens=3, sampling=Sampling(1.0), seeds=seeds
            ):
                yield done.tokens[0], done.tokens[1]
            if start // options.batch % 20 == 0:
                progress(f"{rule}: {start + count} of {options.draws} draws")


@contextmanager
def rule_in_use(rule: str) -> Generator[None]:
    """`no_residual` corrects with a draw from the target's own law, the classical mistake; `exact` changes nothing."""
    right = acceptance.correct

    def wrong(target: Laws, draft: Laws, position: int, *, rejected: int, u: float) -> int | None:
        return target.draw(position, u)

    if rule == "no_residual":
        acceptance.correct = wrong
    try:
        yield
    finally:
        acceptance.correct = right


@torch.inference_mode()
def law(loaded: Loaded, ids: Sequence[int]) -> np.ndarray:
    """(V,) float64: the target's next-token law after `ids`, by transformers' own pass."""
    logits = loaded.model(torch.tensor([list(ids)], device=loaded.model.device)).logits[0, -1]
    return logits.double().softmax(-1).cpu().numpy()


def chi_square(counts: Counter[int], expected: np.ndarray) -> tuple[float, int]:
    """Pearson's statistic and its degrees of freedom; tokens too rare for a cell of their own share one, and where even
    that is too rare, the smallest of the others is in it. Raises ValueError for a token that the law cannot give."""
    total = counts.total()
    observed = np.zeros(len(expected))
    for token, count in counts.items():
        observed[token] = count
    if impossible := np.flatnonzero((expected == 0) & (observed > 0)).tolist():
        raise ValueError(f"tokens {impossible} were drawn, and their law excludes them")
    falling = np.argsort(-expected, kind="stable")
    observed, expected = observed[falling], expected[falling] * total
    own = int((expected >= EXPECTED_LEAST).sum())
    if expected[own:].sum() < EXPECTED_LEAST:
        own = max(0, own - 1)
    seen, wanted = (np.append(x[:own], x[own:].sum()) for x in (observed, expected))
    return float(((seen - wanted) ** 2 / wanted).sum()), own


if __name__ == "__main__":
    sys.exit(main())
