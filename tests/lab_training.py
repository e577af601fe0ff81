"""A tiny random target, a tokenizer of characters, and text that the target wrote: all that training tests need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from gpu_demos.drafters.mtp import MtpHead, head_for
from gpu_demos.training.corpus import Corpus, Shard, read
from gpu_demos.training.text import TextConfig, write

VOCABULARY = 61
BASE = "b" * 64


class Characters:
    """Every character is one token; the chat template adds a mark on either side."""

    chat_template = ""

    def __call__(self, text: str, **settings: Any) -> dict[str, list[int]]:
        return {"input_ids": self.encode(text, add_special_tokens=False)}

    def decode(self, ids: Sequence[int], **settings: Any) -> str:
        return "".join(chr(ord("a") + i % 26) for i in ids)

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return [3 + ord(c) % (VOCABULARY - 3) for c in text]

    def apply_chat_template(self, conversation: list[dict[str, str]], **settings: Any) -> list[int]:
        return [1, *self.encode(conversation[0]["content"], add_special_tokens=False), 1]


def tiny_llama(*, layers: int = 3, seed: int = 0, head_size: int = 8) -> LlamaForCausalLM:
    """A random Llama, 32 wide, whose next token depends visibly on the last ones."""
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, head_dim=head_size, bos_token_id=1, eos_token_id=2, pad_token_id=2,
        initializer_range=0.3,
    )  # fmt: skip
    torch.manual_seed(seed)
    return LlamaForCausalLM(config).eval()


def written(folder: Path, model: LlamaForCausalLM, *, shards: int = 12, length: int = 24, batch: int = 6) -> Path:
    """A folder with text: the first six shards are for training, the other six are held out."""
    config = TextConfig(base=BASE, batch=batch, held_out_batch=batch, prompt=5, written=length - 5)
    list(write(model, Characters(), folder, config, shards=shards, minutes=float("inf")))
    return folder


def train_corpus(folder: Path) -> Corpus:
    return read(folder, "train")


def random_head(model: LlamaForCausalLM, *, count: int = 40, seed: int = 1) -> MtpHead:
    """A head with random weights, the same draft tokens whatever the seed."""
    torch.manual_seed(seed)
    ids = torch.randperm(VOCABULARY, generator=torch.Generator().manual_seed(0))[:count].sort().values
    return head_for(model, ids)


def target_log(shard: Shard, rows: torch.Tensor, lm_rows: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of the draft tokens under the target's full softmax, (rows, T, R) float32."""
    return (shard.states[rows].to(lm_rows.dtype) @ lm_rows.T).float() - shard.log_normalizer[rows][..., None]
