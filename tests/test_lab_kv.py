"""Coarse and short caches: what they round, what they leave, and what they agree with in the limit."""

import numpy as np
import pytest
import torch
from tiny_llama import tiny

from gpu_demos.quantize import affine
from gpu_demos.quantize_cache import BLOCK, CacheGrid, Keys, QuantizedCache, WindowCache, read_in_steps

IDS = torch.from_numpy(np.random.default_rng(2).integers(0, 50, (2, 3 * BLOCK + 5)))

ROWS, LENGTH = IDS.shape


def plain(ids: torch.Tensor = IDS) -> torch.Tensor:
    target = tiny()
    return target.run(ids, [0] * len(ids), target.new_cache(len(ids), ids.shape[1])).hidden


def test_the_grid_is_min_max_with_its_own_worked_numbers():
    """Two bits between 1 and 4 are 1, 2, 3, 4; ties go to even codes; a constant stays itself."""
    x = torch.tensor([[1.0, 1.5, 2.4, 3.5, 4.0], [7.0] * 5])
    assert affine(x, 2, -1).tolist() == [[1, 1, 2, 3, 4], [7] * 5]


def test_exact_bits_give_the_plain_model():
    """With nothing rounded, reading in blocks is the pass over everything."""
    target = tiny()
    cache = QuantizedCache(target, ROWS, LENGTH, CacheGrid("token", None, None))
    torch.testing.assert_close(read_in_steps(target, IDS, cache, BLOCK), plain(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("keys", ["channel", "token"])
def test_full_blocks_are_rounded_once_and_the_rest_stays(keys: Keys):
    """Stored keys and values of full blocks lie on 2**bits points along the right axis; the last block is exact."""
    target, bits = tiny(), 3
    exact = target.new_cache(ROWS, LENGTH)
    cache = QuantizedCache(target, ROWS, LENGTH, CacheGrid(keys, bits, bits))
    for one in (exact, cache):
        read_in_steps(target, IDS, one, BLOCK)
    full = 3 * BLOCK
    for block in range(3):
        part = cache.keys[0][:, :, block * BLOCK : (block + 1) * BLOCK]
        lines = part.transpose(2, 3) if keys == "channel" else part
        assert max(len(line.unique()) for line in lines.flatten(0, -2)) <= 2**bits
        source = exact.keys[0][:, :, block * BLOCK : (block + 1) * BLOCK]  # layer 0 reads the same input in both
        axis = 2 if keys == "channel" else 3
        step = (source.amax(axis, keepdim=True) - source.amin(axis, keepdim=True)) / (2**bits - 1)
        assert bool(((part - source).abs() <= 0.51 * step + 0.001).all())  # half a step, and the 16-bit scale
    assert max(len(line.unique()) for line in cache.values[0][:, :, :full].flatten(0, -2)) <= 2**bits
    torch.testing.assert_close(cache.keys[0][:, :, full:], exact.keys[0][:, :, full:], rtol=0, atol=1e-12)


def test_the_first_block_reads_only_exact_keys():
    """Until a block is full nothing is rounded, so its states are the plain model's; those behind it are not."""
    target = tiny()
    found = read_in_steps(target, IDS, QuantizedCache(target, ROWS, LENGTH, CacheGrid("token", 2, 2)), BLOCK)
    torch.testing.assert_close(found[:, :BLOCK], plain()[:, :BLOCK], rtol=1e-9, atol=1e-9)
    assert float((found[:, BLOCK:] - plain()[:, BLOCK:]).abs().max()) > 1e-3


def test_more_bits_are_nearer():
    """The error of the states falls with every two bits."""
    target, errors = tiny(), list[float]()
    for bits in (2, 4, 6, 8):
        cache = QuantizedCache(target, ROWS, LENGTH, CacheGrid("channel", bits, bits))
        errors.append(float((read_in_steps(target, IDS, cache, BLOCK) - plain()).norm()))
    assert errors == sorted(errors, reverse=True)
    assert errors[3] < errors[0] / 20


def test_rollback_rounds_again_what_is_written_again():
    """After a rollback into a rounded block the block counts as exact until it is full again."""
    target = tiny()
    cache = QuantizedCache(target, ROWS, LENGTH, CacheGrid())
    read_in_steps(target, IDS, cache, BLOCK)
    cache.lengths = [LENGTH] * 2
    cache.rollback(0, BLOCK + 3)
    assert cache.rounded == [BLOCK] * len(target.layers)


def test_window_equals_a_mask():
    """One layer with window and sink equals attention by hand with everything else masked out."""
    target = tiny(layers=1)
    window, sink = 7, 2
    found = read_in_steps(target, IDS, WindowCache(target, ROWS, LENGTH, window=window, sink=sink), 1)
    place = torch.arange(LENGTH)
    behind = place[:, None] - place[None]
    seen = (behind >= 0) & ((behind < window) | (place[None] < sink))
    mask = torch.zeros(seen.shape, dtype=torch.float64).masked_fill(~seen, float("-inf"))
    expected = target.model.model(IDS, attention_mask=mask[None, None].expand(2, 1, -1, -1)).last_hidden_state
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_a_window_over_everything_is_the_plain_model():
    """Nothing is forgotten before the window is full."""
    target = tiny()
    cache = WindowCache(target, ROWS, LENGTH, window=LENGTH, sink=0)
    torch.testing.assert_close(read_in_steps(target, IDS, cache, 1), plain(), rtol=1e-9, atol=1e-9)


def test_unfit_use_is_refused():
    """Wide passes through a window, rows of unlike length, and widths out of range say what is wrong."""
    target = tiny()
    with pytest.raises(ValueError, match="must be one"):
        read_in_steps(target, IDS, WindowCache(target, ROWS, LENGTH, window=4, sink=0), 2)
    with pytest.raises(ValueError, match="one length"):
        target.run(IDS[:, :1], [0, 1], QuantizedCache(target, ROWS, LENGTH, CacheGrid()))
    with pytest.raises(ValueError, match="key_bits=9"):
        CacheGrid("token", 9, 4)
    with pytest.raises(ValueError, match="window=0"):
        WindowCache(target, ROWS, LENGTH, window=0, sink=0)


def test_bits_count_scale_and_minimum():
    """Per channel two 16-bit numbers for 32 tokens, per token two for the head's 64 numbers: half of 5 + 4.5."""
    assert CacheGrid("channel", 4, 4).bits(64) == (4 + 1 + 4 + 0.5) / 2
    assert CacheGrid("token", 2, None).bits(64) == (2.5 + 32) / 2
