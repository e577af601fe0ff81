"""The MTP head: its layer is transformers', its cache changes nothing, its recursion is what drafting does."""

import pytest
import torch
from transformers import LlamaForCausalLM

from gpu_demos.drafters.mtp import HeadShape, MtpHead, Steps, head_for
from gpu_demos.training.initialise import copy_last_layer
from gpu_demos.training.recursion import unroll
from tests.lab_training import VOCABULARY, random_head, tiny_llama


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return tiny_llama()


@pytest.fixture(scope="module")
def head(model: LlamaForCausalLM) -> MtpHead:
    return random_head(model).requires_grad_(False)


def inputs(*, rows: int = 2, length: int = 9) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(rows, length, 32, generator=generator), torch.randint(
        VOCABULARY, (rows, length), generator=generator
    )


def test_with_the_targets_last_input_it_is_the_target(model: LlamaForCausalLM, head: MtpHead) -> None:
    """A head that holds the target's last layer and norm gives, on that layer's true input, the target's states and,
    on its draft tokens, the target's logits."""
    ids = torch.randint(VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        out = model(ids, output_hidden_states=True)
        copied = head_for(model, head.draft_ids)
        copy_last_layer(copied, model.model.layers[-1], model.model.norm)
        copied.mix = lambda states, tokens: out.hidden_states[-2]  # type: ignore[method-assign]
        states = copied(torch.zeros(2, 9, 32), ids)
    assert torch.allclose(states, out.hidden_states[-1], atol=1e-5)
    assert torch.allclose(copied.logits(states), out.logits[..., head.draft_ids], atol=1e-5)


def test_cache_changes_nothing(head: MtpHead) -> None:
    """Piece by piece with a cache equals all at once, and later inputs do not reach earlier outputs."""
    states, tokens = inputs()
    whole = head(states, tokens)
    steps, parts, at = Steps(head, 2, 9), [], 0
    for size in (4, 1, 3, 1):
        parts.append(steps(states[:, at : at + size], tokens[:, at : at + size], [at, at]))
        at += size
    assert torch.allclose(torch.cat(parts, 1), whole, atol=1e-5)
    assert torch.allclose(head(states[:, :5], tokens[:, :5]), whole[:, :5], atol=1e-5)


def test_rows_of_unlike_length_and_what_is_written_over(head: MtpHead) -> None:
    """Each row goes on from its own position, and what a draft left behind it is never read."""
    states, tokens = inputs()
    whole = head(states, tokens)
    steps = Steps(head, 2, 9)
    steps(states[:, :6], tokens[:, :6], [0, 0])
    steps(states[:, :3] + 9, tokens[:, :3], [4, 6])  # a draft that is thrown away
    rows = torch.arange(2)[:, None]
    index = torch.tensor([[4, 5, 6], [6, 7, 8]])
    again = steps(states[rows, index], tokens[rows, index], [4, 6])
    assert torch.allclose(again, whole[rows, index], atol=1e-5)


def test_recursion_is_aligned(head: MtpHead) -> None:
    """Depth k at position j is the head applied to depth k − 1 at j − 1 and the token at j, from a loop written out."""
    states, tokens = inputs()
    guesses = unroll(head, states, tokens, depths=3)
    read = states
    for guess in guesses:
        wanted = read.clone()
        for j in range(1, states.shape[1]):
            out = head(read[:, :j], tokens[:, 1 : j + 1])[:, -1]
            assert torch.allclose(guess[:, j], out, atol=1e-5)
            wanted[:, j] = out
        read = wanted


def test_mixing_draws_each_position_from_all_earlier_depths(head: MtpHead) -> None:
    """Depth 1 is not mixed; at depth 3 every position reads one of three states, each about as often as the others."""
    states, tokens = inputs(rows=40, length=30)
    plain = unroll(head, states, tokens, depths=2)
    seen: list[torch.Tensor] = []
    real = head.mix
    head.mix = lambda s, t: (seen.append(s), real(s, t))[1]  # type: ignore[method-assign]
    mixed = unroll(head, states, tokens, depths=3, generator=torch.Generator().manual_seed(1))
    del head.mix
    assert torch.equal(mixed[0], plain[0])
    history = torch.stack([states, *mixed[:2]])[:, :, :-1]
    equal = (history == seen[2][None]).all(-1).float()
    assert bool((equal.sum(0) >= 1).all())
    inner = equal[:, :, 2:]  # the first positions have no own state of every depth
    # 40 · 27 draws, share 1/3: standard deviation .0143; five of them leave a false alarm below one in a million
    assert torch.allclose(inner.mean((1, 2)), torch.full((3,), 1 / 3), atol=0.072)


def test_only_the_head_learns(model: LlamaForCausalLM) -> None:
    """A loss reaches every parameter of the head and nothing of the target, whose rows are not in the state dict."""
    head = random_head(model)
    model.requires_grad_(True)
    states, tokens = inputs()
    head.logits(unroll(head, states, tokens, depths=2)[-1]).square().mean().backward()
    assert all(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in head.parameters())
    assert all(p.grad is None for p in model.parameters())
    assert {"embedding", "lm_rows"}.isdisjoint(head.state_dict())
    model.requires_grad_(False)


def test_bf16_keeps_exact_angles(model: LlamaForCausalLM) -> None:
    """Rotary frequencies stay float32 beside bf16 weights."""
    small = tiny_llama().bfloat16()
    head = head_for(small, torch.arange(8))
    assert head.rotary.inv_freq.dtype == torch.float32
    assert torch.equal(head.rotary.inv_freq, head_for(model, torch.arange(8)).rotary.inv_freq)
    assert head.project.weight.dtype == torch.bfloat16


@pytest.mark.parametrize("count", [0, VOCABULARY + 1])
def test_draft_vocabulary_has_limits(model: LlamaForCausalLM, count: int) -> None:
    """At least one token, at most all."""
    with pytest.raises(ValueError, match=f"vocabulary={count}"):
        HeadShape.of(model, vocabulary=count)


def test_draft_tokens_must_ascend(model: LlamaForCausalLM) -> None:
    """Two rows of one token would split its probability."""
    with pytest.raises(ValueError, match="ascending"):
        head_for(model, torch.tensor([1, 1, 5]))
