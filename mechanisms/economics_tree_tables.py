"""The exact tree as tables: masses at the root, what each level passes, one drawn tree and its attention mask.

Teaches: which candidate an output came from, how much a second candidate adds, which positions a node may look at.
Leaves out: everything that `economics_tree` leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp

from mechanisms.distribution import inverse_cdf
from mechanisms.economics_tree import Rule, Text, checks, distance, joint, node, target_joint, without
from mechanisms.expression import total
from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import TOPIC
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.economics_tree_tables"
_GRID = 2**20  # uniforms are multiples of its inverse: exact fractions


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


TARGET = given(_id("target_probability"), "p", "chosen")
DRAFT = given(_id("draft_probability"), "q", "chosen")
RANKS = tuple(Quantity(_id(f"accepted_{k}"), f"d_{k}", "jeon2024", index="v") for k in (1, 2, 3))
CORRECTED = Quantity(_id("tree_correction"), "r", "jeon2024", index="v")
OUTPUT = Quantity(_id("output_law"), "P", "derived", sum((r.sym for r in RANKS), sp.S.Zero) + CORRECTED.sym)
DIFFERENCE = Quantity(_id("output_difference"), r"\delta", "derived", OUTPUT.sym - TARGET.sym)
ROOT = (TARGET, DRAFT, *RANKS, CORRECTED, OUTPUT, DIFFERENCE)

WIDTH = given(_id("width"), "k", "chosen", counts=True, index="")
ARRIVES = Quantity(_id("level_reached"), "B", "derived", index=r"\ell")
PASSES = Quantity(_id("level_passed"), "S", "derived", index=r"\ell")
RATE = Quantity(
    _id("level_rate"), "a", "derived", PASSES.sym / ARRIVES.sym, index=r"\ell", defined=ARRIVES.sym > 0
)  # fmt: skip
LEVELS = (WIDTH, ARRIVES, PASSES, RATE)
NODES = Quantity(_id("tree_nodes"), "n", "derived", counts=True, index="")
TREE_TOKENS = Quantity(_id("tokens_per_round"), r"\tau", "derived", 1 + total(PASSES.sym), unit="token", index="")
CHAIN_TOKENS = Quantity(_id("chain_tokens"), r"\tau_1", "derived", unit="token", index="")
GAIN = Quantity(
    _id("tree_gain"), r"\Delta", "derived", TREE_TOKENS.sym - CHAIN_TOKENS.sym, unit="token", index=""
)  # fmt: skip
DISTANCE = Quantity(_id("joint_distance"), r"\mathrm{TV}", "derived", index="")
SUMMARY = (NODES, TREE_TOKENS, CHAIN_TOKENS, GAIN, DISTANCE)

ASKED = Quantity(_id("asked_probability"), "p", "jeon2024", index="i")
DRAWN = Quantity(_id("drawn_probability"), "q", "jeon2024", index="i")
CHANCE = Quantity(
    _id("acceptance_probability"), "a", "leviathan2022 §2.3", sp.Min(1, ASKED.sym / DRAWN.sym), index="i"
)  # fmt: skip
UNIFORM = Quantity(_id("uniform"), "u", "derived", index="i", kind="simulated")
PASSED = Quantity(_id("candidate_accepted"), "y", "derived", index="i", counts=True)
WALK = (ASKED, DRAWN, CHANCE, UNIFORM, PASSED)


def tree_root(text: Text, width: int, rule: Rule = "exact") -> Table:
    """Masses at the root: accepted as first, second or third candidate, corrected, and their sum beside the target.

    P = d₁ + d₂ + d₃ + r. width: 1 … 3 candidates. Source: jeon2024; the masses are enumerated.
    """
    target, draft = text.laws(None)
    accepted, corrected = node(target, draft, width, rule)
    blank = (Fraction(0),) * len(target)
    values = {TARGET.name: target, DRAFT.name: draft, CORRECTED.name: corrected}
    values |= {q.name: accepted[k] if k < width else blank for k, q in enumerate(RANKS)}
    return tabulate(_id("tree_root"), ROOT, text.tokens, values, function=f"{_MODULE}.tree_root")


def tree_levels(text: Text, widths: Sequence[int], rule: Rule = "exact") -> Table:
    """How often each level is reached and passed: a = S/B. Source: derived by enumeration."""
    passed = joint(text, widths, rule)[1]
    values = {
        WIDTH.name: [Fraction(w) for w in widths], PASSES.name: passed, ARRIVES.name: (Fraction(1), *passed[:-1])
    }  # fmt: skip
    names = tuple(str(i) for i in range(1, len(widths) + 1))
    return tabulate(_id("tree_levels"), LEVELS, names, values, function=f"{_MODULE}.tree_levels")


def tree_summary(text: Text, widths: Sequence[int], rule: Rule = "exact") -> Table:
    """Nodes, tokens per round against a chain as deep, and the distance of the joint output law from the target's.

    τ = 1 + Σ S. Source: derived by enumeration.
    """
    law, _ = joint(text, widths, rule)
    _, chain = joint(text, (1,) * len(widths))
    values = {
        NODES.name: (Fraction(sum(int(np.prod(widths[: i + 1])) for i in range(len(widths)))),),
        CHAIN_TOKENS.name: (1 + sum(chain, Fraction(0)),),
        DISTANCE.name: (distance(law, target_joint(text, len(widths))),),
    }
    levels = tree_levels(text, widths, rule)
    return tabulate(_id("tree_summary"), SUMMARY, ("",), values, function=f"{_MODULE}.tree_summary", over=levels)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A node of a drawn tree: its token, its parent's place in the list (None at the root) and its rank there."""

    token: int
    parent: int | None
    rank: int


