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
from transformers import LlamaConfig, PreTrainedModel
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRMSNorm, LlamaRotaryEmbedding

from gpu_demos import decoder_layer
from gpu_demos.acceptance import Laws, of_row
from gpu_demos.cache import KVCache
from gpu_demos.decoder_layer import angles, places
from gpu_demos.decoding_types import NO_DRAFT, Draft, Seen, Session
from gpu_demos.target import filled

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

    def forward(self, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """(B, T, d) states of positions 0 … T − 1 and the tokens after each -> guessed states, (B, T, d).

        The result at index j is a guess of the state of position j + 1.
        """
        mixed = self.mix(states, tokens)
        at = torch.arange(mixed.shape[1], device=mixed.device)[None]
        return self.norm(self.layer(mixed, position_embeddings=self.rotary(mixed, at)))

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


class Steps:
    """A head over texts that grow: the same results as all at once, from few new positions behind cached ones."""

    def __init__(self, head: MtpHead, rows: int, capacity: int) -> None:
        self.head, shape, like = head, head.shape, head.lm_rows
        sizes = (1, rows, shape.kv_heads, capacity, shape.head_size)
        self.cache = KVCache(*sizes, dtype=like.dtype, device=like.device)
        self._group = shape.heads // shape.kv_heads
        self._angles = angles(head.rotary, capacity, like)

    def __call__(self, states: torch.Tensor, tokens: torch.Tensor, starts: Sequence[int]) -> torch.Tensor:
        """As `MtpHead.forward`, row b from position starts[b] on. The caller keeps `cache.lengths`."""
        at = places(starts, tokens.shape[1], self._group, *self._angles)
        return self.head.norm(decoder_layer.run(self.head.layer, self.head.mix(states, tokens), at, self.cache, 0))


@dataclass(slots=True)
class _New:
    """What was confirmed of a text since its last draft: states, and the tokens after them."""

    states: list[torch.Tensor] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)


class MtpDrafter:
    """Drafts with a trained head, all rows in one pass. The first round has no draft, since the target's states are not
    there yet. Tokens outside the draft vocabulary have probability 0.

    floor: a draft ends behind the place where the product of the head's largest probabilities so far is below it; 0
    never ends one early. It looks at laws and not at what was drawn from the last of them, so the output's law stays.
    """

    name = "mtp"
    taps: Sequence[int] = ()

    def __init__(self, head: MtpHead, floor: float = 0.0) -> None:
        if not 0 <= floor <= 1:
            raise ValueError(f"floor={floor} must lie in 0 … 1")
        self.head, self.floor = head, floor
        self._session: Session | None = None
        self._steps: Steps | None = None
        self._rows: list[int] = []
        self._new: list[_New] = []

    def begin(self, session: Session) -> None:
        self._session = session
        self._rows = list(session.live)
        self._steps = Steps(self.head, len(self._rows), session.cache.capacity)
        self._new = [_New() for _ in self._rows]

    def observe(self, row: int, seen: Seen) -> None:
        """Keep states and the tokens after them until the next draft; a text that has ended needs none."""
        assert self._session is not None
        first, text, count = seen.start + 1, self._session.texts[row], len(seen.tokens)
        following = text[first : first + count]
        self._new[row].tokens.extend(following)
        self._new[row].states.append(seen.hidden[: len(following)])

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        session, steps = self._session, self._steps
        assert session is not None and steps is not None
        # In the first round no row has a state yet, in all others every row has.
        if max(limits) < 1 or not self._new[rows[0]].tokens:
            return [NO_DRAFT] * len(rows)
        if len(rows) < len(self._rows):
            steps.cache.keep_rows([self._rows.index(row) for row in rows])
            self._rows = list(rows)
        guess = self._catch_up(steps)
        tokens: list[list[int]] = [[] for _ in rows]
        laws: list[Laws] = []
        wanted, sure = list(limits), [1.0] * len(rows)
        for depth in range(max(limits)):
            if depth >= max(wanted):
                break
            if depth:
                last = torch.tensor([drafted[-1:] or [0] for drafted in tokens], device=guess.device)
                guess = steps(guess, last, [length + depth - 1 for length in steps.cache.lengths])
            logits = self.head.logits(guess[:, -1])
            laws.append(session.sampling.laws(logits).among(self.head.draft_ids, session.target.vocabulary))
            likely = logits.float().softmax(-1).amax(-1).tolist() if self.floor else sure
            for i, row in enumerate(rows):
                if depth < wanted[i]:  # a row that is done draws nothing, so its numbers do not depend on the others
                    tokens[i].append(laws[-1].draw(i, session.uniforms(row, 1)[0]))
                    sure[i] *= likely[i]
                    if sure[i] < self.floor:
                        wanted[i] = depth + 1
        return [Draft(tuple(drafted), of_row(laws[: len(drafted)], i)) for i, drafted in enumerate(tokens)]

    def _catch_up(self, steps: Steps) -> torch.Tensor:
        """Run the head over what was confirmed since the last draft; the last guess of each row, (B, 1, d)."""
        new = [self._new[row] for row in self._rows]
        counts = [len(n.tokens) for n in new]
        states = nn.utils.rnn.pad_sequence([torch.cat(n.states) for n in new], batch_first=True)
        guesses = steps(states, filled([n.tokens for n in new], states.device), steps.cache.lengths)
        steps.cache.lengths = [length + count for length, count in zip(steps.cache.lengths, counts, strict=True)]
        for row in self._rows:
            self._new[row] = _New()
        return torch.stack([guesses[i, count - 1 : count] for i, count in enumerate(counts)])
