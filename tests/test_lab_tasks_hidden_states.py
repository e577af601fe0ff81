"""What a head reads: by hand on a tiny head, and the command on a folder of text and two heads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gpu_demos.measure import hidden_states
from gpu_demos.measure.hidden_states import compare, drafted, first, quantile, target_norms, trained
from gpu_demos.record import find
from gpu_demos.training import artifact
from gpu_demos.training.corpus import read
from gpu_demos.training.recursion import unroll
from tests.lab_measure import measured
from tests.lab_training import BASE, random_head, tiny_llama, written


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("text"), tiny_llama())


def test_cosine_and_norm_by_hand() -> None:
    """(3, 4) beside (4, 3): cosine 24/25, equal norms; doubled: ratio 2."""
    found = compare(torch.tensor([[3.0, 4.0], [8.0, 6.0]]), torch.tensor([[4.0, 3.0], [4.0, 3.0]]))
    assert found["cosine"].tolist() == pytest.approx([0.96, 1.0])
    assert found["norm_ratio"].tolist() == [1.0, 2.0]


def test_training_without_mixing_reads_the_newest_guess(text: Path) -> None:
    """Depth 1 reads the target itself; depth 2 reads what `unroll` gives for depth 1, at the positions of the text."""
    head = random_head(tiny_llama())
    (shard, *_) = read(text, "held_out").shards
    values = trained(head, [shard], 3, None)
    assert np.concatenate(values[0]["cosine"]) == pytest.approx(1)
    guess = unroll(head, shard.states.float(), shard.tokens, depths=1)[0]
    row, length = 0, int(shard.lengths[0])
    own = compare(guess[row, shard.prompt : length - 1], shard.states[row, shard.prompt : length - 1].float())
    np.testing.assert_allclose(values[1]["cosine"][row], own["cosine"].detach().numpy(), rtol=1e-5)


def test_mixing_reads_the_target_at_about_one_place_in_k(text: Path) -> None:
    """Depth 2 draws from target and one guess: about half of its reads are the target's states; seeded, 4σ wide."""
    head = random_head(tiny_llama())
    shards = read(text, "held_out").shards
    values = trained(head, shards, 2, torch.Generator().manual_seed(0))
    cosine = np.concatenate(values[1]["cosine"])
    assert abs((cosine > 1 - 1e-6).mean() - 0.5) < 4 * 0.5 / np.sqrt(len(cosine))


def test_drafting_reads_guesses_beyond_the_anchor(text: Path) -> None:
    """One array for each depth from 2 on; a random head's guesses point elsewhere than the target's states."""
    (shard, *_) = read(text, "held_out").shards
    values = drafted(random_head(tiny_llama()), [first(shard, 2)], 3, 4)
    assert len(values) == 2
    assert len(values[0]["cosine"]) <= 2
    assert np.abs(np.concatenate(values[0]["cosine"])).mean() < 0.9


def test_quantiles_of_unequal_texts_count_every_value() -> None:
    """A text with more values weighs more, as in one long list."""
    texts = [np.arange(10.0), np.array([100.0])]
    assert quantile(texts, 0.5)[0] == np.quantile([*range(10), 100], 0.5)


def test_command_writes_both_kinds_of_reading(text: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two heads, one of a mixing recipe: at depth 2 its training reads are nearer to the target's states."""
    for recipe in ("kl", "kl_mixing"):
        manifest = {
            "base_sha256": BASE, "command": "x", "config": {"recipe": recipe}, "steps": 1, "data": {}, "held_out": {},
        }  # fmt: skip
        artifact.save(random_head(tiny_llama()), tmp_path / recipe, manifest)
    records = measured(
        monkeypatch, hidden_states, tmp_path / "r.json", str(tmp_path / "kl"), str(tmp_path / "kl_mixing"), "--text",
        str(text), "--every", "4", "--depths", "3",
    )  # fmt: skip
    at = {"reads": "training", "depth": "2"}
    plain, mixed = (find(records, "hidden_states.cosine", recipe=r, **at) for r in ("kl", "kl_mixing"))
    assert mixed.value > plain.value + 0.2
    drafting = [r for r in records if r.id == "hidden_states.norm_ratio" and r.at["reads"] == "drafting"]
    assert {(r.at["recipe"], r.at["depth"]) for r in drafting} == {(r, d) for r in ("kl", "kl_mixing") for d in "23"}
    norms = [float(v.mean()) for v in target_norms([first(s, 8) for s in read(text, "held_out").shards])]
    assert find(records, "hidden_states.target_norm").value == pytest.approx(np.mean(norms))
