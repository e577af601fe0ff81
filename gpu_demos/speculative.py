"""Speculative decoding from the command line: text, what was accepted where, and the speed against plain decoding.

Plain and speculative runs take turns, after one of each that does not count, so that a slow moment of the machine hits
both; the speed-up is the median over the turns. It is a demonstration: a number to keep is a record (`record.py`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from time import perf_counter

import torch

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Decoded
from gpu_demos.drafters.choose import NAMES, choose
from gpu_demos.models import DTYPES, LINEARS, SMOLLM2, Loaded, load, show
from gpu_demos.models_fetch import ModelUnavailable
from gpu_demos.options import counted
from gpu_demos.prompts import decode_text, encode, end_tokens
from gpu_demos.target import Target

LIBRARY_NGRAM = 2  # what transformers looks up at most unless told otherwise


def take_turns(runs: Mapping[str, Callable[[], int]], *, turns: int) -> dict[str, list[float]]:
    """Tokens per second of each run in each turn, after one turn that does not count. A run returns its tokens."""
    speeds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(turns + 1):
        for name, run in runs.items():
            began = perf_counter()
            tokens = run()
            if turn:
                speeds[name].append(tokens / (perf_counter() - began))
    return speeds


def library_lookup(
    loaded: Loaded, prompt: Sequence[int], *, drafts: int, max_tokens: int, ngram: int = LIBRARY_NGRAM
) -> list[int]:
    """What transformers' own greedy prompt lookup writes after the prompt, with as many drafts and tokens at most."""
    ids = torch.tensor([list(prompt)], device=loaded.model.device)
    with torch.inference_mode():
        out = loaded.model.generate(  # type: ignore[operator]  # the base class does not say that it can generate
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=max_tokens, do_sample=False,
            prompt_lookup_num_tokens=drafts, max_matching_ngram_size=ngram,
        )  # fmt: skip
    return out[0, len(prompt) :].tolist()


def report(text: str, done: Decoded, speeds: Mapping[str, Sequence[float]], *, head: str) -> str:
    """Everything the command prints after the run."""
    rounds = done.rounds
    parts = {name: 1e3 * sum(getattr(r, f"{name}_s") for r in rounds) for name in ("draft", "verify", "sample")}
    places = (f"{i}: {a}/{n}" for i, (n, a) in enumerate(done.accepted_at(), 1))
    lines = [
        head, "", text, "",
        f"tokens              {len(done.tokens)} in {len(rounds)} rounds, stopped by {done.stopped}",
        f"tokens per round    {done.tokens_per_round:.2f}",
        f"accepted/judged     {', '.join(places) or 'nothing was drafted'}",
        f"time of one run     {', '.join(f'{name} {ms:.0f} ms' for name, ms in parts.items())}",
    ]  # fmt: skip
    ours = speeds["speculative"]
    for name, values in speeds.items():
        lines.append(f"{name:<20}{median(values):.1f} tokens/s, {min(values):.1f} to {max(values):.1f}")
    for name, values in speeds.items():
        if name != "speculative":
            ratios = [a / b for a, b in zip(ours, values, strict=True)]
            lines.append(f"against {name:<12}{median(ratios):.2f}x, {min(ratios):.2f} to {max(ratios):.2f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if it could, 1 with one sentence on standard error if not."""
    options = _parser().parse_args(arguments)
    try:
        print(_run(options))
    except (ModelUnavailable, ValueError, torch.OutOfMemoryError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


def _run(options: argparse.Namespace) -> str:
    sampling = Sampling(options.temperature, options.top_p)
    loaded = load(options.model, dtype=options.dtype, device=options.device, linear=options.linear, progress=show)
    if options.floor and options.drafter != "mtp":
        raise ValueError(f"--floor {options.floor} is for the drafter mtp, and not for {options.drafter}")
    drafter = choose(options.drafter, loaded, layers=options.layers, floor=options.floor)
    target, prompt, ends = Target(loaded.model), encode(loaded, options.prompt, raw=options.raw), end_tokens(loaded)
    results: list[Decoded] = []

    write = partial(
        decode, target, [prompt], max_tokens=options.tokens, sampling=sampling, seeds=[options.seed], eos=ends
    )

    def plain() -> int:
        return len(write()[0].tokens)

    def speculative() -> int:
        results[:] = write(drafter=drafter, drafts=options.drafts)
        return len(results[0].tokens)

    runs = {"plain": plain, "speculative": speculative}
    if options.transformers:
        if options.drafter != "lookup" or options.temperature:
            raise ValueError("--transformers compares greedy prompt lookup only")
        runs["transformers"] = lambda: len(
            library_lookup(loaded, prompt, drafts=options.drafts, max_tokens=options.tokens)
        )
    speeds = take_turns(runs, turns=options.turns)
    how = "greedy" if not options.temperature else f"temperature {options.temperature}, top-p {options.top_p}"
    what = f"{loaded.baseline}, {loaded.dtype}, {loaded.device}, {loaded.linear} linear layers"
    head = f"{loaded.name} ({what}), drafter {drafter.name}, {how}"
    return report(decode_text(loaded, results[0].tokens), results[0], speeds, head=head)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m gpu_demos.speculative", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--prompt", required=True)
    add("--raw", action="store_true", help="continue the prompt as it is, without the chat template")
    add("--drafter", choices=NAMES, default="lookup")
    add("--layers", type=int, help="layer after which the drafter `exit` leaves; two thirds of them by default")
    add("--floor", type=float, default=0.0, help="mtp ends a draft where the product of its probabilities is below")
    add("--drafts", type=counted, default=5, help="drafts per round at most")
    add("--temperature", type=float, default=0.0, help="0 is greedy")
    add("--top-p", type=float, default=1.0)
    add("--tokens", type=counted, default=96, help="new tokens at most")
    add("--seed", type=int, default=0)
    add("--turns", type=counted, default=3, help="measured turns of plain and speculative decoding")
    add("--transformers", action="store_true", help="let transformers' prompt lookup take turns too")
    add("--model", default=SMOLLM2, help=f"{SMOLLM2}, a folder, or owner/name on the hub")
    add("--dtype", choices=tuple(DTYPES), default="bf16")
    add("--linear", choices=("auto", *LINEARS), default="auto", help="whose product: torch's or batch_invariant's")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser


if __name__ == "__main__":
    sys.exit(main())
