"""Broken verification rules against an enumeration of what each of them does, and half precision against torch."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from mechanisms.distribution import Pair
from mechanisms.rejection_bias import greedy_bias
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_rules import RULE_IDS, RULES, half_ratio, output_law, rule, verdict
from tests.oracle_rejection import (
    ONE,
    SEEDED,
    ZERO,
    Law,
    emitted,
    half,
    half_accept,
    keep_chance,
    leftover,
    shares,
    total_variation,
    two_laws,
)

Outcome = tuple[Law | None, Fraction]  # law of the emitted token, share of drafts accepted


def pair_of(p: Law, q: Law) -> Pair:
    return Pair(tuple(f"t{i}" for i in range(len(p))), tuple(p), tuple(q))


def certain(law: Law) -> Law:
    """All mass on the first of the most likely tokens."""
    return [ONE if i == law.index(max(law)) else ZERO for i in range(len(law))]


def cut(law: Law, keep: int) -> Law:
    """The `keep` most likely tokens, the earlier ones first among equals, scaled to a law."""
    best: list[int] = []
    while len(best) < min(keep, len(law)):
        best.append(max((i for i in range(len(law)) if i not in best), key=lambda i: (law[i], -i)))
    return shares([x if i in best else ZERO for i, x in enumerate(law)])


def equality(p: Law, q: Law) -> Outcome:
    """The target's own sample is emitted in any case; a draft counts as accepted where it is that sample."""
    out, same = [ZERO] * len(p), ZERO
    for draft, a in enumerate(q):
        for sample, b in enumerate(p):
            out[sample] += a * b
            same += a * b if draft == sample else ZERO
    return out, same


def outcome(id: str, p: Law, q: Law, keep: int) -> Outcome:
    """What the rule called `id` emits and accepts, from its description alone."""
    if id == "equality":
        return equality(p, q)
    draft = {"argmax_draft": certain(q), "filtered_draft": cut(q, keep)}.get(id, q)
    fix = {"no_residual": p, "target_argmax": certain(p)}.get(id, leftover(p, q))

    def kept(token: int) -> Fraction:
        if id == "accept_all":
            return ONE
        if id == "target_argmax":
            return certain(p)[token]
        return (half_accept if id == "half_precision" else keep_chance)(p[token], q[token])

    return emitted(draft, kept, fix), sum((x * kept(t) for t, x in enumerate(draft) if x), ZERO)


@pytest.mark.parametrize("id", RULE_IDS)
@SEEDED
@given(laws=two_laws(1, 5), keep=st.integers(1, 4))
def test_output_law_equals_enumeration(id: str, laws: tuple[Law, Law], keep: int) -> None:
    """Law, accepted share and distance follow from the rule's description, and the distance is 0 iff P = p."""
    p, q = laws
    assume(id != "equality" or sum(a * b for a, b in zip(p, q, strict=True)) < 1)
    table = output_law(pair_of(p, q), rule(id), keep=keep)
    law, accepted = outcome(id, p, q, keep)
    assert list(table.column("output_law")) == (law or [None] * len(p))
    assert verdict(table).value(0, "accepted_share") == accepted
    if law is None:
        assert verdict(table).value(0, "distance") is None
        return
    assert list(table.column("difference")) == [a - b for a, b in zip(law, p, strict=True)]
    distance = verdict(table).value(0, "distance")
    assert distance == total_variation(law, p)
    assert (distance == 0) == (law == p)


@pytest.mark.parametrize("id", ["exact", "equality"])
@SEEDED
@given(laws=two_laws(2, 5))
def test_exact_rules_emit_the_target(id: str, laws: tuple[Law, Law]) -> None:
    """Rejection sampling and the equality rule emit p for every pair."""
    assume(max(laws[0]) < 1)
    table = output_law(pair_of(*laws), rule(id))
    assert list(table.column("output_law")) == laws[0]


