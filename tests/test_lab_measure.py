"""Experiments on a tiny model: every number of a results file is recomputed here from what the loop did."""

from __future__ import annotations

import argparse
import dataclasses
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.drafters.block_drafter import BlockDrafter, Scheduled
from gpu_demos.drafters.early_exit import EarlyExit
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.measure import acceptance, speed, verify_cost
from gpu_demos.measure.common import mean, middle, ratio
from gpu_demos.record import find
from gpu_demos.target import Target
from tests.lab_measure import measured, tiny_loaded


def test_summaries_equal_numpy_and_scipy() -> None:
    """Median and quartiles, Student's interval, and a ratio whose interval is the mean's where all wholes are equal."""
    values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6]
    value, spread = middle(values)
    assert (value, spread.value) == pytest.approx((np.median(values), np.subtract(*np.percentile(values, [75, 25]))))
    value, spread = mean(values)
    low, high = stats.t.interval(0.95, 5, np.mean(values), stats.sem(values))
    assert (value - spread.value, value + spread.value) == pytest.approx((low, high))
    found = ratio(values, [2.0] * 6)
    assert found is not None
    assert (found[0], found[1].value) == pytest.approx((value / 2, spread.value / 2))
    assert ratio([1.0, 0.0], [2.0, 0.0]) is None


def test_cost_has_every_shape_and_its_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A time for each dtype, batch and width, above 0; the bound is the weights' bytes over the measured bandwidth."""
    monkeypatch.setattr(verify_cost, "BUFFER", 2**16)
    records = measured(
        monkeypatch, verify_cost, tmp_path / "r.json", "--widths", "1,3", "--batches", "1,2", "--context", "8",
        "--turns", "3", "--dtypes", "fp32",
    )  # fmt: skip
    times = [r for r in records if r.id == "verify_cost.pass_time"]
    shapes = [(r.at["batch"], r.at["width"], r.at["linear"]) for r in times]
    assert shapes == list(product("12", "13", ("torch", "invariant")))
    rate = find(records, "verify_cost.read_bandwidth").value
    size = sum(p.numel() * 4 for p in tiny_loaded("fp32").model.parameters())
    assert all(r.value > 0 and r.samples == 3 and r.bound for r in times)
    assert {round(r.bound.value, 12) for r in times if r.bound} == {round(size / (rate * 1e6), 12)}


def test_cost_refuses_a_width_of_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Bad arguments end the command with argparse's message, and nothing is written."""
    with pytest.raises(SystemExit):
        measured(monkeypatch, verify_cost, tmp_path / "r.json", "--widths", "0,1")
    assert not list(tmp_path.iterdir())


def test_acceptance_counts_are_those_of_the_rounds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tokens per round and every rate equal a count over the same decoding, done again here."""
    records = measured(
        monkeypatch, acceptance, tmp_path / "r.json", "--drafters", "lookup", "--temperatures", "0.6", "--texts", "3",
        "--prompt-tokens", "12", "--tokens", "20", "--drafts", "3", "--seed", "2",
    )  # fmt: skip
    loaded = tiny_loaded("fp32")
    asked = acceptance.domain_prompts(loaded.tokenizer, count=3, length=12, seed=2)
    for domain, prompts in asked.items():
        done = decode(
            Target(loaded.model), prompts, drafter=Lookup(), drafts=3, max_tokens=20, sampling=Sampling(0.6),
            eos={2}, seeds=[20_000, 20_001, 20_002],
        )  # fmt: skip
        at = {"drafter": "lookup", "temperature": "0.6", "domain": domain}
        per_round = [sum(len(r.emitted) for r in d.rounds) / len(d.rounds) for d in done]
        assert find(records, "acceptance.tokens_per_round", **at).value == pytest.approx(np.mean(per_round))
        for place in range(3):
            judged = sum(len(r.uniforms) > place for d in done for r in d.rounds)
            taken = sum(r.accepted > place for d in done for r in d.rounds)
            found = [
                r for r in records
                if r.id == "acceptance.acceptance_rate" and r.at == {**at, "position": str(place + 1)}
            ]  # fmt: skip
            for record in found:
                assert (record.samples, record.value) == (judged, pytest.approx(taken / judged))
            assert found or place


@pytest.mark.parametrize("copied", [False, True], ids=["exit", "lookup"])
def test_distances_use_the_laws_that_were_drafted_from(copied: bool) -> None:
    """q of the trace is the recorded law at the drafted token, p of the trace is the target's law at the same place,
    and TV, KL and Pinsker's bound of that place equal scipy's and a direct sum."""
    loaded = tiny_loaded("fp32")
    drafter = acceptance.Recorder(Lookup() if copied else EarlyExit(2))
    done = decode(
        Target(loaded.model), [[5, 6, 7, 5, 6]], drafter=drafter, drafts=3, max_tokens=40, sampling=Sampling(0.7)
    )  # fmt: skip
    text = done[0]
    found = acceptance.distances(loaded, done, drafter.laws, 0.7)[0]
    logits = loaded.model(torch.tensor([[*text.prompt, *text.tokens]])).logits[0].detach() / 0.7
    trace = [(r, i) for r in text.rounds for i in range(len(r.uniforms))]
    places = list(acceptance.judged(text, drafter.laws[0]))
    assert len(found) == len(trace) == len(places) > 5
    for (tv, kl, bound), (done_round, i), (at, laws, place) in zip(found, trace, places, strict=True):
        p = logits[at].softmax(-1).double().numpy()
        q = np.eye(61)[laws.sure[place]] if laws.probabilities is None else laws.probabilities[place].double().numpy()
        token = done_round.drafts[i]
        assert p[token] == pytest.approx(done_round.p[i], abs=1e-5) and q[token] == pytest.approx(done_round.q[i])
        assert tv == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-5)
        assert kl == pytest.approx(stats.entropy(q, p), rel=1e-3, abs=1e-5)
        assert tv <= bound + 1e-6 and bound == pytest.approx(math.sqrt(kl / 2))


def test_speeds_of_all_ways_come_from_equal_texts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Plain, drafters, the library and the low-bit kernel are each measured on each domain; plain has no speed-up."""
    monkeypatch.setattr(speed, "KERNELS", {"int8": speed.KERNELS["int8"]})
    records = measured(
        monkeypatch, speed, tmp_path / "r.json", "--dtypes", "fp32", "--drafters", "lookup,exit",
        "--kernels", "int8", "--kernels-in", "fp32", "--texts", "2", "--prompt-tokens", "8", "--tokens", "6",
    )  # fmt: skip
    ways = {(r.at["way"], r.at["linear"]) for r in records}
    copying = {(w, k) for w in ("plain", "lookup") for k in ("invariant", "torch", "int8")}
    library = {("transformers_lookup", k) for k in ("invariant", "torch")}
    assert ways == copying | library | {("exit", "invariant"), ("long", "invariant")}
    assert {(r.at["way"], r.at["linear"], r.at["domain"]) for r in records if r.id == "speed.speedup"} == {
        (*w, d) for w in ways - {("plain", "invariant")} for d in ("code", "prose", "chat")
    }
    assert all(r.value > 0 for r in records)


