"""SmolLM2 itself, where `make lab` has fetched it; skipped otherwise."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpu_demos.decoding import decode
from gpu_demos.drafters.choose import choose
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.live_queue import WORKER, Request
from gpu_demos.models import Loaded, is_cached, load
from gpu_demos.models_fetch import GGUF_NAME, GGUF_SHA256, cache_folder, installed_gguf, sha256
from gpu_demos.prompts import encode, end_tokens
from gpu_demos.speculative import library_lookup
from gpu_demos.target import Target
from gpu_demos.trace import parse
from tests.browser import ROOT

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not is_cached(), reason="SmolLM2 is not in the cache: make lab fetches it"),
]
COUNT = 64
PROMPTS = {
    "code": (
        "def mean(values):\n    total = 0\n    for value in values:\n        total += value\n"
        "    return total / len(values)\n\n\ndef variance(values):\n    total = 0\n    for value in values:\n",
        True,
    ),
    "prose": ("A lambda expression is a function without a name. A lambda expression yields a function object.", True),
    "chat": ("Name three colours, and say for each of them where it occurs in nature.", False),
}
# One prompt for the slow ones: `gpu_demos.measure.greedy_texts` takes every drafter on 21.
CASES = [
    *(("lookup", name) for name in PROMPTS),
    ("mtp", "code"),
    ("mtp", "chat"),
    ("exit", "chat"),
    ("block", "prose"),
]
FEWER = {"lookup": 1.0, "mtp": 0.85, "block": 0.85, "exit": 1.01}  # passes a token, at most


@cache
def real() -> tuple[Loaded, Target]:
    loaded = load(dtype="fp32", linear="auto")
    return loaded, Target(loaded.model)


@cache
def plain(name: str) -> tuple[list[int], tuple[int, ...]]:
    """Prompt and its plain greedy continuation."""
    loaded, target = real()
    text, raw = PROMPTS[name]
    prompt = encode(loaded, text, raw=raw)
    (done,) = decode(target, [prompt], max_tokens=COUNT, eos=end_tokens(loaded))
    return prompt, done.tokens


@pytest.mark.parametrize(("drafter", "name"), CASES)
def test_greedy_speculation_equals_plain_decoding(drafter: str, name: str) -> None:
    """64 tokens in fp32, token by token, and fewer passes than tokens, clearly so for the trained heads."""
    loaded, target = real()
    prompt, wanted = plain(name)
    used = choose(drafter, loaded)
    (done,) = decode(target, [prompt], drafter=used, max_tokens=COUNT, eos=end_tokens(loaded))
    assert done.tokens == wanted
    assert len(done.rounds) < FEWER[drafter] * len(wanted)


@pytest.mark.parametrize("name", PROMPTS)
def test_text_equals_assisted_generation_of_transformers(name: str) -> None:
    """Prompt lookup of transformers writes what ours and plain decoding write, in fp32."""
    prompt, wanted = plain(name)
    assert tuple(library_lookup(real()[0], prompt, drafts=5, max_tokens=COUNT)) == wanted


def test_batch_equals_single_texts() -> None:
    """The three prompts together, of unlike length, give the texts that each gives alone."""
    loaded, target = real()
    found = decode(
        target, [plain(name)[0] for name in PROMPTS], drafter=Lookup(), max_tokens=COUNT, eos=end_tokens(loaded)
    )
    assert [done.tokens for done in found] == [plain(name)[1] for name in PROMPTS]


def test_live_worker_answers_a_prompt() -> None:
    """The process that the page starts: a count after each round, then a trace whose tokens are plain decoding's."""
    text = "Name three colours."
    asked = Request(text, "block", "fp32", 0.0, 12)
    done = subprocess.run(
        [*WORKER], input=json.dumps(asdict(asked)), capture_output=True, text=True, cwd=ROOT, check=True, timeout=300
    )
    *counts, last = map(json.loads, done.stdout.splitlines())
    trace = parse(last["trace"])
    assert counts[-1] == {"tokens": len(trace.tokens)} and len(counts) == len(trace.rounds)
    loaded, target = real()
    (plainly,) = decode(target, [encode(loaded, text)], max_tokens=12, eos=end_tokens(loaded))
    assert trace.parted is None and trace.stopped == "length"
    assert [loaded.tokenizer.decode([t]) for t in plainly.tokens] == list(trace.tokens)


def test_weights_are_the_dequantized_file() -> None:
    """Embedding, a feed-forward matrix and a norm equal gguf's own dequantization bit by bit; queries do in the row
    order of transformers, whose rotary pairs lie half a head apart and not side by side."""
    gguf: Any = pytest.importorskip("gguf")
    candidates = (installed_gguf(), cache_folder() / GGUF_NAME)
    path = next((p for p in candidates if p is not None and Path(p).is_file()), None)
    if path is None:
        pytest.skip("the packed file is no longer there")
    assert sha256(path) == GGUF_SHA256
    packed = {
        tensor.name: np.array(gguf.dequantize(tensor.data, tensor.tensor_type)).reshape(tensor.shape[::-1])
        for tensor in gguf.GGUFReader(path).tensors
        if tensor.name
        in ("token_embd.weight", "blk.7.ffn_down.weight", "blk.7.attn_norm.weight", "blk.7.attn_q.weight")
    }
    state = real()[0].model.state_dict()
    for name, ours in (
        ("token_embd.weight", "model.embed_tokens.weight"),
        ("blk.7.ffn_down.weight", "model.layers.7.mlp.down_proj.weight"),
        ("blk.7.attn_norm.weight", "model.layers.7.input_layernorm.weight"),
    ):
        assert torch.equal(state[ours], torch.from_numpy(packed[name]))
    pairs = packed["blk.7.attn_q.weight"].reshape(9, 32, 2, 576)  # (heads, pairs, member, in)
    queries = torch.from_numpy(np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(576, 576))
    assert torch.equal(state["model.layers.7.self_attn.q_proj.weight"], queries)
