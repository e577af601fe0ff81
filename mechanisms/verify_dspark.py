"""The tables of the verification-budget chapter in the shape of their reference files.

Columns `*_printed` are compared with our own value rounded to the places that the audited document prints, and `status`
says whether that is what it prints; where it were not, the text would differ and the comparison would fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from mechanisms.dspark import cap_table, law_table, substitution_table, summary_table, survival_table
from mechanisms.dspark_batch import allocation_table, path_table, single_table
from mechanisms.dspark_cost import cost_table
from mechanisms.dspark_presets import CHAINS, CURVES, DRAFT_TIME, EXAMPLES, FIXED_TIME, REQUESTS, VERIFY
from mechanisms.dspark_recompute import count_rounds
from mechanisms.dspark_scheduler import admissions, early_stop, path_best
from mechanisms.dspark_selection import POLICIES, first_output, rates
from mechanisms.quantity import as_fraction, decimal_text, exact_text
from mechanisms.table import Cell, Table

Row = Mapping[str, str]
CHAIN = CHAINS["printed"]
CASES = {
    "no draft": "none", "every draft rejected": "rejected", "every draft accepted": "all",
    "zero survival after two": "dead", "printed case": "printed",
}  # fmt: skip
RULE_NAMES = ("arithmetic mean of c", "accepted over drafted, E[L_4]/4", "first position for all")
POLICY_NAMES = {
    "target": "direct target sampling", "hindsight": "choose K after seeing the later draft",
    "first_drop": "stop at the first decrease",
}  # fmt: skip


def _dec(cell: Cell, places: int = 6) -> str:
    return "" if cell is None else decimal_text(cell, places).replace("−", "-")


def _exact(cell: Cell) -> str:
    return "" if cell is None else exact_text(as_fraction(cell)).replace("−", "-")


def _survival() -> Iterator[Row]:
    table = survival_table(CHAIN)
    for j in range(1, len(CHAIN) + 1):
        c, s = table.value(j, "conditional_acceptance"), table.value(j, "prefix_survival")
        yield {
            "j": str(j), "c_printed": _dec(c), "c_exact": _exact(c), "S_printed": _dec(s), "S_exact": _exact(s),
            "expected_tokens_exact": _exact(table.value(j, "expected_tokens")), "status": "ok",
        }  # fmt: skip


def _edge_cases() -> Iterator[Row]:
    for name, chain in CASES.items():
        table, whole = survival_table(CHAINS[chain]), summary_table(CHAINS[chain])
        tokens = whole.value(0, "tokens_per_round")
        yield {
            "case": name, "c": "|".join("" if c is None else _short(c) for c in CHAINS[chain]),
            "S": "|".join(_exact(s) for s in table.column("prefix_survival")[1:]),
            "expected_accepted_exact": _exact(whole.value(0, "accepted_tokens")),
            "expected_tokens": _dec(tokens), "expected_tokens_exact": _exact(tokens),
        }  # fmt: skip


def _short(x: Fraction) -> str:
    return _dec(x).rstrip("0").rstrip(".")


def _mean_substitution() -> Iterator[Row]:
    true = summary_table(CHAIN).value(0, "tokens_per_round")
    yield {
        "rule": "true conditional chain", "rate_used_exact": "", "expected_tokens": _dec(true),
        "expected_tokens_exact": _exact(true), "error_exact": "0", "relative_error_12dp": _dec(Fraction(0), 12),
    }  # fmt: skip
    table = substitution_table(CHAIN)
    for i, name in enumerate(RULE_NAMES):
        tokens = table.value(i, "tokens_if_constant")
        yield {
            "rule": name, "rate_used_exact": _exact(table.value(i, "rate_used")), "expected_tokens": _dec(tokens),
            "expected_tokens_exact": _exact(tokens), "error_exact": _exact(table.value(i, "token_error")),
            "relative_error_12dp": _dec(table.value(i, "relative_error"), 12),
        }  # fmt: skip


def _first_rejection() -> Iterator[Row]:
    table = law_table(CHAIN)
    *_, (_, counts) = count_rounds([c for c in CHAIN if c is not None])
    for i in range(len(CHAIN) + 1):
        chance = table.value(i, "ends_here")
        yield {
            "accepted": str(i), "tokens": _exact(table.value(i, "tokens_emitted")), "probability": _dec(chance),
            "probability_exact": _exact(chance), "count_of_10000": str(counts[i]),
        }  # fmt: skip


def _output_cap() -> Iterator[Row]:
    for m, value in enumerate(cap_table(CHAIN).column("capped_tokens")):
        yield {"cap": str(m), "expected_tokens": _dec(value), "expected_tokens_exact": _exact(value)}


def _cost_curves() -> Iterator[Row]:
    tables = {x: cost_table(CHAIN, v, draft=DRAFT_TIME, fixed=FIXED_TIME) for x, v in VERIFY.items()}
    for k in range(len(CHAIN) + 1):
        tokens = tables["A"].value(k, "round_tokens")
        row = {"K": str(k), "expected_tokens_printed": _dec(tokens), "expected_tokens_exact": _exact(tokens)}
        for x, table in tables.items():
            time, rate = table.value(k, "round_time"), table.value(k, "token_rate")
            row |= {
                f"time_{x}_printed": _dec(time), f"time_{x}_exact": _exact(time), f"rate_{x}_printed": _dec(rate),
                f"rate_{x}_exact": _exact(rate), f"rate_{x}_12dp": _dec(rate, 12),
                f"best_{x}": _exact(table.value(k, "is_best")),
            }  # fmt: skip
        yield row | {"status": "ok"}


def _pair(lengths: tuple[int, ...] | list[Cell]) -> Row:
    return {f"len_{r}": _exact(Fraction(x)) for r, x in enumerate(lengths, 1)}  # type: ignore[arg-type]


def _batch_allocation() -> Iterator[Row]:
    for curve, speeds in CURVES.items():
        table = allocation_table(REQUESTS, speeds)
        for i in range(len(table.rows)):
            theta = table.value(i, "throughput")
            yield {
                "curve": curve, **_pair([table.value(i, f"length_{r}") for r in (1, 2)]),
                "positions": _exact(table.value(i, "batch_positions")),
                "expected_tokens_exact": _exact(table.value(i, "batch_tokens")),
                "sps": _dec(table.value(i, "steps_per_time"), 2), "throughput": _dec(theta),
                "throughput_exact": _exact(theta), "joint_best": _exact(table.value(i, "is_best")),
            }  # fmt: skip


def _batch_greedy_path() -> Iterator[Row]:
    for curve, speeds in CURVES.items():
        path = admissions(REQUESTS, speeds)
        table, stop, best = path_table(path, speeds), early_stop(path), path_best(path)
        for i, point in enumerate(path):
            theta = table.value(i, "throughput")
            yield {
                "curve": curve, "order": str(i), **_pair(point.lengths),
                "positions": _exact(table.value(i, "batch_positions")),
                "expected_tokens_exact": _exact(table.value(i, "batch_tokens")), "throughput": _dec(theta),
                "throughput_exact": _exact(theta), "early_stop": str(int(i == stop)), "path_best": str(int(i == best)),
            }  # fmt: skip


def _single_request_best() -> Iterator[Row]:
    for r, chain in enumerate(REQUESTS, 1):
        table = single_table(chain, CURVES["smooth"])
        for i in range(len(table.rows)):
            theta = table.value(i, "alone_throughput")
            yield {
                "request": f"r{r}", "length": str(i), "throughput": _dec(theta), "throughput_exact": _exact(theta),
                "alone_best": _exact(table.value(i, "is_best")),
            }  # fmt: skip


def _posthoc_choice() -> Iterator[Row]:
    table = rates(EXAMPLES["small"])
    for i, token in enumerate(table.rows):
        second = table.value(i, "second_acceptance")
        row = {"first_draft": token, "c2_printed": _dec(second), "c2_exact": _exact(second)}
        for k in range(3):
            rate = table.value(i, f"rate_{k}")
            row |= {f"rate_K{k}_printed": _dec(rate), f"rate_K{k}_exact": _exact(rate)}
        yield row | {
            "chosen_K_printed": _exact(table.value(i, "hindsight_length")),
            "first_drop_K": _exact(table.value(i, "early_length")), "status": "ok",
        }  # fmt: skip


def _law(table: Table) -> Row:
    a, b = table.column("first_output")
    return {
        "p_A_printed": _dec(a), "p_A_exact": _exact(a), "p_B_printed": _dec(b), "p_B_exact": _exact(b),
        "bias_A_exact": _exact(table.value(0, "bias")), "status": "ok",
    }  # fmt: skip


def _first_output() -> Iterator[Row]:
    for policy in POLICIES:
        yield {"policy": POLICY_NAMES[policy], **_law(first_output(EXAMPLES["small"], policy))}


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "dspark_survival": _survival,
    "dspark_edge_cases": _edge_cases,
    "dspark_mean_substitution": _mean_substitution,
    "dspark_first_rejection": _first_rejection,
    "dspark_output_cap": _output_cap,
    "dspark_cost_curves": _cost_curves,
    "dspark_batch_allocation": _batch_allocation,
    "dspark_batch_greedy_path": _batch_greedy_path,
    "dspark_single_request_best": _single_request_best,
    "dspark_posthoc_choice": _posthoc_choice,
    "dspark_first_output": _first_output,
}
