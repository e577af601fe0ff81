"""A tiny random Llama, made on the fly, in float64: exact enough that a text differs only where the code is wrong."""

from __future__ import annotations

from functools import cache

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from gpu_demos.target import Target


@cache
def tiny(vocabulary: int = 50, *, layers: int = 3, seed: int = 0, spread: float = 0.2) -> Target:
    """`spread` is the standard deviation of the weights: a larger one makes surer laws."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=32, intermediate_size=48, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=spread, bos_token_id=None,
        eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    return Target(LlamaForCausalLM(config).double().eval().requires_grad_(False))


def library_greedy(target: Target, prompt: list[int], count: int) -> tuple[int, ...]:
    """What transformers' own loop writes."""
    ids = torch.tensor([prompt])
    out = target.model.generate(  # type: ignore[operator]
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=count,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    return tuple(out[0, len(prompt) :].tolist())
