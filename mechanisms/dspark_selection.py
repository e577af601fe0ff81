"""What happens to the first token when the length of a round is chosen after the drafts were seen.

Teaches: that verification keeps the target law only if the choice to verify a draft does not depend on that draft or on
what follows from it; where the missing probability goes. One request, two drafted positions; the scheduler knows
c_1 = Σ min(p, q) before it sees anything, and c_2 only after it has seen the first draft. Leaves out: the second token.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, get_args

import sympy as sp

from mechanisms.dspark import PAPER, TOPIC, quantity
from mechanisms.dspark_presets import Example
from mechanisms.expression import share, total
from mechanisms.quantity import given, signed
from mechanisms.table import Cell, Table, tabulate

Policy = Literal["target", "hindsight", "first_drop"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
MODULE = "mechanisms.dspark_selection"

FIRST = quantity("first_acceptance", "c_1", source="leviathan2022 §3.2", index="")
SECOND = given(f"{TOPIC}.second_acceptance", "c_2", "chosen")
SPS = tuple(
    given(f"{TOPIC}.steps_{b}", rf"\mathrm{{SPS}}({b})", "chosen", unit="step/time", index="") for b in (1, 2, 3)
)
RATE_0 = quantity("rate_0", r"\Theta_0", SPS[0].sym, PAPER, unit="token/time")
RATE_1 = quantity("rate_1", r"\Theta_1", (1 + FIRST.sym) * SPS[1].sym, PAPER, unit="token/time")
RATE_2 = quantity(
    "rate_2", r"\Theta_2", (1 + FIRST.sym + share(FIRST.sym, SECOND.sym)) * SPS[2].sym, PAPER, unit="token/time"
)
HINDSIGHT = quantity("hindsight_length", r"\ell^{\max}", source="dspark2026 appendix A", unit="token", counts=True)
EARLY = quantity("early_length", r"\ell^{\downarrow}", source=PAPER, unit="token", counts=True)
RATES = (FIRST, SECOND, *SPS, RATE_0, RATE_1, RATE_2, HINDSIGHT, EARLY)

P = given(f"{TOPIC}.target_probability", "p", "chosen")
Q = given(f"{TOPIC}.draft_probability", "q", "chosen")
CHOSEN = quantity("chosen_length", r"\ell", unit="token", counts=True)
KEPT = quantity("kept_mass", "d", sp.Min(1, CHOSEN.sym) * sp.Min(P.sym, Q.sym), "leviathan2022 §A.1")
LOST = quantity("lost_mass", "x", sp.Min(1, CHOSEN.sym) * (Q.sym - sp.Min(P.sym, Q.sym)), "leviathan2022 §A.1")
UNSEEN = quantity("unverified_mass", "w", Q.sym - KEPT.sym - LOST.sym)
RESIDUAL = quantity(
    "residual", "p'", sp.Max(0, P.sym - Q.sym) / total(sp.Max(0, P.sym - Q.sym)), "leviathan2022 §2.3",
    defined=total(sp.Max(0, P.sym - Q.sym)) > 0,
)  # fmt: skip
CORRECTED = quantity("corrected_mass", "r", share(total(LOST.sym), RESIDUAL.sym), "leviathan2022 §A.1")
REPLACED = quantity("replaced_mass", "t", total(UNSEEN.sym) * P.sym)
CHECKED = quantity("checked_mass", "k", KEPT.sym + CORRECTED.sym)
OUTPUT = quantity("first_output", "P", CHECKED.sym + REPLACED.sym)
BIAS = quantity("bias", "P-p", signed(OUTPUT) - signed(P))
LAW = (P, Q, CHOSEN, KEPT, LOST, UNSEEN, RESIDUAL, CORRECTED, CHECKED, REPLACED, OUTPUT, BIAS)

DISTANCE = quantity("distance", r"\mathrm{TV}", total(sp.Abs(signed(BIAS))) / 2, index="")


def rates(example: Example) -> Table:
    """Per first draft: Θ_0, Θ_1, Θ_2 and the two lengths a scheduler may pick.

    Θ_ℓ = (1 + c_1 + … ) SPS(1 + ℓ). Hindsight takes the largest, the shortest on a tie; the other stops at the first
    length that is not better than the one before.

    >>> from mechanisms.dspark_presets import EXAMPLES
    >>> [str(x) for x in rates(EXAMPLES["appendix"]).column("rate_2")]
    ['567/500', '81/100']

    Source: dspark2026, appendix A.
    """
    n = len(example.tokens)
    first = sum((min(a, b) for a, b in zip(example.p, example.q, strict=True)), Fraction(0))
    columns: dict[str, tuple[Cell, ...]] = {FIRST.name: (first,) * n, SECOND.name: example.second}
    columns |= {q.name: (x,) * n for q, x in zip(SPS, example.sps, strict=True)}
    both = [_pick([(1, first, first * c)[: k + 1] for k in range(3)], example.sps) for c in example.second]
    columns[HINDSIGHT.name] = tuple(Fraction(h) for h, _ in both)
    columns[EARLY.name] = tuple(Fraction(e) for _, e in both)
    return tabulate(f"{TOPIC}.rates", RATES, example.tokens, columns, function=f"{MODULE}.rates")


def _pick(parts: list[tuple[Fraction | int, ...]], sps: tuple[Fraction, ...]) -> tuple[int, int]:
    theta = [sum(part) * speed for part, speed in zip(parts, sps, strict=True)]
    early = next((k for k in (1, 2) if theta[k] <= theta[k - 1]), 3) - 1
    return theta.index(max(theta)), early


def lengths(example: Example, policy: Policy) -> tuple[int, ...]:
    """The length that the policy gives each first draft; 0 everywhere where the target is sampled directly."""
    if policy not in POLICIES:
        raise ValueError(f"policy={policy!r}: must be one of {POLICIES}")
    if policy == "target":
        return (0,) * len(example.tokens)
    column = HINDSIGHT if policy == "hindsight" else EARLY
    return tuple(int(x) for x in rates(example).column(column.name) if isinstance(x, Fraction))


def first_output(example: Example, policy: Policy) -> Table:
    """Law of the first token that comes out.

    A draft v with ℓ(v) ≥ 1 is verified: min(p, q) of it stays, the rest is corrected from the residual. One with
    ℓ(v) = 0 is thrown away unseen and the target is sampled: P = d + r + p Σ w.

    >>> from mechanisms.dspark_presets import EXAMPLES
    >>> [str(x) for x in first_output(EXAMPLES["appendix"], "hindsight").column("first_output")]
    ['17/20', '3/20']

    Source: dspark2026, appendix A, for the example; the law is derived.
    """
    columns: dict[str, tuple[Cell, ...]] = {
        P.name: example.p, Q.name: example.q, CHOSEN.name: tuple(Fraction(x) for x in lengths(example, policy)),
    }  # fmt: skip
    return tabulate(f"{TOPIC}.first_output", LAW, example.tokens, columns, function=f"{MODULE}.first_output")


def distance(law: Table, name: str = "") -> Table:
    """How far the law is from p: half the sum of |P − p|. Source: derived."""
    return tabulate(f"{TOPIC}.distance", (DISTANCE,), (name,), {}, function=f"{MODULE}.distance", over=law)


FIRST_OUTPUT = quantity("first_token_output", "P_1", index="")
FIRST_TARGET = given(f"{TOPIC}.first_token_target", "p_1", "chosen", index="")
FIRST_BIAS = quantity("first_token_bias", "P_1-p_1", signed(FIRST_OUTPUT) - signed(FIRST_TARGET), index="")
APART = quantity(DISTANCE.name, DISTANCE.symbol, index="")


def policy_table(example: Example) -> Table:
    """One row per policy: law and target of the first token of the list, and the distance of the whole law.

    Source: derived; each row is taken from its `first_output`.
    """
    laws = [first_output(example, policy) for policy in POLICIES]
    columns: dict[str, tuple[Cell, ...]] = {
        FIRST_OUTPUT.name: tuple(law.value(0, OUTPUT.name) for law in laws),
        FIRST_TARGET.name: (example.p[0],) * len(laws),
        APART.name: tuple(distance(law).value(0, DISTANCE.name) for law in laws),
    }
    found = (FIRST_OUTPUT, FIRST_TARGET, FIRST_BIAS, APART)
    return tabulate(f"{TOPIC}.policies", found, POLICIES, columns, function=f"{MODULE}.policy_table")
