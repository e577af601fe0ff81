"""What the verification-budget chapter must show for a state: every table, straight from the mechanisms."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from mechanisms.dspark import Chain, cap_table, law_table, substitution_table, summary_table, survival_table
from mechanisms.dspark_batch import (
    allocation_table,
    alone_best,
    outcome_table,
    path_table,
    single_table,
    sum_table,
)
from mechanisms.dspark_cost import cost_table
from mechanisms.dspark_input import Batch, Costs
from mechanisms.dspark_presets import (
    CHAINS,
    CURVES,
    DRAFT_TIME,
    EXAMPLES,
    FIXED_TIME,
    GRID_CHAINS,
    REQUESTS,
    VERIFY,
    Example,
)
from mechanisms.dspark_recompute import checked_table, count_table, counted_caps, mean_table
from mechanisms.dspark_scheduler import admissions
from mechanisms.dspark_selection import Policy, first_output, policy_table, rates
from mechanisms.dspark_simulation import draw
from mechanisms.dspark_versions import VERSIONS, version_table
from mechanisms.quantity import exact_text, print_text
from mechanisms.rejection_counts import counts_table, fit_table
from mechanisms.table import Table
from mechanisms.verify import REFERENCE, compare
from mechanisms.verify_dspark import TABLES as REFERENCES
from tests.oracle_dspark import lengths_law

TOPIC = "dspark"
HIDDEN = ("hindsight_length", "early_length")
Shown = dict[tuple[int, str], tuple[str, str]]  # (row, quantity) -> (decimal, exact), empty where undefined


@dataclass(frozen=True)
class State:
    """What the page was asked for; the defaults are those of a first visit."""

    chain: Chain = CHAINS["printed"]
    costs: Costs = field(default_factory=lambda: Costs(VERIFY["A"], VERIFY["B"], DRAFT_TIME, FIXED_TIME))
    batch: Batch = field(default_factory=lambda: Batch(REQUESTS, CURVES["smooth"]))
    example: Example = EXAMPLES["small"]
    policy: Policy = "hindsight"
    draws: int = 10_000
    seed: int = 1
    guessed: bool = True  # both predictions are committed
    recomputed: str = ""  # the grid chain that was run


def chain_tables(chain: Chain, costs: Costs, guessed: bool = True) -> dict[str, Table]:
    """All tables that follow the slider."""
    found = {
        "survival": survival_table(chain), "summary": summary_table(chain), "rejection_law": law_table(chain),
        "substitution": substitution_table(chain), "cap": cap_table(chain),
    }  # fmt: skip
    for curve, times in (("a", costs.a), ("b", costs.b)):
        if curve == "a" or guessed:
            found[f"cost_{curve}"] = cost_table(chain, times, draft=costs.draft, fixed=costs.fixed)
    return found


def batch_tables(batch: Batch) -> dict[str, Table]:
    singles = {f"single_{r}": single_table(c, batch.curve) for r, c in enumerate(batch.requests, 1)}
    return singles | {
        "path": path_table(admissions(batch.requests, batch.curve), batch.curve),
        "outcomes": outcome_table(batch.requests, batch.curve)[0],
        "allocation": allocation_table(batch.requests, batch.curve),
        "alone": alone_best(batch.requests, batch.curve),
        "sums": sum_table(batch.requests, batch.curve),
    }


def selection_tables(state: State) -> dict[str, Table]:
    if not state.guessed:
        return {"rates": rates(state.example)}
    found = {
        "rates": rates(state.example), "first_output": first_output(state.example, state.policy),
        "policies": policy_table(state.example),
    }  # fmt: skip
    for policy in ("first_drop", "hindsight"):
        drawn = draw(state.example, policy, state.draws, seed=state.seed)
        found |= {f"drawn_{policy}": counts_table(drawn), f"drawn_{policy}_fit": fit_table(drawn)}
    return found


def recomputed_tables(grid: str) -> dict[str, Table]:
    """Counts from the oracle's law on the grid, not from the run itself."""
    chain = GRID_CHAINS[grid]
    inside = [Fraction(sum(Fraction(2 * i + 1, 20) < c for i in range(10)), 10) for c in chain]
    counts = Counter({i: int(w * 10 ** len(chain)) for i, w in lengths_law(inside).items()})
    results = [(n, len(f.differences), f.cells) for n, r in REFERENCES.items()
               for f in [compare(n, r(), REFERENCE / f"{n}.csv")]]  # fmt: skip
    rows, sums = checked_table([(name, cells, off) for name, off, cells in results])
    counted = count_table(chain, counts)
    return {
        "counted": counted, "counted_mean": mean_table(counted), "counted_caps": counted_caps(chain, counts),
        "checked": rows, "checked_all": sums,
    }  # fmt: skip


def wanted_tables(state: State) -> dict[str, Table]:
    """Id of every table of the page without its topic → the table."""
    found = {f"version_{v}": version_table(v) for v in VERSIONS}
    found |= chain_tables(state.chain, state.costs, state.guessed) | batch_tables(state.batch)
    found |= selection_tables(state)
    return found | (recomputed_tables(state.recomputed) if state.recomputed else {})


def shown(table: Table, *, hide: tuple[str, ...] = ()) -> Shown:
    """Every cell as the page prints it."""
    found: Shown = {}
    for q, column in zip(table.columns, table.cells, strict=True):
        for row, v in enumerate(column):
            if q.name not in hide:
                found[row, q.name] = (
                    ("", "") if v is None else (print_text(q, v), exact_text(v) if isinstance(v, Fraction) else "")
                )
    return found


@lru_cache(maxsize=32)
def wanted(state: State) -> dict[str, Shown]:
    hide = () if state.guessed else HIDDEN
    return {name: shown(table, hide=hide) for name, table in wanted_tables(state).items()}
