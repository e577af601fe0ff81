"""Runs other people's code once and stores what it gave: tests/data/calibration/*.json. Not part of the test run.

pip install torch==2.13.0 transformers==5.24.0 onnx==1.23.2 onnxruntime==1.32.0
pip install --no-deps torchao==0.18.0 compressed-tensors==0.20.1 llmcompressor==0.14.0.1
pip install loguru psutil accelerate datasets && pip install --no-deps auto-round py-cpuinfo
python -m tests.oracle_calibration_cases
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from compressed_tensors.quantization import QuantizationArgs
from llmcompressor.modifiers.gptq.gptq_quantize import quantize_weight
from onnx import TensorProto, helper
from torchao.prototype.awq.core import AWQObserver
from torchao.prototype.smoothquant.core import SmoothQuantObserver
from torchao.quantization import IntxWeightOnlyConfig, PerGroup

FOLDER = Path(__file__).resolve().parent / "data" / "calibration"
COMMAND = "python -m tests.oracle_calibration_cases"


def gptq_case(seed: int, *, act_order: bool) -> dict[str, Any]:
    """4 outputs, 16 inputs, groups of 8, asymmetric 4 bits; scales are handed over, so only the loop is compared."""
    rng = np.random.default_rng(seed)
    w, x = rng.standard_normal((4, 16)).astype(np.float32), rng.standard_normal((64, 16)).astype(np.float32)
    x *= np.exp(rng.standard_normal(16)).astype(np.float32)
    groups = w.reshape(4, 2, 8)
    low, high = np.minimum(groups.min(-1), 0), np.maximum(groups.max(-1), 0)
    scale = ((high - low) / 15).astype(np.float16)
    zero = np.rint(-low / scale).clip(0, 15)
    args = QuantizationArgs(
        num_bits=4,
        type="int",
        symmetric=False,
        strategy="group",
        group_size=8,
        actorder="weight" if act_order else None,
    )
    hessian = torch.tensor(2 * x.T @ x / len(x))
    made, loss, _ = quantize_weight(
        torch.tensor(w)[None], hessian[None], torch.tensor(scale.astype(np.float32))[None],
        torch.tensor(zero - 8, dtype=torch.int8)[None], None, args, blocksize=8, percdamp=0.01,
    )  # fmt: skip
    return {
        "act_order": act_order, "weights": w.tolist(), "inputs": x.tolist(), "scale": scale.astype(float).tolist(),
        "zero_point": zero.astype(int).tolist(), "result": made[0].tolist(), "loss": float(loss.sum()),
    }  # fmt: skip


def scaling_case(seed: int) -> dict[str, Any]:
    """Channel scales of torchao's SmoothQuant and AWQ observers."""
    rng = np.random.default_rng(seed)
    w, x = rng.standard_normal((6, 16)).astype(np.float32), rng.standard_normal((32, 16)).astype(np.float32)
    x *= np.exp(1.5 * rng.standard_normal(16)).astype(np.float32)
    smooth = SmoothQuantObserver(torch.tensor(w), alpha=0.5)
    smooth(torch.tensor(x))
    awq = AWQObserver(torch.tensor(w), None, IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(8)), 20)
    awq(torch.tensor(x), None)
    return {
        "weights": w.tolist(), "inputs": x.tolist(), "smoothquant": smooth.calculate_qparams()[0].tolist(),
        "awq": awq.calculate_qparams().flatten().tolist(),
    }  # fmt: skip


def integer_case(seed: int, top: int) -> dict[str, Any]:
    """ONNX Runtime's MatMulInteger: uint8 activations, int8 weights in −top − 1 … top, both with a zero point.

    Up to 63 every processor agrees. With 127 one without VNNI adds pairs of products in 16 bits, and they saturate:
    such a case was stored on a processor with AVX2 only.
    """
    rng = np.random.default_rng(seed)
    shapes = [int(n) for n in rng.integers(1, 40, 3)]
    a = rng.integers(0, 256, (shapes[0], shapes[1])).astype(np.uint8)
    b = rng.integers(-top - 1, top + 1, (shapes[1], shapes[2])).astype(np.int8)
    za, zb = int(rng.integers(0, 256)), int(rng.integers(-128, 128))
    value, kinds = helper.make_tensor_value_info, TensorProto
    node = helper.make_node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])
    inputs = [value("a", kinds.UINT8, a.shape), value("b", kinds.INT8, b.shape), value("za", kinds.UINT8, []),
              value("zb", kinds.INT8, [])]  # fmt: skip
    graph = helper.make_graph([node], "g", inputs, [value("y", kinds.INT32, (shapes[0], shapes[2]))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    feed = {"a": a, "b": b, "za": np.array(za, np.uint8), "zb": np.array(zb, np.int8)}
    y = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)[0]
    return {"top": top, "a": a.tolist(), "b": b.tolist(), "za": za, "zb": zb, "y": np.asarray(y).tolist()}


def store(name: str, packages: tuple[str, ...], cases: list[dict[str, Any]]) -> None:
    head = {"command": COMMAND, "versions": {p: version(p) for p in packages}}
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps({**head, "cases": cases}) + "\n", encoding="utf-8")


def main() -> None:
    store(
        "gptq", ("torch", "llmcompressor", "compressed-tensors"),
        [gptq_case(seed, act_order=order) for seed in range(4) for order in (False, True)],
    )  # fmt: skip
    store("scaling", ("torch", "torchao"), [scaling_case(seed) for seed in range(4)])
    cases = [integer_case(seed, top) for seed, top in ((0, 63), (1, 63), (2, 63), (3, 127), (4, 127))]
    store("matmul_integer", ("onnx", "onnxruntime"), cases)


if __name__ == "__main__":
    main()
