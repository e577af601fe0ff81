"""Decode one prompt that a reader typed, as a process of its own: a run can be stopped, and cannot take the wiki down.

python -m gpu_demos.live < request.json       a line of JSON for each round, then one with the trace or the error

The request is an object with the fields of `gpu_demos.live_queue.Request`. Lines: {"tokens": 12}, {"trace": {…}},
{"error": one of `live_queue.FAILURES`}, whose cause goes to standard error. Nothing is timed and nothing is stored.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import TextIO

import torch

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Round
from gpu_demos.drafters.choose import choose
from gpu_demos.live_queue import DRAFTS, Failure, Request
from gpu_demos.measure.provenance import LIBRARIES, ROOT, device_name
from gpu_demos.models import Loaded, load
from gpu_demos.models_fetch import ModelUnavailable
from gpu_demos.prompts import encode, end_tokens
from gpu_demos.target import Target
from gpu_demos.trace import Trace, check
from gpu_demos.tracing import rounds_of


def main() -> int:
    """Answer the request on standard input; 0 when a trace was written, 1 when an error was."""
    out = sys.stdout
    with redirect_stdout(sys.stderr):  # what a library prints is no line of an answer
        try:
            asked = Request(**json.load(sys.stdin)).checked()
            trace = run(load(dtype=asked.dtype, linear="auto"), asked, out)
        except (ModelUnavailable, ValueError, TypeError, MemoryError, RuntimeError) as error:
            print(error, file=sys.stderr)
            _say(out, error=_failure(error))
            return 1
    _say(out, trace=asdict(trace))
    return 0


def _failure(error: Exception) -> Failure:
    if isinstance(error, ModelUnavailable):
        return "unavailable"
    # torch reports a CPU allocation that failed as a plain RuntimeError
    memory = isinstance(error, MemoryError | torch.OutOfMemoryError) or "not enough memory" in str(error)
    return "memory" if memory else "broken"


def run(loaded: Loaded, asked: Request, out: TextIO) -> Trace:
    """Decode speculatively, then plainly where the two can be compared; `out` gets a line after each round."""
    prompt, target, written = encode(loaded, asked.prompt), Target(loaded.model), 0

    def tell(row: int, done: Round) -> None:
        nonlocal written
        written += len(done.emitted)
        _say(out, tokens=written)

    sampling, ends = Sampling(asked.temperature), end_tokens(loaded)
    (done,) = decode(
        target, [prompt], drafter=choose(asked.drafter, loaded), drafts=DRAFTS, max_tokens=asked.tokens,
        sampling=sampling, seeds=[asked.seed], eos=ends, on_round=tell,
    )  # fmt: skip
    parted = None
    if asked.temperature == 0:
        (plain,) = decode(target, [prompt], max_tokens=asked.tokens, sampling=sampling, eos=ends)
        # In bf16 the two can part, and then their lengths can differ too.
        pairs = enumerate(zip(plain.tokens, done.tokens, strict=False))
        parted = next((i for i, (a, b) in pairs if a != b), None)
    trace = Trace(
        domain="own", drafter=asked.drafter, temperature=asked.temperature, seed=asked.seed, prompt=asked.prompt,
        prompt_tokens=len(prompt), rounds=tuple(rounds_of(loaded, done)), stopped=done.stopped, parted=parted,
        model=f"{loaded.name}, {loaded.baseline}", device=device_name("cpu"), dtype=loaded.dtype,
        versions={name: version(name) for name in LIBRARIES}, commit=_commit(), command="python -m gpu_demos.live",
        date=date.today().isoformat(),
    )  # fmt: skip
    check(trace)
    return trace


def _commit() -> str:
    """The commit, "" outside a checkout: a run of one's own is no record."""
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def _say(out: TextIO, **line: object) -> None:
    print(json.dumps(line, allow_nan=False), file=out, flush=True)


if __name__ == "__main__":
    sys.exit(main())
