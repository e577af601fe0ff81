"""The whole small model with fewer bits: what is replaced, what comes back, and what calibration sees."""

import numpy as np
import pytest
import torch
from tiny_llama import tiny

from gpu_demos.quantize_model import FAMILIES, VARIANTS, Variant, convert, layers_of, observe, quantized
from mechanisms.calibration_grid import Grid

IDS = torch.from_numpy(np.random.default_rng(4).integers(0, 50, (6, 20)))


def weights() -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in tiny().model.state_dict().items()}


def test_observed_inputs_are_those_of_the_layers() -> None:
    """H and mean |x| of the first layer equal what numpy computes from the normed embeddings, whatever the batches."""
    target = tiny()
    x = target.layers[0].input_layernorm(target.model.model.embed_tokens(IDS)).flatten(0, 1).numpy()
    for rows in (2, 6):
        seen = observe(target, IDS, rows)["0.q_proj"]
        np.testing.assert_allclose(seen.hessian.numpy(), x.T @ x / len(x), rtol=1e-4, atol=1e-6)  # kept in fp32
        np.testing.assert_allclose(seen.mean_size.numpy(), np.abs(x).mean(0), rtol=1e-5)
        assert seen.vectors == IDS.numel()


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.id)
def test_only_linear_layers_change_and_all_come_back(variant: Variant) -> None:
    """Inside the block every linear layer of the decoder differs, embedding, LM head and norms do not; after an
    exception in it the model is the old one bit by bit."""
    target, before = tiny(), weights()
    seen = observe(target, IDS)
    found: dict[str, float] = {}

    def broken_off() -> None:
        with quantized(target, variant, seen) as found["bits"]:
            assert {n for n, v in weights().items() if not torch.equal(v, before[n])} == {
                n for n in before if "_proj" in n
            }
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        broken_off()
    assert 3 < found["bits"] < 10
    assert all(torch.equal(value, before[name]) for name, value in weights().items())


def test_more_bits_change_less() -> None:
    """Eight bits move the states less than four, four less than three."""
    target = tiny()
    seen, errors = observe(target, IDS), []
    plain = target.run(IDS, [0] * 6, target.new_cache(6, 20)).hidden
    for bits in (8, 4, 3):
        with quantized(target, Variant("x", "rtn", Grid(bits=bits, granularity="channel")), seen):
            errors.append(float((target.run(IDS, [0] * 6, target.new_cache(6, 20)).hidden - plain).norm()))
    assert errors[0] < errors[1] / 4
    assert errors[1] < errors[2]


def test_families_hold_every_linear_layer_once() -> None:
    """Seven linear layers a decoder layer, in four families that share an input."""
    found = [linear for _, family in layers_of(tiny()) for linear in family]
    modules = [m for layer in tiny().layers for m in layer.modules() if isinstance(m, torch.nn.Linear)]
    assert {id(x) for x in found} == {id(x) for x in modules}
    assert len(found) == len(modules) == 7 * len(tiny().layers)
    assert len(FAMILIES) == 4


def test_an_integer_method_without_a_grid_is_refused() -> None:
    """The message names the variant."""
    family = next(layers_of(tiny()))[1]
    with pytest.raises(ValueError, match="'odd'"):
        convert(family[0].weight, Variant("odd", "gptq"), observe(tiny(), IDS)["0.q_proj"])
