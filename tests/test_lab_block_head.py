"""The block head: what a row sees, its loss from the definition, its start near the target, its training."""

from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from gpu_demos.drafters.block import BlockHead, block_head_for
from gpu_demos.training.artifact import WeightsUnusable, load, load_block, save
from gpu_demos.training.block_initialise import copy_target, fit_bias, fit_start
from gpu_demos.training.block_loss import block_loss, blocks, drawn_places, run
from gpu_demos.training.block_recipe import BlockConfig
from gpu_demos.training.block_scores import block_scores
from gpu_demos.training.corpus import Corpus
from gpu_demos.training.loop import train
from tests.lab_training import BASE, VOCABULARY, tiny_llama, train_corpus, written

GIVEN = {"base_sha256": BASE, "config": {}, "command": "x", "steps": 1, "data": {}, "held_out": {}}


def random_block(model: LlamaForCausalLM, *, count: int = 40, seed: int = 1) -> BlockHead:
    """A head with random weights, confidence included; the same draft tokens whatever the seed."""
    torch.manual_seed(seed)
    ids = torch.randperm(VOCABULARY, generator=torch.Generator().manual_seed(0))[:count].sort().values
    return block_head_for(model, ids, size=3, rank=4)


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return tiny_llama().requires_grad_(False)