def draw_tree(text: Text, widths: Sequence[int], rng: np.random.Generator) -> tuple[Drawn, ...]:
    """A tree drawn level by level, children without replacement; nodes in the order in which a pass lists them."""
    nodes: list[Drawn] = []
    parents: list[int | None] = [None]
    for width in widths:
        level: list[int | None] = []
        for parent in parents:
            q = text.laws(None if parent is None else nodes[parent].token)[1]
            for rank in range(width):
                if not any(q):
                    break
                token = inverse_cdf(uniform(rng), q)
                q = without(q, token)
                level.append(len(nodes))
                nodes.append(Drawn(token, parent, rank))
        parents = level
    return tuple(nodes)


def uniform(rng: np.random.Generator) -> Fraction:
    """A uniform number as an exact fraction below 1."""
    return Fraction(int(rng.integers(_GRID)), _GRID)


def mask(nodes: Sequence[Drawn]) -> tuple[tuple[bool, ...], ...]:
    """`mask[i][j]`: may node i look at node j? At itself and at its ancestors, at nobody else.

    >>> [[int(x) for x in row] for row in mask((Drawn(0, None, 0), Drawn(1, None, 1), Drawn(2, 0, 0)))]
    [[1, 0, 0], [0, 1, 0], [1, 0, 1]]

    Source: miao2023 (tree attention).
    """
    seen: list[set[int]] = []
    for i, n in enumerate(nodes):
        seen.append({i} | (set() if n.parent is None else seen[n.parent]))
    return tuple(tuple(j in row for j in range(len(nodes))) for row in seen)


def path(text: Text, nodes: Sequence[Drawn], i: int) -> str:
    """The tokens from the root to node i."""
    parent = nodes[i].parent
    return ("" if parent is None else path(text, nodes, parent) + " ") + text.tokens[nodes[i].token]


def tree_walk(text: Text, nodes: Sequence[Drawn], rng: np.random.Generator, rule: Rule = "exact") -> tuple[Table, str]:
    """Verify one drawn tree: a row per candidate that is tried, and the tokens that come out.

    a = min(1, p/q) with the current residual and the current draft law; accepted iff u < a. Source: jeon2024.
    """
    rows: list[tuple[str, Fraction, Fraction, Fraction, Fraction]] = []
    here: int | None = None
    output: list[int] = []
    while True:
        children = [i for i, n in enumerate(nodes) if n.parent == here]
        target, draft = text.laws(None if here is None else nodes[here].token)
        made, rest = checks(target, draft, [nodes[i].token for i in children], rule)
        taken = None
        for i, check in zip(children, made, strict=False):
            u = uniform(rng)
            rows.append((path(text, nodes, i), check.asked, check.drawn, u, Fraction(int(u < check.chance))))
            if u < check.chance:
                taken = i
                break
        if taken is None:
            output.append(inverse_cdf(uniform(rng), rest))
            break
        here = taken
        output.append(nodes[taken].token)
    names = [q.name for q in (ASKED, DRAWN, UNIFORM, PASSED)]
    columns = {n: [r[k + 1] for r in rows] for k, n in enumerate(names)}
    made_table = tabulate(
        _id("tree_walk"), WALK, tuple(r[0] for r in rows), columns, function=f"{_MODULE}.tree_walk"
    )  # fmt: skip
    return made_table, " ".join(text.tokens[v] for v in output)
