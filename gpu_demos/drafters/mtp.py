"""The MTP head: one Llama layer that guesses the target's next state, and is applied to its own guess again.

A *state* is what an LM head is applied to: the target's hidden state after its final norm. The head reads the state of
a position and the embedding of the token that follows it, and gives a guess of the next position's state; the target's
own LM head, cut down to the frequent tokens, makes a distribution of it. For the second draft the guess takes the
place of the state, and so on. Embedding and LM head belong to the target and are neither trained nor stored.
Difference from DeepSeek-V3's module: the state read is the one after the final norm, so that the target's states and
the head's are of one kind. Source: DeepSeek-V3's MTP module, EAGLE's recursion on features, FR-Spec's cut LM head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import nn
from torch.nn import functional
from transformers import DynamicCache, LlamaConfig, PreTrainedModel
from transformers.cache_utils import DynamicLayer
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRMSNorm, LlamaRotaryEmbedding

from gpu_demos.acceptance import Laws
from gpu_demos.decoding_types import NO_DRAFT, Draft, Seen, Session

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""(…, in) and (out, in) -> (…, out)."""


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Sizes of a head; `vocabulary` is the number of tokens that it can draft."""

    width: int
    intermediate: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    norm_eps: float
    rope_theta: float

    @classmethod
    def of(cls, model: PreTrainedModel, *, vocabulary: int) -> HeadShape:
        """The shape that agrees with a target of the Llama family. ValueError for another one or too few tokens."""
        config = model.config
        if config.model_type != "llama" or config.rope_parameters["rope_type"] != "default":
            raise ValueError(f"model_type={config.model_type!r} must be llama with plain rotary embeddings")
        if not 1 <= vocabulary <= config.vocab_size:
            raise ValueError(f"vocabulary={vocabulary} must lie in 1 … {config.vocab_size}")
        sizes = (config.hidden_size, config.intermediate_size, config.num_attention_heads, config.num_key_value_heads)
        theta = float(config.rope_parameters["rope_theta"])
        return cls(*sizes, config.head_dim, vocabulary, float(config.rms_norm_eps), theta)


class MtpHead(nn.Module):
    """The trained part, and the target's embedding and LM head beside it.

    embedding: (V, d) and lm_rows: (R, d) are the target's, frozen, and no part of the state dict; draft_ids: (R,)
    int64, ascending, are the tokens of the rows.
    """

    embedding: torch.Tensor
    lm_rows: torch.Tensor
    draft_ids: torch.Tensor
    product: Product = staticmethod(functional.linear)  # with lm_rows; `batch_invariant.use` replaces it

    def __init__(self, shape: HeadShape, draft_ids: torch.Tensor, embedding: torch.Tensor, lm_head: torch.Tensor):
        super().__init__()
        if draft_ids.shape != (shape.vocabulary,) or bool((draft_ids.diff() <= 0).any()):
            raise ValueError(f"draft_ids: {tuple(draft_ids.shape)} must be {shape.vocabulary} ascending token numbers")
        self.shape = shape
        config = LlamaConfig(
            hidden_size=shape.width, intermediate_size=shape.intermediate, num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads, head_dim=shape.head_size, num_hidden_layers=1, vocab_size=1,
            bos_token_id=None, eos_token_id=None, pad_token_id=None,
            rms_norm_eps=shape.norm_eps, rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
            attn_implementation="sdpa",  # pyright: ignore[reportCallIssue]  # a setting of the base class
        )  # fmt: skip
        self.norm_state = LlamaRMSNorm(shape.width, eps=shape.norm_eps)
        self.norm_embedding = LlamaRMSNorm(shape.width, eps=shape.norm_eps)
        self.project = nn.Linear(2 * shape.width, shape.width, bias=False)
        self.layer = LlamaDecoderLayer(config, layer_idx=0)
        self.norm = LlamaRMSNorm(shape.width, eps=shape.norm_eps)
        self.rotary = LlamaRotaryEmbedding(config)
        self.register_buffer("draft_ids", draft_ids)
        self.register_buffer("embedding", embedding.detach(), persistent=False)
        self.register_buffer("lm_rows", lm_head.detach()[draft_ids], persistent=False)

    def mix(self, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """States, (B, T, d), and the tokens after them, (B, T), as the layer's input, (B, T, d)."""
        embedded = functional.embedding(tokens, self.embedding)
        return self.project(torch.cat((self.norm_state(states), self.norm_embedding(embedded)), -1))

    def forward(
        self, states: torch.Tensor, tokens: torch.Tensor, *, start: int = 0, cache: DynamicCache | None = None
    ) -> torch.Tensor:
        """(B, T, d) states of positions start … start + T − 1 and the tokens after each -> guessed states, (B, T, d).

        The result at index j is a guess of the state of position start + j + 1. `cache` holds what came before `start`
        and is extended.
        """
        mixed = self.mix(states, tokens)
        length = mixed.shape[1]
        places = torch.arange(start, start + length, device=mixed.device)[None]
        mask = None
        if start and length > 1:  # a query may see all cached positions and its own past
            mask = torch.ones(length, start + length, dtype=torch.bool, device=mixed.device).tril(start)[None, None]
        out = self.layer(
            mixed, attention_mask=mask, position_embeddings=self.rotary(mixed, places), cache=cache,
            use_cache=cache is not None,
        )  # fmt: skip
        return self.norm(out)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """(…, d) -> (…, R): logits of the tokens `draft_ids`; every other token has probability 0."""
        return self.product(states, self.lm_rows)


