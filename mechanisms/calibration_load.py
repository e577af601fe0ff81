"""A layer and its inputs from the bytes of a file that a reader brings.

Leaves out: models; one matrix (out, in) and the vectors that go through it are enough here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration_container import Arrays, ContainerError, read
from mechanisms.calibration_layer import Floats, Layer, check_inputs

WEIGHT, CALIBRATION, HELD_OUT = "weight", "calibration", "held_out"


def _pick(arrays: Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise ContainerError("tensor_missing", f"{name!r}; the file holds {sorted(arrays)}")
    return arrays[name]


def load_layer(data: bytes, *, tensor: str = WEIGHT, name: str = "") -> Layer:
    """The weights (out, in) of a .npz or safetensors file; float16 and bfloat16 become float32.

    Raises ContainerError: for bytes that cannot be read, `tensor_missing`, or `not_a_layer` with the reason.
    """
    weights = _pick(read(data), tensor)
    if weights.dtype == np.float16:
        weights = weights.astype(np.float32)
    return _refuse_as_layer(lambda: Layer(name or tensor, weights))


def load_inputs(data: bytes, *, width: int, tensor: str = CALIBRATION) -> Floats:
    """Vectors (n, width) as float64. Raises ContainerError as `load_layer` does."""
    vectors = _pick(read(data), tensor)
    if vectors.dtype.kind != "f":
        raise ContainerError("not_a_layer", f"{tensor} is {vectors.dtype}, not a float type")
    return _refuse_as_layer(lambda: check_inputs(vectors, width, tensor))


def _refuse_as_layer(make: Any) -> Any:
    try:
        return make()
    except ValueError as error:
        raise ContainerError("not_a_layer", str(error)) from None
