"""The forward pass of a Llama, written for decoding: few new tokens against many cached ones, one row or several.

It calls the model's own layers (so a replaced or quantized linear layer is used) and gives the logits of
`transformers`, which the tests compare; it leaves out what decoding does not need: masks that are built anew for each
layer, repeated key heads, logits of positions that nobody reads, and copies of the cache. It can stop after some
layer (early exit) and hand out the hidden states between layers (for drafters that read them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch.nn import functional
from transformers import LlamaForCausalLM, PreTrainedModel

from gpu_demos.cache import KVCache

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
        width, first = ids.shape[1], max(starts)
        slots, mask = _layout(starts, width, self.heads // self.kv_heads, self.dtype, self.device)
        cos, sin = self._rotation(cache.capacity)
        if slots is None:
            cos, sin = cos[first : first + width], sin[first : first + width]
        else:
            cos, sin = cos[slots][:, None], sin[slots][:, None]
        state, kept = self.model.model.embed_tokens(ids), {}
        for index, layer in enumerate(self.layers[:depth]):
            attended = self._attend(index, layer.input_layernorm(state), cos, sin, cache, slots, first, mask)
            state = state + attended
            state = state + layer.mlp(layer.post_attention_layernorm(state))
            if index + 1 in taps:
                kept[index + 1] = state
        return Pass(self.model.model.norm(state), kept)

    def _attend(
        self,
        index: int,
        x: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        cache: KVCache,
        slots: torch.Tensor | None,
        first: int,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        block = self.layers[index].self_attn
        rows, width, size = x.shape[0], x.shape[1], self.head_size
        query = _rotate(block.q_proj(x).view(rows, width, -1, size).transpose(1, 2), cos, sin)
        key = _rotate(block.k_proj(x).view(rows, width, -1, size).transpose(1, 2), cos, sin)
        value = block.v_proj(x).view(rows, width, -1, size).transpose(1, 2)
        keys, values = cache.write(index, key, value, slots, first)
        # The queries that share a key head are laid one after another, as if they were more positions of that head:
        # nothing is repeated in memory.
        query = query.reshape(rows, self.kv_heads, -1, size)
        mixed = functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=block.scaling)
        mixed = mixed.view(rows, self.heads, width, size).transpose(1, 2)
        return block.o_proj(mixed.reshape(rows, width, -1))

    def _rotation(self, capacity: int) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin, (positions, head size), from the model's own table of frequencies."""
        if self._angles is None or self._angles[0].shape[0] < capacity:
            places = torch.arange(capacity, device=self.device)[None]
            like = torch.empty(0, dtype=self.dtype, device=self.device)
            cos, sin = self.model.model.rotary_emb(like, position_ids=places)
            self._angles = cos[0], sin[0]
        return self._angles


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary position embedding in the half-split order of transformers. x: (B, heads, T, size)."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


def _layout(
    starts: Sequence[int], width: int, group: int, dtype: torch.dtype, device: torch.device
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """Slots (B, T) and additive mask (B or 1, 1, group·T, keys); None where the plain case needs none.

    A query at slot i sees the slots 0 … i. One new token in rows of one length sees everything that is there.
    """
    first = max(starts)
    if min(starts) == first:
        if width == 1:
            return None, None
        seen = torch.full((width, first + width), float("-inf"), dtype=dtype, device=device).triu_(first + 1)
        return None, seen.repeat(group, 1)[None, None]
    slots = torch.tensor(starts, device=device)[:, None] + torch.arange(width, device=device)
    beyond = torch.arange(first + width, device=device) > slots[:, :, None]
    mask = torch.zeros(beyond.shape, dtype=dtype, device=device).masked_fill_(beyond, float("-inf"))
    return slots, mask.repeat(1, group, 1)[:, None]
