"""Quantizers of the real model against the exact mechanisms, number for number, on layers small enough for them."""

from fractions import Fraction

import gguf
import ml_dtypes
import numpy as np
import pytest
import torch

from gpu_demos.quantize import bits_per_weight, nearest
from gpu_demos.quantize_calibrated import Seen, awq, gptq, output_error, rotate, rotated
from gpu_demos.quantize_formats import fp8, mxfp4, nf4, q4_1
from mechanisms.calibration_convert import Recipe, convert
from mechanisms.calibration_grid import Grid
from mechanisms.calibration_layer import Layer, synthetic_inputs, synthetic_layer
from mechanisms.calibration_statistics import calibrate
from mechanisms.formats_blocks import ScaleRule
from mechanisms.formats_blocks import mxfp4 as exact_mxfp4
from mechanisms.formats_nf4 import nf4_block

LAYER = synthetic_layer()  # 48 × 64, heavy tails
INPUTS = synthetic_inputs("code", 512)
STATISTICS = calibrate(INPUTS)
WEIGHTS = torch.from_numpy(LAYER.wide)
SEEN = Seen(torch.from_numpy(STATISTICS.hessian), torch.from_numpy(STATISTICS.mean_size), STATISTICS.vectors)
GRIDS = (
    Grid(bits=4, group=16), Grid(bits=4, group=32, symmetric=False), Grid(bits=8, granularity="channel"),
    Grid(bits=3, group=64), Grid(bits=2, group=16, symmetric=False, scale_bits=32),
)  # fmt: skip


def name_of(grid: Grid) -> str:
    return f"int{grid.bits}-{grid.granularity}{grid.group}-{'sym' if grid.symmetric else 'asym'}"


@pytest.mark.parametrize("grid", GRIDS, ids=name_of)
def test_rounding_to_nearest_equals_the_mechanism_bit_by_bit(grid: Grid):
    """Codes times scales are the same float64 numbers in torch and in the exact chapter."""
    expected = convert(LAYER, STATISTICS, Recipe(grid=grid)).weights
    np.testing.assert_array_equal(nearest(WEIGHTS, grid).numpy(), expected)


@pytest.mark.parametrize("symmetric", [True, False], ids=("sym", "asym"))
def test_a_short_last_group_is_a_group_of_its_own(symmetric: bool):
    """Groups of 24 of 64 inputs are two groups of 24 and one of 16, each as the mechanism rounds it alone."""
    grid = Grid(bits=4, group=24, symmetric=symmetric)
    parts = []
    for begin in (0, 24, 48):
        part = Layer("part", LAYER.wide[:, begin : begin + 24])
        width = part.shape[1]
        inputs = calibrate(INPUTS[:, begin : begin + width])
        parts.append(convert(part, inputs, Recipe(grid=Grid(bits=4, group=width, symmetric=symmetric))).weights)
    np.testing.assert_array_equal(nearest(WEIGHTS, grid).numpy(), np.concatenate(parts, 1))


