"""What the page of real decodings has to show, read from the stored files by code that shares nothing with the page."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

from tests.browser import ROOT

TOPIC = "model_lab"
DRAFTERS = ("lookup", "exit", "mtp", "block")
TRACES = [
    {"domain": d, "drafter": x, "temperature": t}
    for d, x, t in product(("code", "prose", "chat"), DRAFTERS, ("0", "1"))
]
Numbers = dict[tuple[int, str], Fraction | None]


def stored(domain: str, drafter: str, temperature: str) -> list[dict[str, Any]]:
    """The rounds of a file."""
    path = ROOT / f"gpu_demos/traces/{domain}_{drafter}_{temperature}.json"
    return json.loads(path.read_text("utf-8"))["rounds"]


def shown(x: float) -> Fraction:
    """Six decimals, or three digits below a thousandth."""
    return Fraction(format(x, ".6f" if x == 0 or x >= 1e-3 else ".3g"))


def totals(rounds: list[dict[str, Any]]) -> Numbers:
    tokens, drafts = sum(len(r["emitted"]) for r in rounds), sum(len(r["drafts"]) for r in rounds)
    used = Fraction(sum(r["accepted"] for r in rounds), drafts) if drafts else None
    each = {
        "tokens": tokens,
        "passes": len(rounds),
        "tokens_per_round": Fraction(tokens, len(rounds)),
        "drafts": drafts,
    }
    return {(0, name): Fraction(value) for name, value in each.items()} | {(0, "used_share"): used}


def positions(rounds: list[dict[str, Any]]) -> Numbers:
    found: Numbers = {}
    for k in range(5):
        judged = [r for r in rounds if len(r["uniforms"]) > k]
        taken = sum(r["accepted"] > k for r in judged)
        found[k, "judged"], found[k, "accepted_here"] = Fraction(len(judged)), Fraction(taken)
        found[k, "acceptance_rate"] = Fraction(taken, len(judged)) if judged else None
    return found


def per_round(rounds: list[dict[str, Any]]) -> Numbers:
    found: Numbers = {}
    for i, r in enumerate(rounds):
        counts = {"drafted": len(r["drafts"]), "accepted_drafts": r["accepted"], "emitted": len(r["emitted"])}
        found |= {(i, name): Fraction(value) for name, value in counts.items()}
        found[i, "saved_passes"] = Fraction(len(r["emitted"]) - 1)
    return found


def verdicts(r: dict[str, Any]) -> Numbers:
    found: Numbers = {}
    for k in range(5):
        p = shown(r["p"][k]) if k < len(r["p"]) else None
        q = shown(r["q"][k]) if k < len(r["q"]) else None
        u = shown(r["uniforms"][k]) if k < len(r["uniforms"]) else None
        a = None if p is None or q is None else min(Fraction(1), p / q)
        margin = None if a is None or u is None else a - u
        found |= {(k, "p"): p, (k, "q"): q, (k, "uniform"): u, (k, "acceptance_probability"): a, (k, "margin"): margin}
    return found


def exact(cells: dict[tuple[int, str], tuple[str, str]]) -> Numbers:
    """The exact texts of a table as numbers; where none is shown there is none."""
    return {place: Fraction(x.replace("−", "-")) if x else None for place, (_, x) in cells.items()}
