"""Accepting and correcting drafts on real vocabularies: the torch twin of `mechanisms.rejection_walk`.

A law is a row of probabilities, or one sure token: greedy decoding and a copied draft are one-hot distributions, not
other algorithms, and are only stored more briefly. Tie rules are those of the exact twin: a token is the first whose
cumulative sum lies above u; a draft is accepted iff u < min(1, p/q).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch


@dataclass(frozen=True, slots=True)
class Laws:
    """T distributions over V tokens: `probabilities` (T, V), or `sure`, one token per position."""

    probabilities: torch.Tensor | None = None
    sure: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.sure) if self.probabilities is None else self.probabilities.shape[0]

    def of(self, tokens: Sequence[int]) -> list[float]:
        """Probability of tokens[i] under law i, for the first len(tokens) laws."""
        if self.probabilities is None:
            return [float(sure == token) for sure, token in zip(self.sure, tokens, strict=False)]
        index = torch.tensor(tokens, device=self.probabilities.device, dtype=torch.int64)[:, None]
        return self.probabilities[: len(tokens)].gather(1, index)[:, 0].tolist()

    def part(self, start: int, stop: int) -> Laws:
        """Laws start … stop - 1."""
        if self.probabilities is None:
            return Laws(sure=self.sure[start:stop])
        return Laws(probabilities=self.probabilities[start:stop])

    def among(self, tokens: torch.Tensor, vocabulary: int) -> Laws:
        """The same laws over a vocabulary in which token i of these is tokens[i]; all others have probability 0."""
        if self.probabilities is None:
            return Laws(sure=tokens[list(self.sure)].tolist())
        wide = self.probabilities.new_zeros(len(self), vocabulary)
        wide[:, tokens] = self.probabilities
        return Laws(probabilities=wide)

    def draw(self, position: int, u: float) -> int:
        """The token at u in [0, 1)."""
        return self.sure[position] if self.probabilities is None else draw(self.probabilities[position], u)


def of_row(laws: Sequence[Laws], row: int) -> Laws:
    """Law `row` of each of `laws`, which are of one sort, one after the other."""
    rows = [law.probabilities[row] for law in laws if law.probabilities is not None]
    return Laws(probabilities=torch.stack(rows)) if rows else Laws(sure=[law.sure[row] for law in laws])


@dataclass(frozen=True, slots=True)
class Sampling:
    """How logits become a law: temperature >= 0 (0 is greedy), then the smallest set of likeliest tokens with mass
    >= top_p, 0 < top_p <= 1. Which of equal probabilities at the edge of the set enters is left to the sort."""

    temperature: float = 0.0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature={self.temperature} must be a finite number of at least 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p={self.top_p} must lie in (0, 1]")

    def laws(self, logits: torch.Tensor) -> Laws:
        """(T, V) logits -> T laws."""
        if self.temperature == 0:
            # `max` and not `argmax`, which goes through bf16 five times as slowly; both take the first of equal ones
            return Laws(sure=logits.max(dim=-1).indices.tolist())
        wide = logits if logits.dtype == torch.float64 else logits.float()
        return Laws(probabilities=_nucleus(torch.softmax(wide / self.temperature, dim=-1), self.top_p))


GREEDY = Sampling()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of the drafts of one round. p, q: probabilities of each drafted token under target and draft;
    uniforms: those that were compared, one per judged position; `token` follows the accepted drafts."""

    p: tuple[float, ...]
    q: tuple[float, ...]
    uniforms: tuple[float, ...]
    accepted: int
    token: int
    last: Literal["correction", "bonus"]


def verify(target: Laws, draft: Laws, tokens: Sequence[int], uniforms: Sequence[float]) -> Verdict:
    """Check k drafted tokens from left to right, then correct or add a bonus token.

    target: k + 1 laws, each given the drafts before it. draft: the k laws that the tokens were drawn from. uniforms:
    k + 1 numbers in [0, 1), one per draft and one for the last token.
    Raises ValueError where a drafted token has no mass in its own law: it cannot have been drawn from it.
    Source: leviathan2022, Algorithm 1; chen2023, Algorithm 2.
    """
    p, q = target.of(tokens), draft.of(tokens)
    if min(q, default=1.0) <= 0:
        raise ValueError(f"tokens={list(tokens)} have draft probabilities {q}: all must be above 0")
    for position, token in enumerate(tokens):
        if not uniforms[position] < acceptance_probability(p[position], q[position]):
            last = correct(target, draft, position, rejected=token, u=uniforms[-1])
            if last is not None:  # else p = q up to rounding, and what p = q drafts is accepted
                return Verdict(tuple(p), tuple(q), tuple(uniforms[: position + 1]), position, last, "correction")
    bonus = target.draw(len(tokens), uniforms[-1])
    return Verdict(tuple(p), tuple(q), tuple(uniforms[:-1]), len(tokens), bonus, "bonus")


def acceptance_probability(p: float, q: float) -> float:
    """min(1, p/q) for q > 0. Source: leviathan2022, Algorithm 1.

    >>> acceptance_probability(0.2, 0.5)
    0.4
    """
    return min(1.0, p / q)


def correct(target: Laws, draft: Laws, position: int, *, rejected: int, u: float) -> int | None:
    """A token from the residual law at `position`, where `rejected` was refused; None where the residual is empty."""
    if target.probabilities is None:
        return target.sure[position]  # a sure target refuses everything else, and its residual is that token
    p = target.probabilities[position]
    if draft.probabilities is not None:
        rest = residual(p, draft.probabilities[position])
    else:
        rest = p.clone()
        rest[rejected] = 0  # [p − q]₊ of a draft that was sure of this token
    return draw(rest, u) if bool(rest.any()) else None


def residual(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """[p − q]₊ without its normalisation, over the last axis. p, q: (…, V). Source: leviathan2022, Algorithm 1."""
    return (p - q).clamp_(min=0)


def draw(weights: torch.Tensor, u: float) -> int:
    """First token whose cumulative share lies above u. weights: (V,), at least one above 0; u in [0, 1).

    Raises ValueError for weights without mass, NaN among them: what a broken model would give.
    The sums are float64: over a whole vocabulary float32 ones drift by more than the smallest probabilities.
    """
    edges = weights.double().cumsum(0)
    if not edges[-1] > 0:
        raise ValueError(f"weights sum to {float(edges[-1])}: a law needs mass")
    # u times the total may round up to the total; the last token with mass is then the right one
    ends = torch.stack((edges[-1] * u, edges[-1].nextafter(edges.new_zeros(()))))
    return int(torch.searchsorted(edges, ends, right=True).amin())


def _nucleus(probabilities: torch.Tensor, top_p: float) -> torch.Tensor:
    """Zero what lies outside the smallest likeliest set with mass >= top_p, and rescale. probabilities: (T, V)."""
    if top_p >= 1:
        return probabilities
    count = min(512, probabilities.shape[-1])  # nearly always enough, and far cheaper than sorting the vocabulary
    values, index = probabilities.topk(count)
    if bool((values.sum(-1) < top_p).any()):
        values, index = probabilities.sort(dim=-1, descending=True)
    kept = torch.where(values.cumsum(-1) - values < top_p, values, 0)
    kept /= kept.sum(-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter_(-1, index, kept)
