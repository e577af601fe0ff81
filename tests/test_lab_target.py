"""The forward pass and its cache against transformers' own, in float64."""

from __future__ import annotations

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from gpu_demos.cache import KVCache
from gpu_demos.target import Target
from tests.tiny_llama import tiny

IDS = torch.randint(0, 50, (3, 24), generator=torch.Generator().manual_seed(3))
CLOSE = {"rtol": 0, "atol": 1e-12}  # float64; the values lie within ±10


def logits(target: Target, ids: torch.Tensor, starts: list[int], cache: KVCache) -> torch.Tensor:
    """Logits of all positions of a pass."""
    return target.logits(target.run(ids, starts, cache).hidden)


@pytest.mark.parametrize("cuts", [(24,), (1,) * 24, (10, 1, 6, 7)], ids=["at-once", "one-by-one", "in-pieces"])
def test_logits_equal_transformers_however_the_text_is_cut(cuts: tuple[int, ...]) -> None:
    """A text gives the same logits in one pass and in any sequence of passes over the cache."""
    target, at = tiny(), 0
    cache, parts = target.new_cache(3, 24), []
    with torch.inference_mode():
        for cut in cuts:
            parts.append(logits(target, IDS[:, at : at + cut], [at] * 3, cache))
            at += cut
        torch.testing.assert_close(torch.cat(parts, 1), target.model(IDS).logits, **CLOSE)


def test_rows_of_unlike_length_equal_single_rows() -> None:
    """Rows at positions 20, 7 and 0 of one cache get the logits that each has alone, stale slots above them or not."""
    target, starts = tiny(), [20, 7, 0]
    with torch.inference_mode():
        wanted = target.model(IDS).logits
        cache = target.new_cache(3, 40)
        target.run(IDS, [0, 0, 0], cache)  # leaves entries above 7 and 0 that must not be seen
        piece = torch.stack([IDS[row, start : start + 4] for row, start in enumerate(starts)])
        found = logits(target, piece, starts, cache)
        for row, start in enumerate(starts):
            torch.testing.assert_close(found[row], wanted[row, start : start + 4], **CLOSE)


def test_states_between_layers_equal_transformers() -> None:
    """Taps are the states after so many layers, and an early exit is the final norm of such a state."""
    target = tiny()
    with torch.inference_mode():
        wanted = target.model(IDS, output_hidden_states=True).hidden_states
        found = target.run(IDS, [0] * 3, target.new_cache(3, 24), taps=(1, 2))
        assert sorted(found.taps) == [1, 2]
        for layer in (1, 2):
            torch.testing.assert_close(found.taps[layer], wanted[layer], **CLOSE)
            left = target.run(IDS, [0] * 3, target.new_cache(3, 24), layers=layer).hidden
            torch.testing.assert_close(left, target.model.model.norm(wanted[layer]), **CLOSE)


@pytest.mark.parametrize("rope", ["linear", "llama3"])
def test_scaled_positions_equal_transformers(rope: str) -> None:
    """Scaled rotary embeddings are taken from the model's own table."""
    torch.manual_seed(1)
    extra = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
    config = LlamaConfig(
        vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=128, initializer_range=0.2,
        rope_parameters={
            "rope_type": rope, "rope_theta": 1e4, "factor": 4.0, **(extra if rope == "llama3" else {}),
        },
    )  # fmt: skip
    target = Target(LlamaForCausalLM(config).double().eval())
    with torch.inference_mode():
        found = logits(target, IDS, [0] * 3, target.new_cache(3, 24))
        torch.testing.assert_close(found, target.model(IDS).logits, **CLOSE)


def test_other_models_are_refused() -> None:
    """Another architecture and angles that depend on the length are errors that say what is allowed."""
    with pytest.raises(ValueError, match=r"model=GPT2LMHeadModel must be a LlamaForCausalLM"):
        Target(GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=8, n_head=1, vocab_size=10)))
    rope = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}
    config = LlamaConfig(
        vocab_size=9,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        rope_parameters=rope,
    )
    with pytest.raises(ValueError, match="rope_type='dynamic' must be one of default"):
        Target(LlamaForCausalLM(config))


def test_context_is_limited() -> None:
    """A cache longer than the model's context is refused."""
    with pytest.raises(ValueError, match="capacity=257 must be at most 256"):
        tiny().new_cache(1, 257)


def test_rollback_moves_a_number() -> None:
    """A rollback keeps a prefix, cannot add positions, and the next pass writes over what was cut off."""
    target = tiny()
    with torch.inference_mode():
        cache = target.new_cache(1, 24)
        target.run(IDS[:1, :12], [0], cache)
        cache.lengths[0] = 12
        for bad in (13, -1):
            with pytest.raises(ValueError, match=rf"length={bad} must lie in 0 … 12"):
                cache.rollback(0, bad)
        cache.rollback(0, 5)
        assert cache.lengths == [5]
        other = torch.cat((IDS[:1, :5], IDS[1:2, 5:12]), 1)
        found = logits(target, other[:, 5:], [5], cache)
        torch.testing.assert_close(found, target.model(other).logits[:, 5:], **CLOSE)


def test_dropped_rows_leave_the_others_as_they_were() -> None:
    """Keeping rows 2 and 0 keeps their entries and lengths, in that order."""
    target = tiny()
    with torch.inference_mode():
        cache = target.new_cache(3, 30)
        target.run(IDS, [0] * 3, cache)
        cache.lengths = [10, 11, 12]
        cache.keep_rows([2, 0])
        assert cache.lengths == [12, 10] and cache.capacity == 30
        piece = torch.stack((IDS[2, 12:15], IDS[0, 10:13]))
        found, wanted = logits(target, piece, [12, 10], cache), target.model(IDS).logits
        torch.testing.assert_close(found, torch.stack((wanted[2, 12:15], wanted[0, 10:13])), **CLOSE)


def test_cache_needs_sizes() -> None:
    """A size of zero is refused."""
    with pytest.raises(ValueError, match="rows=0"):
        KVCache(1, 0, 1, 1, 1, dtype=torch.float32, device=torch.device("cpu"))