def test_long_copies_get_their_own_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten drafts, where every other way gets five or two."""
    asked: dict[str, object] = {}
    monkeypatch.setattr(speed, "decode", lambda target, prompts, *, drafts, **more: asked.setdefault(name, drafts))
    monkeypatch.setattr(speed, "choose", lambda name, loaded, **more: None)
    options = argparse.Namespace(ngram=3, floor=0.4, drafts=5, long_drafts=10, head_drafts=2, tokens=6)
    for name in ("plain", "lookup", "long", "confident", "mtp"):
        speed._ours(tiny_loaded("fp32"), name, options)([5])
    assert asked == {"plain": 2, "lookup": 5, "long": 10, "confident": 5, "mtp": 2}


def test_speedup_is_the_geometric_mean_of_ratios(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice and eight times as fast is four times as fast."""
    from gpu_demos.measure.common import Sheet
    from tests.lab_measure import SHARED

    sheet = Sheet("speed", SHARED)
    options = type("Options", (), {"tokens": 10})()
    speed.add(sheet, "fp32", ("lookup", "invariant"), "code", [1.0, 1.0], [2.0, 8.0], options)
    assert find(sheet.records, "speed.decode_speed").value == 10
    assert find(sheet.records, "speed.speedup").value == pytest.approx(4)


def test_scheduled_block_is_ended_by_the_times_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stop holds the median of the passes of each width up to all drafts and the pending token; the text is plain
    decoding's, and drafts end where Algorithm 1 does with these times."""
    from tests.test_lab_block_drafter import TAPS, head_of
    from tests.tiny_llama import tiny

    loaded = dataclasses.replace(tiny_loaded("fp32"), model=tiny(50).model)
    monkeypatch.setattr(speed, "choose", lambda name, loaded, **more: BlockDrafter(head_of(50), TAPS))
    asked = argparse.Namespace(drafts=3, prompt_tokens=8, seed=1)
    for times, longest in (([1, 9, 1, 9], 0), ([1.0, 1.0, 1.0, 1.0], 3)):  # dear and free
        passes = {("torch", 1, w): [t, t, 99.0] for w, t in enumerate(times, 1)}
        monkeypatch.setattr(speed, "pass_times", lambda *a, passes=passes: passes)
        drafter = speed.scheduled(loaded, asked)
        assert isinstance(drafter, BlockDrafter) and drafter.stop == Scheduled(tuple(times))
        (done,) = decode(Target(loaded.model), [[5, 9, 30]], drafter=drafter, drafts=3, max_tokens=12)
        (plain,) = decode(Target(loaded.model), [[5, 9, 30]], max_tokens=12)
        assert done.tokens == plain.tokens
        assert max(len(r.drafts) for r in done.rounds) == longest
