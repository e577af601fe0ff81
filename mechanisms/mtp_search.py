"""A search for pairs of drafts in which the one with the lower KL has the lower acceptance rate.

Teaches: such pairs are not rare. Every pair that is reported is verified without a logarithm: with p = n/N,
KL_A > KL_B exactly if ∏ q_B(v)^n(v) > ∏ q_A(v)^n(v), a comparison of whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechanisms.mtp_boosting import TOPIC, quantity, whole
from mechanisms.mtp_cases import MAX_TOKENS, Drafts
from mechanisms.mtp_pair import draft_totals, masses
from mechanisms.quantity import given
from mechanisms.table import Cell, Table, tabulate

MOST_DRAWS = 20_000
GRAINS = 100  # all probabilities of a draw are positive hundredths
KEPT = 5
Counts = NDArray[np.int64]

PAIRS = given(f"{TOPIC}.pairs_drawn", "N", "chosen", index="", counts=True)
FOUND = whole("reversals_found", "F", "derived", kind="simulated", counts=True)
SHARE = whole("reversal_share", "F/N", "derived", FOUND.sym / PAIRS.sym, kind="simulated")
COUNTS = (PAIRS, FOUND, SHARE)

KL_A = quantity("kl_a", r"\mathrm{KL}_{\mathrm{A}}", "lk2026 §3–4", index="i", unit="nat")
KL_B = quantity("kl_b", r"\mathrm{KL}_{\mathrm{B}}", "lk2026 §3–4", index="i", unit="nat")
RATE_A = quantity("acceptance_a", r"\alpha_{\mathrm{A}}", "leviathan2022 §3.2", index="i", kind="exact")
RATE_B = quantity("acceptance_b", r"\alpha_{\mathrm{B}}", "leviathan2022 §3.2", index="i", kind="exact")
KL_GAIN = quantity("kl_gain", r"\Delta_{\mathrm{KL}}", "derived", KL_A.sym - KL_B.sym, index="i", unit="nat")
RATE_LOSS = quantity("rate_loss", r"\Delta_{\alpha}", "derived", RATE_A.sym - RATE_B.sym, index="i", kind="exact")
VERIFIED = quantity("verified", "w", "derived", index="i", kind="exact", counts=True)
REPORT = (KL_A, KL_B, KL_GAIN, RATE_A, RATE_B, RATE_LOSS, VERIFIED)


@dataclass(frozen=True, slots=True)
class Finding:
    """Outcome of one search: how many pairs were drawn, how many were reversals, and the clearest of them."""

    drawn: int
    reversals: int
    kept: tuple[Drafts, ...]


def is_reversal(drafts: Drafts) -> bool:
    """KL_A > KL_B and α_A > α_B, decided with whole numbers only.

    >>> from mechanisms.mtp_cases import SEED_DRAFTS
    >>> is_reversal(SEED_DRAFTS)
    True

    Source: derived; KL_A − KL_B = Σ p ln(q_B/q_A).
    """
    rates = [sum(map(min, drafts.p, law)) for law in (drafts.a, drafts.b)]
    return rates[0] > rates[1] and log_free(drafts) > 0


def log_free(drafts: Drafts) -> int:
    """Sign of KL_A − KL_B without a logarithm: +1, 0 or −1. Source: derived."""
    common = math.lcm(*(x.denominator for x in drafts.p))
    a, b = Fraction(1), Fraction(1)
    for weight, first, second in zip(drafts.p, drafts.a, drafts.b, strict=True):
        a *= first ** int(weight * common)
        b *= second ** int(weight * common)
    return (b > a) - (b < a)


def search(*, tokens: int, draws: int, rng: np.random.Generator) -> Finding:
    """Draw teachers and pairs of drafts evenly over all positive hundredths, and keep the clearest reversals.

    tokens: 2 … 8; draws: 1 … 20,000. The draft with the higher KL is called A. Clearest: the largest smaller one of
    the two gaps, KL and acceptance. Source: derived.
    """
    if not 2 <= tokens <= MAX_TOKENS or not 1 <= draws <= MOST_DRAWS:
        raise ValueError(f"tokens={tokens}, draws={draws}: allowed are 2 … {MAX_TOKENS} and 1 … {MOST_DRAWS}")
    p, a, b = (_compositions(tokens, draws, rng) for _ in range(3))
    kl_a, kl_b = (np.sum(p * np.log(p / q), axis=1) / GRAINS for q in (a, b))
    swap = kl_a < kl_b
    a[swap], b[swap] = b[swap], a[swap]
    gain = np.abs(kl_a - kl_b)
    loss = (np.minimum(p, a).sum(axis=1) - np.minimum(p, b).sum(axis=1)) / GRAINS
    found = np.flatnonzero((loss > 0) & (gain > 0))
    order = found[np.argsort(-np.minimum(gain, loss)[found], kind="stable")][:KEPT]
    return Finding(draws, len(found), tuple(_drafts(p[i], a[i], b[i]) for i in order))


def _compositions(tokens: int, draws: int, rng: np.random.Generator) -> Counts:
    """Whole numbers of at least 1 with sum 100, all such lists alike: (draws, tokens)."""
    cuts = np.sort(rng.integers(1, GRAINS, (draws, tokens - 1)), axis=1)
    while len(twice := np.flatnonzero((np.diff(cuts, axis=1) == 0).any(axis=1))):  # equal cuts: draw the list again
        cuts[twice] = np.sort(rng.integers(1, GRAINS, (len(twice), tokens - 1)), axis=1)
    edges = np.concatenate([np.zeros((draws, 1), int), cuts, np.full((draws, 1), GRAINS)], axis=1)
    return np.diff(edges, axis=1).astype(np.int64)


def _drafts(p: Counts, a: Counts, b: Counts) -> Drafts:
    laws = [tuple(Fraction(int(n), GRAINS) for n in row) for row in (p, a, b)]
    return Drafts(tuple("ABCDEFGH"[: len(p)]), *laws)


def count_table(finding: Finding) -> Table:
    """How many of the drawn pairs were reversals. Source: derived."""
    rows = {PAIRS.name: (Fraction(finding.drawn),), FOUND.name: (Fraction(finding.reversals),)}
    return tabulate(f"{TOPIC}.search", COUNTS, ("",), rows, function="mechanisms.mtp_search.count_table")


def report(kept: Sequence[Drafts]) -> Table:
    """KL and acceptance of the kept pairs, and whether whole numbers confirm the order. Source: derived."""
    rows: dict[str, list[Cell]] = {q.name: [] for q in REPORT if q.expression is None}
    for drafts in kept:
        for letter, kl, rate in (("a", KL_A, RATE_A), ("b", KL_B, RATE_B)):
            done = draft_totals(masses(drafts, letter), decay=Fraction(1))
            rows[kl.name].append(done.value(0, "kl_divergence"))
            rows[rate.name].append(done.value(0, "acceptance_rate"))
        rows[VERIFIED.name].append(Fraction(int(is_reversal(drafts))))
    names = tuple(str(i + 1) for i in range(len(kept)))
    return tabulate(f"{TOPIC}.report", REPORT, names, rows, function="mechanisms.mtp_search.report")
