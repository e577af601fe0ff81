"""Training on a tiny target: it learns, it resumes bit for bit, and an interruption leaves nothing half-written."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

from gpu_demos.drafters.mtp import MtpHead
from gpu_demos.training import checkpoint
from gpu_demos.training.corpus import Corpus
from gpu_demos.training.initialise import copy_last_layer, fit_projection
from gpu_demos.training.loop import LOG, batch_loss, train
from gpu_demos.training.losses import forward_kl
from gpu_demos.training.recipe import RECIPES, MtpConfig
from gpu_demos.training.recursion import unroll
from tests.lab_training import BASE, random_head, target_log, tiny_llama, train_corpus, written


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return tiny_llama()


@pytest.fixture(scope="module")
def corpus(model: LlamaForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return train_corpus(written(tmp_path_factory.mktemp("text"), model, shards=6))


def config(corpus: Corpus, recipe: str = "base", **settings: object) -> MtpConfig:
    values = {"steps": 6, "batch": 4, "depths": 2, "rate": 3e-3, "vocabulary": 40, **settings}
    start = "0" * 64 if RECIPES[recipe].boosts else "target"
    return MtpConfig(recipe, BASE, corpus.sha256, start, **values)  # type: ignore[arg-type]


def same_weights(one: MtpHead, other: MtpHead) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_short_training_lowers_the_loss(model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path, recipe: str) -> None:
    """Every recipe: KL and acceptance on one fixed batch are better after forty steps than before."""
    head = random_head(model)
    settings = config(corpus, recipe, steps=40)
    shard, rows = corpus.shards[0], torch.arange(6)
    before = batch_loss(head, shard, rows, settings, 0)[1]
    assert train(head, corpus, settings, tmp_path)
    after = batch_loss(head, shard, rows, settings, 0)[1]
    for depth in range(2):
        assert after["kl"][depth] < 0.8 * before["kl"][depth]
        assert after["alpha"][depth] > before["alpha"][depth] + 0.02


def test_loss_is_the_weighted_mean_of_its_definition(model: LlamaForCausalLM, corpus: Corpus) -> None:
    """The base loss equals means over scored positions, position by position, with weights 1 and 0.8 normalised."""
    head = random_head(model).requires_grad_(False)
    shard, rows, settings = corpus.shards[1], torch.tensor([0, 2, 5]), config(corpus, "base")
    loss, parts = batch_loss(head, shard, rows, settings, 0)
    guesses = unroll(head, shard.states[rows].float(), shard.tokens[rows], depths=2)
    target, means = target_log(shard, rows, head.lm_rows), []
    for depth, guess in enumerate(guesses, start=1):
        values = [
            forward_kl(target[r, j], head.logits(guess[r, j]))
            for r, row in enumerate(rows.tolist())
            for j in range(depth, int(shard.lengths[row]) - 1)
        ]
        means.append(torch.stack(values).mean())
    assert float(loss) == pytest.approx(float((means[0] + 0.8 * means[1]) / 1.8), rel=1e-5)
    assert parts["kl"] == pytest.approx([float(m) for m in means], abs=2e-5)


def test_on_policy_recipes_skip_the_prompt(model: LlamaForCausalLM, corpus: Corpus) -> None:
    """Changing the target's word on prompt positions changes the base loss and not that of a boost."""
    head = random_head(model)
    shard, rows = corpus.shards[0], torch.arange(4)
    changed = shard.log_normalizer.clone()
    changed[:, : shard.prompt - 1] += 1.0
    other = replace(shard, log_normalizer=changed)
    for recipe, equal in (("base", False), ("lk", True)):
        settings = config(corpus, recipe)
        a, b = (batch_loss(head, s, rows, settings, 0)[1]["alpha"] for s in (shard, other))
        assert (a == b) is equal


