"""The block head as a drafter: one pass for all places, then left to right through the Markov head, stopping in time.

The law of a place is the softmax of the head's logits given the token drafted before it, so each token's probability is
exact. Whether a place is drafted is decided from its confidence before its token is drawn: the decision sees earlier
tokens only, so the output law stays the target's. Source: dspark2026, §3.1–3.2 and Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from gpu_demos.acceptance import Laws, of_row
from gpu_demos.decoding_types import NO_DRAFT, Draft, Seen, Session
from gpu_demos.drafters.block import MIDDLE, NONE, BlockHead
from mechanisms.drafter_scaling import soften
from mechanisms.dspark_scheduler import schedule


@dataclass(frozen=True, slots=True)
class Survival:
    """Draft a place only while the predicted survival of the whole prefix, Π c, is at least `least`, in [0, 1]."""

    least: float

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise ValueError(f"least={self.least} must lie in [0, 1]")

    def goes_on(self, confidences: Sequence[float]) -> bool:
        """Whether to draft the place of the last of c_1 … c_k."""
        return float(np.prod(confidences)) >= self.least


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Algorithm 1 with its early stop, for one text alone. seconds: of a target pass over 1, 2, … tokens, positive;
    beyond the last of them nothing is drafted."""

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.seconds) < 2 or not all(s > 0 for s in self.seconds):
            raise ValueError(f"seconds={self.seconds} must be at least two positive times")

    def goes_on(self, confidences: Sequence[float]) -> bool:
        """Whether to draft the place of the last of c_1 … c_k: every place so far has to raise the throughput."""
        if len(confidences) >= len(self.seconds):
            return False
        found = schedule(np.array([confidences]), 1 / np.array(self.seconds), early=True)
        return int(found.lengths[0]) == len(confidences)


Stop = Survival | Scheduled


@dataclass(slots=True)
class _Row:
    """Keys and values of the confirmed positions, and what a draft reads of the last of them, (2, d)."""

    keys: torch.Tensor | None = None
    values: torch.Tensor | None = None
    read: torch.Tensor | None = None


@dataclass(slots=True)
class BlockDrafter:
    """Drafts with a trained head, at most its block. A text's first round has no draft: the target's states are not
    there yet. taps: layer counts of the three states that the head reads. temperatures: of sequential temperature
    scaling, one per place, for `stop` and `confidences`.

    confidences: per row, c of every place of the last round that was looked at, the refused one included.
    """

    head: BlockHead
    taps: Sequence[int]
    stop: Stop | None = None
    temperatures: Sequence[float] | None = None
    name: str = "block"
    confidences: dict[int, list[float]] = field(default_factory=dict)
    _session: Session | None = None
    _rows: list[_Row] = field(default_factory=list)

    def begin(self, session: Session) -> None:
        self._session, self.confidences = session, {}
        self._rows = [_Row() for _ in session.texts]

    def observe(self, row: int, seen: Seen) -> None:
        """Turn what was confirmed into context at once; only the last position is kept as it is."""
        known = self._rows[row]
        tapped = torch.stack([seen.taps[layer] for layer in self.taps], 1)
        keys, values = self.head.context(tapped[None], start=seen.start)
        known.keys = keys if known.keys is None else torch.cat((known.keys, keys), 2)
        known.values = values if known.values is None else torch.cat((known.values, values), 2)
        known.read = torch.stack((seen.hidden[-1], tapped[-1, MIDDLE]))

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        return [self._draft(row, limit) for row, limit in zip(rows, limits, strict=True)]

    def _draft(self, row: int, limit: int) -> Draft:
        session, known = self._session, self._rows[row]
        assert session is not None
        self.confidences[row] = []
        if limit < 1 or known.keys is None or known.values is None or known.read is None:
            return NO_DRAFT
        text = session.texts[row]
        anchor, place = (torch.tensor([[x]], device=known.read.device) for x in (text[-1], len(text) - 1))
        states = self.head(known.read[None, None], anchor, place, known.keys, known.values)[0, 0]
        tokens: list[int] = []
        laws: list[Laws] = []
        for k in range(min(limit, self.head.size)):
            previous = torch.tensor([tokens[-1] if tokens else NONE], device=states.device)
            if not self._goes_on(row, states[k : k + 1], previous):
                break
            few = session.sampling.laws(self.head.logits(states[k : k + 1], previous))
            laws.append(few.among(self.head.draft_ids, session.target.vocabulary))
            tokens.append(laws[-1].draw(0, session.uniforms(row, 1)[0]))
        return Draft(tuple(tokens), of_row(laws, 0)) if tokens else NO_DRAFT

    def _goes_on(self, row: int, state: torch.Tensor, previous: torch.Tensor) -> bool:
        seen = self.confidences[row]
        c = float(self.head.confidence_logits(state, previous).double().sigmoid())
        if self.temperatures is not None:
            c = float(soften(np.array([c]), self.temperatures[len(seen)])[0])
        seen.append(c)
        return self.stop is None or self.stop.goes_on(seen)
