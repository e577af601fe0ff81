"""The drafter with fewer bits, on a tiny model: its numbers are recounted here, and the head comes back as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.drafters.mtp import MtpDrafter, MtpHead, head_for
from gpu_demos.measure import draft_precision
from gpu_demos.models import Loaded
from gpu_demos.quantize_model import convert, inputs_of
from gpu_demos.record import find
from gpu_demos.target import Target
from tests.lab_measure import measured, tiny_loaded
from tests.lab_training import VOCABULARY

RTN4 = next(v for v in draft_precision.FORMATS if v.id == "rtn_int4_g64")


def tiny_head(loaded: Loaded) -> MtpHead:
    torch.manual_seed(4)
    return head_for(loaded.model, torch.arange(VOCABULARY)).eval()


def test_numbers_are_those_of_a_decoding_done_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tokens per round, gain and acceptance of one format equal a count over decodings with a head whose weights are
    rounded here; each kernel has a time and a speed-up."""
    monkeypatch.setattr(draft_precision, "head_of", tiny_head)
    monkeypatch.setattr(draft_precision, "KERNELS", {"int8": draft_precision.KERNELS["int8"]})
    records = measured(
        monkeypatch, draft_precision, tmp_path / "r.json", "--temperatures", "1", "--texts", "2", "--timed-texts", "1",
        "--prompt-tokens", "12", "--tokens", "16", "--drafts", "3", "--turns", "2", "--seed", "2",
    )  # fmt: skip
    loaded = tiny_loaded("fp32")
    head, per_round = tiny_head(loaded), {}
    asked = draft_precision.domain_prompts(loaded.tokenizer, count=2, length=12, seed=2)["code"]
    for name in ("fp32", RTN4.id):
        if name != "fp32":
            for layer in draft_precision.linears(head).values():
                layer.weight.data = convert(layer.weight.data, RTN4, None).float()  # type: ignore[arg-type]
        done = decode(
            Target(loaded.model), asked, drafter=MtpDrafter(head), drafts=3, max_tokens=16, sampling=Sampling(1.0),
            eos={2}, seeds=[20_000, 20_001],
        )  # fmt: skip
        at = {"format": name, "temperature": "1", "domain": "code"}
        per_round[name] = np.array([len(d.tokens) / len(d.rounds) for d in done])
        assert find(records, "draft_precision.tokens_per_round", **at).value == pytest.approx(per_round[name].mean())
        judged, taken = (
            sum(f(r) for d in done for r in d.rounds) for f in (lambda r: len(r.uniforms), lambda r: r.accepted)
        )
        rate = find(records, "draft_precision.acceptance_rate", **at)
        assert (rate.samples, rate.value) == (judged, pytest.approx(taken / judged))
    gain = find(records, "draft_precision.tokens_per_round_gain", format=RTN4.id, temperature="1", domain="code").value
    assert gain == pytest.approx((per_round[RTN4.id] - per_round["fp32"]).mean())
    names = {r.at.get("format") for r in records} - {None}
    assert names == {"fp32", *(v.id for v in draft_precision.FORMATS)}
    assert {(r.id.split(".")[1], r.at["kernel"]) for r in records if "kernel" in r.at} == {
        (n, k) for n in ("step_time", "speedup") for k in ("bf16", "int8")
    }


def test_rounding_ends_with_the_block() -> None:
    """Inside, every linear layer and nothing else has changed; afterwards all weights are the old ones, also after an
    error."""
    head = tiny_head(tiny_loaded("fp32"))
    before = {k: v.clone() for k, v in head.state_dict().items()}
    linear = {f"{name}.weight" for name in draft_precision.linears(head)}

    def broken() -> None:
        nothing = dict.fromkeys(draft_precision.linears(head))
        with draft_precision.rounded(head, RTN4, nothing):  # type: ignore[arg-type]
            assert {k for k, v in head.state_dict().items() if not torch.equal(v, before[k])} == linear
            raise KeyError

    with pytest.raises(KeyError):
        broken()
    assert all(torch.equal(v, before[k]) for k, v in head.state_dict().items())


def test_statistics_are_those_of_the_inputs() -> None:
    """E[x xᵀ] and mean |x| of the first layer equal numpy's over its inputs, which two calls have given."""
    head = tiny_head(tiny_loaded("fp32"))
    states = torch.randn(2, 5, 32, generator=torch.Generator().manual_seed(0))
    tokens = torch.arange(10).reshape(2, 5)
    seen = inputs_of(draft_precision.linears(head), lambda: [head(states, tokens), head(2 * states, tokens)])
    rows = []
    for x in (states, 2 * states):
        embedded = head.embedding[tokens]
        rows.append(torch.cat((head.norm_state(x), head.norm_embedding(embedded)), -1).flatten(0, 1).detach().numpy())
    inputs = np.concatenate(rows)
    assert seen["project"].vectors == 20
    assert seen["project"].hessian.numpy() == pytest.approx(inputs.T @ inputs / 20, abs=1e-4)
    assert seen["project"].mean_size.numpy() == pytest.approx(np.abs(inputs).mean(0), abs=1e-5)
