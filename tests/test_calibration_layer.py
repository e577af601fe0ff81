"""Baseline, statistics and the bytes that a reader brings; containers against the safetensors package and NumPy."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mechanisms.calibration_container import MAX_BYTES, ContainerError, read, write
from mechanisms.calibration_layer import (
    DOMAINS,
    MAX_SIDE,
    MAX_VECTORS,
    Layer,
    baseline,
    check_inputs,
    digest,
    synthetic_inputs,
    synthetic_layer,
)
from mechanisms.calibration_load import load_inputs, load_layer
from mechanisms.calibration_statistics import calibrate, mean_squared, per_output

W = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
ARRAYS = hnp.arrays(
    st.sampled_from([np.dtype(c) for c in ("<f8", "<f4", "<f2", "<i8", "<i4", "i1", "u1")]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
NAMES = st.text(min_size=1, max_size=8).filter(lambda n: n != "__metadata__" and max(n) < "\ud800")


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


@given(st.dictionaries(NAMES, ARRAYS, max_size=4))
def test_container_is_read_by_safetensors(arrays: dict[str, np.ndarray]) -> None:
    """The safetensors package reads our bytes, we read its bytes, and both get the same arrays."""
    data = write(arrays)
    for found in (safetensors.numpy.load(data), read(data), read(safetensors.numpy.save(arrays))):
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype and found[name].shape == array.shape
            assert found[name].tobytes() == array.tobytes()
    assert write(dict(reversed(arrays.items()))) == data


def raw(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(**fields: object) -> dict[str, object]:
    return {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], **fields}}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"), (b"\0" * (MAX_BYTES + 1), "too_large"), (b"abc", "not_a_container"),
        (b"\xff" * 8 + b"{}", "not_a_container"), (raw(b"{nonsense"), "header_malformed"),
        (raw(b'{"a":1,"a":2}'), "header_malformed"), (raw({"a": 1}), "header_malformed"),
        (raw(entry(shape=[-1])), "header_malformed"), (raw(entry(dtype="F8")), "dtype_unknown"),
        (raw(entry()), "offsets_wrong"), (raw(entry(), b"12345"), "offsets_wrong"),
        (raw(entry(data_offsets=[4, 8]), b"12345678"), "offsets_wrong"),
        (raw(entry(shape=[2]), b"1234"), "offsets_wrong"),
        (b"PK\x03\x04nonsense", "npz_malformed"), (npz(a=np.array(["x"])), "dtype_unknown"),
        (raw({f"t{i}": {} for i in range(65)}), "too_large"), (npz(**{f"t{i}": W for i in range(65)}), "too_large"),
        (npz(a=np.zeros(MAX_BYTES // 8 + 1)), "too_large"),
    ],
    ids=["empty", "large", "short", "length", "json", "twice", "entry", "negative", "dtype", "no body", "left over",
         "gap", "size", "zip", "text", "many", "many npz", "bomb"],
)  # fmt: skip
def test_bad_bytes_have_a_code(data: bytes, code: str) -> None:
    """Each kind of broken file has its own code, and nothing large is made of a small file."""
    with pytest.raises(ContainerError) as caught:
        read(data)
    assert caught.value.code == code


@given(st.integers(0, 400), st.integers(0, 255), st.booleans())
def test_changed_byte_is_read_or_refused(at: int, value: int, zipped: bool) -> None:
    """Any one byte changed gives arrays or a ContainerError, nothing else."""
    data = bytearray(npz(weight=W) if zipped else write({"weight": W}))
    data[at % len(data)] = value
    with contextlib.suppress(ContainerError):
        assert set(map(type, read(bytes(data)).values())) <= {np.ndarray}


def test_files_of_both_kinds_load_alike() -> None:
    """float16 and bfloat16 weights become float32; vectors become float64."""
    for data in (npz(weight=W, calibration=np.ones((2, 4))), write({"weight": W, "calibration": np.ones((2, 4))})):
        assert load_layer(data).sha256 == digest(W)
        assert load_inputs(data, width=4).dtype == np.float64
    half = load_layer(write({"weight": W.astype(np.float16)}))
    assert half.weights.dtype == np.float32 and (half.weights == W.astype(np.float16)).all()
    top = (W.view(np.uint32) >> 16).astype("<u2").tobytes()
    brain = load_layer(raw({"weight": {"dtype": "BF16", "shape": [3, 4], "data_offsets": [0, 24]}}, top))
    assert (brain.weights.view(np.uint32) == W.view(np.uint32) & 0xFFFF0000).all()


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ({"other": W}, "tensor_missing"), ({"weight": W[0]}, "not_a_layer"), ({"weight": W * np.nan}, "not_a_layer"),
        ({"weight": W.astype(np.int32)}, "not_a_layer"), ({"weight": np.ones((1, MAX_SIDE + 1))}, "not_a_layer"),
        ({"weight": np.ones((0, 4))}, "not_a_layer"),
    ],
    ids=["missing", "axes", "nan", "integers", "wide", "none"],
)  # fmt: skip
def test_what_is_no_layer_is_refused(arrays: dict, code: str) -> None:
    """Missing, flat, endless, integer, too wide or empty weights."""
    with pytest.raises(ContainerError) as caught:
        load_layer(npz(**arrays))
    assert caught.value.code == code
    with pytest.raises(ContainerError, match="not_a_layer"):
        load_inputs(npz(calibration=np.ones((2, 5))), width=4)
    with pytest.raises(ContainerError, match="not_a_layer"):
        load_inputs(npz(calibration=np.ones((2, 4), int)), width=4)


def test_baseline_is_pinned_and_read_only() -> None:
    """The hash is hashlib's over dtype, shape and bytes; the weights cannot be written to; the output is W x."""
    layer, x = Layer("w", W), np.random.default_rng(1).standard_normal((5, 4))
    assert layer.sha256 == hashlib.sha256(b"<f4 3x4\n" + W.tobytes()).hexdigest() == digest(W.astype(">f4"))
    with pytest.raises(ValueError, match="read-only"):
        layer.weights[0, 0] = 1
    found = baseline(layer, x)
    y = np.array([[sum(float(w) * v for w, v in zip(row, vector, strict=True)) for row in W] for vector in x])
    assert found.mean_squared_output == pytest.approx(float((y**2).sum() / 5), rel=1e-12)
    assert (found.shape, found.dtype, found.inputs_sha256) == ((3, 4), "float32", digest(x))


