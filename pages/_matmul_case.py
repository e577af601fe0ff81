"""The ledger of the four sums: presets, the reader's own codes, the zero point under a slider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from mechanisms.integer_matmul import CODE_LIMIT, MAX_TERMS, SUMS, Case, ledger, sums
from mechanisms.integer_matmul_read import CASES, BadCase, Problem, read_case
from mechanisms.table import Table
from pages import _payload
from pages._matmul_state import TOPIC, ZERO_POSITIONS, ZERO_STEP, base_case, choose, get, put, show, slide
from pages._parts import Block
from pages._words import t

OWN = "own"
ROLES = {
    "activation_code": "target", "activation_zero_point": "target", "activation_shifted": "target",
    "weight_code": "draft", "weight_zero_point": "draft", "weight_shifted": "draft",
    "code_product": "output", "shifted_product": "accepted",
}  # fmt: skip
# what is known before the first activation arrives, what is not, and the two results
SHOWN = (
    "terms", "weight_zero_point", "activation_zero_point", "sum_weights", "activation_shift_term", "constant_term",
    "sum_products", "sum_activations", "weight_shift_term", "accumulated", "accumulated_directly", "difference",
)  # fmt: skip
ORDER = (
    "activation_code", "weight_code", "code_product", "activation_shifted", "weight_shifted", "shifted_product",
    "activation_zero_point", "weight_zero_point",
)  # fmt: skip
_DRAFT = f"{TOPIC}._draft"  # fields as typed, kept while they cannot be used
assert {q.name for q in SUMS} == set(SHOWN)


@lru_cache(maxsize=64)
def numbers(case: Case) -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    """Ledger and sums for every zero point of the slider; the case's own is not looked at."""
    moved = [replace(case, z_x=ZERO_STEP * i) for i in range(ZERO_POSITIONS)]
    ledgers, totals = [ledger(c) for c in moved], [sums(c) for c in moved]
    return ledgers[0], _payload.printed(ledgers, ORDER), totals[0], _payload.printed(totals, SHOWN)


def _numbers() -> tuple[Table, _payload.Printed, Table, _payload.Printed]:
    return numbers(replace(base_case(), z_x=0))


def preset_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        if value in CASES:
            st.session_state.pop(_DRAFT, None)
            put(case=value, own=None, zero=CASES[value].z_x // ZERO_STEP)
        elif value == OWN and get("own") is None:
            st.session_state.pop(_DRAFT, None)
            put(own=replace(base_case(), z_x=0))

    chosen = get("case") if get("own") is None else OWN
    choose(block, "case", (*CASES, OWN), words, notes=True, value=chosen, pick=pick)


def _texts(event: Mapping[str, Any], name: str) -> list[str]:
    found = event.get(name)
    return [str(x)[:200] for x in found][: MAX_TERMS + 1] if isinstance(found, list) else []


def _edit(event: Any) -> None:
    """New fields from the editor: usable ones become the case, others stay as typed beside what is wrong with them."""
    if not isinstance(event, Mapping):
        return
    x, w, zero = _texts(event, "x"), _texts(event, "w"), str(event.get("zero") or "")[:200]
    try:
        own = read_case(x, w, zero, z_x=0)
    except BadCase as error:
        st.session_state[_DRAFT] = (x[:MAX_TERMS], w[:MAX_TERMS], zero, error.problems)
        return
    st.session_state.pop(_DRAFT, None)
    put(own=own)


def _problem(problem: Problem) -> dict[str, Any]:
    text = t(f"{TOPIC}.bad_{problem.code}", detail=problem.detail, limit=MAX_TERMS, most=f"{CODE_LIMIT:,}")
    return {"code": problem.code, "column": problem.column, "row": problem.row, "text": text}


def case_editor(block: Block, words: str) -> None:
    case = base_case()
    fields = ([str(v) for v in case.q_x], [str(v) for v in case.q_w], str(case.z_w), ())
    x, w, zero, problems = st.session_state.get(_DRAFT, fields)
    names = ("x", "w", "zero", "term", "add", "remove", "kept", "hint")
    data = {
        "x": x, "w": w, "zero": zero, "problems": [_problem(p) for p in problems], "most": MAX_TERMS,
        "words": {n: t(f"{TOPIC}.editor_{n}") for n in names} | {"caption": words},
    }  # fmt: skip
    block.part("codes", data, key=f"{TOPIC}.editor", edit=_edit)


def zero_range(block: Block, words: str) -> None:
    slide(block, "zero", [str(ZERO_STEP * i) for i in range(ZERO_POSITIONS)], words)


def ledger_table(block: Block, words: str) -> None:
    first, cells, *_ = _numbers()
    show(block, first, "ledger", words, head="head_term", roles=ROLES, topic=f"{TOPIC}.zero", order=ORDER, frames=cells)


def sums_strip(block: Block, words: str) -> None:
    *_, first, cells = _numbers()
    show(
        block, first, "sums", words, topic=f"{TOPIC}.zero", over=f"{TOPIC}.ledger", layout="strip", order=SHOWN,
        frames=cells,
    )  # fmt: skip
