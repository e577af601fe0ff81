"""Six ways to spoil an artifact, each of which `calibration_artifact.load` must refuse with its own code.

Teaches: which check catches what. The last two are mistakes of a writer, not of a disk: their payload hash is right.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from mechanisms.calibration_artifact import Artifact, Refusal
from mechanisms.calibration_container import read, write
from mechanisms.calibration_layer import Layer
from mechanisms.calibration_pack import PACKING_VERSION

CORRUPTIONS: tuple[Refusal, ...] = (
    "manifest_malformed", "packing_unknown", "base_differs", "payload_changed", "tensor_missing", "shape_differs",
)  # fmt: skip


def corrupt(artifact: Artifact, layer: Layer, code: Refusal) -> tuple[Artifact, Layer]:
    """The artifact and the layer to load it for, spoilt so that loading is refused with `code`."""
    if code == "manifest_malformed":
        return Artifact(artifact.payload, artifact.manifest[: len(artifact.manifest) // 2]), layer
    if code == "packing_unknown":
        return Artifact(artifact.payload, _edit(artifact.manifest, packing_version=PACKING_VERSION + 1)), layer
    if code == "base_differs":
        other = layer.weights.copy()
        other[0, 0] = np.nextafter(other[0, 0], np.inf, dtype=other.dtype)  # the least change there is
        return artifact, Layer(layer.name, other)
    if code == "payload_changed":
        flipped = bytearray(artifact.payload)
        flipped[-1] ^= 1
        return Artifact(bytes(flipped), artifact.manifest), layer
    tensors = read(artifact.payload)
    if code == "tensor_missing":
        return _resign(artifact, write({n: a for n, a in tensors.items() if n != "scales"})), layer
    if code == "shape_differs":
        return _resign(artifact, write({**tensors, "codes": tensors["codes"][:, :-1]})), layer
    raise ValueError(f"code={code!r}: must be one of {CORRUPTIONS}")


def _edit(manifest: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(manifest), **fields}).encode()


def _resign(artifact: Artifact, payload: bytes) -> Artifact:
    return Artifact(payload, _edit(artifact.manifest, payload_sha256=hashlib.sha256(payload).hexdigest()))
