"""Scores on held-out text against drafting written out, and their intervals."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy import stats
from transformers import LlamaForCausalLM

from gpu_demos.drafters.mtp import MtpHead, head_for
from gpu_demos.training import acceptance
from gpu_demos.training.acceptance import interval, score
from gpu_demos.training.compare import compare, held_out_table
from gpu_demos.training.corpus import Corpus, Shard, read
from tests.lab_training import VOCABULARY, random_head, tiny_llama, written


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return tiny_llama()


@pytest.fixture(scope="module")
def held_out(model: LlamaForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return read(written(tmp_path_factory.mktemp("text"), model), "held_out")


@pytest.fixture(scope="module")
def head(model: LlamaForCausalLM) -> MtpHead:
    return random_head(model).requires_grad_(False)


@torch.no_grad()
def by_hand(head: MtpHead, model: LlamaForCausalLM, held_out: Corpus, temperature: float) -> dict[str, np.ndarray]:
    """Acceptance of text 0 of the first shard: each draft by one pass over confirmed states and then its own."""
    shard, depths = held_out.shards[0], 3
    states = shard.states[:1].float()
    target = (states[0] @ model.lm_head.weight.T / temperature).softmax(-1)
    alphas, greedy = [], []
    for anchor in range(shard.prompt - 1, shard.tokens.shape[1] - depths - 1, 4):
        if shard.lengths[0] <= anchor + depths + 1:
            continue
        read_states, rows, same = states[:, : anchor + 1], [], []
        for depth in range(1, depths + 1):
            out = head(read_states, shard.tokens[:1, 1 : anchor + 1 + depth])[:, -1:]
            q = torch.zeros(VOCABULARY)
            q[head.draft_ids] = (head.logits(out)[0, 0] / temperature).softmax(-1)
            p = target[anchor + depth]
            rows.append(float(torch.minimum(p, q).sum()))
            same.append(float(p.argmax() == q.argmax()))
            read_states = torch.cat((read_states, out), 1)
        alphas.append(rows)
        greedy.append(same)
    return {"alpha": np.array(alphas), "greedy": np.array(greedy)}


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_scores_are_those_of_real_drafts(
    model: LlamaForCausalLM, held_out: Corpus, head: MtpHead, temperature: float
) -> None:
    """Against one full pass for every draft: states of the target up to the anchor, then the head's own guesses."""
    found = score(head, model.lm_head.weight, held_out, depths=3, every=4, temperatures=(temperature,))[0]
    wanted = by_hand(head, model, held_out, temperature)
    np.testing.assert_allclose(found.acceptance[temperature][0], wanted["alpha"].mean(0), atol=1e-5)
    np.testing.assert_allclose(found.greedy[0], wanted["greedy"].mean(0))
    rounds = (1 + wanted["alpha"].cumprod(1).sum(1)).mean()
    assert found.tokens_per_round[temperature][0] == pytest.approx(rounds, abs=1e-5)
    assert found.greedy_tokens_per_round[0] == pytest.approx((1 + wanted["greedy"].cumprod(1).sum(1)).mean())


def test_a_draft_that_is_the_target_is_always_accepted(
    model: LlamaForCausalLM, held_out: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all tokens and the target's own states as guesses the acceptance rate is 1 and K + 1 tokens come a round."""
    perfect = head_for(model, torch.arange(VOCABULARY)).requires_grad_(False)
    shard = held_out.shards[0]

    def oracle(head: MtpHead, shard: Shard, *, depths: int, every: int) -> Iterator[tuple[int, torch.Tensor]]:
        for anchor in range(shard.prompt - 1, shard.tokens.shape[1] - depths - 1, every):
            yield anchor, shard.states[:, anchor + 1 : anchor + 1 + depths].float()

    monkeypatch.setattr(acceptance, "draft", oracle)
    found = score(perfect, model.lm_head.weight, Corpus((shard,), "", {}), depths=3, every=4)[0]
    assert found.acceptance[1.0].min() == pytest.approx(1, abs=1e-5)
    assert found.greedy.min() == 1
    assert found.tokens_per_round[1.0].min() == pytest.approx(4, abs=1e-4)


def test_interval_is_students() -> None:
    """Against scipy's own interval; fewer than two texts give none."""
    values = np.random.default_rng(1).random(17)
    found = interval(values)
    low, high = stats.t.interval(0.95, 16, loc=values.mean(), scale=stats.sem(values))
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx((low, high))
    with pytest.raises(ValueError, match="at least 2 texts"):
        interval(values[:1])


def test_interval_covers_as_often_as_it_says() -> None:
    """Of 2,000 intervals for normal samples 95 % hold the true mean; five standard deviations are .0244."""
    draws = np.random.default_rng(2).standard_normal((2000, 12))
    hits = [abs(i.mean) <= i.half_width for i in map(interval, draws)]
    assert abs(float(np.mean(hits)) - 0.95) < 0.0244


def test_table_separates_sampled_from_greedy_text(model: LlamaForCausalLM, held_out: Corpus, head: MtpHead) -> None:
    """Every domain has acceptance from sampled and agreement from greedy text; "all" pools the texts of the domains."""
    table = held_out_table(head, model.lm_head.weight, held_out)
    assert set(table) == {"code", "prose", "chat", "all"}
    for domain in ("code", "prose", "chat"):
        assert len(table[domain]["acceptance_rate_t1"]["mean"]) == 5
    for name in ("acceptance_rate_t1", "greedy_agreement"):
        assert table["all"][name]["texts"] == sum(table[d][name]["texts"] for d in ("code", "prose", "chat"))


def test_difference_is_paired(model: LlamaForCausalLM, held_out: Corpus, head: MtpHead) -> None:
    """A head against itself differs by exactly nothing; against another one by the difference of the means."""
    other = random_head(model, seed=5).requires_grad_(False)
    table = compare({"a": head, "same": head, "b": other}, model.lm_head.weight, held_out)
    same, found = (table["differences"][n]["all"]["acceptance_rate_t1"] for n in ("same", "b"))
    assert same["mean"] == [0.0] * 5 == same["ci95"]
    means = [table["heads"][n]["all"]["acceptance_rate_t1"]["mean"] for n in ("a", "b")]
    assert found["mean"] == pytest.approx([b - a for a, b in zip(*means, strict=True)], abs=2e-5)
    assert all(math.isfinite(x) and x > 0 for x in found["ci95"])
