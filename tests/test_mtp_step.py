"""One step and the descent: against torch, central differences, the source document's numbers, and their promises."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.mtp_boosting import STEPS, descent, state, totals, trajectory
from mechanisms.mtp_cases import CASES, Case, Drafts
from mechanisms.mtp_check import WIDTHS, check
from mechanisms.mtp_field import GAPS, TARGETS, field
from mechanisms.mtp_temperature import TEMPERATURES, soft_totals, softened
from mechanisms.quantity import as_fraction
from mechanisms.table import Table
from tests.oracle_mtp import LOGITS, SEEDED, alpha, autograd, cases, hybrid, kl, nla, soft_kl, tv

EXACT = 1e-12  # double precision against fifty digits


def floats(table: Table, name: str) -> list[float]:
    return [float(as_fraction(x)) for x in table.column(name) if x is not None]


def of(law: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> Case:
    return Case(tuple("ABCDEFGH"[: len(law[0])]), *law)


@SEEDED
@given(cases())
def test_state_equals_torch(law: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    """Softmax, gradient of KL by autograd, KL, TV and acceptance of any teacher and logits."""
    case = of(law)
    table = state(case, case.z, rate=Fraction(1, 5))
    sums = totals(table)
    value, gradient = autograd(kl, *law)
    wanted = torch.softmax(torch.tensor([float(x) for x in case.z], dtype=torch.float64), -1)
    assert floats(table, "draft_probability") == pytest.approx(wanted.tolist(), abs=EXACT)
    assert floats(table, "gradient") == pytest.approx(gradient, abs=EXACT)
    assert floats(sums, "kl_divergence") == pytest.approx([value], abs=EXACT)
    assert floats(sums, "total_variation") == pytest.approx([autograd(tv, *law)[0]], abs=EXACT)
    assert floats(sums, "acceptance_rate") == pytest.approx([autograd(alpha, *law)[0]], abs=EXACT)
    norm = torch.linalg.vector_norm(torch.tensor(gradient, dtype=torch.float64))
    assert floats(sums, "gradient_norm") == pytest.approx([float(norm)], abs=EXACT)


@SEEDED
@given(cases())
def test_acceptance_is_one_minus_tv_and_pinsker_holds(law: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    """α + TV = 1 and TV ≤ √(KL/2) for every pair, to forty-five digits."""
    sums = totals(state(of(law), law[1], rate=Fraction(1)))
    rate, distance, bound = (
        sums.value(0, n) for n in ("acceptance_rate", "total_variation", "pinsker_bound")
    )  # fmt: skip
    assert rate is not None and distance is not None and bound is not None
    assert abs(rate + distance - 1) < 1e-45 and distance <= bound + 1e-45


@settings(SEEDED, max_examples=12)
@given(cases(), st.sampled_from([Fraction(x) for x in ("0.05", "0.2", "1", "2")]))
def test_descent_equals_torch_optimiser(law: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], rate: Fraction) -> None:
    """Twenty steps of torch.optim.SGD on KL end at the same logits; KL never rises, as η ≤ 2 is below 2/L = 4."""
    case = of(law)
    states = descent(case, rate=rate)
    logits = torch.tensor([float(x) for x in case.z], dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([logits], lr=float(rate))
    target = torch.tensor([float(x) for x in case.p], dtype=torch.float64)
    for table in states:
        assert floats(table, "logit") == pytest.approx(logits.tolist(), abs=1e-11)
        optimiser.zero_grad()
        kl(target, logits).backward()
        optimiser.step()
    values = floats(trajectory(states), "kl_divergence")
    assert len(values) == STEPS + 1 and all(b <= a + 1e-15 for a, b in pairwise(values))


def test_step_of_the_source_document() -> None:
    """q(0) 0.574443 → 0.596336, KL 0.113953 → 0.094593, acceptance 0.774443 → 0.796336, as printed."""
    before, after = descent(CASES["seed"], rate=Fraction(1, 5), steps=1)
    for table, printed in ((before, (0.574443, 0.113953, 0.774443)), (after, (0.596336, 0.094593, 0.796336))):
        found = (
            floats(table, "draft_probability")[0],
            floats(totals(table), "kl_divergence")[0],
            floats(totals(table), "acceptance_rate")[0],
        )
        assert found == pytest.approx(printed, abs=5e-7)


def test_equal_draft_stays() -> None:
    """Where q = p the gradient, KL and TV are exactly 0 and no step moves anything."""
    states = descent(CASES["equal"], rate=Fraction(1))
    assert all(set(floats(s, "gradient")) == {0.0} for s in states)
    assert floats(totals(states[-1]), "acceptance_rate") == [1.0]


@SEEDED
@given(cases(5), st.sampled_from([Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6)]))
def test_difference_quotients(law: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], width: Fraction) -> None:
    """The quotient in fifty digits misses autograd's gradient by at most h²/12, as |L'''| ≤ 1/2 for a softmax."""
    table = check(of(law), width=width)
    for quotient, gradient in zip(floats(table, "difference_quotient"), autograd(kl, *law)[1], strict=True):
        assert abs(quotient - gradient) <= float(width) ** 2 / 12 + EXACT
    for miss in floats(table, "quotient_error"):
        assert abs(miss) <= float(width) ** 2 / 12


def test_double_precision_has_a_best_width() -> None:
    """In double precision a middle width is best: too wide errs by h², too narrow by rounding over h."""
    misses = [max(map(abs, floats(check(CASES["seed"], width=w), "double_error"))) for w in WIDTHS]
    best = misses.index(min(misses))
    assert 4 <= best <= 7 and misses[0] > 1e-3 and misses[-1] > 1e-7
    narrow = floats(check(CASES["seed"], width=WIDTHS[-1]), "quotient_error")
    assert max(map(abs, narrow)) < 1e-24


@SEEDED
@given(cases(), st.sampled_from(TEMPERATURES))
def test_temperature_equals_torch(law: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], heat: Fraction) -> None:
    """T² KL(p_T‖q_T) and its gradient by autograd; without T² the gradient is T² times smaller."""
    table = softened(of(law), temperature=heat)
    value, gradient = autograd(soft_kl, *law, float(heat))
    assert floats(soft_totals(table), "soft_loss") == pytest.approx([value], abs=1e-11)
    assert floats(table, "soft_gradient") == pytest.approx(gradient, abs=EXACT)
    bare = [g / float(heat) ** 2 for g in gradient]
    assert floats(table, "bare_gradient") == pytest.approx(bare, abs=EXACT)


def test_temperature_step_published() -> None:
    """One step from the seed's logits at T = 1, 2, 4 gives 0.596336, 0.599502, 0.600434 (checked research notes)."""
    found = [floats(softened(CASES["seed"], temperature=Fraction(t)), "draft_after")[0] for t in (1, 2, 4)]
    assert found == pytest.approx([0.596336, 0.599502, 0.600434], abs=5e-7)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_field_equals_torch(target: Fraction) -> None:
    """Both coordinates of every gradient of two tokens, for every gap; the second is minus the first."""
    table = field(target)
    for i, gap in enumerate(GAPS):
        law = ((target, 1 - target), (Fraction(gap), Fraction(0)))
        for name, loss in (("kl_pull", kl), ("tv_pull", tv), ("nla_pull", nla), ("hybrid_pull", hybrid)):
            first, second = autograd(loss, *law)[1]
            assert floats(table, name)[i] == pytest.approx(first, abs=EXACT)
            assert second == pytest.approx(-first, abs=EXACT)


