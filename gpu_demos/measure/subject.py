"""What an experiment runs on: the real model, or with `--small` a random one that is made in a moment and says nothing.

The small one exists so that a test can run a whole command without a network: its numbers mean nothing.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from gpu_demos.models import load, show
from gpu_demos.target import Target
from gpu_demos.training.domains import Domain, Side, Tokenizer, prompts

DTYPE = "fp32"  # of everything here: what rounding does is not to be mixed with what bf16 does
VOCABULARY = 8192
REAL_TEXTS: tuple[Domain, ...] = ("code", "prose")
_WORD = re.compile(r" ?[A-Za-z_]+|\d| ?[^\w\s]|\s+|.")


class Words:
    """A tokenizer that numbers words as they come; beyond the vocabulary it starts again at 0."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return [self.numbers.setdefault(word, len(self.numbers) % VOCABULARY) for word in _WORD.findall(text)]

    def apply_chat_template(self, conversation: list[dict[str, str]], **settings: object) -> list[int]:
        return self.encode("\n".join(turn["content"] for turn in conversation), add_special_tokens=False)


@dataclass(frozen=True, slots=True)
class Subject:
    """A target with its tokenizer."""

    target: Target
    tokenizer: Tokenizer


def subject(name: str, *, small: bool, device: str = "cpu") -> Subject:
    """The named model, or the random one. Raises ModelUnavailable where the named one cannot be had."""
    if not small:
        loaded = load(name, dtype=DTYPE, device=device, progress=show)
        return Subject(Target(loaded.model), loaded.tokenizer)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=1024, initializer_range=0.2, bos_token_id=None,
        eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    return Subject(Target(LlamaForCausalLM(config).eval().requires_grad_(False)), Words())


def real_texts(tokenizer: Tokenizer, side: Side, *, count: int, length: int, seed: int) -> torch.Tensor:
    """`count` excerpts of code, then as many of prose, (2·count, length): files that people wrote, of one side only."""
    rng = random.Random(seed)
    found = [
        ids for domain in REAL_TEXTS for ids in prompts(tokenizer, domain, side, count=count, length=length, rng=rng)
    ]
    return torch.tensor(found)
