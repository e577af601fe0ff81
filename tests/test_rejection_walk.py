"""Rounds driven by uniforms: exact integration over grids, and transformers fed with the same uniforms."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from transformers.generation.utils import _speculative_sampling

from mechanisms.distribution import Pair, inverse_cdf
from mechanisms.rejection_ledger import summary, two_draft_length
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_walk import Round, acceptance, correction, verify_round
from tests.oracle_rejection import Outputs, completed, independent, rounds, shares


def small_pair(p: str, q: str) -> Pair:
    """Weights of three tokens 0, 1, 2."""
    target, draft = ([int(x) for x in text.split()] for text in (p, q))
    return Pair(("0", "1", "2"), tuple(shares(target)), tuple(shares(draft)))


CASES = {
    "overlap": [("1 2 1", "2 1 1")] * 2,
    "zero-in-draft": [("2 1 1", "3 1 0")] * 2,
    "zero-in-target": [("0 3 1", "2 1 1")] * 2,
    "disjoint": [("0 1 1", "1 0 0")] * 2,
    "equal": [("1 2 1", "1 2 1")] * 2,
    "unlike": [("1 2 1", "2 1 1"), ("3 1 0", "1 1 2")],
    "second-equal": [("3 1 1", "1 1 3"), ("1 2 2", "1 2 2")],
    "one-draft": [("1 2 2", "3 1 1")],
    "three-drafts": [("1 1 0", "1 0 1"), ("1 0 1", "0 1 1"), ("1 1 0", "1 1 0")],
}


def grid(n: int) -> list[Fraction]:
    """The left edges of n equal cells: a uniform below k/n holds on exactly k of them, on ties as well."""
    return [Fraction(i, n) for i in range(n)]


def integrate(pairs: list[Pair]) -> Counter[tuple[tuple[int, ...], bool]]:
    """Exact law of (output, bonus) of `verify_round`: each decision changes only at multiples of its grid's step."""
    drafts = [grid(math.lcm(*(x.denominator for x in pair.q))) for pair in pairs]
    chances = [[a / b for a, b in zip(pair.p, pair.q, strict=True) if b] for pair in pairs]
    verdicts = [grid(math.lcm(*(c.denominator for c in row))) for row in chances]
    sizes = [1]
    for pair in pairs:
        gain = [max(a - b, Fraction(0)) for a, b in zip(pair.p, pair.q, strict=True)]
        sizes += [(g / sum(gain)).denominator for g in gain if g]
    last = grid(
        math.lcm(*sizes, *(x.denominator for x in pairs[-1].p))
    )  # one grid for correction and bonus: never both
    axes = [*drafts, *verdicts, last]
    weight = Fraction(1, math.prod(len(axis) for axis in axes))
    law: Counter[tuple[tuple[int, ...], bool]] = Counter()
    for point in product(*axes):
        done = run(pairs, point[: len(pairs)], point[len(pairs) : -1], point[-1], point[-1])
        law[tuple(int(t) for t in done.output), done.last == "bonus"] += weight
    return law


def run(pairs: list[Pair], drafts: tuple[Fraction, ...], verdicts: tuple[Fraction, ...], *ends: Fraction) -> Round:
    return verify_round(
        pairs, draft_uniforms=drafts, accept_uniforms=verdicts, correction_uniform=ends[0], bonus_uniform=ends[1]
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_integrated_round_emits_the_target(case: list[tuple[str, str]]) -> None:
    """Over all uniforms a round has the enumerated law, and completed by the target it is the target's joint law."""
    pairs = [small_pair(*texts) for texts in case]
    law = integrate(pairs)
    outputs: Outputs = Counter()
    for (out, _), weight in law.items():
        outputs[out] += weight
    targets = [list(pair.p) for pair in pairs]
    assert outputs == rounds(targets, [list(pair.q) for pair in pairs], targets[-1])
    assert completed(outputs, len(pairs) + 1, [*targets, targets[-1]]) == independent([*targets, targets[-1]])
    for (out, bonus), weight in law.items():
        assert bonus == (len(out) == len(pairs) + 1) and weight > 0


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if len(case) == 2 and case[0] == case[1]])
def test_integrated_length_equals_the_table(name: str) -> None:
    """The number of tokens of an integrated round has the law that two_draft_length gives for its acceptance rate."""
    pairs = [small_pair(*texts) for texts in CASES[name]]
    lengths: Counter[int] = Counter()
    for (out, _), weight in integrate(pairs).items():
        lengths[len(out)] += weight
    table = two_draft_length(summary(pairs[0]).value(0, "acceptance_rate"))  # type: ignore[arg-type]
    assert [lengths[n] for n in (1, 2, 3)] == [table.value(0, x) for x in ("one_token", "two_tokens", "three_tokens")]
    assert table.value(0, "tokens_per_round") == sum(n * w for n, w in lengths.items())


