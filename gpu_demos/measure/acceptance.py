"""How many drafts are accepted: per position, domain, temperature and drafter, on text that no drafter has seen.

Beside the counts stand the distances between the two laws at the judged positions: total variation (the rate of
rejection that it predicts), KL of the draft from the target, and Pinsker's bound on the former from the latter. The
divergence is KL(q ‖ p): the other direction is infinite as soon as a drafter leaves out a token, as a copied draft and
a cut vocabulary do.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence

import torch

from gpu_demos.acceptance import Laws, Sampling
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Decoded, Draft, Drafter, Seen, Session
from gpu_demos.drafters.choose import NAMES, choose
from gpu_demos.measure.common import Sheet, domain_prompts, mean, parser, progress, ratio, run
from gpu_demos.models import Loaded, load, show
from gpu_demos.options import counted
from gpu_demos.prompts import end_tokens
from gpu_demos.target import Target

DISTANCES = ("total_variation", "kl_draft_target", "pinsker_bound")


class Recorder:
    """A drafter that keeps the laws it drafted from: `laws`, row -> one entry per round."""

    def __init__(self, inner: Drafter) -> None:
        self.inner, self.name, self.taps = inner, inner.name, inner.taps
        self.laws: dict[int, list[Laws]] = {}

    def begin(self, session: Session) -> None:
        self.laws = {row: [] for row in session.live}
        self.inner.begin(session)

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        found = self.inner.propose(rows, limits)
        for row, draft in zip(rows, found, strict=True):
            self.laws[row].append(draft.laws)
        return found

    def observe(self, row: int, seen: Seen) -> None:
        self.inner.observe(row, seen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    made = parser("gpu_demos.measure.acceptance", (__doc__ or "").splitlines()[0], "acceptance")
    made.add_argument("--drafters", type=lambda text: tuple(text.split(",")), default=NAMES)
    made.add_argument("--temperatures", type=lambda text: tuple(map(float, text.split(","))), default=(0.0, 0.6, 1.0))
    made.add_argument("--texts", type=counted, default=8, help="prompts of each domain")
    made.add_argument("--prompt-tokens", type=counted, default=48)
    made.add_argument("--tokens", type=counted, default=96)
    made.add_argument("--drafts", type=counted, default=5)
    return run(made, measure, "acceptance", arguments)


def measure(options: argparse.Namespace, sheet: Sheet) -> None:
    """Decode every combination in fp32 and add what was accepted and how far the laws lay apart."""
    loaded = load(options.model, dtype="fp32", device=options.device, progress=show)
    asked = domain_prompts(
        loaded.tokenizer, count=options.texts, length=options.prompt_tokens, seed=options.seed
    )  # fmt: skip
    for name in options.drafters:
        drafter = Recorder(choose(name, loaded))
        for temperature in options.temperatures:
            every: list[Decoded] = []
            for domain, texts in asked.items():
                done = decode(
                    Target(loaded.model), texts, drafter=drafter, drafts=options.drafts, max_tokens=options.tokens,
                    sampling=Sampling(temperature), eos=end_tokens(loaded),
                    seeds=[options.seed * 10_000 + i for i in range(len(texts))],
                )  # fmt: skip
                at = {"drafter": name, "temperature": f"{temperature:g}", "domain": domain}
                counts(sheet, done, at, options)
                if temperature:
                    laws_apart(sheet, distances(loaded, done, drafter.laws, temperature), at, options)
                every += done
                progress(f"{name} at temperature {temperature:g}, {domain}")
            counts(sheet, every, {"drafter": name, "temperature": f"{temperature:g}", "domain": "all"}, options)


def counts(sheet: Sheet, done: Sequence[Decoded], at: dict[str, str], options: argparse.Namespace) -> None:
    """Tokens per round, and accepted of judged drafts at each position, over texts."""
    shape = [len(done), options.tokens]
    value, spread = mean([d.tokens_per_round for d in done])
    sheet.add("tokens_per_round", value, spread, at, samples=len(done), dtype="fp32", shape=shape, unit="token")
    for place in range(options.drafts):
        pairs = [(d.accepted_at()[place:] or [(0, 0)])[0] for d in done]
        found = ratio([float(a) for _, a in pairs], [float(j) for j, _ in pairs])
        if found is not None:
            judged = sum(j for j, _ in pairs)
            where = at | {"position": str(place + 1)}
            sheet.add("acceptance_rate", *found, where, samples=judged, dtype="fp32", shape=shape)


def laws_apart(
    sheet: Sheet, per_text: Sequence[Sequence[Sequence[float]]], at: dict[str, str], options: argparse.Namespace
) -> None:
    """Mean distances over all judged positions; the texts are the independent units."""
    for place, name in enumerate(DISTANCES):
        sums, sizes = [sum(x[place] for x in text) for text in per_text], [float(len(text)) for text in per_text]
        found = ratio(sums, sizes)
        if found is not None:
            shape = [len(per_text), options.tokens]
            unit = "nat" if name.startswith("kl") else "1"
            sheet.add(name, *found, at, samples=int(sum(sizes)), dtype="fp32", shape=shape, unit=unit)


@torch.inference_mode()
def distances(
    loaded: Loaded, done: Sequence[Decoded], laws: dict[int, list[Laws]], temperature: float
) -> list[list[tuple[float, float, float]]]:
    """Per text, for each judged draft: (TV, KL(q ‖ p), Pinsker's bound). Every judged draft follows confirmed tokens,
    so one pass over the finished text gives the target's laws of all of them."""
    found: list[list[tuple[float, float, float]]] = []
    for row, text in enumerate(done):
        ids = torch.tensor([[*text.prompt, *text.tokens]], device=loaded.model.device)
        logits = loaded.model(ids).logits[0].float() / temperature
        found.append([apart(logits[at].log_softmax(-1), q, i) for at, q, i in judged(text, laws[row])])
    return found


def judged(text: Decoded, laws: Sequence[Laws]) -> Iterator[tuple[int, Laws, int]]:
    """(position whose logits give the target's law, draft laws, which of them) of every judged draft."""
    confirmed = len(text.prompt)
    for done, draft in zip(text.rounds, laws, strict=True):
        for place in range(len(done.uniforms)):
            yield confirmed + place - 1, draft, place
        confirmed += len(done.emitted)


def apart(log_p: torch.Tensor, laws: Laws, place: int) -> tuple[float, float, float]:
    """(TV, KL(q ‖ p) in nats, √(KL/2)) of draft law `place` from the target's log-probabilities, (V,).

    Source: Pinsker's inequality, TV ≤ √(KL/2).
    """
    if laws.probabilities is None:
        log_sure = float(log_p[laws.sure[place]])
        return 1 - math.exp(log_sure), -log_sure, math.sqrt(-log_sure / 2)
    q = laws.probabilities[place].float()
    tv = float((log_p.exp() - q).abs().sum()) / 2
    kl = max(0.0, float(torch.where(q > 0, q * (q.log() - log_p), 0).sum()))  # rounding can leave −1e-8
    return tv, kl, math.sqrt(kl / 2)


if __name__ == "__main__":
    sys.exit(main())
