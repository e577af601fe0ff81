"""The tree of drafts and the ridge of a device against recursions, paths and counting."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from mechanisms.distribution import Pair
from mechanisms.economics_ridge import FOUR_BITS, batches, ridge_limits
from mechanisms.economics_tree import SHAPES, Text, checks, distance, joint, node, target_joint, turned
from mechanisms.economics_tree_tables import draw_tree, mask, path, tree_levels, tree_root, tree_summary, tree_walk
from mechanisms.hardware import DEVICES, Device, Figure, device
from mechanisms.rejection_presets import PRESETS
from tests.oracle_economics import SEEDED, emitted, refused
from tests.oracle_rejection import Law, two_laws
from tests.test_speculation_economics import cell


def _text(p: Law, q: Law) -> Text:
    return turned(Pair(tuple("ABCD"[: len(p)]), tuple(p), tuple(q)))


@given(two_laws(least=2, most=4), st.integers(1, 3))
@example(([Fraction(2, 5), Fraction(7, 20), Fraction(1, 4)], [Fraction(9, 10), Fraction(1, 20), Fraction(1, 20)]), 2)
@example(([Fraction(1, 4)] * 4, [Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(2, 5)]), 3)
@SEEDED
def test_node_equals_the_recursion(laws: tuple[Law, Law], width: int) -> None:
    """Masses of a node add up to the law of a recursion that knows nothing of lists, and that law is the target's."""
    p, q = laws
    accepted, corrected = node(tuple(p), tuple(q), width)
    out = [sum((a[v] for a in accepted), Fraction(0)) + corrected[v] for v in range(len(p))]
    assert out == emitted(p, q, width) == list(p)
    assert sum(corrected) == refused(p, q, width)


@given(two_laws(least=2, most=3), st.sampled_from(list(SHAPES.values())))
@SEEDED
def test_tree_keeps_the_joint_law_exactly(laws: tuple[Law, Law], widths: tuple[int, ...]) -> None:
    """Over all sequences of the tree's depth the output law is the target's: distance 0, as a fraction."""
    text = _text(*laws)
    for rule in ("exact", "replacement"):
        law, passed = joint(text, widths, rule)  # type: ignore[arg-type]
        assert law == target_joint(text, len(widths))
        assert all(a >= b for a, b in pairwise(passed))


def test_a_stale_draft_law_bends_the_output() -> None:
    """Without scaling the draft's law after a rejection the output is not the target's: a negative control."""
    text = turned(PRESETS["argmax_agrees_tv_large"])
    assert distance(joint(text, (2, 2, 1), "stale")[0], target_joint(text, 3)) > Fraction(1, 100)
    assert cell(tree_summary(text, (2, 2, 1)), "joint_distance") == 0


def test_two_candidates_by_hand() -> None:
    """p uniform over two tokens, q all on A: A accepted with ½; B, never drafted, is the correction."""
    half, zero = Fraction(1, 2), Fraction(0)
    assert node((half, half), (Fraction(1), zero), 2) == (((half, zero), (zero, zero)), (zero, half))
    made, rest = checks((half, half), (Fraction(3, 4), Fraction(1, 4)), (0, 1), "exact")
    assert [c.chance for c in made] == [Fraction(2, 3), 1] and rest == (0, 1)


@given(two_laws(least=2, most=4))
@SEEDED
def test_more_candidates_never_pass_less(laws: tuple[Law, Law]) -> None:
    """A second and third candidate raise the chance that one passes; drawing without replacement helps most."""
    text = _text(*laws)
    passed = [joint(text, (k,))[1][0] for k in (1, 2, 3)]
    assert passed == sorted(passed)
    assert joint(text, (1,))[1][0] == sum(map(min, *laws))


def test_levels_and_root_agree() -> None:
    """What the root accepts as first to third candidate is what the first level passes."""
    text = turned(PRESETS["argmax_agrees_tv_large"])
    root = tree_root(text, 2)
    accepted = sum(cell(root, f"accepted_{k}", v) for k in (1, 2, 3) for v in range(3))
    assert cell(tree_levels(text, (2, 2, 1)), "level_passed") == accepted
    assert [cell(root, "output_difference", v) for v in range(3)] == [0, 0, 0]


