"""The baseline: one linear layer y = W x, its identity as a hash, and the vectors that go through it.

Teaches: that a quantized layer is judged against weights and inputs that are pinned down byte by byte. The built-in
layer imitates three things seen in language models: a few channels that are large for every token, two coordinates
that are huge for a few tokens, and text of two kinds that differs in which channels are large. Leaves out: biases and
everything around the layer. The imitation is seeded noise, so it shows what can happen, not how often.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Domain = Literal["prose", "code"]
DOMAINS: tuple[Domain, ...] = ("prose", "code")
MAX_SIDE = 1024
MAX_VECTORS = 4096
OUTLIER_CHANNELS = 4  # of each domain
OUTLIER_SIZE = 25.0
MASSIVE_TOKENS, MASSIVE_CHANNELS, MASSIVE_SIZE = 2, 2, 150.0
FACTORS = 8  # shared directions that correlate the channels


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """weights: (out, in) float32 or float64, finite, sides 1 … 1024; made read-only."""

    name: str
    weights: NDArray[np.floating]

    def __post_init__(self) -> None:
        if self.weights.dtype.str.lstrip("<>=") not in ("f4", "f8"):
            raise ValueError(f"weights of {self.name!r} are {self.weights.dtype}: float32 or float64 is needed")
        _check_matrix("weights", self.weights, MAX_SIDE)
        frozen = np.ascontiguousarray(self.weights).copy()
        frozen.flags.writeable = False
        object.__setattr__(self, "weights", frozen)

    @property
    def shape(self) -> tuple[int, int]:
        return self.weights.shape[0], self.weights.shape[1]

    @property
    def wide(self) -> Floats:
        """The weights in float64, in which everything is computed."""
        return self.weights.astype(np.float64)

    @property
    def sha256(self) -> str:
        return digest(self.weights)


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is written down before anything is changed; `protocol` says how outputs are compared."""

    name: str
    shape: tuple[int, int]
    dtype: str
    weights_sha256: str
    inputs_sha256: str
    output_sha256: str
    mean_squared_output: float
    protocol: str = "outputs W x in float64; error = mean over vectors of the summed squared difference"


def _check_matrix(name: str, matrix: NDArray[np.floating], most_rows: int) -> None:
    if matrix.ndim != 2:
        raise ValueError(f"{name} has shape {matrix.shape}: two axes are needed")
    rows, columns = matrix.shape
    if not (1 <= rows <= most_rows and 1 <= columns <= MAX_SIDE):
        raise ValueError(f"{name} has shape {matrix.shape}: at most ({most_rows}, {MAX_SIDE}), at least (1, 1)")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite, and holds {int((~np.isfinite(matrix)).sum())} values that are not")


def check_inputs(inputs: NDArray[np.floating], columns: int, name: str = "inputs") -> Floats:
    """Vectors (n, in) as float64. Raises ValueError for another width, more than 4096 of them, or a nan."""
    _check_matrix(name, inputs, MAX_VECTORS)
    if inputs.shape[1] != columns:
        raise ValueError(f"{name} has shape {inputs.shape}: the layer takes vectors of {columns}")
    return inputs.astype(np.float64)


def digest(array: NDArray[np.generic]) -> str:
    """SHA-256 of dtype, shape and little-endian bytes in row order, so that equal bytes of another shape differ.

    >>> digest(np.zeros((1, 2), np.float32))[:12]
    'df1682dc0241'

    Source: FIPS 180-4 for the hash; what goes into it is this wiki's choice.
    """
    plain = np.asarray(array, order="C").astype(array.dtype.newbyteorder("<"), copy=False)
    head = f"{plain.dtype.str} {'x'.join(map(str, plain.shape))}\n"
    return hashlib.sha256(head.encode() + plain.tobytes()).hexdigest()


def baseline(layer: Layer, inputs: Floats) -> Baseline:
    """Hashes, shapes and the float output of the untouched layer. Source: none, this is the protocol of the page."""
    x = check_inputs(inputs, layer.shape[1])
    y = x @ layer.wide.T
    return Baseline(
        layer.name, layer.shape, str(layer.weights.dtype), layer.sha256, digest(x), digest(y),
        float((y * y).sum(axis=1).mean()),
    )  # fmt: skip


def synthetic_layer(*, seed: int = 7, out: int = 48, width: int = 64) -> Layer:
    """Heavy-tailed float32 weights: Student's t with five degrees of freedom, times 0.05.

    >>> synthetic_layer(out=2, width=4).shape
    (2, 4)
    """
    rng = np.random.default_rng([seed, 0])
    return Layer("synthetic", (0.05 * rng.standard_t(5, (out, width))).astype(np.float32))


def synthetic_inputs(domain: Domain, vectors: int, *, width: int = 64, seed: int = 7, part: int = 0) -> Floats:
    """(vectors, width) activations of one domain; `part` 0 is for calibration, any other for measuring.

    x = a_j (z_j + b_j · f): a_j is 25 on four channels of the domain and near 1 elsewhere, f are eight factors shared
    by the channels, and two coordinates of the first tokens are ±150 whatever the domain.
    """
    if domain not in DOMAINS:
        raise ValueError(f"domain={domain!r}: must be one of {DOMAINS}")
    if width < 4 * OUTLIER_CHANNELS or vectors < 1:
        raise ValueError(f"width={width}, vectors={vectors}: at least {4 * OUTLIER_CHANNELS} and 1 are needed")
    shape = np.random.default_rng([seed, 1])  # what the domains share
    order = shape.permutation(width)
    mixing = shape.standard_normal((FACTORS, width)) / np.sqrt(FACTORS)
    own = np.random.default_rng([seed, 2, DOMAINS.index(domain)])
    scale = np.exp(0.4 * own.standard_normal(width))
    first = OUTLIER_CHANNELS * DOMAINS.index(domain)
    scale[order[first : first + OUTLIER_CHANNELS]] = OUTLIER_SIZE
    rng = np.random.default_rng([seed, 3, DOMAINS.index(domain), part])
    x = scale * (rng.standard_normal((vectors, width)) + rng.standard_normal((vectors, FACTORS)) @ mixing)
    massive = order[-MASSIVE_CHANNELS:]
    x[:MASSIVE_TOKENS, massive] = MASSIVE_SIZE * np.where(rng.random((min(vectors, MASSIVE_TOKENS), 2)) < 0.5, -1, 1)
    return x
