"""The descent on KL: case, step size and step, the state they lead to, its totals, the path, and the check by hand."""

from __future__ import annotations

from functools import lru_cache

from mechanisms.mtp_boosting import STEPS, descent, totals, trajectory
from mechanisms.mtp_cases import CASES, Case
from mechanisms.mtp_check import WIDTHS, check
from mechanisms.mtp_temperature import TEMPERATURES, soft_totals, softened
from mechanisms.table import Table
from pages import _payload
from pages._mtp_state import (
    OWN,
    PLACE,
    RATES,
    TOPIC,
    case_now,
    choose,
    get,
    note,
    put,
    remember,
    show,
    slide,
    texts_of,
    together,
)
from pages._parts import Block
from pages._words import t

ROLES = {
    "target_probability": "target", "draft_probability": "draft", "shared_mass": "accepted", "gradient": "corrected",
    "soft_target": "target", "soft_draft": "draft", "soft_gradient": "corrected", "draft_after": "output",
}  # fmt: skip
CHECK = ("target_probability", "gradient", "difference_quotient", "quotient_error", "double_quotient", "double_error",
         "draft_probability", "logit", "width")  # fmt: skip
SOFT = ("target_probability", "soft_target", "soft_draft", "soft_gradient", "bare_gradient", "soft_next", "draft_after",
        "logit", "temperature", "learning_rate")  # fmt: skip
Frames = tuple[Table, _payload.Printed]


def _frames(tables: list[Table], order: tuple[str, ...] | None = None) -> Frames:
    return tables[0], _payload.printed(tables, order)


@lru_cache(maxsize=32)
def paths(case: Case) -> tuple[Frames, Frames, Frames]:
    """States and totals for every step size and step, and the path for every step size."""
    every = [descent(case, rate=rate) for rate in RATES]
    states = [s for states in every for s in states]
    return _frames(states), _frames([totals(s) for s in states]), _frames([trajectory(s) for s in every])


@lru_cache(maxsize=32)
def checks(case: Case) -> Frames:
    return _frames([check(case, width=w) for w in WIDTHS], CHECK)


@lru_cache(maxsize=32)
def heats(case: Case) -> tuple[Frames, Frames]:
    tables = [softened(case, temperature=h) for h in TEMPERATURES]
    return _frames(tables, SOFT), _frames([soft_totals(x) for x in tables])


def case_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        if value in CASES:
            remember("case_editor", None)
            put(case=value, own=None, step=0)
        elif value == OWN and get("own") is None:
            put(own=case_now(), step=0)

    chosen = get("case") if get("own") is None else OWN
    choose(block, "case", (*CASES, OWN), words, notes=True, value=chosen, pick=pick)


def rate_range(block: Block, words: str) -> None:
    slide(block, "rate", texts_of(RATES), words)


def step_range(block: Block, words: str) -> None:
    slide(block, "step", [str(i) for i in range(STEPS + 1)], words)
    together(block, "rate", "step", (len(RATES), STEPS + 1), PLACE)


def state_rows(block: Block, words: str) -> None:
    first, cells = paths(case_now())[0]
    show(block, first, "state", words, topic=PLACE, roles=ROLES, frames=cells)


def totals_strip(block: Block, words: str) -> None:
    first, cells = paths(case_now())[1]
    note(block, words, "totals_head")
    show(block, first, "totals", words, topic=PLACE, over=f"{TOPIC}.state", layout="strip", frames=cells)


def path_lines(block: Block, words: str) -> None:
    series = [("kl_divergence", "corrected"), ("acceptance_rate", "accepted")]
    data = {
        "table": f"{TOPIC}.trajectory", "x": "step", "cursor": f"{TOPIC}.step", "axis": t(f"{TOPIC}.head_step"),
        "series": [{"column": c, "role": r, "label": t(f"{TOPIC}.line_{c}")} for c, r in series],
        "alt": t(f"{TOPIC}.path_alt"), "note": words,
    }  # fmt: skip
    block.part("lines", data, key=f"{TOPIC}.path")


def path_rows(block: Block, words: str) -> None:
    first, cells = paths(case_now())[2]
    show(block, first, "trajectory", words, head="head_step", topic=f"{TOPIC}.rate", frames=cells)


def width_range(block: Block, words: str) -> None:
    slide(block, "width", texts_of(WIDTHS), words)


def check_rows(block: Block, words: str) -> None:
    first, cells = checks(case_now())
    roles = {**ROLES, "difference_quotient": "output", "double_quotient": "output"}
    show(block, first, "check", words, topic=f"{TOPIC}.width", roles=roles, order=CHECK, frames=cells)


def heat_range(block: Block, words: str) -> None:
    slide(block, "heat", texts_of(TEMPERATURES), words)


def soft_rows(block: Block, words: str) -> None:
    first, cells = heats(case_now())[0]
    show(block, first, "softened", words, topic=f"{TOPIC}.heat", roles=ROLES, order=SOFT, frames=cells)


def soft_strip(block: Block, words: str) -> None:
    first, cells = heats(case_now())[1]
    note(block, words, "soft_totals_head")
    show(block, first, "soft_totals", words, topic=f"{TOPIC}.heat", over=f"{TOPIC}.softened", layout="strip",
         frames=cells)  # fmt: skip