@pytest.fixture(scope="module")
def corpus(model: LlamaForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return train_corpus(written(tmp_path_factory.mktemp("text"), model, shards=6))


def config(corpus: Corpus, **settings: object) -> BlockConfig:
    values = {"steps": 6, "batch": 4, "anchors": 5, "size": 3, "rank": 4, "rate": 3e-3, "vocabulary": 40, **settings}
    return BlockConfig(BASE, corpus.sha256, **values)  # type: ignore[arg-type]


def test_with_the_targets_input_it_is_the_target(model: LlamaForCausalLM) -> None:
    """A copied layer, given its true input at the anchor's row alone, makes the target's state from the context."""
    ids = torch.randint(VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(4))
    out = model(ids, output_hidden_states=True)
    head = random_block(model).requires_grad_(False)
    copy_target(head, model.model.layers[-1], model.model.norm)
    head.size = 1  # bidirectional within a block: only a block of one is causal
    true = out.hidden_states[-2]
    head.inputs = lambda read, anchors: true[:, 6][:, None, None]  # type: ignore[method-assign]
    keys, values = head.context(torch.stack([torch.zeros_like(true), torch.zeros_like(true), true], 2)[:, :8])
    found = head(torch.zeros(2, 1, 2, 32), ids[:, 6:7], torch.full((2, 1), 6), keys, values)
    assert torch.allclose(found[:, 0, 0], out.hidden_states[-1][:, 6], atol=1e-5)


def test_blocks_do_not_see_each_other_or_what_comes_later(model: LlamaForCausalLM, corpus: Corpus) -> None:
    """Many anchors at once equal one anchor alone with the context cut before it."""
    head, shard, rows = random_block(model).requires_grad_(False), corpus.shards[0], torch.arange(2)
    places = torch.tensor([[5, 9, 12], [7, 6, 5]])
    found = blocks(head, shard, rows, places)
    together = run(head, found)
    for r in range(2):
        for a in range(3):
            at = int(places[r, a])
            context = head.context(shard.taps[r : r + 1, :at].float())
            read = torch.stack((shard.states[r, at - 1], shard.taps[r, at - 1, 1])).float()
            alone = head(read[None, None], shard.tokens[r, at].view(1, 1), places[r, a].view(1, 1), *context)
            assert torch.allclose(together[r, a], alone[0, 0], atol=1e-5)


def test_loss_is_that_of_its_definition(model: LlamaForCausalLM, corpus: Corpus) -> None:
    """0.1 CE + 0.9 L1 + 1.0 BCE with weights e^{-(k-1)/4}, draft by draft, L1 over the target's whole vocabulary."""
    head = random_block(model, count=30).requires_grad_(False)
    shard, rows, settings = corpus.shards[1], torch.tensor([0, 3]), config(corpus)
    loss, figures = block_loss(head, shard, rows, settings, 4)
    places = drawn_places(shard, rows, count=5, seed=settings.seed, step=4)
    hidden = run(head, blocks(head, shard, rows, places))
    ids, total, weights, alphas = head.draft_ids.tolist(), 0.0, 0.0, [[], [], []]
    for r, row in enumerate(rows.tolist()):
        for a in range(5):
            for k in range(3):
                at = int(places[r, a]) + k  # this position speaks of draft k
                if at + 1 >= shard.lengths[row] or (k and int(shard.tokens[row, at]) not in ids):
                    break
                previous, token = shard.tokens[row, at], int(shard.tokens[row, at + 1])
                p = torch.softmax(model.lm_head(shard.states[row, at].float()), 0)
                q = torch.zeros(VOCABULARY)
                number = ids.index(int(previous)) if k and int(previous) in ids else len(ids)
                looked = head.lookup.weight[number]
                q[head.draft_ids] = (head.lm_rows @ hidden[r, a, k] + head.bias.weight @ looked).softmax(0)
                c = torch.sigmoid(
                    head.confidence.weight[0] @ torch.cat((hidden[r, a, k], looked)) + head.confidence.bias
                )
                gap = float((p - q).abs().sum())
                label = 1 - gap / 2
                alphas[k].append(label)
                cross = -float(q[token].log()) if token in ids else 0.0
                held = -(label * float(c.log()) + (1 - label) * float((1 - c).log()))
                w = float(torch.exp(torch.tensor(-k / 4)))
                total, weights = total + w * (0.1 * cross + 0.9 * gap + held), weights + w
    assert float(loss) == pytest.approx(total / weights, rel=2e-3)  # the kept states are rounded to bf16
    assert figures["alpha"] == pytest.approx([sum(x) / len(x) for x in alphas], abs=2e-3)


def test_only_the_head_learns(corpus: Corpus) -> None:
    """The loss reaches every parameter of the head, nothing of the target; its rows are not in the state dict."""
    model = tiny_llama()
    head = random_block(model)
    block_loss(head, corpus.shards[0], torch.arange(4), config(corpus), 0)[0].backward()
    assert all(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in head.parameters())
    assert all(p.grad is None for p in model.parameters())
    assert {"embedding", "lm_rows", "row_of"}.isdisjoint(head.state_dict())


def test_start_near_the_target_is_better_and_training_better_still(
    model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path
) -> None:
    """Loss on one fixed batch: the fits explain variance and lower it, forty steps lower it again."""
    head, settings = random_block(model), config(corpus, steps=40)
    fixed = (corpus.shards[0], torch.arange(6), settings, 999)
    random = float(block_loss(head, *fixed)[0].detach())
    copy_target(head, model.model.layers[-1], model.model.norm)
    shares = fit_start(head, corpus)
    fit_bias(head, corpus, every=2)
    started = float(block_loss(head, *fixed)[0].detach())
    assert 0 < shares[2] < shares[0] < 1
    assert started < random
    assert train(head, corpus, settings, tmp_path, loss=block_loss)
    assert float(block_loss(head, *fixed)[0].detach()) < started


def test_scores_are_acceptance_rates_of_valid_drafts(model: LlamaForCausalLM, corpus: Corpus) -> None:
    """Every mean lies in [0, 1], and a block of three gives one to four tokens."""
    head = random_block(model, count=VOCABULARY).requires_grad_(False)
    for scores in block_scores(head, model.lm_head.weight, corpus, every=3):
        for t, alpha in scores.acceptance.items():
            assert ((alpha >= 0) & (alpha <= 1)).all()
            assert ((scores.tokens_per_round[t] >= 1) & (scores.tokens_per_round[t] <= 4)).all()


def test_resumed_training_ends_with_the_same_bits(model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path) -> None:
    """Stopped by force between two checkpoints and started again: the weights of a run without the stop."""
    settings, whole, fresh = config(corpus), random_block(model), random_block(model, seed=9)
    train(whole, corpus, settings, tmp_path / "whole", loss=block_loss)

    def stop(line: dict[str, object]) -> None:
        if line["step"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(random_block(model), corpus, settings, tmp_path / "two", save_minutes=0, report=stop, loss=block_loss)
    assert train(fresh, corpus, settings, tmp_path / "two", loss=block_loss)
    assert all(torch.equal(v, fresh.state_dict()[k]) for k, v in whole.state_dict().items())


def test_saved_head_comes_back_and_damage_is_refused(model: LlamaForCausalLM, tmp_path: Path) -> None:
    """Weights rounded to bf16 come back; the other kind, another target, a changed file and no manifest do not."""
    head = random_block(model)
    path = save(head, tmp_path, GIVEN)
    found = load_block(tmp_path, model, base_sha256=BASE)
    assert (found.head.size, found.head.rank, found.manifest["kind"]) == (3, 4, "block")
    for name, value in head.state_dict().items():
        wanted = value.bfloat16().to(value.dtype) if value.is_floating_point() else value
        assert torch.equal(found.head.state_dict()[name], wanted)
    with pytest.raises(WeightsUnusable, match="kind 'block'"):
        load(tmp_path, model, base_sha256=BASE)
    with pytest.raises(WeightsUnusable, match="was trained for the target"):
        load_block(tmp_path, model, base_sha256="c" * 64)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(WeightsUnusable, match="restore it"):
        load_block(tmp_path, model, base_sha256=BASE)
    path.unlink()
    with pytest.raises(WeightsUnusable, match="is missing"):
        load_block(tmp_path, model, base_sha256=BASE)
