"""What the economics page must show: the values of its controls in waves, and every table beside its mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mechanisms import economics_tree
from mechanisms.economics_conventions import EXAMPLES, reconcile
from mechanisms.economics_decay import CHAINS, PLUGS, chain, chain_totals
from mechanisms.economics_markov import COUPLINGS, two_step_totals, two_steps
from mechanisms.economics_metrics import TRACES, metrics, positions
from mechanisms.economics_overlap import (
    PAIRS,
    SHAPES,
    TAILS,
    TEMPERATURES,
    heated,
    heated_rate,
    overlap,
    overlap_summary,
    shaped,
)
from mechanisms.economics_price import break_even, price
from mechanisms.economics_published import leviathan_table_1, leviathan_table_4
from mechanisms.economics_ridge import batches, ridge_limits
from mechanisms.economics_tree_tables import draw_tree, tree_levels, tree_root, tree_summary, tree_walk
from mechanisms.hardware import DEVICES, device
from mechanisms.quantity import exact_text, print_text
from mechanisms.rejection_presets import PRESETS
from mechanisms.speculation_economics import RATES, VERIFICATIONS, best, costs_of, speed_curve
from mechanisms.table import Table
from pages._economics_state import COST_IDS, DRAFT_TIMES, TREE_PAIRS, VERIFY_TIMES
from tests.browser_ledger import rows_of
from tests.measured_tables import entry, printed

TOPIC = "speculation_economics"
Cells = dict[tuple[int, str], tuple[str, str]]
REAL = {"real_fp32": ("fp32", "torch"), "real_bf16": ("bf16", "torch"), "real_own": ("bf16", "invariant")}
ENDS: dict[str, tuple[object, ...]] = {
    "rate": (0, len(RATES) - 1), "gamma": (0, 12), "cost": COST_IDS, "curve": (*(v.id for v in VERIFICATIONS), *REAL),
    "example": tuple(e.id for e in EXAMPLES), "draft_ms": (0, 10), "verify_ms": (0, 10),
    "chain": tuple(c.id for c in CHAINS), "plug": PLUGS, "trace": tuple(TRACES), "tail": TAILS,
    "shape": (0, len(SHAPES) - 1), "pair": tuple(PAIRS), "heat": (0, len(TEMPERATURES) - 1),
    "device": tuple(d.id for d in DEVICES), "drafts": (0, 12), "tree_pair": TREE_PAIRS,
    "tree": tuple(economics_tree.SHAPES), "rule": economics_tree.RULES, "seed": (0, 9999),
    "coupling": (0, len(COUPLINGS) - 1), "guess1": (0, 30), "guess2": ("same", "other", "equal", "unknown"),
}  # fmt: skip
OWN = {
    "own_curve": ("1", "0.5~1e6", "~".join(["1"] * 13)), "own_chain": ("0~1~1/3", "1", "~".join(["1"] * 12)),
    "own_trace": ("0", "12", "~".join(["3"] * 60)),
    "own_pair": ("A,B~1,0~0,1", "A,B,C,D~1/4,1/4,1/4,1/4~0.1,0.2,0.3,0.4", "A,B~1/2,1/2~1/2,1/2"),
}  # fmt: skip
CHOSEN = {"curve": "own", "chain": "own", "trace": "own", "tree_pair": "own"}
WAVES = 12  # enough for every value above, and for every shape of a tree with every rule


def wave(i: int) -> dict[str, Any]:
    """The i-th value of every control; the rule of the tree turns once its shapes have."""
    state = {name: values[i % len(values)] for name, values in ENDS.items()}
    return state | {"rule": economics_tree.RULES[i // len(economics_tree.SHAPES)]}


def shown(found: dict[str, Any], name: str, frame: int = 0) -> Cells:
    """`(row, quantity)` → `(decimal, exact)`; undefined cells are left out."""
    data = found[f"{TOPIC}.{name}"]
    columns = [c["name"] for c in data["columns"]]
    return {
        (r, column): (text.split("|")[0], text.split("|")[1])
        for r, row in enumerate(data["frames"][frame])
        for column, text in zip(columns, row, strict=True)
        if text is not None
    }


def wanted(table: Table) -> Cells:
    return {
        (row, q.name): (print_text(q, v), exact_text(v) if isinstance(v, Fraction) else "")
        for q, column in zip(table.columns, table.cells, strict=True)
        for row, v in enumerate(column)
        if v is not None
    }


def ancestors(nodes: Any) -> list[list[int]]:
    """Who sees whom, by walking up to the root."""
    seen = [[0] * len(nodes) for _ in nodes]
    for i in range(len(nodes)):
        at: int | None = i
        while at is not None:
            seen[i][at] = 1
            at = nodes[at].parent
    return seen


def costs(curve: str) -> tuple[Fraction, ...]:
    """A built-in curve, or the measured times of passes over one to six positions, relative to the first."""
    if curve not in REAL:
        return costs_of(curve)
    at = {"precision": REAL[curve][0], "linear": REAL[curve][1], "batch": "1"}
    times = [Fraction(printed(entry("verify_cost", "pass_time", width=str(w), **at))) for w in range(1, 7)]
    return tuple(t / times[0] for t in times)


def check_speed(found: dict[str, Any], state: dict[str, Any]) -> None:
    for i in (0, 12, 16, 20):
        table = speed_curve(RATES[i], Fraction(state["cost"]), costs(state["curve"]))
        assert shown(found, "speed_curve", i) == wanted(table)
        assert shown(found, "best", i) == wanted(best(table))
        rows = len(table.rows)
        for gamma in {0, 4, rows - 1}:
            one = {(0, n): v for (r, n), v in wanted(table).items() if r == gamma}
            assert shown(found, "now", i * rows + gamma) == one
    e = next(x for x in EXAMPLES if x.id == state["example"])
    assert shown(found, "reconcile") == wanted(reconcile(e.rate, e.gamma, e.cost))
    row = rows_of("recap_speedup_examples")[EXAMPLES.index(e)]
    split = shown(found, "bonus_split")
    assert Fraction(split[0, "tokens_per_round"][1]) == Fraction(row["tokens_exact"])
    assert Fraction(split[0, "with_bonus"][1]) == Fraction(row["speedup_exact"])
    for d, v in ((0, 0), (10, 0), (0, 10), (10, 10)):
        times = {"draft": Fraction(DRAFT_TIMES[d]), "verify": Fraction(VERIFY_TIMES[v])}
        assert shown(found, "price", d * len(VERIFY_TIMES) + v) == wanted(price(**times))
        assert shown(found, "break_even", d * len(VERIFY_TIMES) + v) == wanted(break_even(**times))
    assert shown(found, "leviathan_table_1") == wanted(leviathan_table_1())
    assert shown(found, "leviathan_table_4") == wanted(leviathan_table_4())


def check_rates(found: dict[str, Any], state: dict[str, Any]) -> None:
    rates = next(c.rates for c in CHAINS if c.id == state["chain"])
    assert shown(found, "chain_table") == wanted(chain(rates, state["plug"]))
    assert shown(found, "chain_totals") == wanted(chain_totals(chain(rates, state["plug"])))
    assert shown(found, "metrics") == wanted(metrics(TRACES[state["trace"]]))
    assert shown(found, "positions") == wanted(positions(TRACES[state["trace"]]))
    for i in (0, 3, len(SHAPES) - 1):
        table = overlap(shaped(SHAPES[i], state["tail"]))
        assert shown(found, "overlap", i) == wanted(table)
        assert shown(found, "overlap_summary", i) == wanted(overlap_summary(table))
    for i in (0, 9, len(TEMPERATURES) - 1):
        table = heated(PAIRS[state["pair"]], TEMPERATURES[i])
        assert shown(found, "heated", i) == wanted(table)
        assert shown(found, "heated_rate", i) == wanted(heated_rate(table))
    for i in (0, 7, len(COUPLINGS) - 1):
        assert shown(found, "two_steps", i) == wanted(two_steps(COUPLINGS[i]))
        assert shown(found, "two_step_totals", i) == wanted(two_step_totals(two_steps(COUPLINGS[i])))
    of = device(state["device"])
    assert shown(found, "ridge_limits") == wanted(ridge_limits(of))
    for gamma in (0, 4, 12):
        assert shown(found, "batches", gamma) == wanted(batches(of, gamma))


def check_tree(found: dict[str, Any], state: dict[str, Any]) -> None:
    widths, rule, seed = economics_tree.SHAPES[state["tree"]], state["rule"], state["seed"]
    text = economics_tree.turned(PRESETS[state["tree_pair"]])
    assert shown(found, "tree_summary") == wanted(tree_summary(text, widths, rule))
    assert shown(found, "tree_root") == wanted(tree_root(text, widths[0], rule))
    assert shown(found, "tree_levels") == wanted(tree_levels(text, widths, rule))
    rng = np.random.default_rng(seed)
    nodes = draw_tree(text, widths, rng)
    table, output = tree_walk(text, nodes, rng, "exact" if rule == "replacement" else rule)
    assert shown(found, "tree_walk") == wanted(table)
    assert f"<b>{output}</b>" in found[f"{TOPIC}.walk_output"]["html"]
    marks = found[f"{TOPIC}.mask"]["html"]
    assert marks.count("data-seen") == len(nodes) ** 2
    assert marks.count('data-seen="1"') == sum(map(sum, ancestors(nodes)))
