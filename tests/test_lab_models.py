"""Loading: a checked folder, what it refuses, other models, and the commands, all with a tiny model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from gpu_demos import models, speculative
from gpu_demos.models import load
from gpu_demos.models_fetch import GGUF_SHA256, ModelUnavailable
from gpu_demos.models_store import read_checked, write_manifest
from gpu_demos.prompts import decode_text, encode, end_tokens

WORDS = ["<end>", "a", "b", "c", "d", "e", "f", "g"]
WEIGHTS = "model.safetensors"


def write(folder: Path) -> Path:
    """A tiny model with a tokenizer of eight words, in the layout of transformers."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(WORDS), hidden_size=16, intermediate_size=16, num_hidden_layers=3, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=256, initializer_range=0.3, bos_token_id=None, eos_token_id=0,
        pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    inner = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<end>"))
    inner.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>", unk_token="<end>").save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tiny") / "tiny-model")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fresh folder with a manifest, to be damaged."""
    path = write(tmp_path / "unpacked")
    write_manifest(path, made_from="x.gguf", gguf_sha256="1" * 64)
    return path


def checked(folder: Path) -> LlamaForCausalLM:
    model, _ = read_checked(folder, gguf_sha256="1" * 64, dtype=torch.float32)
    assert isinstance(model, LlamaForCausalLM)
    return model


def test_checked_folder_gives_the_same_weights(folder: Path) -> None:
    """Every tensor as it was written, in evaluation mode, without gradients."""
    torch.manual_seed(0)
    model, wanted = checked(folder), LlamaForCausalLM.from_pretrained(folder)
    for name, tensor in wanted.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)
    assert not model.training and not any(p.requires_grad for p in model.parameters())


def flip(path: Path) -> None:
    """Change one byte in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), encoding="utf-8")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "flipped-bit": (lambda f: flip(f / WEIGHTS), r"model\.safetensors is damaged: SHA-256 .* the manifest says"),
    "header": (lambda f: (f / WEIGHTS).write_bytes(b"\xff" * (f / WEIGHTS).stat().st_size), "is damaged: SHA-256"),
    "cut-off": (lambda f: (f / WEIGHTS).write_bytes(b"x"), r"model\.safetensors has 1 bytes instead of \d+"),
    "gone": (lambda f: (f / WEIGHTS).unlink(), r"model\.safetensors is missing"),
    "tokenizer": (lambda f: flip(f / "tokenizer.json"), r"tokenizer\.json is damaged"),
    "no-manifest": (lambda f: (f / "manifest.json").unlink(), r"has no manifest\.json"),
    "manifest-broken": (lambda f: (f / "manifest.json").write_text("{"), r"manifest\.json is damaged"),
    "manifest-empty": (lambda f: (f / "manifest.json").write_text("{}"), r"manifest\.json is damaged \(KeyError"),
    "other-origin": (lambda f: edit(f / "manifest.json", gguf_sha256="2" * 64), f"{'2' * 64}, expected {'1' * 64}"),
    "other-format": (lambda f: edit(f / "manifest.json", format=2), "has format 2, this version reads 1"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "message"), DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_folder_is_refused(folder: Path, damage: Callable[[Path], object], message: str) -> None:
    """Each damage has its own message, which names the file."""
    checked(folder)
    damage(folder)
    with pytest.raises(ModelUnavailable, match=message):
        checked(folder)


