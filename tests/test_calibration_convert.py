"""Grid, clip search, channel scales and rotation against loops, brute force, torchao's stored scales and SciPy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from mechanisms.calibration_clip import SHARES, block_error, clip_search
from mechanisms.calibration_convert import METHODS, Recipe, convert
from mechanisms.calibration_grid import Grid, decode, encode, fit
from mechanisms.calibration_hadamard import peak_table, random_signs, rotate, signed_peaks, transform
from mechanisms.calibration_layer import Layer, synthetic_inputs, synthetic_layer
from mechanisms.calibration_statistics import calibrate, mean_squared
from mechanisms.calibration_transform import ALPHAS, awq, awq_scale, hadamard, smooth
from tests.oracle_calibration import cases, loop_round

GRIDS = [
    Grid(bits, symmetric, granularity, 8, 16)  # type: ignore[arg-type]
    for bits in (2, 3, 4, 8)
    for symmetric in (True, False)
    for granularity in ("tensor", "channel", "group")
]


@pytest.mark.parametrize("bits", range(2, 9))
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize("group", [4, 8, 16])
def test_rounding_equals_the_loop(bits: int, symmetric: bool, group: int) -> None:
    """Codes and scales reproduce a weight-by-weight loop exactly, all-zero and one-signed groups included."""
    rng = np.random.default_rng(bits)
    w = rng.standard_normal((5, 16))
    w[0, :4], w[1], w[2] = 0, np.abs(w[1]), -np.abs(w[2])
    grid = Grid(bits, symmetric, "group", group)
    scales = fit(w, grid)
    assert (decode(encode(w, scales, grid), scales) == loop_round(w, bits, symmetric=symmetric, group=group)).all()


@settings(max_examples=60)
@given(st.sampled_from(GRIDS), st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_error_stays_within_half_a_step(grid: Grid, seed: int, size: float) -> None:
    """No weight moves more than half a step, and 2^−10 of the range for the scale's own rounding; zero stays zero."""
    w = size * np.random.default_rng(seed).standard_normal((4, 16))
    w[0, 0] = 0
    scales = fit(w, grid)
    back = decode(encode(w, scales, grid), scales)
    step = np.broadcast_to(scales.scale.astype(float).repeat(16 // scales.scale.shape[1], axis=1), w.shape)
    reach = 2.0**grid.bits * step * 2.0**-10
    assert (np.abs(back - w) <= (1.0 if not grid.symmetric else 0.5) * step + reach).all()
    assert back[0, 0] == 0


@pytest.mark.parametrize(
    ("fields", "word"),
    [({"bits": 1}, "bits"), ({"bits": 9}, "bits"), ({"granularity": "row"}, "granularity"), ({"group": 0}, "group"),
     ({"scale_bits": 8}, "scale_bits")],
    ids=["few", "many", "granularity", "group", "scale"],
)  # fmt: skip
def test_bad_grid_is_refused(fields: dict, word: str) -> None:
    """The message names the field."""
    with pytest.raises(ValueError, match=word):
        Grid(**fields)


def test_scales_that_do_not_fit_are_refused() -> None:
    """Half precision ends at 65504 and near 6e-8; 32 bits take both. A group must divide the width."""
    for size in (1e-9, 1e9):
        w = np.full((1, 4), size)
        with pytest.raises(ValueError, match="use 32 bits"):
            fit(w, Grid(granularity="channel"))
        assert fit(w, Grid(granularity="channel", scale_bits=32)).scale.dtype == np.float32
    with pytest.raises(ValueError, match="divide"):
        fit(np.ones((1, 6)), Grid(group=4))


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_clip_search_equals_brute_force(grid: Grid) -> None:
    """Per block, the share is the first minimum over all candidates, each rounded on its own."""
    w = np.random.default_rng(1).standard_t(3, (4, 16))
    scales, share = clip_search(w, grid)
    errors = np.stack([block_error(w, grid, fit(w, grid, s)) for s in SHARES])
    assert (share == np.array(SHARES)[errors.argmin(axis=0)]).all()
    direct = (decode(encode(w, scales, grid), scales) - w) ** 2
    assert direct.sum() == pytest.approx(errors.min(axis=0).sum(), rel=1e-12)
    assert direct.sum() <= ((decode(encode(w, fit(w, grid), grid), fit(w, grid)) - w) ** 2).sum()


@pytest.mark.parametrize("method", METHODS)
def test_function_is_unchanged_before_rounding(method: str) -> None:
    """(W T)(T⁻¹x) = W x to 1e-12, relative; the promise is 1e-6."""
    layer, x = synthetic_layer(), synthetic_inputs("prose", 64)
    made = convert(layer, calibrate(x), Recipe(*METHODS[method]))
    y = x @ layer.wide.T
    changed = made.transform.inputs(x) @ made.transform.weights(layer.wide).T
    assert np.abs(changed - y).max() <= 1e-12 * np.abs(y).max()
    moments = made.transform.inputs(x).T @ made.transform.inputs(x) / len(x)
    wanted = made.transform.hessian(calibrate(x).hessian)
    np.testing.assert_allclose(wanted, moments, atol=1e-9 * moments.max())
    np.testing.assert_allclose(made.transform.back(made.transform.weights(layer.wide)), layer.wide, atol=1e-12)


@pytest.mark.parametrize("case", cases("scaling"), ids=range(4))
def test_channel_scales_equal_torchao(case: dict) -> None:
    """torchao 0.18.0: SmoothQuant's scale at α = 0.5, and AWQ's at one of the twenty exponents, to float32 rounding."""
    w, statistics = np.array(case["weights"]), calibrate(np.array(case["inputs"]))
    found = smooth(w, statistics, alpha=0.5).column_scale
    np.testing.assert_allclose(found, case["smoothquant"], rtol=1e-5)  # type: ignore[arg-type]
    distance = [np.abs(awq_scale(statistics, a).column_scale / np.array(case["awq"]) - 1).max() for a in ALPHAS]  # type: ignore[operator]
    assert min(distance) < 1e-5


def test_awq_takes_the_least_of_its_trials() -> None:
    """Every trial's error is that of rounding by hand, and the winner is their minimum; α = 0 was tried, too."""
    layer, statistics, grid = synthetic_layer(), calibrate(synthetic_inputs("prose", 64)), Grid()
    change, trials = awq(layer.wide, statistics, grid)
    for trial in trials:
        s = awq_scale(statistics, trial.alpha).column_scale.astype(float)  # type: ignore[union-attr]
        scaled = loop_round(layer.wide * s, 4, symmetric=True, group=16) / s - layer.wide
        assert trial.error == pytest.approx(mean_squared(scaled, statistics.hessian), rel=1e-9)
    best = min(trials, key=lambda t: t.error)
    assert (change.column_scale == awq_scale(statistics, best.alpha).column_scale).all()  # type: ignore[union-attr]
    assert 0 < best.alpha < 0.95 and trials[0].alpha == 0


@pytest.mark.parametrize("d", [1, 2, 8, 64, 1024])
def test_transform_equals_scipy(d: int) -> None:
    """The butterfly is SciPy's Sylvester matrix; divided by √d it is its own inverse."""
    x = np.random.default_rng(d).standard_normal((3, d))
    np.testing.assert_allclose(transform(x), x @ linalg.hadamard(d), atol=1e-10)
    np.testing.assert_allclose(rotate(rotate(x)), x, atol=1e-12)


def test_rotation_of_ones_and_of_signs() -> None:
    """One 500 among 1023 ones: 1523/32 = 47.59 with SciPy's matrix and no signs, near 18.9 with them (recap_hadamard).

    The mean of 400 draws lies within 5 standard errors of 18.871656, chance of a false alarm 6e-7.
    """
    x = np.ones(1024)
    x[7] = 500
    assert np.abs(x @ linalg.hadamard(1024)).max() / 32 == 1523 / 32
    found = signed_peaks(1024, 500, 400, rng=np.random.default_rng(5))
    assert abs(float(found.mean) - 18.87165625) < 5 * (found.standard_error + 0.007636)
    table = peak_table(1024, 500, found)
    assert [table.value(0, n) for n in ("dimension", "peak_alone", "peak_of_ones")] == [
        1024, Fraction(125, 8), Fraction(1523, 32),
    ]  # fmt: skip
    assert table.explain(0, "gain_of_ones").exact == "16000/1523"


def test_bad_rotations_are_refused() -> None:
    """No power of two, too few draws, no power of four."""
    with pytest.raises(ValueError, match="power of two"):
        transform(np.ones(6))
    with pytest.raises(ValueError, match="draws"):
        signed_peaks(4, 2, 1, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="power of four"):
        peak_table(8, 2, signed_peaks(8, 2, 2, rng=np.random.default_rng(0)))
    assert set(random_signs(64, np.random.default_rng(0))) == {-1.0, 1.0}
    assert (hadamard(4).signs == 1).all()


@pytest.mark.parametrize(
    ("bits", "symmetric", "group", "width", "wanted"),
    [
        (4, False, 128, 128, Fraction(133, 32)),
        (4, True, 128, 256, Fraction(33, 8)),
        (4, False, 32, 64, Fraction(37, 8)),
    ],
    ids=["4.15625", "4.125", "4.625"],
)  # fmt: skip
def test_effective_bits_of_known_formats(bits: int, symmetric: bool, group: int, width: int, wanted: Fraction) -> None:
    """16-bit scales and 4-bit zero points give the published 4.15625 bits at 128 weights and 4.625 at 32."""
    layer = Layer("w", np.random.default_rng(0).standard_normal((3, width)))
    x = np.random.default_rng(1).standard_normal((4, width))
    assert convert(layer, calibrate(x), Recipe(grid=Grid(bits, symmetric, "group", group))).effective_bits == wanted


@pytest.mark.parametrize("fields", [{"transform": "x"}, {"rounding": "x"}, {"alpha": 2}, {"damping": -1}], ids=str)
def test_bad_recipe_is_refused(fields: dict) -> None:
    """Unknown names and numbers out of range are errors, as are statistics of another width."""
    with pytest.raises(ValueError, match=next(iter(fields))):
        Recipe(**fields)
    with pytest.raises(ValueError, match="channels"):
        convert(synthetic_layer(), calibrate(np.ones((2, 3))), Recipe())


def test_ends_of_the_grid() -> None:
    """A weight beyond the range stops at −7 or 7 steps on the symmetric 4-bit grid, never at −8; 0 … 15 otherwise."""
    far = np.array([[-100.0, 100.0, 0.0]])
    for symmetric, ends in ((True, [1, 15]), (False, [0, 15])):
        grid = Grid(4, symmetric, "channel")
        scales = fit(np.array([[-7.0, 7.0, 0.0]]), grid)
        assert encode(far, scales, grid)[0, :2].tolist() == ends


def test_clip_tie_keeps_the_wider_range() -> None:
    """A block of zeros has no error at any share: the first candidate, the whole range, stays."""
    _, share = clip_search(np.zeros((2, 4)), Grid(granularity="channel"))
    assert (share == 1.0).all()
    with pytest.raises(ValueError, match="shares"):
        clip_search(np.ones((1, 4)), Grid(granularity="channel"), shares=(0.0,))


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.8, 1.0])
def test_smoothquant_splits_the_product_of_the_peaks(alpha: float) -> None:
    """Peaks become (max|x| max|w|)^α for weights and ^(1−α) for activations (its Eq. 4 put in), to float32 rounding."""
    w, x = synthetic_layer().wide, synthetic_inputs("prose", 50)
    change = smooth(w, calibrate(x), alpha=alpha)
    product = np.abs(x).max(axis=0) * np.abs(w).max(axis=0)
    np.testing.assert_allclose(np.abs(change.weights(w)).max(axis=0), product**alpha, rtol=1e-6)
    np.testing.assert_allclose(np.abs(change.inputs(x)).max(axis=0), product ** (1 - alpha), rtol=1e-6)