@given(st.integers(0, 10**6), st.sampled_from(list(SHAPES.values())))
@SEEDED
def test_mask_is_the_prefix_order(seed: int, widths: tuple[int, ...]) -> None:
    """A node sees exactly those whose path is a beginning of its own; siblings carry different tokens."""
    text = turned(PRESETS["argmax_agrees_tv_large"])
    nodes = draw_tree(text, widths, np.random.default_rng(seed))
    paths = [path(text, nodes, i).split() for i in range(len(nodes))]
    wanted = tuple(tuple(own[: len(other)] == other for other in paths) for own in paths)
    assert mask(nodes) == wanted
    assert len({tuple(x) for x in paths}) == len(nodes)


def test_drawn_trees_follow_the_target() -> None:
    """First tokens of 800 drawn and verified trees pass a chi-square test at one in a thousand (seed fixed)."""
    text = turned(PRESETS["argmax_agrees_tv_large"])
    rng, counts = np.random.default_rng(5), Counter[str]()
    for _ in range(800):
        counts[tree_walk(text, draw_tree(text, (2,), rng), rng)[1].split()[0]] += 1
    expected = [800 * float(x) for x in text.target[0]]
    assert chisquare([counts[t] for t in text.tokens], expected).pvalue > 1e-3


@pytest.mark.parametrize("of", DEVICES, ids=[d.id for d in DEVICES])
def test_largest_batches_by_counting(of: Device) -> None:
    """The largest batch is found by adding requests while their positions cost no more time than the weights."""
    table = ridge_limits(of)
    for row, name in enumerate(table.rows):
        for column, bits in (("largest_batch", Fraction(16)), ("largest_batch_w4", FOUR_BITS)):
            batch = 0
            while 2 * (batch + 1) * int(name) / of.flops.value <= bits / 8 / of.bandwidth.value:
                batch += 1
            assert cell(table, column, row) == batch


def test_known_ridges() -> None:
    """295 on an H100, 206 on an H200: four requests of sixty nodes fit the first and not the second."""
    assert [round(float(cell(ridge_limits(device(d)), "ridge"))) for d in ("h100", "h200")] == [295, 206]
    assert [int(cell(ridge_limits(device(d)), "largest_batch", 4)) for d in ("h100", "h200")] == [4, 3]


def test_batches_by_hand() -> None:
    """One request: 3.3616/1.2; five hundred and twelve: every position is paid, 3.3616/5.2."""
    table = batches(device("h100"), 4)
    assert cell(table, "speedup", 0) == Fraction("3.3616") / Fraction("1.2")
    assert cell(table, "speedup", 9) == Fraction("3.3616") / Fraction("5.2")
    fits = batches(device("h100"), 17, sizes=(16,))
    assert cell(fits, "verify_pass") == 1  # sixteen requests of eighteen positions stay below the ridge
    assert cell(batches(device("h100"), 18, sizes=(16,)), "verify_pass") > 1


def test_devices_are_records() -> None:
    """Each figure has a unit, a source and a day; an unknown device is an error that names the known ones."""
    for of in DEVICES:
        assert (of.flops.unit, of.bandwidth.unit) == ("FLOP/s", "B/s")
        assert all(f.source and isinstance(f.checked_on, date) for f in (of.flops, of.bandwidth))
    with pytest.raises(ValueError, match="h100"):
        device("x")
    assert isinstance(replace(DEVICES[0]).flops, Figure)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: joint(turned(PRESETS["disjoint"]), ()), "widths"),
        (lambda: joint(turned(PRESETS["disjoint"]), (4,)), "widths"),
        (lambda: Text(("A",), (), ()), "tokens"),
        (lambda: Text(("A", "B"), (), ()), "target"),
        (lambda: ridge_limits(device("h100"), (0,)), "positions"),
        (lambda: batches(device("h100"), -1), "gamma"),
        (lambda: batches(device("h100"), 1, sizes=(0,)), "sizes"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    """A value out of range is a ValueError that names the argument."""
    with pytest.raises(ValueError, match=name):
        call()  # type: ignore[operator]
