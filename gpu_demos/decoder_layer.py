"""One Llama decoder layer over few new tokens and many cached ones: of the target, and of a head that is built like it.

It calls the layer's own parts (so a replaced or quantized linear layer is used) and leaves out what decoding does not
need: masks that are built anew for each layer, repeated key heads, and copies of the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from gpu_demos import batch_invariant
from gpu_demos.cache import KVCache


@dataclass(frozen=True, slots=True)
class Places:
    """Where the new tokens of a pass stand. cos, sin: of their positions; lags: by how much each row is shorter than
    the longest; slots: (B, T), None if all rows begin at `first`, the largest first slot; mask: additive, None where
    every new token sees all that is there."""

    cos: torch.Tensor
    sin: torch.Tensor
    lags: tuple[int, ...]
    first: int
    slots: torch.Tensor | None
    mask: torch.Tensor | None


def angles(rotary: Callable[..., Any], capacity: int, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin of the first `capacity` positions, (positions, head size) each, from a model's own table of
    frequencies, which `rotary` reads; in the dtype and on the device of `like`."""
    cos, sin = rotary(like, position_ids=torch.arange(capacity, device=like.device)[None])
    return cos[0], sin[0]


def places(starts: Sequence[int], width: int, group: int, cos: torch.Tensor, sin: torch.Tensor) -> Places:
    """Row b has `width` new tokens from starts[b] on; `group` queries share a key head. cos, sin: of all positions."""
    first = max(starts)
    lags = tuple(first - start for start in starts)
    slots, mask = _layout(starts, width, group, cos.dtype, cos.device)
    if slots is None:
        return Places(cos[first : first + width], sin[first : first + width], lags, first, None, mask)
    return Places(cos[slots][:, None], sin[slots][:, None], lags, first, slots, mask)


def run(layer: Any, state: torch.Tensor, at: Places, cache: KVCache, index: int) -> torch.Tensor:
    """(B, T, d) -> (B, T, d) through the layer, whose keys and values are layer `index` of the cache."""
    state = state + _attend(layer.self_attn, layer.input_layernorm(state), at, cache, index)
    return state + layer.mlp(layer.post_attention_layernorm(state))


def _attend(block: Any, x: torch.Tensor, at: Places, cache: KVCache, index: int) -> torch.Tensor:
    rows, width, size = x.shape[0], x.shape[1], block.head_dim
    query = _rotate(block.q_proj(x).view(rows, width, -1, size).transpose(1, 2), at.cos, at.sin)
    key = _rotate(block.k_proj(x).view(rows, width, -1, size).transpose(1, 2), at.cos, at.sin)
    value = block.v_proj(x).view(rows, width, -1, size).transpose(1, 2)
    keys, values = cache.write(index, key, value, at.slots, at.first)
    if batch_invariant.attends(block):
        return block.o_proj(batch_invariant.attention(query, keys, values, at.lags, block.scaling))
    # The queries that share a key head are laid one after another, as if they were more positions of that head:
    # nothing is repeated in memory.
    query = query.reshape(rows, key.shape[1], -1, size)
    mixed = functional.scaled_dot_product_attention(query, keys, values, attn_mask=at.mask, scale=block.scaling)
    mixed = mixed.view(rows, -1, width, size).transpose(1, 2)
    return block.o_proj(mixed.reshape(rows, width, -1))


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
