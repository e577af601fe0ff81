"""Falling acceptance, the trace's figures, overlap and temperature against enumerations and other libraries."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from mechanisms.distribution import Pair
from mechanisms.economics_decay import CHAINS, PLUGS, chain, chain_totals, rate_of
from mechanisms.economics_markov import COUPLINGS, two_step_totals, two_steps
from mechanisms.economics_metrics import TRACES, metrics, positions
from mechanisms.economics_overlap import (
    PAIRS,
    RIVALS,
    SHAPES,
    TAILS,
    TARGET_LAW,
    heated,
    heated_rate,
    overlap,
    overlap_summary,
    shaped,
)
from mechanisms.quantity import decimal_text
from tests.oracle_economics import SEEDED, mean_accepted
from tests.oracle_rejection import total_variation, two_laws
from tests.test_speculation_economics import cell

RATES = st.lists(st.fractions(0, 1, max_denominator=20), min_size=1, max_size=6)


@given(RATES, st.sampled_from(PLUGS))
@SEEDED
def test_chain_is_the_mean_over_all_fates(rates: list[Fraction], which: str) -> None:
    """Tokens per round with rates of their own, and with the one rate put in, over all 2^n fates."""
    table = chain(rates, which)
    totals, plugged = chain_totals(table), rate_of(rates, which)
    assert cell(totals, "tokens_per_round") == 1 + mean_accepted(rates)
    assert cell(totals, "tokens_constant") == 1 + mean_accepted([plugged] * len(rates))
    assert cell(totals, "accepted_per_proposed") == mean_accepted(rates) / len(rates)
    for j in range(1, len(rates) + 1):
        assert cell(table, "tokens_falling", j - 1) == 1 + mean_accepted(rates[:j])
        assert cell(table, "prefix_survival", j - 1) == math.prod(rates[:j])


@pytest.mark.parametrize("which", [c for c in CHAINS if c.printed], ids=lambda c: c.id)
def test_published_chains_recompute(which: object) -> None:
    """FastMTP prints 2.73 tokens per round, DFlash 2 prints 4.27 (which is 4.275 from its rounded rates)."""
    ours = cell(chain_totals(chain(which.rates)), "tokens_per_round")  # type: ignore[attr-defined]
    assert abs(ours - Fraction(which.printed)) <= Fraction(1, 200)  # type: ignore[attr-defined]


def test_seven_percent_by_position() -> None:
    """The source document's falling rates by hand: 3.082 tokens, the closed form with the first rate 3.689."""
    totals = chain_totals(chain(CHAINS[0].rates))
    assert decimal_text(cell(totals, "tokens_per_round"), 3) == "3.082"
    assert decimal_text(cell(totals, "tokens_constant"), 3) == "3.689"


@given(st.integers(1, 5).flatmap(lambda g: st.tuples(st.just(g), st.lists(st.integers(0, g), min_size=1, max_size=12))))
@SEEDED
def test_metrics_count_the_drafts_one_by_one(case: tuple[int, list[int]]) -> None:
    """An accept mask cut at the first rejection by torch's cumprod gives the same counts and quotients."""
    gamma, lengths = case
    accepts = torch.tensor([[int(j < n) for j in range(gamma)] for n in lengths])
    kept = accepts.cumprod(dim=1)
    seen = torch.cat([torch.ones(len(lengths), 1, dtype=kept.dtype), kept[:, :-1]], dim=1)
    table, totals = positions(lengths, gamma), metrics(lengths, gamma)
    assert [int(x) for x in table.column("times_accepted") if x is not None] == kept.sum(0).tolist()
    assert [int(x) for x in table.column("times_verified") if x is not None] == seen.sum(0).tolist()
    assert cell(totals, "accepted_per_proposed") == Fraction(int(kept.sum()), kept.numel())
    assert cell(totals, "accepted_per_verified") == Fraction(int(kept.sum()), int(seen.sum()))
    assert cell(totals, "tokens_per_round") == 1 + Fraction(int(kept.sum()), len(lengths))
    assert cell(totals, "tokens_per_second") == 40 * cell(totals, "tokens_per_round")
    for j in range(gamma):
        reached = int(seen.sum(0)[j])
        rate = table.value(j, "conditional_acceptance")
        assert rate == (Fraction(int(kept.sum(0)[j]), reached) if reached else None)


def test_traces_differ_in_one_figure_only() -> None:
    """The three traces accept equally many drafts; per verified draft they do not agree."""
    found = [metrics(t) for t in TRACES.values()]
    assert {cell(t, "accepted_per_proposed") for t in found} == {Fraction(18, 40)}
    assert len({cell(t, "accepted_per_verified") for t in found}) == len(TRACES)