@pytest.mark.parametrize("id", RULE_IDS)
def test_one_certain_token_admits_every_rule(id: str) -> None:
    """Where p and q are sure of the same token, every rule emits it and accepts it always."""
    table = output_law(pair_of([ONE, ZERO], [ONE, ZERO]), rule(id))
    assert table.column("output_law") == (1, 0)
    assert verdict(table).value(0, "accepted_share") == 1


def test_equality_corrects_with_the_samples_that_differ() -> None:
    """The correction of the equality rule is the target's sample given that it is not the draft.

    By hand for p = (1/2, 1/2), q = (1/4, 3/4): draft B with sample A has 3/8, draft A with sample B 1/8.
    """
    half_ = Fraction(1, 2)
    table = output_law(pair_of([half_, half_], [Fraction(1, 4), Fraction(3, 4)]), rule("equality"))
    assert table.column("corrected_with") == (Fraction(3, 4), Fraction(1, 4))


@st.composite
def classes(draw: st.DrawFn) -> Pair:
    """A pair with rows that stand for one to four equal tokens."""
    p, q = draw(two_laws(2, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=len(p), max_size=len(p)))
    return Pair(tuple(f"t{i}" for i in range(len(p))), tuple(p), tuple(q), tuple(sizes))


@pytest.mark.parametrize("which", RULES, ids=RULE_IDS)
@SEEDED
@given(pair=classes(), keep=st.integers(1, 5))
def test_classes_give_the_totals_of_their_tokens(which: object, pair: Pair, keep: int) -> None:
    """A class of equal tokens emits what its tokens emit together; a rule that needs one favourite refuses it."""
    assume(sum(a * b / m for a, b, m in zip(pair.p, pair.q, pair.multiplicity, strict=True)) < 1)
    id: str = which.id  # type: ignore[attr-defined]
    judged = {"argmax_draft": "q", "target_argmax": "p"}.get(id)
    if judged and pair.multiplicity[pair.favourite(judged)] > 1:  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no single favourite"):
            output_law(pair, rule(id), keep=keep)
        return
    whole, parts = output_law(pair, rule(id), keep=keep), output_law(pair.single(), rule(id), keep=keep)
    split = iter(parts.column("output_law"))
    sizes = rule(id).rows(pair, keep).multiplicity  # a filter may cut a class in two
    for total, size in zip(whole.column("output_law"), sizes, strict=True):
        each = [next(split) for _ in range(size)]
        assert (total is None and set(each) == {None}) or total == sum(each)  # type: ignore[arg-type]
    assert verdict(whole).value(0, "accepted_share") == verdict(parts).value(0, "accepted_share")
    assert verdict(whole).cells == verdict(parts).cells


@pytest.mark.parametrize("keep", [1, 3, 4, 5, 130, 131])
def test_filter_through_a_class_keeps_the_distance(keep: int) -> None:
    """A filter that keeps some tokens of a class is as far from p as it is on the single tokens."""
    pair = PRESETS["heavy_tail"]
    whole, parts = (verdict(output_law(x, rule("filtered_draft"), keep=keep)) for x in (pair, pair.single()))
    assert whole.value(0, "distance") == parts.value(0, "distance")


@SEEDED
@given(laws=two_laws(1, 8))
def test_half_ratio_equals_binary16(laws: tuple[Law, Law]) -> None:
    """The ratio equals torch's float16 and a rounding of rationals."""
    for a, b in zip(*laws, strict=True):
        x, y = (torch.tensor(float(v), dtype=torch.float64).to(torch.float16) for v in (a, b))
        ratio = (x / (y + 1e-8)).item()
        ours = half_ratio(a, b)
        assert ours is None if ratio != ratio else ours == min(Fraction(1), Fraction(min(ratio, 2.0)))
        assert (ours or ZERO) == half_accept(a, b)


