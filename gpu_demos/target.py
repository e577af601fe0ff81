"""The forward pass of a Llama, written for decoding: few new tokens against many cached ones, one row or several.

It calls the model's own layers, gives the logits of `transformers`, which the tests compare, and leaves out logits of
positions that nobody reads. It can stop after some layer (early exit) and hand out the hidden states between layers
(for drafters that read them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from transformers import LlamaForCausalLM, PreTrainedModel

from gpu_demos import decoder_layer
from gpu_demos.cache import KVCache
from gpu_demos.decoder_layer import angles, places

FIXED_ROPE = ("default", "linear", "llama3", "yarn")  # angles that depend on the position alone


@dataclass(frozen=True, slots=True)
class Pass:
    """Result of a pass over (B, T) tokens. hidden: (B, T, d) after the final norm; taps: layer count -> (B, T, d), the
    state after that many layers, before the final norm."""

    hidden: torch.Tensor
    taps: Mapping[int, torch.Tensor] = field(default_factory=dict)


class Target:
    """A Llama for causal language modelling, ready to decode. Raises ValueError for another architecture."""

    def __init__(self, model: PreTrainedModel) -> None:
        if not isinstance(model, LlamaForCausalLM):
            raise ValueError(f"model={type(model).__name__} must be a LlamaForCausalLM: the loop knows no other layout")
        config = model.config
        rope = cast(dict[str, Any], config.rope_parameters)
        if rope["rope_type"] not in FIXED_ROPE:
            raise ValueError(f"rope_type={rope['rope_type']!r} must be one of {', '.join(FIXED_ROPE)}")
        self.model = model
        self.layers = cast(list[Any], list(model.model.layers))  # modules have no types for their parts
        self.heads, self.kv_heads = int(config.num_attention_heads), int(config.num_key_value_heads or 0)
        self.head_size = int(self.layers[0].self_attn.head_dim)
        self.vocabulary = config.vocab_size
        self.dtype, self.device = model.dtype, model.device
        self._angles: tuple[torch.Tensor, torch.Tensor] | None = None

    def new_cache(self, rows: int, capacity: int) -> KVCache:
        """A cache for `rows` texts of at most `capacity` tokens. Raises ValueError beyond the model's context."""
        longest = self.model.config.max_position_embeddings
        if capacity > longest:
            raise ValueError(f"capacity={capacity} must be at most {longest}, the context of this model")
        size = self.head_size
        return KVCache(len(self.layers), rows, self.kv_heads, capacity, size, dtype=self.dtype, device=self.device)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(…, d) normed states -> (…, V) logits."""
        return self.model.lm_head(hidden)

    def run(
        self,
        ids: torch.Tensor,
        starts: Sequence[int],
        cache: KVCache,
        *,
        layers: int | None = None,
        taps: Sequence[int] = (),
    ) -> Pass:
        """Process (B, T) new tokens, row b at positions starts[b] …, and store their keys and values at these slots.

        layers: stop after so many (early exit); the final norm is applied there. The caller keeps `cache.lengths`.
        """
        depth = len(self.layers) if layers is None else layers
        at = places(starts, ids.shape[1], self.heads // self.kv_heads, *self._rotation(cache.capacity))
        state, kept = self.model.model.embed_tokens(ids), {}
        for index, layer in enumerate(self.layers[:depth]):
            state = decoder_layer.run(layer, state, at, cache, index)
            if index + 1 in taps:
                kept[index + 1] = state
        return Pass(self.model.model.norm(state), kept)

    def _rotation(self, capacity: int) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin of at least `capacity` positions."""
        if self._angles is None or len(self._angles[0]) < capacity:
            like = torch.empty(0, dtype=self.dtype, device=self.device)
            self._angles = angles(self.model.model.rotary_emb, capacity, like)
        return self._angles


def filled(pieces: Sequence[Sequence[int]], device: torch.device) -> torch.Tensor:
    """Token ids of several rows, (B, T). What fills up a short row is overwritten in the cache before anything reads
    it."""
    width = max(map(len, pieces))
    return torch.tensor([[*piece, *[0] * (width - len(piece))] for piece in pieces], device=device)
