"""The whole decoder with fewer bits: every linear layer is replaced by its rounded form, in place, and restored.

Embedding and LM head stay as they are (they are one matrix in SmolLM2), and so do norms. Layers that read the same
input are one family and are rounded as one layer, with one channel scale for AWQ: only then can that scale be moved
into the norm before them. (The mechanism knows single layers.) Statistics come from the untouched model in one pass;
GPTQ's own code feeds each layer what the layers quantized before it give.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from gpu_demos.quantize import bits_per_weight, nearest
from gpu_demos.quantize_calibrated import Seen, awq, gptq, rotated
from gpu_demos.quantize_formats import Q4_1_BLOCK, fp8, mxfp4, nf4, q4_1
from gpu_demos.target import Target
from mechanisms.calibration_grid import Grid
from mechanisms.formats_blocks import MX_BLOCK
from mechanisms.formats_nf4 import BLOCK as NF4_BLOCK

Method = Literal["rtn", "awq", "gptq", "hadamard", "hadamard_gptq", "fp8", "nf4", "mxfp4", "mxfp4_even", "q4_1"]
FAMILIES = (
    ("self_attn", ("q_proj", "k_proj", "v_proj")), ("self_attn", ("o_proj",)), ("mlp", ("gate_proj", "up_proj")),
    ("mlp", ("down_proj",)),
)  # fmt: skip
FORMATS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "fp8": fp8, "nf4": nf4, "mxfp4": mxfp4, "mxfp4_even": lambda w: mxfp4(w, "even"), "q4_1": q4_1,
}  # fmt: skip
AWQ_EVERY = 4  # a quarter of the outputs chooses the exponent, in a quarter of the time


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to write the weights; `grid` only where the method rounds to an integer grid."""

    id: str
    method: Method
    grid: Grid | None = None

    def bits(self, width: int) -> float:
        """Bits a weight with scales, for rows of `width` inputs; what a rotation or AWQ needs can be folded away.

        Source: derived, as `mechanisms.calibration_convert.Conversion.effective_bits`.
        """
        if self.grid is not None:
            return bits_per_weight(self.grid, width)
        if self.method == "fp8":
            return 8 + 32 / width
        block, scale_bits = {"nf4": (NF4_BLOCK, 32), "q4_1": (Q4_1_BLOCK, 32)}.get(self.method, (MX_BLOCK, 8))
        return 4 + scale_bits * -(-width // block) / width


def _int4(group: int, *, symmetric: bool = True, bits: int = 4) -> Grid:
    return Grid(bits=bits, group=group, symmetric=symmetric)


# g128 leaves a short last group of 64 in rows of 576; g192 divides both widths of SmolLM2 (576 and 1536).
VARIANTS: tuple[Variant, ...] = (
    Variant("q4_1_g32", "q4_1"),
    Variant("int4_asym_g32", "rtn", _int4(32, symmetric=False)),
    Variant("int8_channel", "rtn", Grid(bits=8, granularity="channel")),
    Variant("fp8_e4m3", "fp8"),
    Variant("nf4_b64", "nf4"),
    Variant("mxfp4_floor", "mxfp4"),
    Variant("mxfp4_even", "mxfp4_even"),
    *(Variant(f"rtn_int4_g{g}", "rtn", _int4(g)) for g in (32, 64, 128, 192)),
    *(Variant(f"awq_int4_g{g}", "awq", _int4(g)) for g in (32, 64, 128)),
    *(Variant(f"gptq_int4_g{g}", "gptq", _int4(g)) for g in (32, 64, 128)),
    Variant("hadamard_int4_g64", "hadamard", _int4(64)),
    Variant("hadamard_gptq_int4_g64", "hadamard_gptq", _int4(64)),
    Variant("rtn_int3_g64", "rtn", _int4(64, bits=3)),
    Variant("gptq_int3_g64", "gptq", _int4(64, bits=3)),
)


def layers_of(target: Target) -> Iterator[tuple[str, list[nn.Linear]]]:
    """Name and linear layers of each family, from the first layer of the decoder to the last."""
    for index, layer in enumerate(target.layers):
        for block, names in FAMILIES:
            yield f"{index}.{names[0]}", [getattr(getattr(layer, block), name) for name in names]


@torch.inference_mode()
def observe(target: Target, ids: torch.Tensor, rows: int = 8) -> dict[str, Seen]:
    """Second moments and mean sizes of every family's inputs over (N, T) calibration tokens, `rows` texts a pass."""

    def read() -> None:
        for part in ids.split(rows):
            target.run(part, [0] * len(part), target.new_cache(len(part), part.shape[1]))

    return inputs_of({name: family[0] for name, family in layers_of(target)}, read)


@torch.inference_mode()
def inputs_of(layers: Mapping[str, nn.Module], run: Callable[[], object]) -> dict[str, Seen]:
    """What goes into each of these layers while `run` runs."""
    moments: dict[str, list[Any]] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
            x = arguments[0].flatten(0, -2).float()
            kept = moments.setdefault(name, [0, 0, 0])
            for place, value in enumerate((x.T @ x, x.abs().sum(0), len(x))):
                kept[place] = kept[place] + value

        return hook

    handles = [layer.register_forward_pre_hook(keep(name)) for name, layer in layers.items()]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return {name: Seen(h / count, size / count, count) for name, (h, size, count) in moments.items()}


@contextmanager
def quantized(target: Target, variant: Variant, seen: Mapping[str, Seen]) -> Generator[float]:
    """The model's linear layers in another form until the end of the block; gives the mean bits a weight.

    seen: of `observe`; only calibrated methods and rotations look at it. The weights come back whatever happens.
    """
    kept: list[tuple[nn.Linear, torch.Tensor]] = []
    bits, count = 0.0, 0
    try:
        for name, family in layers_of(target):
            weights = torch.cat([linear.weight for linear in family])
            rounded = convert(weights, variant, seen[name]).to(weights.dtype)
            bits, count = bits + variant.bits(weights.shape[1]) * weights.numel(), count + weights.numel()
            for linear, new in zip(family, rounded.split([len(x.weight) for x in family]), strict=True):
                kept.append((linear, linear.weight.data))
                linear.weight.data = new.contiguous()
        yield bits / count
    finally:
        for linear, old in kept:
            linear.weight.data = old


@torch.inference_mode()
def convert(weights: torch.Tensor, variant: Variant, seen: Seen) -> torch.Tensor:
    """(out, in) weights after the round trip through a variant, float64. Raises ValueError where an integer method has
    no grid."""
    if variant.method in FORMATS:
        return FORMATS[variant.method](weights)
    if (grid := variant.grid) is None:
        raise ValueError(f"grid=None of {variant.id!r}: must be given, {variant.method} rounds to an integer grid")
    match variant.method:
        case "awq":
            return awq(weights, grid, seen, every=AWQ_EVERY)
        case "gptq":
            return gptq(weights, grid, seen.hessian)
        case "hadamard":
            return rotated(weights, seen.hessian, lambda w, _: nearest(w, grid))
        case "hadamard_gptq":
            return rotated(weights, seen.hessian, lambda w, h: gptq(w, grid, h))
        case _:
            return nearest(weights, grid)
