"""`python -m gpu_demos.train` from text to compared heads on a tiny model in a folder of its own."""

from pathlib import Path

import pytest

from gpu_demos import train as command
from gpu_demos.measure import recipes
from gpu_demos.models import Loaded
from gpu_demos.record import find
from gpu_demos.training.artifact import read_manifest
from tests.lab_measure import measured
from tests.lab_training import BASE, Characters, tiny_llama


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real command with a tiny random target in the place of the loaded one."""
    loaded = Loaded(tiny_llama(), Characters(), "tiny", BASE, "fp32", "cpu", "random weights")  # type: ignore[arg-type]
    monkeypatch.setattr(command, "load", lambda *args, **more: loaded)


def arguments(folder: Path, *more: str) -> list[str]:
    return [*more, "--text", str(folder / "text"), "--shards", "12"]


def test_from_text_to_compared_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text, a base head, a boost that starts from it, and their paired comparison; the manifest names it all."""
    text = arguments(tmp_path, "text", "--batch", "4", "--prompt-tokens", "5", "--written-tokens", "19")
    assert command.main(text) == 0
    base = arguments(tmp_path, "mtp", "--steps", "3", "--vocabulary", "40", "--out", str(tmp_path / "base"))
    assert command.main(base) == 0
    boost = arguments(
        tmp_path, "mtp", "--recipe", "lk_mixing", "--start", str(tmp_path / "base"), "--steps", "2",
        "--out", str(tmp_path / "boost"),
    )  # fmt: skip
    assert command.main(boost) == 0
    first, second = read_manifest(tmp_path / "base"), read_manifest(tmp_path / "boost")
    assert first["command"].startswith("python -m gpu_demos.train mtp --steps 3")
    assert second["config"]["start"] == first["sha256"] != second["sha256"]
    assert first["data"]["train_sha256"] == second["data"]["train_sha256"] == first["config"]["data"]
    assert 0 < first["data"]["draft_vocabulary_coverage"] <= 1
    records = measured(
        monkeypatch, recipes, tmp_path / "compared.json", str(tmp_path / "base"), str(tmp_path / "boost"),
        "--text", str(tmp_path / "text"), "--shards", "12",
    )  # fmt: skip
    assert {r.at.get("recipe") for r in records} == {"base", "boost"}
    for recipe, manifest in (("base", first), ("boost", second)):
        rates = manifest["held_out"]["all"]["acceptance_rate_t1"]
        for depth, (value, half) in enumerate(zip(rates["mean"], rates["ci95"], strict=True), 1):
            at = {"recipe": recipe, "domain": "all", "temperature": "1", "position": str(depth)}
            one = find(records, "recipes.acceptance_rate", **at)
            assert (one.value, one.spread.value, one.samples) == (value, half, rates["texts"])
    gain = find(records, "recipes.tokens_per_round_gain", recipe="boost", domain="all", temperature="1")
    rounds = [m["held_out"]["all"]["tokens_per_round_t1"]["mean"] for m in (first, second)]
    assert gain.at["over"] == "base" and gain.value == pytest.approx(rounds[1] - rounds[0], abs=2e-5)
    assert "Exported" in capsys.readouterr().out


def test_no_time_means_no_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A budget that is over ends text and training with code 3, says so, and exports nothing."""
    text = arguments(tmp_path, "text", "--batch", "3", "--prompt-tokens", "5", "--written-tokens", "9")
    assert command.main([*text, "--budget-minutes", "-1"]) == 3
    assert command.main(text) == 0
    out = tmp_path / "base"
    mtp = arguments(tmp_path, "mtp", "--steps", "2", "--vocabulary", "40", "--out", str(out))
    assert command.main([*mtp, "--budget-minutes", "-1"]) == 3
    assert "Time is over" in capsys.readouterr().out
    assert not (out / "weights.safetensors").exists()
    assert command.main(mtp) == 0


def test_errors_are_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No text and no head end with code 1 and one line that says what to do."""
    assert command.main(arguments(tmp_path, "mtp", "--out", str(tmp_path / "x"))) == 1
    assert "write text first" in capsys.readouterr().err
    text = arguments(tmp_path, "text", "--batch", "2", "--prompt-tokens", "5", "--written-tokens", "9")
    assert command.main(text) == 0
    boost = arguments(tmp_path, "mtp", "--recipe", "lk", "--start", str(tmp_path / "no"), "--out", str(tmp_path / "x"))
    assert command.main(boost) == 1
    assert "manifest.json is missing" in capsys.readouterr().err


def test_interruption_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ends with code 3 and tells how to go on."""

    def stop(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "load", stop)
    assert command.main(arguments(tmp_path, "text")) == 3
    assert "goes on from the last checkpoint" in capsys.readouterr().err
