"""Linear layers and attention by C kernels of our own: each weight is read once for all tokens, and the bits of a token
do not depend on how many tokens are computed with it.

A pass has to read every weight once, however many tokens it is over. On a processor without instructions for bf16
torch's product reads them again for each token, and a pass over six costs several times as much as one over one. This
kernel reads a weight once, uses it for every token, and adds in one order: float32 sums, in bf16 rounded once at the
end. Where the processor multiplies bf16 itself (AVX-512 bf16) it does, and subnormal numbers count as zero. Attention
goes over the keys in pieces that begin at the same keys for every token, with a running maximum (Milakov and
Gimelshein, 2018). Source: `batch_invariant.c`, which `batch_invariant_build` compiles. Forward only; no gradient.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import cast

import torch
from torch import nn

from gpu_demos.batch_invariant_build import DTYPES, KernelUnavailable, kernels

LONGEST_HEAD = 256


class BatchInvariantLinear(nn.Linear):
    """y = x Wᵀ in float32 or bf16, on a processor. Made by `use`, of a layer whose weight it takes over."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # the name that torch gives it
        """(…, in) -> (…, out)."""
        return linear(input, self.weight)


def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """(…, in) and (out, in) -> (…, out), in the dtype of both; no gradient.

    Raises KernelUnavailable where the kernel cannot be built or does not take this weight, ValueError where the two do
    not go together or a gradient is asked for.
    """
    if reason := misfit(weight):
        raise KernelUnavailable(reason)
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        raise ValueError("this product has no gradient: use torch.no_grad(), or torch's own to train")
    outputs, inputs = weight.shape
    if x.dtype != weight.dtype or x.shape[-1:] != (inputs,) or x.device != weight.device:
        raise ValueError(f"x: {tuple(x.shape)} {x.dtype} does not go with weight: {tuple(weight.shape)} {weight.dtype}")
    x = x.contiguous()
    out = x.new_empty(*x.shape[:-1], outputs)
    tokens, half = x.numel() // inputs, x.dtype == torch.bfloat16
    kernels().linear(out.data_ptr(), x.data_ptr(), weight.data_ptr(), tokens, outputs, inputs, half)
    return out


def attends(block: nn.Module) -> bool:
    """Whether `attention` computes for this block: its layers are ours, and its heads are not of another size."""
    return isinstance(block.o_proj, BatchInvariantLinear) and _head_fits(cast(int, block.head_dim))


def _head_fits(size: int) -> bool:
    return size % 32 == 0 and 0 < size <= LONGEST_HEAD


def attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, lags: Sequence[int], scale: float
) -> torch.Tensor:
    """Causal attention of T new tokens a row over the N slots of a cache, their own included: (B, T, H · size).

    query: (B, H, T, size); keys, values: (B, K, N, size), the first slots of a cache, H / K queries to a key head;
    lags: (B), how many of these slots a row has not reached. Token t of row b sees the first N - lags[b] - T + t + 1.
    All finite: a token's weight for a later one is 0, and 0 times infinity is NaN. Raises ValueError where these do not
    go together, where the kernel does not take them, and where a gradient is asked for.
    """
    (rows, heads, tokens, size), (_, groups, slots, _) = query.shape, keys.shape
    capacity = keys.stride(1) // max(size, 1)
    starts = [slots - lag - tokens for lag in lags]
    if (
        not (_head_fits(size) and groups and rows and scale > 0 and query.dtype in DTYPES)
        or any(x.device.type != "cpu" or (x.requires_grad and torch.is_grad_enabled()) for x in (query, keys, values))
        or keys.shape != values.shape or keys.shape != (rows, groups, slots, size) or heads % groups
        or keys.stride() != values.stride() or keys.stride()[1:] != (capacity * size, size, 1)
        or (rows > 1 and keys.stride(0) != groups * capacity * size) or not query.dtype == keys.dtype == values.dtype
        or len(starts) != rows or not 0 <= min(starts) <= max(starts) <= slots - tokens
    ):  # fmt: skip
        raise ValueError(
            f"query: {tuple(query.shape)} {query.dtype}, keys: {tuple(keys.shape)}, values: {tuple(values.shape)}, "
            f"lags: {lags}, scale: {scale}"
        )
    out = query.new_empty(rows, tokens, heads * size)
    query, at = query.contiguous(), (ctypes.c_int64 * rows)(*starts)
    kernels().attention(
        out.data_ptr(), query.data_ptr(), keys.data_ptr(), values.data_ptr(), at, rows, groups, heads // groups, tokens,
        size, capacity, scale, query.dtype == torch.bfloat16,
    )  # fmt: skip
    return out


def use(module: nn.Module, *, whole: bool = False) -> None:
    """Compute with the kernel in every linear layer of `module` that fits, in place; the weights stay the same tensors.

    A drafting head, whose `product` is with the rows of an LM head, `lm_rows`, gets the kernel for that, too.
    whole: all layers or none. Raises KernelUnavailable, and changes nothing, where a layer does not fit that has to,
    and where the kernel cannot be built.
    """
    reasons = {layer: _unfit(layer) for layer in module.modules() if isinstance(layer, nn.Linear)}
    rows = cast(torch.Tensor | None, getattr(module, "lm_rows", None))
    if rows is not None:
        reasons[module] = misfit(rows)
    if whole and (reason := next(filter(None, reasons.values()), "")):
        raise KernelUnavailable(f"the batch-invariant kernel does not compute all layers of this model: {reason}")
    kernels()
    for layer, reason in reasons.items():
        if not reason and layer is module and rows is not None:
            object.__setattr__(module, "product", linear)  # no part of what torch registers
        elif not reason:
            layer.__class__ = BatchInvariantLinear


def _unfit(layer: nn.Linear) -> str:
    if type(layer) not in (nn.Linear, BatchInvariantLinear):
        return f"{type(layer).__name__} computes something of its own"
    return "a layer has a bias" if cast(torch.Tensor | None, layer.bias) is not None else misfit(layer.weight)


def misfit(weight: torch.Tensor) -> str:
    """Why the kernel does not take this weight, "" where it does."""
    if weight.dtype not in DTYPES or weight.device.type != "cpu":
        return f"{weight.dtype} on {weight.device} is neither float32 nor bfloat16 on a processor"
    if weight.dim() != 2 or not weight.shape[1] or weight.shape[1] % 32 or not weight.is_contiguous():
        return f"weight: {tuple(weight.shape)} must be contiguous and two sizes, the second a multiple of 32"
    return ""
