"""Arrays to and from bytes: the safetensors layout and NumPy's .npz, read with bounds and without running anything.

Teaches: that an eight-byte length, a JSON header and plain little-endian numbers are the whole format. Leaves out:
tensors spread over several files. Written here, because `mechanisms` keeps to NumPy; the tests read and write the same
bytes with the safetensors package.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Code = Literal[
    "empty", "too_large", "not_a_container", "header_malformed", "dtype_unknown", "offsets_wrong", "npz_malformed",
    "tensor_missing", "not_a_layer",
]  # fmt: skip
Arrays = dict[str, NDArray[Any]]
MAX_BYTES = 64 * 2**20
MAX_HEADER = 2**20
MAX_TENSORS = 64
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1",
    "U8": "<u1",
}  # fmt: skip
_NAMES = {np.dtype(code).str: name for name, code in _DTYPES.items() if name != "BF16"}


class ContainerError(ValueError):
    """Bytes that cannot be read as arrays: a code to translate, and a detail to quote."""

    def __init__(self, code: Code, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code: Code = code
        self.detail = detail


def write(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str] | None = None) -> bytes:
    """safetensors bytes, the same for equal input: widest numbers first, then by name; header padded to eight bytes.

    >>> len(write({"a": np.zeros(3, np.float32)}))
    76

    Source: safetensors, format description.
    """
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))} if metadata else {}
    body, at = list[bytes](), 0
    for name in sorted(arrays, key=lambda n: (-arrays[n].dtype.itemsize, n)):
        plain = np.asarray(arrays[name], order="C").astype(arrays[name].dtype.newbyteorder("<"), copy=False)
        if plain.dtype.str not in _NAMES:
            raise ContainerError("dtype_unknown", str(plain.dtype))
        data = plain.tobytes()
        header[name] = {
            "dtype": _NAMES[plain.dtype.str], "shape": list(plain.shape), "data_offsets": [at, at + len(data)],
        }  # fmt: skip
        body.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(body)


def read(data: bytes) -> Arrays:
    """Arrays by name from .npz or safetensors bytes, at most 64 MiB and 64 arrays; BF16 becomes float32.

    Raises ContainerError. Source: safetensors, format description; NEP 1 for .npy.
    """
    if not data:
        raise ContainerError("empty")
    if len(data) > MAX_BYTES:
        raise ContainerError("too_large", f"{len(data)} bytes, at most {MAX_BYTES}")
    return _read_npz(data) if data[:2] == b"PK" else _read_safetensors(data)


def _read_safetensors(data: bytes) -> Arrays:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 10 or length > len(data) - 8 or data[8:9] != b"{":
        raise ContainerError("not_a_container", "neither .npz nor safetensors")
    if length > MAX_HEADER:
        raise ContainerError("too_large", f"header of {length} bytes, at most {MAX_HEADER}")
    header, body = _header(data[8 : 8 + length]), data[8 + length :]
    header.pop("__metadata__", None)
    if len(header) > MAX_TENSORS:
        raise ContainerError("too_large", f"{len(header)} tensors, at most {MAX_TENSORS}")
    entries = sorted((_entry(name, value) for name, value in header.items()), key=lambda entry: entry[3:])
    arrays, at = Arrays(), 0
    for name, kind, shape, begin, end in entries:
        dtype = np.dtype(_DTYPES[kind])
        if begin != at or end - begin != math.prod(shape) * dtype.itemsize or end > len(body):
            raise ContainerError("offsets_wrong", name)
        array = np.frombuffer(body[begin:end], dtype).reshape(shape)
        arrays[name] = (array.astype(np.uint32) << 16).view(np.float32) if kind == "BF16" else array
        at = end
    if at != len(body):
        raise ContainerError("offsets_wrong", f"{len(body) - at} bytes belong to no tensor")
    return arrays


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ContainerError("header_malformed", str(error)) from None
    return header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _entry(name: str, value: Any) -> tuple[str, str, tuple[int, ...], int, int]:
    try:
        kind, shape, (begin, end) = value["dtype"], value["shape"], value["data_offsets"]
        numbers = [*shape, begin, end]
    except (TypeError, KeyError, ValueError):
        raise ContainerError("header_malformed", name) from None
    if not all(type(n) is int and n >= 0 for n in numbers):
        raise ContainerError("header_malformed", name)
    if kind not in _DTYPES:
        raise ContainerError("dtype_unknown", f"{name}: {kind}")
    return name, kind, tuple(shape), begin, end


def _read_npz(data: bytes) -> Arrays:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MAX_TENSORS or sum(m.file_size for m in members) > MAX_BYTES:
                raise ContainerError("too_large", f"{len(members)} arrays, at most {MAX_TENSORS} and {MAX_BYTES} bytes")
            return {m.filename.removesuffix(".npy"): _read_npy(archive.read(m)) for m in members}
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, RuntimeError, OSError) as error:
        if isinstance(error, ContainerError):
            raise
        raise ContainerError("npz_malformed", str(error)) from None


def _read_npy(data: bytes) -> NDArray[Any]:
    """One .npy; its header is checked against the bytes that are there before an array is made of it."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if dtype.hasobject or dtype.names is not None or dtype.kind not in "fiu":
        raise ContainerError("dtype_unknown", str(dtype))
    if math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ValueError(f"an array of shape {shape} does not fill its {len(data) - file.tell()} bytes")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)