@given(two_laws(least=2, most=5))
@SEEDED
def test_overlap_is_one_minus_the_largest_event_gap(laws: tuple[list[Fraction], list[Fraction]]) -> None:
    """α = 1 − TV with TV over all events; Pinsker's bound lies below, KL is SciPy's."""
    p, q = laws
    assert len(p) == len(q)
    totals = overlap_summary(overlap(Pair(tuple("ABCDE"[: len(p)]), tuple(p), tuple(q))))
    rate = cell(totals, "acceptance_rate")
    assert rate == 1 - total_variation(p, q) == cell(totals, "one_minus_distance")
    assert cell(totals, "equality_rate") == sum(
        a * b for (i, a), (j, b) in itertools.product(enumerate(p), enumerate(q)) if i == j
    )
    with np.errstate(divide="ignore"):
        kl = float(entropy([float(x) for x in p], [float(x) for x in q]))
    if math.isfinite(kl):
        assert math.isclose(float(totals.value(0, "kl_divergence")), kl, rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
        assert float(totals.value(0, "pinsker_floor")) <= float(rate) + 1e-12  # type: ignore[arg-type]


def test_shapes_keep_their_favourite() -> None:
    """In every shape A stays the favourite; the overlap is whole where the draft is the target."""
    for tail in TAILS:
        for share in SHAPES:
            pair = shaped(share, tail)
            assert sum(pair.q) == 1 and pair.favourite("q") == pair.favourite("p") == 0
    assert cell(overlap_summary(overlap(shaped(TARGET_LAW[0]))), "acceptance_rate") == 1


def test_rivals_by_hand() -> None:
    """The draft with the shared favourite is accepted 56 % of the time, the other one 98 %."""
    same, other = (overlap_summary(overlap(pair)) for pair in RIVALS)
    assert (cell(same, "acceptance_rate"), cell(other, "acceptance_rate")) == (Fraction("0.56"), Fraction("0.98"))
    assert (cell(same, "favourite_agrees"), cell(other, "favourite_agrees")) == (1, 0)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("heat", ["0.1", "0.7", "1", "2"])
def test_temperature_is_that_of_softmax(name: str, heat: str) -> None:
    """PyTorch's softmax of logarithms over T in double precision gives the same laws and overlap."""
    pair = PAIRS[name]
    table = heated(pair, Fraction(heat))
    laws = [torch.softmax(torch.tensor([float(x) for x in r], dtype=torch.float64).log() / float(heat), 0)
            for r in (pair.p, pair.q)]  # fmt: skip
    for row in range(3):
        assert math.isclose(float(table.value(row, "heated_target")), float(laws[0][row]), rel_tol=1e-12)  # type: ignore[arg-type]
    rate = heated_rate(table).value(0, "heated_acceptance")
    assert math.isclose(float(rate), float(torch.minimum(*laws).sum()), rel_tol=1e-12)  # type: ignore[arg-type]


@given(st.sampled_from(COUPLINGS), st.fractions(0, 1, max_denominator=12))
@SEEDED
def test_two_steps_over_all_pairs(coupling: Fraction, first: Fraction) -> None:
    """Marginal and overlap from the joint law of both tokens, pair by pair."""
    law = {0: (1 + coupling) / 2, 1: (1 - coupling) / 2}  # of "course" after "of" and after "no"
    joint = {
        (x, y): (first if x == 0 else 1 - first) * (law[x] if y == 0 else 1 - law[x]) for x in (0, 1) for y in (0, 1)
    }
    marginal = [joint[0, y] + joint[1, y] for y in (0, 1)]
    start = [first, 1 - first]
    shared = sum(min(joint[x, y], start[x] * marginal[y]) for x in (0, 1) for y in (0, 1))
    totals = two_step_totals(two_steps(coupling, first))
    assert cell(totals, "second_rate_marginal") == shared
    assert cell(totals, "second_rate_conditional") == 1


def test_two_steps_known_numbers() -> None:
    """ "of course" and "no problem", each half of the time: independent heads 2.5 tokens, a draft that knows 3."""
    totals = two_step_totals(two_steps(Fraction(1)))
    assert (cell(totals, "tokens_marginal"), cell(totals, "tokens_conditional")) == (Fraction(5, 2), 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: chain(()), "rates"),
        (lambda: chain((Fraction(2),)), "rates"),
        (lambda: rate_of((Fraction(1),), "x"), "which"),
        (lambda: positions((5,)), "lengths"),
        (lambda: positions(()), "lengths"),
        (lambda: positions((1,), 13), "gamma"),
        (lambda: metrics((1,), round_ms=Fraction(0)), "round_ms"),
        (lambda: shaped(Fraction(1, 3)), "share"),
        (lambda: shaped(Fraction(1, 2), "x"), "tail"),
        (lambda: heated(PAIRS["same_favourite"], Fraction(0)), "temperature"),
        (lambda: two_steps(Fraction(2)), "coupling"),
        (lambda: two_steps(Fraction(1), Fraction(2)), "first"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    """A value out of range is a ValueError that names the argument."""
    with pytest.raises(ValueError, match=name):
        call()  # type: ignore[operator]
