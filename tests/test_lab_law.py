"""Sampled speculative decoding has the law of the target: exact enumeration, chi-square, and a control that fails."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from scipy import stats
from transformers.generation.logits_process import TemperatureLogitsWarper, TopPLogitsWarper

from gpu_demos import acceptance
from gpu_demos.acceptance import Laws, Sampling, draw
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Drafter
from gpu_demos.drafters.early_exit import EarlyExit
from gpu_demos.drafters.lookup import Lookup
from tests.lab_drafters import Noise
from tests.tiny_llama import tiny

SIZE, LENGTH, DRAWS, ROWS = 5, 3, 4000, 500
PROMPT = [1, 2, 1, 3, 1]
# A right law fails with chance 1e-6 per test, seven tests, seeds fixed.
ALARM = 1e-6
SETTINGS = {"temperature-1": Sampling(1.0), "cold-nucleus": Sampling(0.7, 0.85)}
DRAFTERS: dict[str, Drafter] = {"lookup": Lookup(), "exit": EarlyExit(1), "noise": Noise()}


def exact(sampling: Sampling) -> np.ndarray:
    """(5, 5, 5): probability of every continuation of three tokens, from transformers' logits and warpers, float64."""
    target = tiny(SIZE, spread=0.3)
    heat, cut = TemperatureLogitsWarper(sampling.temperature), TopPLogitsWarper(sampling.top_p)
    law = np.ones((SIZE,) * LENGTH)
    with torch.inference_mode():
        for event in product(range(SIZE), repeat=LENGTH):
            logits = target.model(torch.tensor([[*PROMPT, *event]])).logits[0, len(PROMPT) - 1 : -1]
            logits = cut(None, heat(None, logits))  # type: ignore[arg-type]  # neither looks at the text
            for row, token in zip(logits.softmax(-1), event, strict=True):
                law[event] *= float(row[token])
    return law


def counts(drafter: Drafter | None, sampling: Sampling) -> np.ndarray:
    """(5, 5, 5) counts of continuations, and nothing else is drawn from the seeds."""
    found = np.zeros((SIZE,) * LENGTH)
    for first in range(0, DRAWS, ROWS):
        seeds = range(first, first + ROWS)
        rows = decode(
            tiny(SIZE, spread=0.3), [PROMPT] * ROWS, drafter=drafter, drafts=2, max_tokens=LENGTH, sampling=sampling,
            seeds=seeds,
        )  # fmt: skip
        for row in rows:
            found[row.tokens] += 1
    return found


def p_value(found: np.ndarray, law: np.ndarray) -> float:
    """Chi-square over events; those expected less than five times are counted as one. 0 for an impossible event."""
    if found[law == 0].any():
        return 0.0
    expected = law * found.sum()
    common = expected >= 5
    seen, wanted = list(found[common]), list(expected[common])
    if (rare := float(expected[~common].sum())) > 0:
        seen, wanted = [*seen, float(found[~common].sum())], [*wanted, rare]
    assert len(seen) > 10
    return float(stats.chisquare(seen, np.array(wanted) * sum(seen) / sum(wanted)).pvalue)


@pytest.mark.parametrize("sampling", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("drafter", DRAFTERS.values(), ids=DRAFTERS.keys())
def test_sampled_texts_have_the_exact_law(drafter: Drafter, sampling: Sampling) -> None:
    """4,000 continuations of three tokens, several rounds and drafts among them, fit the enumerated law."""
    assert p_value(counts(drafter, sampling), exact(sampling)) > ALARM


def test_plain_sampling_has_the_exact_law() -> None:
    """The same without a drafter: the yardstick itself is right."""
    assert p_value(counts(None, Sampling(1.0)), exact(Sampling(1.0))) > ALARM


@pytest.mark.parametrize("name", ["lookup", "exit"])
def test_correction_without_residual_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: corrected from p instead of the residual, as many draws are refused. (Not so with the noise,
    whose errors at random laws nearly cancel.)"""

    def from_target(target: Laws, draft: Laws, position: int, *, rejected: int, u: float) -> int:
        assert target.probabilities is not None
        return draw(target.probabilities[position], u)

    monkeypatch.setattr(acceptance, "correct", from_target)
    assert p_value(counts(DRAFTERS[name], Sampling(1.0)), exact(Sampling(1.0))) < ALARM