@SEEDED
@given(st.lists(LOGITS, min_size=2, max_size=8))
def test_losses_ignore_a_common_shift(z: list[Fraction]) -> None:
    """Adding one number to all logits changes no probability, so gradients sum to 0."""
    n = len(z)
    case = Case(tuple("ABCDEFGH"[:n]), (Fraction(1, n),) * n, tuple(z))
    table = state(case, z, rate=Fraction(1))
    moved = state(case, [x + 7 for x in z], rate=Fraction(1))
    assert floats(table, "draft_probability") == pytest.approx(floats(moved, "draft_probability"), abs=1e-15)
    assert abs(sum(floats(table, "gradient"))) < 1e-15


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: state(CASES["seed"], CASES["seed"].z, rate=Fraction(0)), "rate"),
        (lambda: check(CASES["seed"], width=Fraction(0)), "width"),
        (lambda: softened(CASES["seed"], temperature=Fraction(0)), "temperature"),
        (lambda: field(Fraction(1)), "target"),
        (lambda: Case(("A",), (Fraction(1),), (Fraction(0),)), "tokens"),
        (lambda: Case(("A", "B"), (Fraction(1, 2),) * 2, (Fraction(101), Fraction(0))), "z"),
        (lambda: Case(("A", "B"), (Fraction(1),) * 2, (Fraction(0),) * 2), "p"),
        (lambda: Drafts(("A", "B"), (Fraction(1, 2),) * 2, (Fraction(1), Fraction(0)), (Fraction(1, 2),) * 2), "a"),
    ],
)  # fmt: skip
def test_impossible_arguments_are_named(make: object, name: str) -> None:
    """A value that is not allowed is a ValueError that begins with its name."""
    with pytest.raises(ValueError, match=f"^{name}="):
        make()  # type: ignore[operator]