def test_statistics_equal_the_plain_sums() -> None:
    """H, maximum, mean size and range, and tr(E H Eᵀ) as a double sum over H."""
    x, e = np.random.default_rng(2).standard_normal((7, 3)), np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    found = calibrate(x)
    np.testing.assert_allclose(found.hessian, sum(np.outer(v, v) for v in x) / 7, rtol=1e-12)
    assert found.largest.tolist() == [max(abs(v)) for v in x.T]
    np.testing.assert_allclose(found.mean_size, [sum(abs(v)) / 7 for v in x.T])
    assert (found.low.tolist(), found.high.tolist()) == ([min(v) for v in x.T], [max(v) for v in x.T])
    rows = [sum(r[i] * found.hessian[i, j] * r[j] for i in range(3) for j in range(3)) for r in e]
    np.testing.assert_allclose(per_output(e, found.hessian), rows)
    assert mean_squared(e, found.hessian) == pytest.approx(sum(rows))


def test_built_in_inputs_have_what_they_promise() -> None:
    """Seeded; four large channels that differ by domain; two coordinates of ±150 in the first two vectors of both."""
    one, two = (synthetic_inputs(d, 500) for d in DOMAINS)
    assert (one == synthetic_inputs("prose", 500)).all() and (one != synthetic_inputs("prose", 500, part=1)).any()
    large = [set(np.argsort(np.abs(x[2:]).mean(axis=0))[-4:].tolist()) for x in (one, two)]
    assert not large[0] & large[1]
    massive = [set(np.flatnonzero((np.abs(x[:2]) == 150).all(axis=0)).tolist()) for x in (one, two)]
    assert massive[0] == massive[1] and len(massive[0]) == 2
    assert synthetic_layer().sha256 == synthetic_layer().sha256 != synthetic_layer(seed=8).sha256


def test_bounds_are_enforced() -> None:
    """At most 4096 vectors, at least one, of the right width; known domains."""
    with pytest.raises(ValueError, match="4096"):
        check_inputs(np.ones((MAX_VECTORS + 1, 4)), 4)
    for shape in ((0, 4), (2, 3), (4,)):
        with pytest.raises(ValueError, match="inputs"):
            check_inputs(np.ones(shape), 4)
    with pytest.raises(ValueError, match="domain"):
        synthetic_inputs("poetry", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="width"):
        synthetic_inputs("prose", 3, width=8)
