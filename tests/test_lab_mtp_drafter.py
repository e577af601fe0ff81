"""The MTP head as a drafter in the decoding loop: the text is the target's, the drafts are those of the head."""

import math

import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.drafters.mtp import MtpDrafter, MtpHead, head_for
from gpu_demos.target import Target
from gpu_demos.training.initialise import copy_last_layer
from tests.lab_training import VOCABULARY, random_head, tiny_llama
from tests.test_lab_law import ALARM, DRAWS, LENGTH, PROMPT, ROWS, SIZE, exact, p_value
from tests.tiny_llama import tiny

PROMPTS = ([5, 9, 30, 7], [40, 41, 42, 3, 8, 8, 11], [17])


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return tiny_llama().requires_grad_(False)


@pytest.fixture(scope="module")
def head(model: LlamaForCausalLM) -> MtpHead:
    """Random weights, but the target's own norm and last layer, so that some drafts are accepted."""
    head = random_head(model).requires_grad_(False)
    copy_last_layer(head, model.model.layers[-1], model.model.norm)
    return head


@pytest.mark.parametrize("prompt", PROMPTS, ids=len)
def test_greedy_text_is_that_of_plain_decoding(model: LlamaForCausalLM, head: MtpHead, prompt: list[int]) -> None:
    """Token by token, with drafts that are partly accepted."""
    target = Target(model)
    plain = decode(target, [prompt], max_tokens=40)[0]
    found = decode(target, [prompt], drafter=MtpDrafter(head), drafts=4, max_tokens=40)[0]
    assert found.tokens == plain.tokens
    assert sum(len(r.drafts) for r in found.rounds) > 0
    assert all(token in head.draft_ids.tolist() for r in found.rounds for token in r.drafts)


def test_rows_of_a_batch_equal_single_runs(model: LlamaForCausalLM, head: MtpHead) -> None:
    """Three texts of unlike length at once give the tokens and the drafts of three runs, greedy and sampled."""
    target = Target(model)
    for sampling in (Sampling(), Sampling(1.0, 0.9)):
        both = decode(target, PROMPTS, drafter=MtpDrafter(head), max_tokens=20, sampling=sampling, seeds=[3, 4, 5])
        for row, prompt in enumerate(PROMPTS):
            one = decode(target, [prompt], drafter=MtpDrafter(head), max_tokens=20, sampling=sampling, seeds=[3 + row])
            assert both[row].tokens == one[0].tokens
            assert [r.drafts for r in both[row].rounds] == [r.drafts for r in one[0].rounds]


def test_drafts_are_those_of_one_pass_over_the_text(model: LlamaForCausalLM, head: MtpHead) -> None:
    """Every greedy draft of a run equals one computed anew: all the target's states, then the head's own guesses."""
    target, prompt = Target(model), list(PROMPTS[1])
    found = decode(target, [prompt], drafter=MtpDrafter(head), drafts=3, max_tokens=30)[0]
    text = torch.tensor([prompt + list(found.tokens)])
    states = model.model(text).last_hidden_state
    for done in found.rounds[1:]:
        if not done.drafts:
            continue
        known = done.cached_before  # states of these positions were known, and the token after the last of them
        read, tokens = states[:, :known], text[:, 1 : known + 1]
        for drafted in done.drafts:
            guess = head(read, tokens)[:, -1:]
            assert int(head.draft_ids[head.logits(guess).argmax()]) == drafted
            read, tokens = torch.cat((read, guess), 1), torch.cat((tokens, torch.tensor([[drafted]])), 1)


@pytest.mark.parametrize("floor", [0.01, 0.1, 1.0])
def test_draft_ends_where_its_probabilities_do(model: LlamaForCausalLM, head: MtpHead, floor: float) -> None:
    """The product of the head's largest probabilities, computed anew from the whole text, is at least the floor before
    the last place of every draft, and below it there unless the draft has its full length; the text stays."""
    target, prompt, most = Target(model), list(PROMPTS[1]), 4
    (found,) = decode(target, [prompt], drafter=MtpDrafter(head, floor), drafts=most, max_tokens=30)
    assert found.tokens == decode(target, [prompt], max_tokens=30)[0].tokens
    text = torch.tensor([prompt + list(found.tokens)])
    states, lengths = model.model(text).last_hidden_state, set()
    for done in found.rounds[1:]:
        known, sure = done.cached_before, []
        read, tokens = states[:, :known], text[:, 1 : known + 1]
        for drafted in done.drafts:
            guess = head(read, tokens)[:, -1:]
            sure.append(float(head.logits(guess).softmax(-1).max()))
            read, tokens = torch.cat((read, guess), 1), torch.cat((tokens, torch.tensor([[drafted]])), 1)
        assert math.prod(sure[:-1]) >= floor
        left = len(text[0]) - known - 2
        assert not sure or len(sure) == min(most, left) or math.prod(sure) < floor
        lengths.add(len(sure))
    assert lengths - {0} == {1} if floor == 1 else max(lengths) > 1


