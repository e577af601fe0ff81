"""Write `cases.json`: small tensors through other people's quantizers. Run once, by hand; the tests read the file.

    pip install torch==2.13.0
    pip install --no-deps torchao==0.18.0 bitsandbytes==0.50.2 compressed-tensors==0.20.1
    python tests/data/quant/produce.py

compressed-tensors also wants transformers, loguru, psutil and pydantic. Written with Python 3.11 on a CPU.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bitsandbytes.functional as bnb
import torch
from compressed_tensors.quantization import QuantizationArgs, fake_quantize, quantize
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx
from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor, per_tensor_amax_to_scale
from torchao.quantization.quant_primitives import (
    MappingType,
    choose_qparams_affine,
    dequantize_affine,
    quantize_affine,
)


def numbers(rows: int, columns: int, seed: int) -> torch.Tensor:
    """Gaussian numbers on a grid of 1/64, so that their decimals are exact, each row with a size of its own."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, columns, generator=generator) * torch.logspace(-1, 1.5, rows, base=4)[:, None]
    return torch.round(x * 64) / 64


def affine(x: torch.Tensor, group: int, bits: int, symmetric: bool) -> dict[str, Any]:
    top = 2 ** (bits - 1) - 1 if symmetric else 2**bits - 1
    low, block = -top if symmetric else 0, (1, group)
    kind = MappingType.SYMMETRIC if symmetric else MappingType.ASYMMETRIC
    dtype = torch.int8 if symmetric else torch.uint8
    scale, zero = choose_qparams_affine(x, kind, block, dtype, low, top, zero_point_dtype=torch.int32)
    codes = quantize_affine(x, block, scale, zero, dtype, low, top)
    back = dequantize_affine(codes, block, scale, zero, dtype, low, top, output_dtype=torch.float32)
    return {"group": group, "bits": bits, "symmetric": symmetric, "x": x.tolist(), "scale": scale.tolist(),
            "zero": zero.tolist(), "codes": codes.tolist(), "restored": back.tolist()}  # fmt: skip


def signed_affine(x: torch.Tensor, group: int, bits: int) -> dict[str, Any]:
    args = QuantizationArgs(num_bits=bits, type="int", symmetric=False, strategy="group", group_size=group)
    parts = x.view(x.shape[0], -1, group)
    scale, zero = calculate_qparams(parts.amin(-1), parts.amax(-1), args)
    return {"group": group, "bits": bits, "x": x.tolist(), "scale": scale.tolist(), "zero": zero.tolist(),
            "codes": quantize(x, scale, zero, args).tolist(),
            "restored": fake_quantize(x, scale, zero, args).tolist()}  # fmt: skip


def mx(x: torch.Tensor, rule: str, form: torch.dtype) -> dict[str, Any]:
    scale, data = to_mx(x, form, 32, ScaleCalculationMode[rule.upper()])
    back = to_dtype(data, scale, form, 32, torch.float32)
    exponents = scale.view(torch.uint8).int() - 127
    return {"rule": rule, "form": str(form), "x": x.tolist(), "exponents": exponents.tolist(),
            "restored": back.tolist()}  # fmt: skip


def nvfp4_torchao(x: torch.Tensor) -> dict[str, Any]:
    tensor = NVFP4Tensor.to_nvfp4(x, per_tensor_scale=per_tensor_amax_to_scale(x.abs().max()))
    return {"x": x.tolist(), "restored": tensor.dequantize(torch.float32).tolist()}


def nvfp4_compressed(x: torch.Tensor) -> dict[str, Any]:
    args = QuantizationArgs(
        num_bits=4, type="float", symmetric=True, strategy="tensor_group", group_size=16,
        scale_dtype=torch.float8_e4m3fn, zp_dtype=torch.float8_e4m3fn,
    )  # fmt: skip
    whole = generate_gparam(x.amin(), x.amax())
    parts = x.view(x.shape[0], -1, 16)
    scale, zero = calculate_qparams(parts.amin(-1), parts.amax(-1), args, global_scale=whole)
    return {"x": x.tolist(), "restored": fake_quantize(x, scale, zero, args, global_scale=whole).tolist()}


def nf4(x: torch.Tensor) -> dict[str, Any]:
    packed, state = bnb.quantize_4bit(x, blocksize=64, quant_type="nf4", compress_statistics=False)
    indices = torch.stack([packed >> 4, packed & 15], -1).flatten().tolist()
    code = bnb.get_4bit_type("nf4", device="cpu").double().tolist()
    return {"code": code, "x": x.flatten().tolist(), "indices": indices, "scales": state.absmax.tolist(),
            "restored": bnb.dequantize_4bit(packed, state).flatten().tolist()}  # fmt: skip


def main() -> None:
    cases = {
        "affine": [
            affine(numbers(4, 16, 10 * bits + group), group, bits, symmetric)
            for bits in (4, 8)
            for group in (4, 16)
            for symmetric in (True, False)
        ],
        "signed_affine": [signed_affine(numbers(4, 16, 3 + bits), 8, bits) for bits in (4, 8)],
        "mx": [
            mx(numbers(6, 64, 7), rule, form)
            for form in (torch.float4_e2m1fn_x2, torch.float8_e4m3fn, torch.float8_e5m2)
            for rule in ("floor", "even")
        ],
        "nvfp4_torchao": nvfp4_torchao(numbers(4, 64, 8)),
        "nvfp4_compressed": nvfp4_compressed(numbers(4, 64, 8)),
        "nf4": nf4(numbers(4, 64, 9)),
    }
    text = json.dumps(cases, separators=(",", ":"))
    Path(__file__).with_name("cases.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