def head_for(model: PreTrainedModel, draft_ids: torch.Tensor) -> MtpHead:
    """A head beside this target, with random weights: they are loaded or initialised afterwards."""
    shape = HeadShape.of(model, vocabulary=len(draft_ids))
    embedding = cast(torch.Tensor, model.get_input_embeddings().weight)
    head = MtpHead(shape, draft_ids.to(model.device), embedding, lm_head_weight(model))
    frequencies = cast(torch.Tensor, head.rotary.inv_freq).to(model.device)
    head = head.to(model.device, model.dtype)
    head.rotary.register_buffer("inv_freq", frequencies, persistent=False)  # bf16 would turn far positions wrongly
    return head


def lm_head_weight(model: PreTrainedModel) -> torch.Tensor:
    """(V, d) weight of a target's LM head. Raises ValueError for a model without one."""
    head = model.get_output_embeddings()
    if head is None:
        raise ValueError(f"model={type(model).__name__} must have an LM head")
    return cast(torch.Tensor, head.weight)


def prefix(cache: DynamicCache, length: int, config: LlamaConfig) -> DynamicCache:
    """The first `length` positions of a head's cache, as a cache of its own: what is added to it leaves the old one."""
    kept, layer = DynamicCache(config=config), cast(DynamicLayer, cache.layers[0])
    assert layer.keys is not None and layer.values is not None
    kept.update(layer.keys[:, :, :length], layer.values[:, :, :length], 0)
    return kept


@dataclass(slots=True)
class _Row:
    """A text as the head knows it: its cache over confirmed positions, and what was confirmed since."""

    cache: DynamicCache
    length: int = 0
    states: list[torch.Tensor] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)


class MtpDrafter:
    """Drafts with a trained head. Rows are drafted one after another; a row's first round has no draft, since the
    target's states are not there yet. Tokens outside the draft vocabulary have probability 0."""

    name = "mtp"
    taps: Sequence[int] = ()

    def __init__(self, head: MtpHead) -> None:
        self.head = head
        self._config = head.layer.self_attn.config
        self._session: Session | None = None
        self._rows: list[_Row] = []

    def begin(self, session: Session) -> None:
        self._session = session
        self._rows = [_Row(DynamicCache(config=self._config)) for _ in session.texts]

    def observe(self, row: int, seen: Seen) -> None:
        """Keep states and the tokens after them until the next draft; a text that has ended needs none."""
        assert self._session is not None
        first, text, count = seen.start + 1, self._session.texts[row], len(seen.tokens)
        following = text[first : first + count]
        self._rows[row].tokens.extend(following)
        self._rows[row].states.append(seen.hidden[: len(following)])

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        return [self._draft(row, limit) for row, limit in zip(rows, limits, strict=True)]

    def _draft(self, row: int, limit: int) -> Draft:
        session, known = self._session, self._rows[row]
        assert session is not None
        if limit < 1 or not known.tokens:
            return NO_DRAFT
        guess = self._catch_up(known)
        tokens: list[int] = []
        laws: list[Laws] = []
        own = prefix(known.cache, known.length, self._config)
        for depth in range(limit):
            if depth:
                token = torch.tensor([[tokens[-1]]], device=guess.device)
                guess = self.head(guess, token, start=known.length + depth - 1, cache=own)
            laws.append(session.sampling.laws(self._logits(guess[:, -1], session.target.vocabulary)))
            tokens.append(laws[-1].draw(0, session.uniforms(row, 1)[0]))
        return Draft(tuple(tokens), joined(laws))

    def _catch_up(self, known: _Row) -> torch.Tensor:
        """Run the head over what was confirmed since the last draft; the last guess, (1, 1, d)."""
        states = torch.cat(known.states)[None]
        tokens = torch.tensor([known.tokens], device=states.device)
        guesses = self.head(states, tokens, start=known.length, cache=known.cache)
        known.length += len(known.tokens)
        known.states, known.tokens = [], []
        return guesses[:, -1:]

    def _logits(self, guess: torch.Tensor, vocabulary: int) -> torch.Tensor:
        """(1, d) -> (1, V), minus infinity for every token that is not in the draft vocabulary."""
        wide = guess.new_full((1, vocabulary), float("-inf"))
        wide[:, self.head.draft_ids] = self.head.logits(guess)
        return wide


def joined(laws: Sequence[Laws]) -> Laws:
    """Single laws, at least one and all of one sort, as the laws of a draft."""
    if laws[0].probabilities is None:
        return Laws(sure=[law.sure[0] for law in laws])
    return Laws(probabilities=torch.cat([law.probabilities for law in laws if law.probabilities is not None]))
