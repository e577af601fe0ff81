"""One verification round driven by given uniforms: draft, check left to right, correct or add a bonus.

Teaches: that a round is a function of its uniforms, and which comparison decides what. Tie rules: a token is the first
whose cumulative sum lies above u; a draft is accepted iff u < a, so a = 1 always accepts and a = 0 never.
Leaves out: conditional laws that change with the prefix; each position uses the pair that it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from mechanisms.distribution import Pair, inverse_cdf
from mechanisms.rejection_ledger import ledger


@dataclass(frozen=True, slots=True)
class Step:
    """One checked position: the drafted row, its acceptance probability and whether u lay below it."""

    draft: int
    acceptance_probability: Fraction
    accepted: bool


@dataclass(frozen=True, slots=True)
class Round:
    """`steps` up to the first rejection; `output`: accepted drafts and the last token; `last` says what that was."""

    drafts: tuple[str, ...]
    steps: tuple[Step, ...]
    output: tuple[str, ...]
    last: Literal["correction", "bonus"]

    @property
    def accepted_tokens(self) -> int:
        return len(self.output) - 1


@lru_cache(maxsize=256)
def acceptance(pair: Pair, row: int) -> Fraction:
    """min(1, p/q) of a drafted row. Raises ValueError where q = 0: such a token is never drafted."""
    cell = ledger(pair).value(row, "acceptance_probability")
    if cell is None:
        raise ValueError(f"row={row}: q is 0 there, so it cannot have been drafted")
    assert isinstance(cell, Fraction)
    return cell


@lru_cache(maxsize=256)
def _correction_masses(pair: Pair) -> tuple[Fraction, ...]:
    return tuple(m for m in ledger(pair).column("correction_mass") if isinstance(m, Fraction))


def correction(pair: Pair, u: Fraction) -> int:
    """Row of the residual at u in [0, 1). Raises ValueError where p = q: a correction is then never needed."""
    weights = _correction_masses(pair)
    if not sum(weights):
        raise ValueError("the residual of p = q does not exist, and nothing is ever rejected")
    return inverse_cdf(u * sum(weights), weights)


def verify_round(
    pairs: Sequence[Pair],
    *,
    draft_uniforms: Sequence[Fraction],
    accept_uniforms: Sequence[Fraction],
    correction_uniform: Fraction,
    bonus_uniform: Fraction,
) -> Round:
    """Run one round; pairs: one (single-token) pair per draft position, the bonus uses the last one.

    All uniforms lie in [0, 1). The two-draft walk of the lesson has the same pair twice.

    >>> from mechanisms.rejection_presets import PRESETS
    >>> half = Fraction(1, 2)
    >>> verify_round([PRESETS["identical"]], draft_uniforms=[half], accept_uniforms=[half],
    ...              correction_uniform=half, bonus_uniform=half).output
    ('A', 'A')

    Source: leviathan2022, Algorithm 1; chen2023, Algorithm 2. Both draw the uniforms; here they are arguments.
    """
    for u in (*draft_uniforms, *accept_uniforms, correction_uniform, bonus_uniform):
        if not 0 <= u < 1:
            raise ValueError(f"uniform {u}: must lie in [0, 1)")
    drafts = [inverse_cdf(u, pair.q) for u, pair in zip(draft_uniforms, pairs, strict=True)]
    names = tuple(pair.tokens[d] for d, pair in zip(drafts, pairs, strict=True))
    steps: list[Step] = []
    for d, u, pair in zip(drafts, accept_uniforms, pairs, strict=True):
        a = acceptance(pair, d)
        steps.append(Step(d, a, u < a))
        if not steps[-1].accepted:
            last = pair.tokens[correction(pair, correction_uniform)]
            return Round(names, tuple(steps), (*names[: len(steps) - 1], last), "correction")
    bonus = pairs[-1].tokens[inverse_cdf(bonus_uniform, pairs[-1].p)]
    return Round(names, tuple(steps), (*names, bonus), "bonus")
