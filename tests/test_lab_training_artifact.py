"""Shipped weights: what is saved is what is loaded, and what is not right is refused with its own message."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM

from gpu_demos.training import artifact
from gpu_demos.training.artifact import MANIFEST, SHIPPED, WEIGHTS, WeightsUnusable, digest, load, save
from tests.lab_training import BASE, VOCABULARY, random_head, tiny_llama

COMMAND = "python -m gpu_demos.train mtp"
GIVEN = {
    "base_sha256": BASE,
    "config": {},
    "command": COMMAND,
    "steps": 3,
    "data": {},
    "held_out": {},
}


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return tiny_llama()


@pytest.fixture
def folder(model: LlamaForCausalLM, tmp_path: Path) -> Path:
    save(random_head(model), tmp_path / "head", GIVEN)
    return tmp_path / "head"


def test_loaded_head_is_the_saved_one_in_bf16(model: LlamaForCausalLM, folder: Path) -> None:
    """Every weight comes back rounded to bf16, draft tokens exactly; nothing of the head wants a gradient."""
    found, head = load(folder, model, base_sha256=BASE), random_head(model)
    assert found.sha256 == digest(folder / WEIGHTS) == found.manifest["sha256"]
    for name, value in head.state_dict().items():
        wanted = value.bfloat16().to(value.dtype) if value.is_floating_point() else value
        assert torch.equal(found.head.state_dict()[name], wanted)
    assert torch.equal(found.head.lm_rows, model.lm_head.weight[head.draft_ids])
    assert not any(p.requires_grad for p in found.head.parameters())
    assert not list(folder.glob("*.part"))


def _spoil_weights(folder: Path) -> None:
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[-1] ^= 1
    (folder / WEIGHTS).write_bytes(bytes(data))


def _change_manifest(**values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        entry = json.loads((folder / MANIFEST).read_text())
        entry.update(values)
        (folder / MANIFEST).write_text(json.dumps({k: v for k, v in entry.items() if v is not None}))

    return change


def _cut_weights(folder: Path) -> None:
    data = (folder / WEIGHTS).read_bytes()[:50]
    (folder / WEIGHTS).write_bytes(data)
    _change_manifest(sha256=digest(folder / WEIGHTS))(folder)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / MANIFEST).unlink(), r"manifest\.json is missing: weights without it are not used"),
        (lambda f: (f / MANIFEST).write_text("{"), r"manifest\.json cannot be read"),
        (lambda f: (f / MANIFEST).write_text("[]"), r"manifest\.json lacks format, kind"),
        (_change_manifest(data=None), "lacks data"),
        (_change_manifest(format=2), "is of format 2"),
        (_change_manifest(kind="block"), "kind 'block'"),
        (
            lambda f: (f / WEIGHTS).unlink(),
            f"is missing; train a head: {COMMAND}",
        ),
        (_spoil_weights, "its manifest says .*restore it"),
        (_change_manifest(base_sha256="c" * 64), "was trained for the target cccccccccccc…, not for bbbbbbbbbbbb…"),
        (_cut_weights, "does not fit this target"),
    ],
    ids=["no-manifest", "broken", "list", "key", "format", "kind", "no-weights", "hash", "base", "cut"],
)
def test_unusable_weights_are_refused(
    model: LlamaForCausalLM, folder: Path, spoil: Callable[[Path], None], message: str
) -> None:
    """Each damage has its own message, and none gives a head."""
    spoil(folder)
    with pytest.raises(WeightsUnusable, match=message):
        load(folder, model, base_sha256=BASE)


def test_weights_of_another_shape_are_refused(folder: Path) -> None:
    """The hashes are right and the target is wider: the message says that they do not fit."""
    wide = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    with pytest.raises(WeightsUnusable, match="does not fit this target"):
        load(folder, LlamaForCausalLM(wide), base_sha256=BASE)


def test_interrupted_saving_leaves_nothing_that_loads(
    model: LlamaForCausalLM, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop between weights and manifest makes the folder unusable, not half old and half new."""

    def stop() -> dict[str, str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(artifact, "versions", stop)
    with pytest.raises(KeyboardInterrupt):
        save(random_head(model, seed=4), folder, GIVEN)
    with pytest.raises(WeightsUnusable, match="is missing"):
        load(folder, model, base_sha256=BASE)


def test_saving_asks_for_the_manifest(model: LlamaForCausalLM, tmp_path: Path) -> None:
    """Weights without their origin are not written as good."""
    with pytest.raises(ValueError, match="manifest: base_sha256"):
        save(random_head(model), tmp_path, {k: v for k, v in GIVEN.items() if k != "base_sha256"})


def test_too_large_weights_are_not_saved(
    model: LlamaForCausalLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository is to stay small."""
    monkeypatch.setattr(artifact, "LARGEST", 1000)
    with pytest.raises(ValueError, match="must be at most"):
        save(random_head(model), tmp_path, GIVEN)
    assert not (tmp_path / WEIGHTS).exists()


@pytest.mark.parametrize("folder", sorted(p.parent for p in SHIPPED.rglob(MANIFEST)), ids=lambda p: p.name)
def test_shipped_weights_agree_with_their_manifest(folder: Path) -> None:
    """Hash, size, dtype, draft vocabulary and scores of every head in the repository, without the model."""
    entry = artifact.read_manifest(folder, folder.name)
    assert digest(folder / WEIGHTS) == entry["sha256"]
    tensors = load_file(folder / WEIGHTS)
    assert sum(v.numel() * v.element_size() for v in tensors.values()) <= artifact.LARGEST
    assert {str(v.dtype) for k, v in tensors.items() if k != "draft_ids"} == {"torch.bfloat16"}
    assert len(tensors["draft_ids"]) == entry["config"]["vocabulary"]
    assert entry["steps"] == entry["config"]["steps"]
    for table in entry["held_out"].values():
        for name, cell in table.items():
            if name.startswith("acceptance_rate"):
                assert all(0 < m < 1 and h > 0 for m, h in zip(cell["mean"], cell["ci95"], strict=True))
