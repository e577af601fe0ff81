"""Every table of the draft-training page for every position of the control that it follows, from the mechanisms."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mechanisms.mtp_boosting import STEPS, descent, totals, trajectory
from mechanisms.mtp_cases import CASES, Case, Drafts
from mechanisms.mtp_check import WIDTHS, check
from mechanisms.mtp_field import TARGETS, field
from mechanisms.mtp_lambda import CHOICES, means, positions
from mechanisms.mtp_losses import gradients, values
from mechanisms.mtp_mixing import DEPTHS, mismatch, shares
from mechanisms.mtp_pair import DECAYS, curve, draft_totals, flip, masses, preferences
from mechanisms.mtp_published import DEEPSEEK, EAGLE, loss_table, speed_bench
from mechanisms.mtp_race import race
from mechanisms.mtp_search import MOST_DRAWS, count_table, report, search
from mechanisms.mtp_temperature import TEMPERATURES, soft_totals, softened
from mechanisms.mtp_vanish import vanishing
from mechanisms.table import Table
from pages._mtp_state import RATES, SUPPORTS

Tables = dict[str, list[Table]]
# table -> the controls whose positions are its frame, the last one fastest
FOLLOWS = {
    "state": ("rate", "step"), "totals": ("rate", "step"), "trajectory": ("rate",), "check": ("width",),
    "preferences": ("decay",), "draft_a": ("decay",), "draft_b": ("decay",), "gradients": ("weight",),
    "losses": ("weight",), "softened": ("heat",), "soft_totals": ("heat",), "field": ("teacher",), "race": ("speed",),
    "mismatch": ("depth",), "shares": ("depth",),
}  # fmt: skip
SIZES = {
    "rate": len(RATES), "step": STEPS + 1, "width": len(WIDTHS), "decay": len(DECAYS), "weight": len(DECAYS),
    "heat": len(TEMPERATURES), "teacher": len(TARGETS), "speed": len(RATES), "depth": DEPTHS - 1,
}  # fmt: skip
START = {"rate": 2, "step": 0, "width": 2, "decay": 6, "weight": 6, "heat": 2, "teacher": 6, "speed": 5, "depth": 2}


@lru_cache(maxsize=8)
def of_case(case: Case) -> Tables:
    states = [s for rate in RATES for s in descent(case, rate=rate)]
    soft = [softened(case, temperature=h) for h in TEMPERATURES]
    pulls = [gradients(case, decay=d) for d in DECAYS]
    return {
        "state": states, "totals": [totals(s) for s in states],
        "trajectory": [trajectory(descent(case, rate=rate)) for rate in RATES],
        "check": [check(case, width=w) for w in WIDTHS], "gradients": pulls,
        "losses": [values(x, decay=d) for x, d in zip(pulls, DECAYS, strict=True)],
        "softened": soft, "soft_totals": [soft_totals(x) for x in soft],
    }  # fmt: skip


@lru_cache(maxsize=8)
def of_pair(drafts: Drafts) -> Tables:
    over = {w: masses(drafts, w) for w in "ab"}
    sums = {w: [draft_totals(over[w], decay=d) for d in DECAYS] for w in "ab"}
    turning = flip(drafts)
    return {
        "masses_a": [over["a"]], "masses_b": [over["b"]], "draft_a": sums["a"], "draft_b": sums["b"],
        "preferences": [preferences(a, b) for a, b in zip(sums["a"], sums["b"], strict=True)],
        "curve": [curve(drafts)], **({"flip": [turning]} if turning is not None else {}),
    }  # fmt: skip


@lru_cache(maxsize=8)
def of_search(tokens: int, seed: int) -> Tables:
    found = search(tokens=tokens, draws=MOST_DRAWS, rng=np.random.default_rng(seed))
    every = {f"found_{w}": [masses(d, w) for d in found.kept] for w in "ab"}
    return {"count": [count_table(found)], "report": [report(found.kept)], **every}


@lru_cache(maxsize=8)
def of_rest(start: str = "far") -> Tables:
    depths = [shares(k) for k in range(2, DEPTHS + 1)]
    programs = [positions(c) for c in CHOICES]
    return {
        "field": [field(p) for p in TARGETS], "race": list(race(CASES[start], RATES)),
        "vanishing": [vanishing(int(k)) for k in SUPPORTS], "positions": programs,
        "means": [means(x) for x in programs], "shares": depths, "mismatch": [mismatch(x) for x in depths],
        "speed_bench": [speed_bench({})], "eagle": [loss_table(EAGLE, "kl", {})],
        "deepseek": [loss_table(DEEPSEEK, "kl", {})],
    }  # fmt: skip


def frame(table: str, at: dict[str, int]) -> int:
    """Which frame a table shows when the sliders stand at these positions choices untouched."""
    index = 1 if table == "vanishing" else 0  # five tokens are chosen, the second of three
    for control in FOLLOWS.get(table, ()):
        index = index * SIZES[control] + at[control]
    return index