@pytest.mark.parametrize("recipe", ["base", "lk_mixing"])
def test_resumed_training_ends_with_the_same_bits(
    model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path, recipe: str
) -> None:
    """Stopped by force between two checkpoints and started again: same weights and log as without the stop."""
    settings = config(corpus, recipe, one_depth_steps=2)
    whole, parted = random_head(model), random_head(model)
    train(whole, corpus, settings, tmp_path / "whole")

    def stop(line: dict[str, object]) -> None:
        if line["step"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(parted, corpus, settings, tmp_path / "parted", save_minutes=0, report=stop)
    assert len((tmp_path / "parted" / LOG).read_text().splitlines()) == 4
    fresh = random_head(model, seed=9)
    assert train(fresh, corpus, settings, tmp_path / "parted")
    assert same_weights(whole, fresh)
    assert (tmp_path / "whole" / LOG).read_text() == (tmp_path / "parted" / LOG).read_text()


def test_budget_of_time_stops_and_goes_on(model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path) -> None:
    """With no time the call says so, keeps a checkpoint, and a later call finishes."""
    settings = config(corpus)
    assert not train(random_head(model), corpus, settings, tmp_path, minutes=-1)
    assert (tmp_path / checkpoint.CHECKPOINT).is_file()
    assert train(random_head(model), corpus, settings, tmp_path)


def test_interrupted_save_keeps_the_checkpoint_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop in the middle of writing leaves the old checkpoint whole."""
    checkpoint.save(tmp_path, {"config": {"a": 1}, "step": 1})

    def half(entry: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint.torch, "save", half)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(tmp_path, {"config": {"a": 1}, "step": 2})
    entry = checkpoint.load(tmp_path, {"a": 1})
    assert entry is not None
    assert entry["step"] == 1


def test_foreign_or_broken_checkpoint_is_refused(model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path) -> None:
    """Another configuration is named key by key; a damaged file says that it must go; no file is no checkpoint."""
    assert checkpoint.load(tmp_path, {}) is None
    train(random_head(model), corpus, config(corpus, steps=1), tmp_path)
    with pytest.raises(ValueError, match="another rate, seed"):
        train(random_head(model), corpus, config(corpus, steps=1, rate=1e-4, seed=2), tmp_path)
    path = tmp_path / checkpoint.CHECKPOINT
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match=r"cannot be read.*delete it"):
        train(random_head(model), corpus, config(corpus, steps=1), tmp_path)


def test_loss_that_is_no_number_stops_the_run(model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path) -> None:
    """Nothing goes on from weights that are not numbers."""
    head = random_head(model)
    with torch.no_grad():
        head.project.weight[0, 0] = float("nan")
    with pytest.raises(FloatingPointError, match="step 0"):
        train(head, corpus, config(corpus), tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"recipe": "best"}, "recipe='best' must be one of base"),
        ({"recipe": "lk"}, "lk must start from a trained head"),
        ({"start": "1" * 64}, "base must start from the target"),
        ({"steps": 0}, "steps=0 must be at least 1"),
        ({"rate": 0.0}, "rate and clip above 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], message: str) -> None:
    """The message names the setting and what is allowed."""
    with pytest.raises(ValueError, match=message):
        MtpConfig(**{"recipe": "base", "base": BASE, "data": "d", **settings})  # type: ignore[arg-type]


def test_rate_rises_and_falls() -> None:
    """Warm-up to the full rate, then down to a tenth; the first steps run one depth."""
    settings = MtpConfig("base", BASE, "d", steps=100, warmup=0.1, rate=1.0, one_depth_steps=3)
    rates = [settings.rate_at(i) for i in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == pytest.approx(1.0)
    assert rates.index(max(rates)) in (9, 10)
    assert rates[-1] == pytest.approx(0.1, abs=0.002)
    assert [settings.depths_at(i) for i in (0, 2, 3)] == [1, 1, 3]


def test_projection_is_the_weighted_least_squares_solution(model: LlamaForCausalLM, corpus: Corpus) -> None:
    """Against numpy's least squares on the same rows, with the ridge as added rows; the share explained agrees."""
    head = random_head(model)
    copy_last_layer(head, model.model.layers[-1], model.model.norm)
    share = fit_projection(head, corpus)
    rows, wanted = [], []
    for shard in corpus.shards:
        for r in range(len(shard.tokens)):
            for j in range(int(shard.lengths[r]) - 2):
                x = (
                    head.norm_state(shard.states[r, j].float()),
                    head.norm_embedding(head.embedding[shard.tokens[r, j + 1]]),
                )
                y = shard.taps[r, j + 1, -1].float()
                scale = float(y.norm()) / 32**0.5
                rows.append((torch.cat(x) / scale).detach().numpy())
                wanted.append((y / scale).numpy())
    a, b = np.array(rows, dtype=np.float64), np.array(wanted, dtype=np.float64)
    ridge = 1e-3 * np.mean(np.sum(a * a, 0))
    solution = np.linalg.lstsq(
        np.vstack([a, np.sqrt(ridge) * np.eye(64)]), np.vstack([b, np.zeros((64, 32))]), rcond=None
    )[0]
    np.testing.assert_allclose(head.project.weight.detach().numpy(), solution.T, atol=2e-4)
    assert share == pytest.approx(1 - np.sum((a @ solution - b) ** 2) / np.sum(b * b), abs=1e-4)


def test_log_holds_one_line_a_step(model: LlamaForCausalLM, corpus: Corpus, tmp_path: Path) -> None:
    """Loss, rate, gradient and per depth KL and acceptance, in order."""
    train(random_head(model), corpus, config(corpus, steps=3), tmp_path)
    lines = [json.loads(x) for x in (tmp_path / LOG).read_text().splitlines()]
    assert [x["step"] for x in lines] == [0, 1, 2]
    assert all(len(x["alpha"]) == len(x["kl"]) == 2 and x["gradient_norm"] > 0 for x in lines)
