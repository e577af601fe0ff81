"""Low-bit linear layers against a product with weights that are dequantized by hand."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gpu_demos.low_bit_linear import KERNELS, Int4Linear, Int8Linear, int4_grid, replaced
from tests.lab_training import tiny_llama

WEIGHT = torch.randn(48, 64, generator=torch.Generator().manual_seed(0))
X = torch.randn(2, 5, 64, generator=torch.Generator().manual_seed(1))


def test_int8_is_the_product_with_dequantized_weights() -> None:
    """Scale max|w|/127 for each row, codes rounded half to even."""
    scale = WEIGHT.abs().amax(1) / 127
    dequantized = torch.round(WEIGHT / scale[:, None]) * scale[:, None]
    assert torch.allclose(Int8Linear(WEIGHT)(X), X @ dequantized.T, atol=1e-4)
    assert not torch.allclose(X @ WEIGHT.T, X @ dequantized.T, atol=1e-4)


def test_int4_is_the_product_with_dequantized_weights() -> None:
    """Sixteen levels from the minimum to the maximum of each 32 inputs."""
    dequantized = torch.empty_like(WEIGHT)
    for row in range(48):
        for start in (0, 32):
            group = WEIGHT[row, start : start + 32]
            step = (group.max() - group.min()) / 15
            dequantized[row, start : start + 32] = torch.round((group - group.min()) / step) * step + group.min()
    assert torch.allclose(Int4Linear(WEIGHT)(X), X @ dequantized.T, atol=1e-4)


def test_int4_keeps_weights_that_lie_on_its_grid() -> None:
    """A Q4_1 weight comes back: codes times scale plus minimum, where a group uses its first and its last level."""
    codes = torch.randint(0, 16, (4, 32), generator=torch.Generator().manual_seed(2)).float()
    codes[:, 0], codes[:, 1] = 0, 15
    found, scale, low = int4_grid(codes * 0.25 - 1.5)
    assert torch.equal(found, codes) and torch.equal(scale, torch.full((4, 1), 0.25))
    assert torch.equal(low, torch.full((4, 1), -1.5))


def test_a_constant_group_is_no_division_by_zero() -> None:
    """All codes 0 and the minimum is the value."""
    codes, scale, low = int4_grid(torch.full((1, 32), 3.0))
    assert torch.isfinite(scale).all() and torch.equal(codes * scale + low, torch.full((1, 32), 3.0))


def test_width_that_is_no_multiple_of_the_group_is_refused() -> None:
    """The message names both."""
    with pytest.raises(ValueError, match="multiple of 32"):
        int4_grid(torch.ones(2, 33))


def test_all_linear_layers_of_the_decoder_are_replaced_in_a_copy() -> None:
    """Seven in each layer; the LM head and the model itself stay."""
    model = tiny_llama()
    made = replaced(model, KERNELS["int8"])
    assert sum(isinstance(m, Int8Linear) for m in made.modules()) == 7 * len(model.model.layers)
    assert isinstance(made.lm_head, nn.Linear)
    assert not any(isinstance(m, Int8Linear) for m in model.modules())


def test_a_bias_is_refused() -> None:
    """It would be lost silently."""
    model = tiny_llama()
    model.model.layers[0].mlp.up_proj.bias = nn.Parameter(torch.zeros(48))
    with pytest.raises(ValueError, match="up_proj has a bias"):
        replaced(model, KERNELS["int8"])
