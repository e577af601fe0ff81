"""Temperatures of a block head's confidences on a tiny target, recomputed from the rounds that another call decodes."""

from pathlib import Path

import numpy as np
import pytest

from gpu_demos import train as command
from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import OnRound, decode
from gpu_demos.drafters.block_drafter import BlockDrafter
from gpu_demos.models import Loaded
from gpu_demos.target import Target
from gpu_demos.training.artifact import read_manifest
from gpu_demos.training.block_calibration import TOGETHER, TOKENS, calibration
from gpu_demos.training.corpus import Corpus, read
from gpu_demos.training.text import taps
from tests.lab_training import BASE, VOCABULARY, Characters, tiny_llama, written
from tests.test_lab_block_head import random_block

SIZE = 3


def expected_error(predicted: np.ndarray, survived: np.ndarray, bins: int = 20) -> float:
    """Mean distance of frequency and prediction over bins of equal width, weighted by how many fall into each."""
    place = np.minimum((predicted * bins).astype(int), bins - 1)
    parts = [(place == b) for b in range(bins)]
    return sum(at.mean() * abs(survived[at].mean() - predicted[at].mean()) for at in parts if at.any())


def keeper(drafter: BlockDrafter, sure: list[list[list[float]]]) -> OnRound:
    """Keep the confidences of every round in `sure`, row by row."""
    return lambda row, done: sure[row].append([*drafter.confidences[row]])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return read(written(tmp_path_factory.mktemp("text"), tiny_llama().requires_grad_(False), shards=12), "held_out")


def test_halves_of_the_texts_fit_and_judge(corpus: Corpus) -> None:
    """Numbers of rounds, survivors, and the error before scaling, from the traces of the same decodings."""
    model = tiny_llama().requires_grad_(False)
    head = random_block(model, count=VOCABULARY).requires_grad_(False)
    found = calibration(head, model, corpus, rounds=10**9)
    each = min(len(s.tokens) for s in corpus.shards)
    prompts = [s.tokens[i, : s.prompt].tolist() for i in range(each) for s in corpus.shards]
    rounds: list[list[tuple[list[float], int]]] = [[], []]
    for first in range(0, len(prompts), TOGETHER):
        group = prompts[first : first + TOGETHER]
        drafter, sure = BlockDrafter(head, taps(3)), [[] for _ in group]
        done = decode(
            Target(model), group, drafter=drafter, drafts=SIZE, max_tokens=TOKENS, sampling=Sampling(1.0),
            seeds=range(first, first + len(group)),
            on_round=keeper(drafter, sure),
        )  # fmt: skip
        for i, text in enumerate(done):
            each_round = zip(sure[i], text.rounds, strict=True)
            rounds[i % 2] += [(c, r.accepted) for c, r in each_round if len(r.drafts) == SIZE]
    assert [found["rounds_fitted"], found["rounds_judged"]] == [len(rounds[0]), len(rounds[1])]
    confidence = np.array([c for c, _ in rounds[1]])
    survived = np.array([[accepted > k for k in range(SIZE)] for _, accepted in rounds[1]])
    assert found["survived"] == pytest.approx(survived.mean(0), abs=1e-5)
    wanted = [expected_error(confidence.cumprod(1)[:, k], survived[:, k]) for k in range(SIZE)]
    assert found["ece_before"] == pytest.approx(wanted, abs=1e-5)


def test_command_exports_only_a_finished_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text and a block head by the command: no time means no weights; the manifest has scores and temperatures."""
    loaded = Loaded(tiny_llama(), Characters(), "tiny", BASE, "fp32", "cpu", "random weights")  # type: ignore[arg-type]
    monkeypatch.setattr(command, "load", lambda *args, **more: loaded)
    common = ["--text", str(tmp_path / "text"), "--shards", "12"]
    assert command.main(["text", *common, "--batch", "4", "--prompt-tokens", "5", "--written-tokens", "19"]) == 0
    out = tmp_path / "block"
    given = [
        "block", *common, "--steps", "3", "--size", str(SIZE), "--rank", "4", "--vocabulary", "40", "--rounds", "40",
        "--out", str(out),
    ]  # fmt: skip
    assert command.main([*given, "--budget-minutes", "-1"]) == 3
    assert "Time is over" in capsys.readouterr().out
    assert not (out / "manifest.json").exists()
    assert command.main(given) == 0
    manifest = read_manifest(out, "block")
    assert (manifest["kind"], manifest["steps"], manifest["config"]["size"]) == ("block", 3, SIZE)
    assert len(manifest["calibration"]["temperatures"]) == SIZE
    assert manifest["calibration"]["rounds_fitted"] + manifest["calibration"]["rounds_judged"] >= 40
    assert all(len(v["acceptance_rate_t1"]["mean"]) == SIZE for v in manifest["held_out"].values())