def test_damaged_unpacked_model_is_unpacked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing or damaged folder is made from the .gguf; a good one needs no .gguf at all; the reason is said."""
    calls: list[str] = []

    def unpack(gguf: Path, folder: Path, *, gguf_sha256: str, progress: object) -> None:
        calls.append("unpack")
        write_manifest(write(folder), made_from=gguf.name, gguf_sha256=gguf_sha256)

    monkeypatch.setattr(models, "fetch_gguf", lambda folder, progress: folder / "x.gguf")
    monkeypatch.setattr(models, "convert", unpack)
    assert not models.is_cached(tmp_path)
    loaded = load(dtype="fp32", folder=tmp_path)
    assert (loaded.baseline, loaded.sha256, loaded.dtype) == ("dequantized Q4_1", GGUF_SHA256, "fp32")
    assert models.is_cached(tmp_path) and calls == ["unpack"]
    assert load(dtype="bf16", folder=tmp_path).model.dtype == torch.bfloat16 and calls == ["unpack"]
    flip(next(tmp_path.glob(f"*/{WEIGHTS}")))
    load(folder=tmp_path)
    assert calls == ["unpack"] * 2 and "is damaged" in capsys.readouterr().err


def test_local_folder_loads_as_it_is(made: Path) -> None:
    """Name, dtype and a hash that changes with the weights; the baseline says that nothing was dequantized."""
    loaded = load(str(made), dtype="fp32")
    assert loaded.name == str(made) and loaded.baseline == "weights as stored in tiny-model"
    assert len(loaded.sha256) == 64 and loaded.model.dtype == torch.float32


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no such name at all", "neither SmolLM2-135M-Instruct, nor a folder, nor owner/name"),
        ("owner/none", "from the hub"),
    ],
    ids=["no-name", "no-network"],
)
def test_unknown_names_are_refused(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is nothing, and a hub that cannot be reached."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnavailable, match=message):
        load(name)


def test_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    """The message names the folder."""
    with pytest.raises(ModelUnavailable, match=f"{tmp_path} cannot be read as a model"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"dtype": "fp8"}, "dtype='fp8' must be one of fp32, bf16, fp16"), ({"device": "tpux"}, "device='tpux' must be")],
    ids=["dtype", "device"],
)
def test_bad_arguments_are_refused(arguments: dict[str, str], message: str) -> None:
    """Before anything is fetched."""
    with pytest.raises(ValueError, match=message):
        load(**arguments)  # type: ignore[arg-type]


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is present")
def test_missing_device_is_refused() -> None:
    """The message says that the processor works."""
    with pytest.raises(ValueError, match="torch sees no CUDA device here; cpu works"):
        load(device="cuda")


def test_device_of_another_kind_is_refused() -> None:
    """torch knows more devices than this code was tried on; `meta` would hold no numbers at all."""
    with pytest.raises(ValueError, match="device='meta' must be cpu or cuda"):
        load(device="meta")


def test_prompts_become_tokens_and_back(made: Path) -> None:
    """Without a template the text itself; the end token is the model's; an empty prompt is an error."""
    loaded = load(str(made), dtype="fp32")
    assert encode(loaded, "a b g") == [1, 2, 7]
    assert decode_text(loaded, [3, 4, 0]) == "c d"
    assert end_tokens(loaded) == {0}
    loaded.tokenizer.chat_template = "{% for m in messages %}a {{ m['content'] }} {% endfor %}g"
    assert encode(loaded, "c") == [1, 3, 7] and encode(loaded, "c", raw=True) == [3]
    with pytest.raises(ValueError, match="at least one token"):
        encode(loaded, "", raw=True)


def test_floor_is_for_the_trained_head_only(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another drafter would take no notice of it, so it is refused."""
    assert speculative.main(["--model", str(made), "--prompt", "a", "--drafter", "exit", "--floor", "0.4"]) == 1
    assert "is for the drafter mtp" in capsys.readouterr().err


def test_first_command_writes_a_line(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what was loaded, with its hash, and lets the model speak."""
    assert models.main(["--model", str(made), "--dtype", "fp32", "--prompt", "a b"]) == 0
    first, line = capsys.readouterr().out.splitlines()
    assert "SHA-256" in first and "weights as stored in tiny-model" in first
    assert line.startswith("a b → ")


@pytest.mark.parametrize("drafter", ["lookup", "exit"])
def test_speculative_command_reports(made: Path, capsys: pytest.CaptureFixture[str], drafter: str) -> None:
    """Text, tokens per round, accepted per position, the split of the time and the speed against plain decoding."""
    arguments = ["--model", str(made), "--dtype", "fp32", "--prompt", "a b a b", "--tokens", "12", "--turns", "1"]
    assert speculative.main([*arguments, "--drafter", drafter]) == 0
    out = capsys.readouterr().out
    for part in ("tokens per round ", "accepted/judged ", "draft ", "verify ", "sample ", "against plain ", "x, "):
        assert part in out


def test_speculative_command_compares_with_transformers(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its prompt lookup takes turns too, and only greedy lookup can be compared with it."""
    arguments = ["--model", str(made), "--dtype", "fp32", "--prompt", "a b a b", "--tokens", "12", "--turns", "1"]
    assert speculative.main([*arguments, "--transformers"]) == 0
    assert "against transformers" in capsys.readouterr().out
    assert speculative.main([*arguments, "--transformers", "--drafter", "exit"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "--transformers compares greedy prompt lookup only"


def test_commands_say_in_one_sentence_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback: status 1 and the message."""
    for main, more in ((models.main, []), (speculative.main, ["--prompt", "a"])):
        assert main(["--model", str(tmp_path), *more]) == 1
        assert "cannot be read as a model" in capsys.readouterr().err


def test_turns_are_interleaved_and_the_first_does_not_count() -> None:
    """Runs alternate, one warm-up each."""
    order: list[str] = []
    speeds = speculative.take_turns(
        {"plain": lambda: order.append("p") or 5, "speculative": lambda: order.append("s") or 7}, turns=2
    )
    assert "".join(order) == "psps" + "ps"
    assert {name: len(values) for name, values in speeds.items()} == {"plain": 2, "speculative": 2}