def test_rows_end_their_drafts_on_their_own(model: LlamaForCausalLM, head: MtpHead) -> None:
    """With a floor, too, three texts at once give the tokens and the drafts of three runs."""
    target, sampling = Target(model), Sampling(1.0)
    both = decode(target, PROMPTS, drafter=MtpDrafter(head, 0.05), max_tokens=20, sampling=sampling, seeds=[3, 4, 5])
    for row, prompt in enumerate(PROMPTS):
        drafter = MtpDrafter(head, 0.05)
        (one,) = decode(target, [prompt], drafter=drafter, max_tokens=20, sampling=sampling, seeds=[3 + row])
        assert both[row].tokens == one.tokens
        assert [r.drafts for r in both[row].rounds] == [r.drafts for r in one.rounds]
    assert len({len(r.drafts) for row in both for r in row.rounds}) > 2


@pytest.mark.parametrize("floor", [-0.1, 1.5, math.nan])
def test_floor_is_a_probability(head: MtpHead, floor: float) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match="must lie in 0 … 1"):
        MtpDrafter(head, floor)


@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_sampled_texts_have_the_exact_law(floor: float) -> None:
    """4,000 continuations fit the law enumerated from transformers' logits, also where the floor ends a draft."""
    target = tiny(SIZE, spread=0.3)
    torch.manual_seed(5)
    drafter = MtpDrafter(head_for(target.model, torch.arange(1, SIZE)).requires_grad_(False), floor)
    found = np.zeros((SIZE,) * LENGTH)
    drafted = set()
    for first in range(0, DRAWS, ROWS):
        rows = decode(
            target, [PROMPT] * ROWS, drafter=drafter, drafts=2, max_tokens=LENGTH + 2, sampling=Sampling(1.0),
            seeds=range(first, first + ROWS),
        )  # fmt: skip
        for row in rows:
            found[row.tokens[:LENGTH]] += 1  # written to five, so that two drafts fit beside the first
            drafted |= {len(r.drafts) for r in row.rounds[1:2]}
    assert p_value(found, exact(Sampling(1.0))) > ALARM
    assert drafted == ({1, 2} if floor else {2})  # the floor ends some drafts, of others the limit


def test_sampled_drafts_come_from_the_law_they_report(model: LlamaForCausalLM, head: MtpHead) -> None:
    """At temperature 0.7 the reported q of the first draft is the head's softmax on its tokens and 0 elsewhere."""
    target, sampling = Target(model), Sampling(0.7)
    found = decode(target, [PROMPTS[1]], drafter=MtpDrafter(head), drafts=2, max_tokens=25, sampling=sampling)[0]
    text = torch.tensor([list(PROMPTS[1]) + list(found.tokens)])
    states, checked = model.model(text).last_hidden_state, 0
    for done in found.rounds[1:]:
        if done.drafts:
            known = done.cached_before
            logits = head.logits(head(states[:, :known], text[:, 1 : known + 1])[0, -1])
            law = torch.zeros(VOCABULARY)
            law[head.draft_ids] = (logits / 0.7).softmax(-1)
            assert done.q[0] == pytest.approx(float(law[done.drafts[0]]), abs=1e-5)
            checked += 1
    assert checked > 3


def test_end_of_text_and_new_texts(model: LlamaForCausalLM, head: MtpHead) -> None:
    """A drafter that has seen one text end gives the same on the next one as a fresh drafter."""
    target, used = Target(model), MtpDrafter(head)
    plain = decode(target, [PROMPTS[0]], max_tokens=30)[0]
    eos = [plain.tokens[12]]
    first = decode(target, [PROMPTS[0]], drafter=used, max_tokens=30, eos=eos)[0]
    assert first.tokens == plain.tokens[: plain.tokens.index(eos[0]) + 1]
    assert first.stopped == "eos"
    again = decode(target, [PROMPTS[1]], drafter=used, max_tokens=20)[0]
    assert again.tokens == decode(target, [PROMPTS[1]], drafter=MtpDrafter(head), max_tokens=20)[0].tokens