def transformers_round(
    monkeypatch: pytest.MonkeyPatch, pairs: list[Pair], drafts: list[int], u: np.ndarray
) -> list[int]:
    """Tokens that transformers emits for these drafts; u holds one uniform per draft and one for the last token."""
    p, q = (torch.tensor([[float(x) for x in getattr(pair, n)] for pair in pairs], dtype=torch.float64) for n in "pq")

    def pick(weights: torch.Tensor, num_samples: int) -> torch.Tensor:
        edges = torch.cumsum(weights.flatten(), 0)
        return torch.searchsorted(edges, torch.tensor([u[-1]]), right=True).reshape(1, num_samples)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "rand_like", lambda like: torch.tensor(u[:-1]).reshape(like.shape))
        patch.setattr(torch, "multinomial", pick)
        target = torch.cat([p, p[-1:]]).log()[None]
        out, _ = _speculative_sampling(torch.tensor([[0, *drafts]]), q.log()[None], len(drafts), target)
    return out.flatten().tolist()


@pytest.mark.parametrize("seed", range(30), ids=lambda s: f"seed{s}")
def test_round_equals_transformers(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """With the same drafts and uniforms transformers emits our tokens; a tie within rounding has a chance of 1e-15."""
    rng = np.random.default_rng(seed)
    length, tokens = int(rng.integers(1, 5)), int(rng.integers(2, 8))
    pairs = []
    for _ in range(length):
        weights = (
            rng.integers(1, 20, (2, tokens))
            if seed % 2
            else rng.integers(0, 4, (2, tokens)) + np.eye(2, tokens, dtype=int)
        )
        pairs.append(Pair(tuple(map(str, range(tokens))), *(tuple(shares(row.tolist())) for row in weights)))
    for u in rng.random((20, 2 * length + 1)):
        exact = tuple(Fraction(float(x)) for x in u)
        done = run(pairs, exact[:length], exact[length:-1], exact[-1], exact[-1])
        assert done.accepted_tokens == len(done.output) - 1 == sum(step.accepted for step in done.steps)
        wanted = transformers_round(monkeypatch, pairs, [int(t) for t in done.drafts], u[length:])
        assert [int(t) for t in done.output] == wanted


def test_tie_rules() -> None:
    """A draft is accepted only below its acceptance probability, and a tie of a cumulative sum goes to the next row."""
    pair = small_pair("1 2 1", "2 1 1")
    assert acceptance(pair, 0) == Fraction(1, 2)
    assert [run([pair], (Fraction(0),), (u,), Fraction(0), Fraction(0)).steps[0].accepted for u in (
        Fraction(1, 2) - Fraction(1, 10**30), Fraction(1, 2))] == [True, False]  # fmt: skip
    assert [inverse_cdf(Fraction(u), pair.p) for u in ("0", "1/4", "0.7499", "3/4")] == [0, 1, 1, 2]
    assert inverse_cdf(Fraction(0), [Fraction(0), Fraction(1)]) == 1  # a token without mass is never drawn


def test_correction_uses_the_residual() -> None:
    """The residual of the preset with a zero in the draft is (0, 1/6, 5/6), worked by hand from 0.05 and 0.25."""
    pair = PRESETS["zero_in_draft"]
    assert [correction(pair, Fraction(u)) for u in ("0", "0.1666", "1/6", "0.9999")] == [1, 1, 2, 2]


ZERO, ONE_THIRD = Fraction(0), Fraction(1, 3)


@pytest.mark.parametrize(
    ("drafts", "verdicts", "fix", "bonus"),
    [((Fraction(1),), (ZERO,), ZERO, ZERO), ((ZERO,), (Fraction(-1, 9),), ZERO, ZERO),
     ((ZERO,), (ZERO,), Fraction(1), ZERO), ((ZERO,), (ZERO,), ZERO, Fraction(1)),
     ((ZERO, ZERO), (ZERO,), ZERO, ZERO), ((ZERO,), (), ZERO, ZERO)],
    ids=["draft-one", "verdict-negative", "correction-one", "bonus-one", "two-drafts-one-pair", "no-verdict"],
)  # fmt: skip
def test_bad_uniforms_are_errors(
    drafts: tuple[Fraction, ...], verdicts: tuple[Fraction, ...], fix: Fraction, bonus: Fraction
) -> None:
    """Uniforms outside [0, 1) and lists of unlike lengths are ValueErrors."""
    with pytest.raises(ValueError):
        run([small_pair("1 2 1", "2 1 1")], drafts, verdicts, fix, bonus)


def test_impossible_requests_are_errors() -> None:
    """A token that is never drafted has no acceptance, p = q no correction, and no row lies beyond the sum."""
    with pytest.raises(ValueError, match="row=2"):
        acceptance(PRESETS["zero_in_draft"], 2)
    with pytest.raises(ValueError, match="residual"):
        correction(PRESETS["identical"], ONE_THIRD)
    with pytest.raises(ValueError, match="u=1"):
        inverse_cdf(Fraction(1), [ONE_THIRD] * 3)
