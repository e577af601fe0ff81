"""The block head in the decoding loop: the text is the target's, the law exact, and a stop never looks ahead."""

import numpy as np
import pytest
import torch

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.drafters.block import BlockHead, block_head_for
from gpu_demos.drafters.block_drafter import BlockDrafter, Scheduled, Stop, Survival
from gpu_demos.training.block_initialise import copy_target
from mechanisms.dspark_scheduler import schedule
from tests.test_lab_law import ALARM, DRAWS, LENGTH, PROMPT, ROWS, SIZE, exact, p_value
from tests.tiny_llama import library_greedy, tiny

TAPS = (1, 2, 2)
STOPS: dict[str, Stop | None] = {
    "whole": None, "survival": Survival(0.3), "scheduled": Scheduled((1.0, 1.3, 1.7, 2.0)),
}  # fmt: skip


def head_of(vocabulary: int, *, spread: float = 0.2) -> BlockHead:
    """Random weights but the target's last layer; all tokens but the first can be drafted."""
    model = tiny(vocabulary, spread=spread).model
    torch.manual_seed(5)
    head = block_head_for(model, torch.arange(1, vocabulary), size=3, rank=4).requires_grad_(False)
    copy_target(head, model.model.layers[-1], model.model.norm)
    return head


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS.keys())
def test_greedy_text_is_the_librarys(stop: Stop | None) -> None:
    """Token by token against transformers' own loop; rows of unlike length at once."""
    prompts = [[5, 9, 30, 7], [40, 41, 42, 3, 8], [17]]
    found = decode(tiny(), prompts, drafter=BlockDrafter(head_of(50), TAPS, stop), drafts=3, max_tokens=30)
    for prompt, row in zip(prompts, found, strict=True):
        assert row.tokens == library_greedy(tiny(), prompt, 30)
    assert sum(len(r.drafts) for row in found for r in row.rounds) > 0


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS.keys())
def test_sampled_texts_have_the_exact_law(stop: Stop | None) -> None:
    """4,000 continuations fit the law enumerated from transformers' logits, also where confidence ends a draft."""
    drafter = BlockDrafter(head_of(SIZE, spread=0.3), TAPS, stop)
    found = np.zeros((SIZE,) * LENGTH)
    for first in range(0, DRAWS, ROWS):
        rows = decode(
            tiny(SIZE, spread=0.3), [PROMPT] * ROWS, drafter=drafter, drafts=2, max_tokens=LENGTH,
            sampling=Sampling(1.0), seeds=range(first, first + ROWS),
        )  # fmt: skip
        for row in rows:
            found[row.tokens] += 1
    assert p_value(found, exact(Sampling(1.0))) > ALARM


def test_reported_q_is_the_softmax_given_the_token_before() -> None:
    """U + W1[x]W2 written out for every draft of a run at temperature 0.7; nothing is looked up at the first."""
    head, prompt, checked = head_of(50), [40, 41, 42, 3, 8], 0
    target = tiny()
    done = decode(target, [prompt], drafter=BlockDrafter(head, TAPS), drafts=3, max_tokens=25, sampling=Sampling(0.7))
    text = torch.tensor([prompt + list(done[0].tokens)])
    out = target.model.model(text, output_hidden_states=True)
    for found in done[0].rounds[1:]:
        n = found.cached_before
        tapped = torch.stack([out.hidden_states[i] for i in TAPS], 2)[:, :n]
        read = torch.stack((out.last_hidden_state[0, n - 1], tapped[0, -1, 1]))
        states = head(read[None, None], text[:, n : n + 1], torch.tensor([[n]]), *head.context(tapped))[0, 0]
        number = len(head.draft_ids)
        for k, token in enumerate(found.drafts):
            logits = head.lm_rows @ states[k] + head.bias.weight @ head.lookup.weight[number]
            number = head.draft_ids.tolist().index(token)
            assert found.q[k] == pytest.approx(float((logits / 0.7).softmax(0)[number]), abs=1e-5)
            checked += 1
    assert checked > 10


def test_stops_follow_their_rules() -> None:
    """Survival is a product against a bound; the schedule is that of `mechanisms` with its early stop."""
    assert Survival(0.5).goes_on([0.8, 0.7])
    assert not Survival(0.5).goes_on([0.8, 0.6])
    seconds, rng = (1.0, 1.2, 1.5, 1.6, 2.5, 2.6), np.random.default_rng(2)
    for _ in range(200):
        c = rng.random(5)
        wanted = int(schedule(c[None], 1 / np.array(seconds), early=True).lengths[0])
        found = 0
        while found < 5 and Scheduled(seconds).goes_on(list(c[: found + 1])):
            found += 1
        assert found == wanted
    assert not Scheduled((1.0, 1.0)).goes_on([1.0, 1.0])
    with pytest.raises(ValueError, match="least=2"):
        Survival(2)
    with pytest.raises(ValueError, match="positive times"):
        Scheduled((1.0, 0.0))
