"""The kernel of our own: against torch's product in float64, and the same bits whatever the number of tokens."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from gpu_demos import batch_invariant, batch_invariant_build
from gpu_demos.batch_invariant import BatchInvariantLinear, KernelUnavailable, linear, misfit, use
from gpu_demos.decoding import decode
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.target import Target
from tests.lab_measure import NO_COMPILER
from tests.lab_training import tiny_llama

pytestmark = pytest.mark.skipif(bool(NO_COMPILER), reason=NO_COMPILER)
WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 40)


def numbers(*shape: int, seed: int) -> torch.Tensor:
    """Normal numbers, always the same."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("inputs", [32, 96, 576])
@pytest.mark.parametrize("outputs", [1, 7, 20, 192])
def test_float32_is_the_product(inputs: int, outputs: int) -> None:
    """Every width, within the rounding of float32 sums."""
    weight = numbers(outputs, inputs, seed=1)
    for width in WIDTHS:
        x = numbers(width, inputs, seed=width)
        assert torch.allclose(linear(x, weight).double(), x.double() @ weight.double().T, rtol=1e-5, atol=1e-4)


def test_bf16_is_the_product_rounded_once() -> None:
    """Half a unit in the last place at most from the exact product, but for the rounding of the sums."""
    weight = numbers(192, 576, seed=1).bfloat16()
    for width in WIDTHS:
        x = numbers(width, 576, seed=width).bfloat16()
        exact = x.double() @ weight.double().T
        assert ((linear(x, weight).double() - exact).abs() <= exact.abs() * 2**-8 + 2e-5).all()


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 3.3895e38, 1e-40, float("inf"), float("-inf"), float("nan")])
def test_bf16_rounds_as_torch_does(value: float) -> None:
    """A product with one term is a conversion: the largest number, infinities, NaN, a subnormal number. The last is
    zero where the compiler has an instruction for products of bf16, which takes it for that, and only there."""
    x, weight = torch.zeros(1, 32, dtype=torch.bfloat16), torch.zeros(4, 32, dtype=torch.bfloat16)
    x[0, 0], weight[:, 0] = value, 1.0
    macros = subprocess.run(
        ["cc", "-march=native", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True
    ).stdout
    kept = 0.0 if value == 1e-40 and "__AVX512BF16__" in macros else value
    expected = torch.tensor(kept).bfloat16().expand(1, 4)
    assert torch.equal(linear(x, weight).nan_to_num(9.0), expected.nan_to_num(9.0))


def test_ties_go_to_even() -> None:
    """1 + 2⁻⁸ lies between two bf16 numbers, and so does 1 + 3 · 2⁻⁸: both go to the even one."""
    x, weight = torch.zeros(1, 32, dtype=torch.bfloat16), torch.zeros(4, 32, dtype=torch.bfloat16)
    x[0, :2] = 1.0
    weight[:, 0], weight[:2, 1], weight[2:, 1] = 1.0, 2.0**-8, 3 * 2.0**-8
    assert linear(x, weight)[0].tolist() == [1.0, 1.0, 1 + 2**-6, 1 + 2**-6]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_token_gets_the_same_bits_in_every_width(dtype: torch.dtype) -> None:
    """Alone, among others, with one thread and with two; torch's own product does not promise that."""
    weight, x = numbers(100, 608, seed=1).to(dtype), numbers(40, 608, seed=2).to(dtype)
    alone = torch.cat([linear(row[None], weight) for row in x])
    for width in WIDTHS:
        assert torch.equal(linear(x[:width], weight), alone[:width])
    threads = torch.get_num_threads()
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            assert torch.equal(linear(x, weight), alone)
    finally:
        torch.set_num_threads(threads)


def test_shapes_and_strides_are_those_of_torch() -> None:
    """Leading sizes stay, a transposed input is read in its order, no token gives no token."""
    weight, x = numbers(12, 32, seed=1), numbers(32, 3, 5, seed=2).permute(2, 1, 0)
    assert torch.allclose(linear(x, weight), x @ weight.T, atol=1e-5)
    assert linear(torch.empty(2, 0, 32), weight).shape == (2, 0, 12)


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        (torch.ones(4, 48), "multiple of 32"), (torch.ones(4, 0), "multiple of 32"),
        (torch.ones(32, 4).T, "contiguous"), (torch.ones(32), "two sizes"),
        (torch.ones(4, 32, dtype=torch.float16), "float16"), (torch.ones(4, 32, device="meta"), "meta"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(weight: torch.Tensor, reason: str) -> None:
    """The kernel is never called on what it cannot read: its product says so, too."""
    assert reason in misfit(weight)
    with pytest.raises(KernelUnavailable, match=reason):
        linear(torch.ones(1, weight.shape[-1]), weight)


def test_input_that_does_not_go_with_the_weight_is_refused() -> None:
    """Another width or another dtype would be read beyond its end."""
    for x in (torch.ones(1, 64), torch.ones(()), torch.ones(1, 32, dtype=torch.bfloat16)):
        with pytest.raises(ValueError, match="does not go with"):
            linear(x, torch.ones(4, 32))


def test_layers_that_fit_are_replaced_in_place() -> None:
    """A bias and an odd size stay with torch; the weights are the same tensors. `whole` replaces all or none."""
    module = nn.Sequential(nn.Linear(32, 4, bias=False), nn.Linear(4, 48), nn.Linear(48, 3, bias=False))
    weights = [layer.weight for layer in module]  # type: ignore[union-attr]
    with pytest.raises(KernelUnavailable, match="a layer has a bias"):
        use(module, whole=True)
    assert not any(isinstance(layer, BatchInvariantLinear) for layer in module)
    use(module)
    assert [isinstance(layer, BatchInvariantLinear) for layer in module] == [True, False, False]
    assert all(a is layer.weight for a, layer in zip(weights, module, strict=True))


def test_gradients_are_refused() -> None:
    """A product without a gradient would train nothing, and say nothing."""
    with_one, without = torch.ones(1, 32, requires_grad=True), torch.ones(4, 32)
    for x, weight in ((with_one, without), (without, with_one)):
        with pytest.raises(ValueError, match="no gradient"):
            linear(x, weight)
        with torch.no_grad():
            assert linear(x, weight).unique().tolist() == [32]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_decoding_with_it_writes_what_torch_writes_in_float32(dtype: torch.dtype) -> None:
    """Plain and speculative, on a small model; the two agree in bf16, too, since a token's bits never change."""
    model = tiny_llama(head_size=32).to(dtype)
    prompt = [5, 6, 7, 5, 6, 7, 5]
    (before,) = decode(Target(model), [prompt], max_tokens=40)
    use(model, whole=True)
    (plain,) = decode(Target(model), [prompt], max_tokens=40)
    (fast,) = decode(Target(model), [prompt], max_tokens=40, drafter=Lookup())
    assert plain.tokens == fast.tokens and len(fast.rounds) < 40
    assert dtype != torch.float32 or plain.tokens == before.tokens


def test_default_device_of_torch_is_not_asked() -> None:
    """The result lies where the input lies: an address on another device would end the process."""
    x, weight = torch.ones(2, 32), torch.ones(4, 32)
    with torch.device("meta"):
        assert linear(x, weight).tolist() == [[32.0] * 4] * 2
        assert batch_invariant_build.same_bits(batch_invariant_build.kernels())


def test_layers_that_compute_something_of_their_own_stay() -> None:
    """A subclass keeps its forward, and `whole` refuses it; so do rows of an LM head that do not fit."""

    class Twice(nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(input)

    module = nn.Sequential(Twice(32, 4, bias=False))
    use(module)
    assert type(module[0]) is Twice
    with pytest.raises(KernelUnavailable, match="Twice"):
        use(module, whole=True)
    head = nn.Sequential(nn.Linear(32, 4, bias=False))
    head.register_buffer("lm_rows", torch.ones(4, 48))
    with pytest.raises(KernelUnavailable, match="multiple of 32"):
        use(head, whole=True)
    assert type(head[0]) is nn.Linear


def test_library_without_the_property_is_refused() -> None:
    """One whose additions depend on the width, as torch's may: the check after loading sees it."""
    good = batch_invariant_build.kernels()

    def odd(function: Callable[..., None], tokens: int) -> Callable[..., None]:
        def other(out: int, *numbers: Any) -> None:
            function(out, *numbers)
            if numbers[tokens] == 5:
                ctypes.cast(out, ctypes.POINTER(ctypes.c_uint8))[0] ^= 1

        return other

    assert batch_invariant_build.same_bits(good)
    assert not batch_invariant_build.same_bits(replace(good, linear=odd(good.linear, 2)))
    assert not batch_invariant_build.same_bits(replace(good, attention=odd(good.attention, 7)))


def test_asked_for_and_not_to_be_had_is_an_error_and_auto_is_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` never fails; `invariant` says what is missing."""
    from gpu_demos import models

    def missing() -> None:
        raise KernelUnavailable("no C compiler: cc is not on the path")

    monkeypatch.setattr(batch_invariant, "kernels", missing)
    model = tiny_llama()
    assert models._use(model, "auto") == models._use(model, "torch") == "torch"
    assert not any(isinstance(m, BatchInvariantLinear) for m in model.modules())
    with pytest.raises(KernelUnavailable, match="no C compiler"):
        models._use(model, "invariant")
    with pytest.raises(ValueError, match="linear='own' must be one of torch, invariant, auto"):
        models.load(linear="own")  # type: ignore[arg-type]
