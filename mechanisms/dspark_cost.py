"""How far to verify when each further position costs time: expected tokens over the time of the round.

Teaches: that output grows with every position while output per time does not, and that the best length is a property
of the cost curve as much as of the draft. Leaves out: other requests in the batch (`dspark_batch`), memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from mechanisms.dspark import TOPIC, quantity, survivals
from mechanisms.expression import largest
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import given
from mechanisms.table import Table, tabulate

VERIFIED = given(f"{TOPIC}.verified_length", "K", "chosen", unit="token", index="", counts=True)
YIELD = quantity("round_tokens", r"\tau", index="K", unit="token")
VERIFY_TIME = given(f"{TOPIC}.verify_time", "v", "chosen", unit="time", index="K")
DRAFT_TIME = given(f"{TOPIC}.draft_time", "d", "chosen", unit="time", index="")
FIXED_TIME = given(f"{TOPIC}.fixed_time", "f", "chosen", unit="time", index="")
ROUND_TIME = quantity(
    "round_time", "T", FIXED_TIME.sym + VERIFY_TIME.sym + DRAFT_TIME.sym * sp.Min(1, VERIFIED.sym), index="K",
    unit="time",
)  # fmt: skip
SPEED = quantity("token_rate", "J", YIELD.sym / ROUND_TIME.sym, "dspark2026 §1", index="K", unit="token/time")
BEST = quantity("is_best", r"\ast", is_zero(largest(SPEED.sym) - SPEED.sym), index="K", counts=True)
COLUMNS = (VERIFIED, YIELD, FIXED_TIME, VERIFY_TIME, DRAFT_TIME, ROUND_TIME, SPEED, BEST)


def cost_table(
    chain: Sequence[Fraction | None],
    verify: Sequence[Fraction],
    *,
    draft: Fraction,
    fixed: Fraction,
    name: str = "cost",
) -> Table:
    """T = f + v_K + d·min(1, K) and J = τ/T for K = 0 … the last length that has both a c and a cost.

    verify: v_0, v_1, …, positive; draft, fixed: times of at least 0; the draft is paid for only where there is one.

    >>> from mechanisms.dspark_presets import CHAINS, VERIFY
    >>> t = cost_table(CHAINS["printed"], VERIFY["B"], draft=Fraction("0.15"), fixed=Fraction("0.05"))
    >>> [int(x) for x in t.column("is_best")]
    [0, 0, 1, 0, 0]

    Source: dspark2026, §1 for time per token; the split into three times is that of the audited document.
    """
    if not verify or min(verify) <= 0:
        raise ValueError(f"verify={[str(v) for v in verify]}: must be positive times, at least one")
    if draft < 0 or fixed < 0:
        raise ValueError(f"draft={draft}, fixed={fixed}: must not be negative")
    found = survivals(chain)
    n = min(len(found), len(verify))
    columns = {
        VERIFIED.name: tuple(Fraction(k) for k in range(n)),
        YIELD.name: tuple(sum(found[: k + 1], Fraction(0)) for k in range(n)), VERIFY_TIME.name: tuple(verify[:n]),
        DRAFT_TIME.name: (draft,) * n, FIXED_TIME.name: (fixed,) * n,
    }  # fmt: skip
    rows = [str(k) for k in range(n)]
    return tabulate(f"{TOPIC}.{name}", COLUMNS, rows, columns, function="mechanisms.dspark_cost.cost_table")


def best_length(table: Table) -> int:
    """The shortest length with the largest rate."""
    return table.column(BEST.name).index(Fraction(1))
