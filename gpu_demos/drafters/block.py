"""The block head: one pass over an anchor and masks guesses a whole block, a Markov head then ties it together.

The *anchor* is the last confirmed token; the target has not processed it yet. Its row and the rows of γ − 1 masks
behind it give the logits of γ drafts. What the target knows enters twice: its tapped states of all earlier positions
are fused, normed and turned into keys and values, as in DFlash and DSpark; and every row begins with its own linear
map of the last known state, a middle tap and the anchor's embedding. The latter is this wiki's addition: one layer
trained for minutes could not build a state from a mask alone.
A low-rank bias looked up by the token before (W₁, W₂) makes the guesses depend on each other; for the first draft,
whose row has read the anchor, nothing is looked up, as in `mechanisms.dspark_drafter`. The confidence head predicts
from the same lookup whether a draft will be accepted, given that all before it were. Embedding and LM head are the
target's, cut to the frequent tokens, and neither trained nor stored. Source: dspark2026, §3.1–3.2; DFlash.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import nn
from torch.nn import functional
from transformers import LlamaConfig, PreTrainedModel
from transformers.models.llama.modeling_llama import (
    LlamaDecoderLayer,
    LlamaRMSNorm,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)

from gpu_demos.drafters.mtp import HeadShape, Product, lm_head_weight

TAPS = 3  # layers whose states the text keeps: a low, a middle one, and the input of the last
MIDDLE = 1  # which of them a row reads beside the final state
NONE = -1  # in the place of a token before: nothing is looked up
READ = 2  # states that a row reads: the final one and the middle tap


class BlockHead(nn.Module):
    """The trained part, with the target's embedding and LM head beside it.

    embedding: (V, d), lm_rows: (R, d) and row_of: (V,), the draft number of a token or R, are no part of the state
    dict; draft_ids: (R,) int64, ascending. size: γ, drafts of a block; rank: r of the Markov head.
    """

    embedding: torch.Tensor
    lm_rows: torch.Tensor
    draft_ids: torch.Tensor
    row_of: torch.Tensor
    product: Product = staticmethod(functional.linear)

    def __init__(
        self, shape: HeadShape, size: int, rank: int, draft_ids: torch.Tensor, embedding: torch.Tensor,
        lm_head: torch.Tensor,
    ):  # fmt: skip
        super().__init__()
        if draft_ids.shape != (shape.vocabulary,) or bool((draft_ids.diff() <= 0).any()):
            raise ValueError(f"draft_ids: {tuple(draft_ids.shape)} must be {shape.vocabulary} ascending token numbers")
        if size < 2 or rank < 1:
            raise ValueError(f"size={size} must be at least 2, rank={rank} at least 1")
        self.shape, self.size, self.rank = shape, size, rank
        config = LlamaConfig(
            hidden_size=shape.width, intermediate_size=shape.intermediate, num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads, head_dim=shape.head_size, num_hidden_layers=1, vocab_size=1,
            bos_token_id=None, eos_token_id=None, pad_token_id=None, rms_norm_eps=shape.norm_eps,
            rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        )  # fmt: skip
        width = shape.width
        self.fuse = nn.Linear(TAPS * width, width, bias=False)
        self.norm_read = nn.ModuleList(LlamaRMSNorm(width, eps=shape.norm_eps) for _ in range(READ + 1))
        self.start = nn.Parameter(torch.randn(size, width, (READ + 1) * width) * width**-0.5)
        self.masks = nn.Parameter(torch.zeros(size - 1, width))
        self.layer = LlamaDecoderLayer(config, layer_idx=0)
        self.norm = LlamaRMSNorm(width, eps=shape.norm_eps)
        self.rotary = LlamaRotaryEmbedding(config)
        self.lookup = nn.Embedding(
            shape.vocabulary + 1, rank
        )  # W₁; the last row stands for the first place and for tokens that cannot be drafted
        self.bias = nn.Linear(rank, shape.vocabulary, bias=False)  # W₂
        self.confidence = nn.Linear(width + rank, 1)
        row_of = torch.full((len(embedding),), shape.vocabulary, device=draft_ids.device)
        row_of[draft_ids] = torch.arange(shape.vocabulary, device=draft_ids.device)
        self.register_buffer("draft_ids", draft_ids)
        self.register_buffer("row_of", row_of, persistent=False)
        self.register_buffer("embedding", embedding.detach(), persistent=False)
        self.register_buffer("lm_rows", lm_head.detach()[draft_ids], persistent=False)

    def context(self, taps: torch.Tensor, *, start: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """(B, T, 3, d) tapped states of positions start … -> keys and values, (B, kv heads, T, head size) each."""
        fused = self.layer.input_layernorm(self.fuse(taps.flatten(-2)))
        places = torch.arange(start, start + taps.shape[1], device=taps.device)[None]
        return self._keys(fused, places)

    def features(self, read: torch.Tensor, anchors: torch.Tensor) -> torch.Tensor:
        """(…, 2, d) last known state and middle tap, (…) anchor tokens -> (…, 3 d), each part normed: a row's input."""
        embedded = functional.embedding(anchors, self.embedding)
        parts = (read[..., 0, :], read[..., 1, :], embedded)
        return torch.cat([norm(part) for norm, part in zip(self.norm_read, parts, strict=True)], -1)

    def inputs(self, read: torch.Tensor, anchors: torch.Tensor) -> torch.Tensor:
        """As `features`, (B, A, …) -> (B, A, γ, d): row k's own map of them, and the embedding of mask k behind the
        anchor's row."""
        mapped = torch.einsum("baf,kdf->bakd", self.features(read, anchors), self.start)
        return mapped + functional.pad(self.masks, (0, 0, 1, 0))

    def forward(
        self, read: torch.Tensor, anchors: torch.Tensor, places: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """States of the γ drafts behind each anchor, (B, A, γ, d), to which the LM head is applied.

        read: (B, A, 2, d) of the position before each anchor; anchors, places: (B, A) its token and its position;
        keys, values: of `context`, T positions. A row sees the context before its anchor and all rows of its block.
        """
        x = self.inputs(read, anchors)
        rows, count = x.shape[:2]
        at = (places[..., None] + torch.arange(self.size, device=x.device)).flatten(1)
        normed = self.layer.input_layernorm(x).flatten(1, 2)
        own_keys, own_values = self._keys(normed, at)
        query = self._rotated(self.layer.self_attn.q_proj(normed), at)
        before = torch.arange(keys.shape[2], device=x.device) < places[..., None]  # (B, A, T)
        before = before.repeat_interleave(self.size, 1)
        block = torch.arange(count, device=x.device).repeat_interleave(self.size)
        same = (block[:, None] == block).expand(rows, -1, -1)
        mixed = functional.scaled_dot_product_attention(
            query, torch.cat((keys, own_keys), 2), torch.cat((values, own_values), 2),
            attn_mask=torch.cat((before, same), -1)[:, None], enable_gqa=True,
        )  # fmt: skip
        x = x + self.layer.self_attn.o_proj(mixed.transpose(1, 2).flatten(2)).unflatten(1, (count, self.size))
        return self.norm(x + self.layer.mlp(self.layer.post_attention_layernorm(x)))

    def logits(self, states: torch.Tensor, previous: torch.Tensor) -> torch.Tensor:
        """(…, d) states, (…) tokens before -> (…, R): U + W₁[x] W₂; every token but `draft_ids` has probability 0."""
        return self.product(states, self.lm_rows) + self.bias(self.looked_up(previous))

    def confidence_logits(self, states: torch.Tensor, previous: torch.Tensor) -> torch.Tensor:
        """(…, d), (…) -> (…): logit of c_k, whose input has nothing of the draft that it judges."""
        return self.confidence(torch.cat((states, self.looked_up(previous)), -1))[..., 0]

    def looked_up(self, tokens: torch.Tensor) -> torch.Tensor:
        """(…) tokens, NONE at a first place -> (…, r), rows of W₁."""
        return self.lookup(torch.where(tokens == NONE, len(self.draft_ids), self.row_of[tokens]))

    def _keys(self, normed: torch.Tensor, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        attention = self.layer.self_attn
        values = attention.v_proj(normed).unflatten(-1, (-1, self.shape.head_size)).transpose(1, 2)
        return self._rotated(attention.k_proj(normed), places), values

    def _rotated(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """(B, T, heads · size), (B or 1, T) -> (B, heads, T, size) turned to their positions."""
        split = x.unflatten(-1, (-1, self.shape.head_size)).transpose(1, 2)
        return apply_rotary_pos_emb(split, split, *self.rotary(x, places))[0]


def block_head_for(model: PreTrainedModel, draft_ids: torch.Tensor, *, size: int, rank: int) -> BlockHead:
    """A head beside this target, with random weights: they are loaded or initialised afterwards."""
    shape = HeadShape.of(model, vocabulary=len(draft_ids))
    embedding = cast(torch.Tensor, model.get_input_embeddings().weight)
    head = BlockHead(shape, size, rank, draft_ids.to(model.device), embedding, lm_head_weight(model))
    frequencies = cast(torch.Tensor, head.rotary.inv_freq).to(model.device)
    head = head.to(model.device, model.dtype)
    head.rotary.register_buffer("inv_freq", frequencies, persistent=False)  # bf16 would turn far positions wrongly
    return head
