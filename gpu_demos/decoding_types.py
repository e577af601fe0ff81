"""What the decoding loop, its drafters and those who show a trace agree on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import torch

from gpu_demos.acceptance import Laws, Sampling
from gpu_demos.cache import KVCache
from gpu_demos.target import Target


@dataclass(frozen=True, slots=True)
class Draft:
    """Tokens in the order of their positions, and the law that each was drawn from, given those before it."""

    tokens: tuple[int, ...]
    laws: Laws

    def first(self, count: int) -> Draft:
        """The first `count` tokens at most."""
        return self if count >= len(self.tokens) else Draft(self.tokens[:count], self.laws.part(0, count))


NO_DRAFT = Draft((), Laws())


@dataclass(frozen=True, slots=True)
class Seen:
    """What a target pass has left confirmed of one row. tokens: n, at positions start …; hidden: (n, d), the normed
    final states there; taps: layer count -> (n, d). The token after the last one is confirmed too, and pending."""

    start: int
    tokens: tuple[int, ...]
    hidden: torch.Tensor
    taps: Mapping[int, torch.Tensor]


class Drafter(Protocol):
    """Proposes tokens. The loop calls `begin` once, then in each round `propose` and, for each row, `observe`.

    `taps` are the layer counts whose states it wants to see (`Seen.taps`). A drafter may run the target's first layers
    on `session.cache` from `session.cache.lengths` on: the verification overwrites these slots.
    """

    name: str
    taps: Sequence[int]

    def begin(self, session: Session) -> None:
        """Forget earlier texts; `session` stays valid and shows the texts as they grow."""
        ...

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        """One draft per live row, of at most limits[i] tokens; fewer or none is fine.

        Tokens must be drawn from `laws` with `session.uniforms(row, …)`, or `laws` must be sure of them: else the
        output law is no longer the target's. With greedy sampling `laws` must be one-hot.
        """
        ...

    def observe(self, row: int, seen: Seen) -> None:
        """Told what was confirmed and cached by the pass of this round; called also for rows that end with it."""
        ...


@dataclass(frozen=True, slots=True)
class Round:
    """One round of one row, enough to show it step by step.

    p, q: target's and draft's probability of each drafted token; uniforms: those compared, one per judged draft;
    accepted: drafts that entered the text; emitted: these and the last token, whose origin is `last`, "" where an
    accepted end of text made it needless. cached_*: positions in the target's cache; seconds are those of the
    pass, which all rows of a batch share.
    """

    drafts: tuple[int, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]
    uniforms: tuple[float, ...]
    accepted: int
    emitted: tuple[int, ...]
    last: Literal["correction", "bonus", ""]
    cached_before: int
    cached_after_verify: int
    cached_after: int
    draft_s: float
    verify_s: float
    sample_s: float


@dataclass(frozen=True, slots=True)
class Decoded:
    """A continuation and how it came about. seconds: the whole call, all rows together."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    rounds: tuple[Round, ...]
    stopped: Literal["eos", "length", "interrupted"]
    seconds: float

    @property
    def tokens_per_round(self) -> float:
        """Tokens emitted by a target pass on average, correction or bonus included."""
        return len(self.tokens) / len(self.rounds)

    def accepted_at(self) -> list[tuple[int, int]]:
        """(judged, accepted) for each draft position: judged are those whose predecessors were all accepted."""
        counts: list[tuple[int, int]] = []
        for place in range(max((len(r.drafts) for r in self.rounds), default=0)):
            judged = sum(len(r.uniforms) > place for r in self.rounds)
            counts.append((judged, sum(r.accepted > place for r in self.rounds)))
        return counts


@dataclass(slots=True)
class Session:
    """State of a running call. texts: confirmed tokens of every row, prompt included; live: rows still running, in the
    order of the cache's rows."""

    target: Target
    cache: KVCache
    sampling: Sampling
    texts: list[list[int]]
    prompt_lengths: list[int]
    max_tokens: int
    generators: list[torch.Generator]
    live: list[int]
    rounds: list[list[Round]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        target: Target,
        cache: KVCache,
        sampling: Sampling,
        prompts: Sequence[Sequence[int]],
        seeds: Iterable[int],
        max_tokens: int,
    ) -> Session:
        texts = [list(prompt) for prompt in prompts]
        # On the host for every device: the same seed means the same uniforms anywhere.
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        live, rounds = list(range(len(texts))), [[] for _ in texts]
        return cls(target, cache, sampling, texts, [len(t) for t in texts], max_tokens, generators, live, rounds)

    def uniforms(self, row: int, count: int) -> list[float]:
        """`count` fresh numbers in [0, 1) of this row's own generator, float64."""
        return torch.rand(count, generator=self.generators[row], dtype=torch.float64).tolist()

    def new_tokens(self, row: int) -> int:
        return len(self.texts[row]) - self.prompt_lengths[row]

    def drop_finished(self, eos: Collection[int]) -> None:
        """Take rows at an end of text or at full length out of the batch."""
        stay = [slot for slot, row in enumerate(self.live) if not self._stopped(row, eos)]
        if 0 < len(stay) < len(self.live):
            self.cache.keep_rows(stay)
        self.live = [self.live[slot] for slot in stay]

    def results(self, seconds: float, eos: Collection[int]) -> list[Decoded]:
        found: list[Decoded] = []
        for row, (text, length) in enumerate(zip(self.texts, self.prompt_lengths, strict=True)):
            stopped = self._stopped(row, eos) or "interrupted"
            prompt, tokens = tuple(text[:length]), tuple(text[length:])
            found.append(Decoded(prompt, tokens, tuple(self.rounds[row]), stopped, seconds))
        return found

    def _stopped(self, row: int, eos: Collection[int]) -> Literal["eos", "length"] | None:
        count = self.new_tokens(row)
        if count and self.texts[row][-1] in eos:
            return "eos"
        return "length" if count >= self.max_tokens else None
