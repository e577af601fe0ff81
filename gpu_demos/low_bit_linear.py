"""Linear layers whose weights stay packed in few bits and are unpacked inside the product, by torch's own CPU kernels.

`int8`: one scale for each output channel. `int4`: a scale and a minimum for each group of 32 inputs; the model's file
is Q4_1, whose grid is this one, so that `int4` hardly changes anything but the time. Activations stay as they are.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import MappingProxyType
from typing import cast

import torch
from torch import nn
from transformers import PreTrainedModel

GROUP = 32


class Int8Linear(nn.Module):
    """y = x Wᵀ with W = codes · scale on a symmetric INT8 grid. weight: (out, in)."""

    codes: torch.Tensor
    scale: torch.Tensor

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        wide = weight.float()
        scale = (wide.abs().amax(1) / 127).clamp_min(torch.finfo(torch.float32).tiny)
        self.register_buffer("codes", (wide / scale[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale.to(weight.dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(…, in) -> (…, out)."""
        out = torch.ops.aten._weight_int8pack_mm(x.reshape(-1, x.shape[-1]), self.codes, self.scale)
        return out.view(*x.shape[:-1], -1)


class Int4Linear(nn.Module):
    """y = x Wᵀ with W = codes · scale + minimum. weight: (out, in), `in` a multiple of 32, `out` one of 16."""

    packed: torch.Tensor
    scales_and_zeros: torch.Tensor

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        codes, scale, low = int4_grid(weight.float())
        self.register_buffer("packed", torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes.int(), 1))
        # the kernel reads (code − 8) · scale + zero
        pair = torch.stack((scale, low + 8 * scale), -1).transpose(0, 1).contiguous()
        self.register_buffer("scales_and_zeros", pair.to(weight.dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(…, in) -> (…, out)."""
        flat = x.reshape(-1, x.shape[-1])
        out = torch.ops.aten._weight_int4pack_mm_for_cpu(flat, self.packed, GROUP, self.scales_and_zeros)
        return out.view(*x.shape[:-1], -1)


def int4_grid(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(out, in) -> codes 0 … 15 (out, in), scale and minimum (out, in / 32): the minimum has code 0, the maximum 15.

    Raises ValueError unless `in` is a multiple of 32.
    """
    if weight.shape[1] % GROUP:
        raise ValueError(f"weight: {tuple(weight.shape)}, its second size must be a multiple of {GROUP}")
    groups = weight.reshape(weight.shape[0], -1, GROUP)
    low, high = groups.amin(-1), groups.amax(-1)
    scale = ((high - low) / 15).clamp_min(torch.finfo(weight.dtype).tiny)
    codes = ((groups - low[..., None]) / scale[..., None]).round().clamp(0, 15)
    return codes.view_as(weight), scale, low


def replaced(model: PreTrainedModel, layer: Callable[[torch.Tensor], nn.Module]) -> PreTrainedModel:
    """A copy whose decoder computes with `layer(weight)` in the place of its linear layers; embedding and LM head stay.

    Raises ValueError for a layer with a bias, which these kernels do not know.
    """
    made = copy.deepcopy(model)
    for parent in list(made.model.layers.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                if cast(torch.Tensor | None, child.bias) is not None:
                    raise ValueError(f"{name} has a bias: the low-bit kernels have none")
                setattr(parent, name, layer(child.weight.detach()))
    return made


KERNELS: MappingProxyType[str, Callable[[torch.Tensor], nn.Module]] = MappingProxyType(
    {"int8": Int8Linear, "int4": Int4Linear}
)
