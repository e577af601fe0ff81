"""Tables of a decoding that really took place: what each round brought, in all, at each position, and why.

Teaches: a count in a trace and the rate made of it are two things; a verdict can be checked by anybody who has p, q
and the uniform number. Leaves out: where the numbers come from; the caller names the trace as their source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.expression import Total
from mechanisms.quantity import Quantity, signed, symbol
from mechanisms.table import Cell, Table, tabulate

TOPIC = "model_lab"
MODULE = "mechanisms.trace_tables"


@dataclass(frozen=True, slots=True)
class Judged:
    """One round in numbers: probabilities of its drafts under target and draft; a uniform number for each judged one;
    how many were accepted; how many tokens entered the text."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    uniforms: tuple[Fraction, ...]
    accepted: int
    emitted: int


def _seen(name: str, tex: str, source: str, index: str, **more: Any) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, kind="measured", index=index, **more)


def _made(name: str, tex: str, expression: Any, index: str, source: str = "derived", **more: Any) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, index=index, **more)


def round_table(rounds: Sequence[Judged], names: Sequence[str], source: str) -> Table:
    """What each round brought. names: one for each round.

    >>> t = round_table([Judged((Fraction(1),), (Fraction(1),), (Fraction(0),), 1, 2)], ["1"], "chosen")
    >>> str(t.value(0, "saved_passes"))
    '1'
    """
    drafted = _seen("drafted", "d", source, "r", unit="token", counts=True)
    accepted = _seen("accepted_drafts", "a", source, "r", unit="token", counts=True)
    emitted = _seen("emitted", "n", source, "r", unit="token", counts=True)
    saved = _made("saved_passes", "s", emitted.sym - 1, "r", unit="pass", counts=True)
    given: dict[str, Sequence[Cell]] = {
        "drafted": [Fraction(len(r.p)) for r in rounds],
        "accepted_drafts": [Fraction(r.accepted) for r in rounds],
        "emitted": [Fraction(r.emitted) for r in rounds],
    }
    columns = (drafted, accepted, emitted, saved)
    return tabulate(f"{TOPIC}.rounds", columns, names, given, function=f"{MODULE}.round_table")


def total_table(rounds: Table) -> Table:
    """Tokens, passes, tokens per round, and which share of the drafts was used, over the rows of `round_table`.

    A plain decoding needs one pass for each token. Source: leviathan2022 §3.1 for tokens per round.
    """
    passes = _made("passes", "R", Total(symbol("emitted") - symbol("saved_passes")), "", unit="pass", counts=True)
    tokens = _made("tokens", "N", Total(symbol("emitted")), "", unit="token", counts=True)
    per_round = _made("tokens_per_round", r"\tau", tokens.sym / passes.sym, "", "leviathan2022 §3.1", unit="token")
    drafts = _made("drafts", "D", Total(symbol("drafted")), "", unit="token", counts=True)
    used = _made(
        "used_share", r"\eta", Total(symbol("accepted_drafts")) / drafts.sym, "", defined=sp.Gt(drafts.sym, 0)
    )  # fmt: skip
    columns = (tokens, passes, per_round, drafts, used)
    return tabulate(f"{TOPIC}.totals", columns, ("",), {}, function=f"{MODULE}.total_table", over=rounds)


def position_table(rounds: Sequence[Judged], names: Sequence[str], source: str) -> Table:
    """Judged and accepted drafts at each position of a round, and their rate. names: one for each position."""
    judged = _seen("judged", "j", source, "k", unit="token", counts=True)
    accepted = _seen("accepted_here", "a", source, "k", unit="token", counts=True)
    rate = _made("acceptance_rate", r"\hat\alpha", accepted.sym / judged.sym, "k", defined=sp.Gt(judged.sym, 0))
    given: dict[str, Sequence[Cell]] = {
        "judged": [Fraction(sum(len(r.uniforms) > k for r in rounds)) for k in range(len(names))],
        "accepted_here": [Fraction(sum(r.accepted > k for r in rounds)) for k in range(len(names))],
    }
    columns = (judged, accepted, rate)
    return tabulate(f"{TOPIC}.positions", columns, names, given, function=f"{MODULE}.position_table")


def compare_table(
    counts: Mapping[str, Sequence[tuple[int, int]]], names: Sequence[str], sources: Mapping[str, str]
) -> Table:
    """Tokens per round of several drafters side by side. counts: drafter -> (tokens, passes) for each row; sources:
    drafter -> where they come from."""
    columns: list[Quantity] = []
    given: dict[str, Sequence[Cell]] = {}
    for drafter, pairs in counts.items():
        tokens = _seen(
            f"tokens_{drafter}", rf"N_{{\text{{{drafter}}}}}", sources[drafter], "i", unit="token", counts=True
        )
        passes = _seen(
            f"passes_{drafter}", rf"R_{{\text{{{drafter}}}}}", sources[drafter], "i", unit="pass", counts=True
        )
        rate = tokens.sym / passes.sym
        columns += [tokens, passes, _made(
            f"per_round_{drafter}", rf"\tau_{{\text{{{drafter}}}}}", rate, "i", "leviathan2022 §3.1", unit="token"
        )]  # fmt: skip
        given |= {tokens.name: [Fraction(n) for n, _ in pairs], passes.name: [Fraction(r) for _, r in pairs]}
    return tabulate(f"{TOPIC}.compared", columns, names, given, function=f"{MODULE}.compare_table")


def verdict_table(judged: Judged, names: Sequence[str], source: str) -> Table:
    """Each draft of one round: p, q, the uniform number, min(1, p/q) and its distance from u: accepted where that is
    above 0. A draft behind a rejected one was not judged. names: one for each position.

    Source: leviathan2022, Algorithm 1.
    """
    p, q = _seen("p", "p", source, "k"), _seen("q", "q", source, "k")
    u = _seen("uniform", "u", source, "k")
    there = sp.Gt(q.sym, 0)
    acceptance = _made(
        "acceptance_probability", "a", sp.Min(1, p.sym / q.sym), "k", "leviathan2022 Algorithm 1", defined=there
    )  # fmt: skip
    margin = _made("margin", "m", signed(acceptance) - u.sym, "k")
    given = {
        "p": _padded(judged.p, len(names)), "q": _padded(judged.q, len(names)),
        "uniform": _padded(judged.uniforms, len(names)),
    }  # fmt: skip
    columns = (p, q, u, acceptance, margin)
    return tabulate(f"{TOPIC}.verdicts", columns, names, given, function=f"{MODULE}.verdict_table")


def _padded(values: Sequence[Fraction], count: int) -> list[Cell]:
    return [*values, *[None] * (count - len(values))]
