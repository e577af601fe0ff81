"""What each table of the audit page must hold in a given state: the mechanism's table, by the name on the page."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechanisms.draft_precision import matrix
from mechanisms.precision_break import CASES, breaks, cube
from mechanisms.precision_choice import best, choices
from mechanisms.precision_claims import held, noise, relative, totals
from mechanisms.precision_free import free_verification
from mechanisms.precision_latency import common, implied, speedups
from mechanisms.precision_memory import memory, parameters, reading
from mechanisms.precision_own import own_table, read_own
from mechanisms.precision_survives import break_even
from mechanisms.precision_window import by_window
from mechanisms.rejection_bias import greedy_bias, greedy_law
from mechanisms.rejection_presets import PRESETS
from mechanisms.table import Table

TOPIC = "draft_precision"
DEFAULT: dict[str, str] = {
    "length": "5", "scenario": "code", "model": "printed", "price": "1", "target": "54", "rate": "0.769", "step": "4.2",
    "chain": "int4_code", "pair": "identical", "own": "76.9~5~3.74~4.2~2.52",
}  # fmt: skip
# both ends of every control, and what lies at its most telling place
EXTREMES: dict[str, tuple[str, ...]] = {
    "length": ("1", "12"), "scenario": ("chat",), "model": ("code", "chat", "mean", "mean_rate"),
    "price": ("1.1", "1.25", "1.5"), "target": ("30", "94", "270"), "rate": ("0.4", "0.6", "0.9"),
    "step": ("0.5", "10"), "chain": tuple(CASES), "pair": ("disjoint", "zero_in_draft", "argmax_differs_tv_small"),
    "own": ("0~1~1~0~0.01", "99.999~16~17~10000~100"), "guess1": ("five", "none"), "guess2": ("half", "never"),
}  # fmt: skip


def expected(**changed: str) -> dict[str, Table]:
    """Name of a table on the page -> what it holds."""
    s: dict[str, Any] = {**DEFAULT, **changed}
    model, price, target = s["model"], Fraction(s["price"]), Fraction(s["target"])
    chosen = choices(Fraction(s["rate"]), Fraction(s["step"]))
    fields = dict(zip(("rate", "length", "tokens", "step", "speedup"), s["own"].split("~"), strict=True))
    return {
        "audit": matrix(), "bounds": matrix(), "window": by_window(int(s["length"]), s["scenario"]),
        "speedups": speedups(model, target, price), "implied": implied(model, price), "common": common(model, price),
        "free": free_verification(), "break_even": break_even(model, target, price), "best": best(chosen),
        "choices": chosen, "breaks": breaks(CASES[s["chain"]]), "cube": cube(),
        "listing_law": greedy_law(PRESETS[s["pair"]]), "listing": greedy_bias(PRESETS[s["pair"]]),
        "parameters": parameters(), "memory": memory(), "reading": reading(), "relative": relative(),
        "totals": totals(), "held": held(), "noise": noise(), "own_row": own_table(read_own(fields)),
    }  # fmt: skip
