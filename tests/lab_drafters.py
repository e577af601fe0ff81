"""Drafters for tests only: one that is told what to say, one that says anything, one that watches another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from gpu_demos.acceptance import Laws
from gpu_demos.decoding_types import Draft, Drafter, Seen, Session


class Noise:
    """Drafts of any length from random laws: the output must not depend on it."""

    name = "noise"
    taps: Sequence[int] = ()

    def begin(self, session: Session) -> None:
        self.session, self.generator = session, torch.Generator().manual_seed(11)

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        return [self._draft(row, limit) for row, limit in zip(rows, limits, strict=True)]

    def observe(self, row: int, seen: Seen) -> None:
        pass

    def _draft(self, row: int, limit: int) -> Draft:
        count = int(torch.randint(0, limit + 1, (1,), generator=self.generator))
        logits = torch.randn(count, self.session.target.vocabulary, generator=self.generator, dtype=torch.float64)
        laws = self.session.sampling.laws(logits)
        return Draft(tuple(laws.draw(i, u) for i, u in enumerate(self.session.uniforms(row, count))), laws)


class Oracle:
    """Copies a text that it was given, wrong at every position in `wrong`."""

    name = "oracle"
    taps: Sequence[int] = ()

    def __init__(self, text: Sequence[int], wrong: Sequence[int] = ()) -> None:
        self.text, self.wrong = list(text), set(wrong)

    def begin(self, session: Session) -> None:
        self.session = session

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        found = []
        for row, limit in zip(rows, limits, strict=True):
            at = len(self.session.texts[row])
            tokens = [t + (i in self.wrong) for i, t in enumerate(self.text[at : at + limit], at)]
            found.append(Draft(tuple(tokens), Laws(sure=tokens)))
        return found

    def observe(self, row: int, seen: Seen) -> None:
        pass


class Watched:
    """Another drafter, and a function that sees what it is told."""

    def __init__(self, inner: Drafter, watch: Callable[[Session, int, Seen], None], taps: Sequence[int] = ()) -> None:
        self.inner, self.watch, self.taps, self.name = inner, watch, taps, inner.name

    def begin(self, session: Session) -> None:
        self.session = session
        self.inner.begin(session)

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        return self.inner.propose(rows, limits)

    def observe(self, row: int, seen: Seen) -> None:
        self.inner.observe(row, seen)
        self.watch(self.session, row, seen)
