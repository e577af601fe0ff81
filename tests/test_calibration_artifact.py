"""Packing, export, refusals and the command line; safetensors bytes against the safetensors package."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.calibration import recipe_of
from mechanisms.calibration_artifact import Artifact, ArtifactError, export, load
from mechanisms.calibration_cli import main
from mechanisms.calibration_convert import METHODS, Conversion, Recipe, convert
from mechanisms.calibration_corrupt import CORRUPTIONS, corrupt
from mechanisms.calibration_grid import Grid
from mechanisms.calibration_layer import Layer, digest, synthetic_inputs, synthetic_layer
from mechanisms.calibration_pack import pack, row_bytes, unpack
from mechanisms.calibration_statistics import calibrate

ROOT = Path(__file__).resolve().parent.parent
LAYER, STATISTICS = synthetic_layer(out=6, width=32), calibrate(synthetic_inputs("prose", 64, width=32))


def converted(method: str = "gptq", **grid: object) -> Conversion:
    return convert(LAYER, STATISTICS, recipe_of(method, Recipe(grid=Grid(**grid))))  # type: ignore[arg-type]


@given(st.integers(1, 8), st.integers(1, 5), st.integers(1, 40), st.integers(0, 2**32))
def test_packing_is_a_bit_stream(bits: int, rows: int, width: int, seed: int) -> None:
    """Each row, read as one little-endian integer, is Σ code · 2^(i·bits); unpacking gives the codes back."""
    codes = np.random.default_rng(seed).integers(0, 2**bits, (rows, width)).astype(np.uint8)
    packed = pack(codes, bits)
    assert packed.shape == (rows, row_bytes(width, bits))
    for row, line in zip(codes, packed, strict=True):
        assert int.from_bytes(line.tobytes(), "little") == sum(int(c) << (i * bits) for i, c in enumerate(row))
    assert (unpack(packed, bits, width) == codes).all()


def test_nibbles_and_bytes() -> None:
    """Four bits: the even code lies in the low nibble; eight bits: a byte is a code."""
    assert pack(np.array([[1, 2, 3]], np.uint8), 4).tolist() == [[0x21, 0x03]]
    assert pack(np.array([[200, 7]], np.uint8), 8).tolist() == [[200, 7]]


@pytest.mark.parametrize("bad", ["bits", "type", "size", "row"])
def test_bad_codes_are_refused(bad: str) -> None:
    """Widths outside 1 … 8, other types, codes that do not fit, rows of another length."""
    codes = np.array([[1, 2]], np.uint8)
    with pytest.raises(ValueError):
        {
            "bits": lambda: pack(codes, 9), "type": lambda: pack(codes.astype(np.int64), 4),
            "size": lambda: pack(codes + 15, 4), "row": lambda: unpack(codes, 4, 2),
        }[bad]()  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "grid",
    [{"bits": 4}, {"bits": 8, "symmetric": False, "granularity": "channel"}, {"bits": 3, "scale_bits": 32, "group": 8},
     {"bits": 2, "symmetric": False, "granularity": "tensor"}],
    ids=["int4", "int8", "int3", "int2"],
)  # fmt: skip
def test_loaded_weights_are_those_that_were_measured(method: str, grid: dict) -> None:
    """Byte for byte, for every method and grid; the same input gives the same artifact; safetensors reads it alike."""
    made = converted(method, **grid)
    artifact = export(made, LAYER, STATISTICS)
    back = load(artifact, LAYER)
    assert back.weights.tobytes() == made.weights.tobytes() and digest(back.weights) == digest(made.weights)
    assert (back.codes == made.codes).all() and back.effective_bits == made.effective_bits
    assert export(converted(method, **grid), LAYER, STATISTICS) == artifact
    theirs = safetensors.numpy.load(artifact.payload)
    assert (theirs["scales"] == made.scales.scale).all()
    assert (theirs["codes"] == pack(made.codes, made.recipe.grid.bits)).all()


def test_manifest_names_what_it_was_made_from() -> None:
    """Recipe, shapes, versions, and hashes that hashlib gives for the same bytes."""
    artifact = export(converted(), LAYER, STATISTICS)
    manifest = json.loads(artifact.manifest)
    head = b"<f4 6x32\n"
    assert manifest["base_sha256"] == hashlib.sha256(head + LAYER.weights.tobytes()).hexdigest()
    assert manifest["payload_sha256"] == hashlib.sha256(artifact.payload).hexdigest()
    assert manifest["calibration_sha256"] == STATISTICS.sha256 and manifest["calibration_vectors"] == 64
    assert manifest["recipe"]["rounding"] == "gptq" and manifest["packing_version"] == 1
    assert manifest["versions"] == {"numpy": np.__version__, "wiki": "1"} and manifest["effective_bits"] == "5"


@pytest.mark.parametrize("code", CORRUPTIONS)
def test_each_corruption_has_its_own_refusal(code: str) -> None:
    """Six ways to spoil an artifact, six codes; none passes, none is taken for another."""
    artifact, layer = corrupt(export(converted(), LAYER, STATISTICS), LAYER, code)  # type: ignore[arg-type]
    with pytest.raises(ArtifactError) as caught:
        load(artifact, layer)
    assert caught.value.code == code and caught.value.detail


def rewritten(artifact: Artifact, **fields: object) -> Artifact:
    return Artifact(artifact.payload, json.dumps({**json.loads(artifact.manifest), **fields}).encode())


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"format": "other"}, "manifest_malformed"), ({"base_sha256": 7}, "manifest_malformed"),
        ({"shape": [6]}, "manifest_malformed"), ({"shape": [6, True]}, "manifest_malformed"),
        ({"recipe": {}}, "manifest_malformed"), ({"recipe": None}, "manifest_malformed"),
        ({"shape": [12, 16]}, "shape_differs"), ({"weights_sha256": "0" * 64}, "numbers_differ"),
        ({"packing_version": "1"}, "packing_unknown"),
    ],
    ids=str,
)  # fmt: skip
def test_edited_manifest_is_refused(fields: dict, code: str) -> None:
    """Fields of another type, another shape or other numbers."""
    with pytest.raises(ArtifactError) as caught:
        load(rewritten(export(converted(), LAYER, STATISTICS), **fields), LAYER)
    assert caught.value.code == code


@pytest.mark.parametrize("grid", [{"bits": 4.0}, {"bits": "4"}, {"symmetric": 1}, {"bits": 99}, {"extra": 1}], ids=str)
def test_edited_recipe_is_refused(grid: dict) -> None:
    """A grid with a field of another type, out of range, or unknown."""
    artifact = export(converted(), LAYER, STATISTICS)
    recipe = json.loads(artifact.manifest)["recipe"]
    with pytest.raises(ArtifactError, match="manifest_malformed"):
        load(rewritten(artifact, recipe={**recipe, "grid": {**recipe["grid"], **grid}}), LAYER)


def test_writers_mistakes_are_refused() -> None:
    """An extra tensor, a scale that is not positive, bytes that are no container; each with a right payload hash."""
    artifact = export(converted(), LAYER, STATISTICS)
    tensors = safetensors.numpy.load(artifact.payload)
    spoilt = {
        "tensor_unexpected": safetensors.numpy.save({**tensors, "more": np.zeros(1, np.float32)}),
        "payload_malformed": safetensors.numpy.save({**tensors, "scales": -tensors["scales"]}),
        "shape_differs": safetensors.numpy.save({**tensors, "scales": tensors["scales"].astype(np.float32)}),
    }
    cases = [*spoilt.items(), ("payload_malformed", b"no container at all")]
    for code, payload in cases:
        signed = rewritten(artifact, payload_sha256=hashlib.sha256(payload).hexdigest())
        with pytest.raises(ArtifactError) as caught:
            load(replace(signed, payload=payload), LAYER)
        assert caught.value.code == code


@given(st.binary(max_size=200))
def test_arbitrary_manifest_is_refused(data: bytes) -> None:
    """Whatever stands there instead, the error is ours."""
    with pytest.raises(ArtifactError):
        load(Artifact(b"", data), LAYER)


def test_other_shape_with_the_same_bytes_is_another_base() -> None:
    """The hash covers the shape: the same numbers as 12 × 16 are not the base."""
    with pytest.raises(ArtifactError, match="base_differs"):
        load(export(converted(), LAYER, STATISTICS), Layer("other", LAYER.weights.reshape(12, 16)))


def test_command_line_from_demo_to_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """demo, compare, convert and check in a folder; a changed byte ends with status 1 and its code."""
    file, out = tmp_path / "layer.npz", tmp_path / "out"
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert main(["compare", str(file), "--bits", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["method", *METHODS]
    assert main(["convert", str(file), "--method", "awq", "--asymmetric", "--out", str(out)]) == 0
    text = capsys.readouterr().out.split()
    assert text[text.index("trace") + 1] == text[text.index("measured") + 1]
    assert main(["check", str(file), str(out)]) == 0
    assert capsys.readouterr().out.startswith("ok awq nearest bits 5.91667")
    payload = out / "layer.safetensors"
    payload.write_bytes(payload.read_bytes()[:-1] + b"\x00")
    assert main(["check", str(file), str(out)]) == 1
    assert capsys.readouterr().err.startswith("payload_changed")
    assert main(["compare", str(tmp_path / "none.npz")]) == 1


def test_command_line_help() -> None:
    """`python -m mechanisms.calibration_cli --help` names the four commands."""
    command = [sys.executable, "-m", "mechanisms.calibration_cli", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "{demo,compare,convert,check}" in done.stdout
