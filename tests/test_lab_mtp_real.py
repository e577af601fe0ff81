"""The shipped MTP head beside SmolLM2, where `make lab` has fetched it; skipped otherwise."""

from __future__ import annotations

import pytest

from gpu_demos.decoding import decode
from gpu_demos.drafters.choose import choose
from gpu_demos.models import is_cached, load
from gpu_demos.prompts import encode
from gpu_demos.target import Target
from gpu_demos.training.artifact import MANIFEST, SHIPPED

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not is_cached(), reason="SmolLM2 is not in the cache: make lab fetches it"),
]
PROMPTS = {
    "code": ("def variance(values):\n    mean = sum(values) / len(values)\n    total = 0\n", True),
    "prose": ("The standard type hierarchy of the language is built from numbers, sequences and mappings.", True),
    "chat": ("Name three colours, and say for each of them where it occurs in nature.", False),
}


def test_greedy_text_is_the_targets_and_drafts_help() -> None:
    """64 greedy tokens in float32 are those of plain decoding on every domain, in clearly fewer target passes."""
    assert (SHIPPED / "mtp" / MANIFEST).is_file()
    loaded = load(dtype="fp32")
    target, rounds = Target(loaded.model), 0
    for text, raw in PROMPTS.values():
        prompt = encode(loaded, text, raw=raw)
        plain = decode(target, [prompt], max_tokens=64)[0]
        found = decode(target, [prompt], drafter=choose("mtp", loaded), drafts=4, max_tokens=64)[0]
        assert found.tokens == plain.tokens
        rounds += len(found.rounds)
    assert rounds < 0.75 * 3 * 64  # more than 1.33 tokens a round, bonus included
