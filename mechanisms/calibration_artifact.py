"""The exported layer: packed bytes and a manifest that says what they are, made from what, and how to refuse them.

Teaches: that codes without their configuration, base and packing order are noise, and which hash catches which
mistake. The bytes are the same for equal input. Leaves out: signatures; a hash finds accidents, not forgers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from mechanisms.calibration_container import Arrays, ContainerError, read, write
from mechanisms.calibration_convert import Conversion, Recipe
from mechanisms.calibration_grid import Codes, Grid, Scales
from mechanisms.calibration_layer import Layer, digest
from mechanisms.calibration_pack import PACKING_VERSION, pack, row_bytes, unpack
from mechanisms.calibration_statistics import Statistics
from mechanisms.calibration_transform import Transform

Refusal = Literal[
    "manifest_malformed", "packing_unknown", "base_differs", "payload_changed", "payload_malformed",
    "tensor_missing", "tensor_unexpected", "shape_differs", "numbers_differ",
]  # fmt: skip
FORMAT = "few-bits-layer"
WIKI_VERSION = "1"  # raised when a formula of this chapter changes, so that old numbers can be told from new ones
MAX_MANIFEST = 2**16
_TEXTS = ("layer", "base_sha256", "calibration_sha256", "payload_sha256", "weights_sha256", "effective_bits")


class ArtifactError(ValueError):
    """An artifact that must not be used: a code to translate, and a detail to quote."""

    def __init__(self, code: Refusal, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code: Refusal = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Artifact:
    """`payload`: safetensors bytes; `manifest`: JSON in UTF-8."""

    payload: bytes
    manifest: bytes


def export(conversion: Conversion, layer: Layer, statistics: Statistics) -> Artifact:
    """Pack a conversion. The manifest holds recipe, shapes, packing version, four hashes and versions.

    Source: this wiki's format, packing version 1.
    """
    payload = write(_tensors(conversion))
    manifest = {
        "format": FORMAT, "packing_version": PACKING_VERSION, "layer": layer.name, "shape": list(layer.shape),
        "recipe": asdict(conversion.recipe), "effective_bits": str(conversion.effective_bits),
        "base_sha256": layer.sha256, "calibration_sha256": statistics.sha256,
        "calibration_vectors": statistics.vectors, "payload_sha256": hashlib.sha256(payload).hexdigest(),
        "weights_sha256": digest(conversion.weights), "versions": {"numpy": np.__version__, "wiki": WIKI_VERSION},
    }  # fmt: skip
    return Artifact(payload, json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n")


def _tensors(conversion: Conversion) -> Arrays:
    grid, change = conversion.recipe.grid, conversion.transform
    tensors: Arrays = {"codes": pack(conversion.codes, grid.bits), "scales": conversion.scales.scale}
    if not grid.symmetric:
        tensors["zero_points"] = pack(conversion.scales.zero_point, grid.bits)
    if change.column_scale is not None:
        tensors["column_scale"] = change.column_scale
    if change.signs is not None:
        tensors["signs"] = pack((change.signs < 0).astype(np.uint8)[None], 1)
    return tensors


def load(artifact: Artifact, layer: Layer) -> Conversion:
    """Unpack an artifact for its base layer; the weights are byte for byte those that were measured.

    Raises ArtifactError. What is checked, in this order: the manifest, its packing version, the hash of the base, the
    hash of the payload, names, shapes, and last the hash of the weights that come out.
    """
    manifest = read_manifest(artifact.manifest)
    if layer.sha256 != manifest["base_sha256"]:
        raise ArtifactError("base_differs", f"made for {manifest['base_sha256'][:12]}, this is {layer.sha256[:12]}")
    if list(layer.shape) != manifest["shape"]:
        raise ArtifactError("shape_differs", f"the layer is {list(layer.shape)}, the manifest says {manifest['shape']}")
    found = hashlib.sha256(artifact.payload).hexdigest()
    if found != manifest["payload_sha256"]:
        raise ArtifactError("payload_changed", f"{found[:12]}, {manifest['payload_sha256'][:12]} expected")
    try:
        tensors = read(artifact.payload)
    except ContainerError as error:
        raise ArtifactError("payload_malformed", str(error)) from None
    recipe = _recipe(manifest)
    _check_tensors(tensors, _expected(recipe, layer.shape))
    conversion = _unpack(tensors, recipe, layer.shape)
    if digest(conversion.weights) != manifest["weights_sha256"]:
        raise ArtifactError("numbers_differ", "the unpacked weights are not those that were measured")
    return conversion


def read_manifest(data: bytes) -> dict[str, Any]:
    """The manifest as checked JSON: fields and their types, and a known packing version. Raises ArtifactError."""
    if len(data) > MAX_MANIFEST:
        raise ArtifactError("manifest_malformed", f"{len(data)} bytes, at most {MAX_MANIFEST}")
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ArtifactError("manifest_malformed", str(error)) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ArtifactError("manifest_malformed", f"format must be {FORMAT!r}")
    if manifest.get("packing_version") != PACKING_VERSION:
        raise ArtifactError("packing_unknown", f"{manifest.get('packing_version')!r}, known: {PACKING_VERSION}")
    for name in _TEXTS:
        if not isinstance(manifest.get(name), str):
            raise ArtifactError("manifest_malformed", f"{name} must be a text")
    shape = manifest.get("shape")
    if not isinstance(shape, list) or len(shape) != 2 or not all(type(n) is int and n > 0 for n in shape):
        raise ArtifactError("manifest_malformed", "shape must be two counts")
    _recipe(manifest)
    return manifest


def _recipe(manifest: dict[str, Any]) -> Recipe:
    try:
        grid, rest = _typed(Grid(), manifest["recipe"]["grid"]), _typed(Recipe(), manifest["recipe"])
        fields: Any = {**rest, "grid": Grid(**grid)}
        recipe = Recipe(**fields)
        recipe.grid.scale_shape((manifest["shape"][0], manifest["shape"][1]))
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError("manifest_malformed", f"recipe: {error}") from None
    return recipe


def _typed(example: Grid | Recipe, fields: Any) -> dict[str, Any]:
    """The fields, each of the type that the example has there: JSON knows no difference between 4, 4.0 and "4"."""
    wanted = asdict(example)
    if fields.keys() != wanted.keys():
        raise ValueError(f"fields {sorted(fields)}: {sorted(wanted)} are needed")
    for name, value in wanted.items():
        number = isinstance(value, float) and type(fields[name]) is int
        if type(fields[name]) is not type(value) and not number:
            raise ValueError(f"{name}={fields[name]!r}: {type(value).__name__} is needed")
    return dict(fields)


def _expected(recipe: Recipe, shape: tuple[int, int]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """dtype and shape of each tensor that the recipe calls for."""
    out, width = shape
    rows, columns = recipe.grid.scale_shape((out, width))
    wanted: dict[str, tuple[str, tuple[int, ...]]] = {
        "codes": ("uint8", (out, row_bytes(width, recipe.grid.bits))),
        "scales": (f"float{recipe.grid.scale_bits}", (rows, columns)),
    }
    if not recipe.grid.symmetric:
        wanted["zero_points"] = ("uint8", (rows, row_bytes(columns, recipe.grid.bits)))
    if recipe.transform in ("smoothquant", "awq"):
        wanted["column_scale"] = ("float32", (width,))
    if recipe.transform in ("hadamard", "hadamard_plain"):
        wanted["signs"] = ("uint8", (1, row_bytes(width, 1)))
    return wanted


def _check_tensors(tensors: Arrays, wanted: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    if missing := sorted(wanted.keys() - tensors.keys()):
        raise ArtifactError("tensor_missing", ", ".join(missing))
    if extra := sorted(tensors.keys() - wanted.keys()):
        raise ArtifactError("tensor_unexpected", ", ".join(extra))
    for name, (dtype, shape) in wanted.items():
        if (str(tensors[name].dtype), tensors[name].shape) != (dtype, shape):
            raise ArtifactError(
                "shape_differs", f"{name} is {tensors[name].dtype} {tensors[name].shape}, {dtype} {shape} expected"
            )
    for name in wanted.keys() & {"scales", "column_scale"}:
        if not (np.isfinite(tensors[name]) & (tensors[name] > 0)).all():
            raise ArtifactError("payload_malformed", f"{name} must be positive and finite")


def _unpack(tensors: Arrays, recipe: Recipe, shape: tuple[int, int]) -> Conversion:
    grid, (_, width) = recipe.grid, shape
    scale = tensors["scales"]
    zero: Codes = np.full(scale.shape, grid.middle, np.uint8)
    if "zero_points" in tensors:
        zero = unpack(tensors["zero_points"], grid.bits, scale.shape[1])
    signs = None
    if "signs" in tensors:
        signs = (1 - 2 * unpack(tensors["signs"], 1, width)[0].astype(np.int8)).astype(np.int8)
    change = Transform(tensors.get("column_scale"), signs)
    return Conversion(recipe, unpack(tensors["codes"], grid.bits, width), Scales(scale, zero), change)