def test_half_precision_never_accepts_zero_over_zero() -> None:
    """A drafted token whose p and q vanish in binary16 is always rejected, although p/q = 4 there."""
    tiny = Fraction(1, 10**8)
    p, q = [tiny, ONE / 2 - tiny, ONE / 2], [tiny / 4, ONE / 2, ONE / 2 - tiny / 4]
    table = output_law(pair_of(p, q), rule("half_precision"))
    law, accepted = outcome("half_precision", p, q, 1)
    assert table.column("output_law") == tuple(law or [])
    assert table.value(0, "accepted_mass") == 0 and verdict(table).value(0, "accepted_share") == accepted < 1


@pytest.mark.parametrize(
    ("p", "q", "ratio"),
    [("1/3", "2/3", "1/2"), ("0", "1e-8", None), ("1e-8", "1e-9", None), ("1e-7", "1e-8", "1"), ("0", "0.5", "0"),
     ("6e-8", "1.2e-7", "1/2"), ("1e-5", "0.3", "0.0000333786010742187500")],
    ids=["third", "zero-over-zero", "both-vanish", "only-q-vanishes", "zero", "subnormal", "small"],
)  # fmt: skip
def test_half_ratio_at_the_edges(p: str, q: str, ratio: str | None) -> None:
    """What vanishes in binary16 counts as 0 (values from the spacing 2⁻²⁴ near 0)."""
    wanted = None if ratio is None else Fraction(ratio)
    assert half_ratio(Fraction(p), Fraction(q)) == wanted
    assert half_accept(Fraction(p), Fraction(q)) == (wanted or 0)


def test_binary16_oracle_equals_torch_everywhere() -> None:
    """The oracle rounds as torch does at every third midpoint of float16 numbers up to 1, and just above it."""
    codes = torch.arange(0, 0x3C00, dtype=torch.int16).view(torch.float16).double()
    below, above = codes[:-1:3], codes[1::3]
    for offset in (0.5, 0.501):
        points = below + (above - below) * offset
        wanted = points.to(torch.float16).double().tolist()
        assert [half(Fraction(x)) for x in points.tolist()] == wanted


@pytest.mark.parametrize("pair", PRESETS.values(), ids=PRESETS)
def test_greedy_bias_equals_enumeration(pair: Pair) -> None:
    """The listing's acceptance, the honest one, the point mass's and the law emitted follow from the favourite."""
    p, q = list(pair.single().p), list(pair.single().q)
    star = q.index(max(q))
    law = emitted(certain(q), lambda t: keep_chance(p[t], q[t]), leftover(p, q))
    assert law is not None
    wanted = (p[star], q[star], keep_chance(p[star], q[star]), 1 - total_variation_of(p, q), p[star], law[star])
    table = greedy_bias(pair)
    assert tuple(c[0] for c in table.cells) == (*wanted, total_variation_of(law, p))


def total_variation_of(p: Law, q: Law) -> Fraction:
    """Half of the absolute differences, for laws with too many tokens to list all events."""
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), ZERO) / 2


def test_bad_arguments_are_errors() -> None:
    """An empty filter, an unknown rule and a favourite that is a class are ValueErrors."""
    pair = PRESETS["heavy_tail"]
    with pytest.raises(ValueError, match="keep=0"):
        output_law(pair, rule("filtered_draft"), keep=0)
    with pytest.raises(ValueError):
        rule("none")
    swapped = Pair(("A", "tail"), (ONE / 2, ONE / 2), (Fraction(1, 4), Fraction(3, 4)), (1, 2))
    with pytest.raises(ValueError, match="stands for 2 tokens"):
        greedy_bias(swapped)


def test_rule_that_breaks_down_has_no_distance() -> None:
    """Where a draft is rejected although p = q leaves nothing to correct with, law and distance are undefined."""
    tiny = Fraction(1, 10**8)
    pair = Pair(("A", "B"), (tiny, 1 - tiny), (tiny, 1 - tiny))
    law = output_law(pair, rule("half_precision"))
    assert law.column("output_law") == (None, None)
    assert verdict(law).value(0, "distance") is None