@pytest.mark.parametrize("grid", GRIDS, ids=name_of)
def test_awq_picks_the_exponent_of_the_mechanism(grid: Grid):
    """The same sweep, the same least error: equal weights up to the last digits of a division."""
    expected = convert(LAYER, STATISTICS, Recipe(transform="awq", grid=grid)).weights
    np.testing.assert_allclose(awq(WEIGHTS, grid, SEEN).numpy(), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("grid", GRIDS, ids=name_of)
def test_gptq_in_blocks_equals_the_mechanism_column_by_column(grid: Grid, monkeypatch: pytest.MonkeyPatch):
    """Blocks of 24 columns (64 is no multiple) give the codes of the column-wise mechanism."""
    monkeypatch.setattr("gpu_demos.quantize_calibrated.BLOCK", 24)
    expected = convert(LAYER, STATISTICS, Recipe(rounding="gptq", grid=grid)).weights
    np.testing.assert_allclose(gptq(WEIGHTS, grid, SEEN.hessian).numpy(), expected, rtol=1e-12, atol=1e-15)


def test_gptq_beats_rounding_to_nearest_on_its_own_vectors():
    """The output error, measured by multiplying out, falls by more than a third: the correction has the right sign."""
    grid = Grid(bits=3, group=16)
    x = torch.from_numpy(INPUTS)
    errors = [float((x @ (w - WEIGHTS).T).pow(2).sum(1).mean()) for w in (
        nearest(WEIGHTS, grid), gptq(WEIGHTS, grid, SEEN.hessian))]  # fmt: skip
    assert errors[1] < errors[0] * 2 / 3
    assert output_error(nearest(WEIGHTS, grid) - WEIGHTS, SEEN.hessian) == pytest.approx(errors[0], rel=1e-9)


def test_gptq_refuses_silent_inputs():
    """Without any activation there is nothing to weigh errors with."""
    with pytest.raises(ValueError, match="all zero"):
        gptq(WEIGHTS, Grid(), torch.zeros(64, 64))


@pytest.mark.parametrize("rounding", ["nearest", "gptq"])
def test_rotation_equals_the_mechanism(rounding: str):
    """Random signs, Hadamard, rounding and the way back: as in the chapter, for a power of two."""
    grid = Grid(bits=4, group=16)
    own = (lambda w, h: nearest(w, grid)) if rounding == "nearest" else (lambda w, h: gptq(w, grid, h))
    recipe = Recipe(transform="hadamard", rounding="nearest" if rounding == "nearest" else "gptq", grid=grid)
    expected = convert(LAYER, STATISTICS, recipe).weights
    np.testing.assert_allclose(rotated(WEIGHTS, SEEN.hessian, own).numpy(), expected, rtol=1e-9, atol=1e-12)


def test_rotation_in_pieces_keeps_products():
    """576 has pieces of 64: rotating twice gives the vector back, and lengths stay within each piece."""
    x = torch.from_numpy(np.random.default_rng(3).standard_normal((4, 576)))
    turned = rotate(x)
    torch.testing.assert_close(rotate(turned), x, rtol=0, atol=1e-12)
    lengths = [v.unflatten(1, (9, 64)).norm(dim=-1) for v in (x, turned)]
    torch.testing.assert_close(lengths[1], lengths[0], rtol=1e-12, atol=0)


def test_fp8_equals_ml_dtypes():
    """E4M3 with a scale a row, against another library's cast."""
    w = WEIGHTS.numpy()
    scale = (np.abs(w).max(1, keepdims=True) / 448).astype(np.float32).astype(np.float64)
    expected = np.clip(w / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) * scale
    np.testing.assert_array_equal(fp8(WEIGHTS).numpy(), expected)


def test_nf4_equals_the_exact_codebook():
    """Each block of 64 as rationals: the same codebook entry for every weight."""
    expected = [[float(v) for v in nf4_block([Fraction(float(x)) for x in row])[2]] for row in LAYER.wide[:8]]
    np.testing.assert_allclose(nf4(WEIGHTS[:8]).numpy(), expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("rule", ["floor", "even"])
def test_mxfp4_equals_the_exact_blocks(rule: ScaleRule):
    """Ties, overflow at the floor rule, a block of zeros and a short last block: exactly the rational result."""
    rows = LAYER.wide[:8, :40].copy()
    rows[0, :32] = np.linspace(-7.9, 7.9, 32)
    rows[1, :32] = np.arange(32) / 4
    rows[2, :32] = 0
    expected = [[float(v) for v in exact_mxfp4([Fraction(float(x)) for x in row], rule).restored] for row in rows]
    np.testing.assert_array_equal(mxfp4(torch.from_numpy(rows), rule).numpy(), expected)


def test_q4_1_gives_back_what_llama_cpp_rounded():
    """What gguf's own dequantization makes is a fixed point; an integer zero point does not reproduce it."""
    raw = np.random.default_rng(5).standard_normal((16, 64)).astype(np.float32)
    packed = gguf.quants.quantize(raw, gguf.GGMLQuantizationType.Q4_1)
    shipped = torch.from_numpy(gguf.quants.dequantize(packed, gguf.GGMLQuantizationType.Q4_1))
    torch.testing.assert_close(q4_1(shipped).float(), shipped, rtol=0, atol=1e-6)
    step = (shipped.amax() - shipped.amin()) / 15
    assert float((nearest(shipped, Grid(group=32, symmetric=False)) - shipped).abs().max()) > float(step) / 20


def test_bits_count_a_short_last_group():
    """576 inputs in groups of 128 have five scales, not four and a half."""
    assert bits_per_weight(Grid(bits=4, group=128), 576) == 4 + 5 * 16 / 576
    assert bits_per_weight(Grid(bits=4, group=32, symmetric=False), 576) == 4 + 20 / 32
