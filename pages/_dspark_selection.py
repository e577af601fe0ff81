"""The length of a round chosen after a look at the drafts: rates, exact laws, draws. Locked until the second guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from mechanisms.dspark_input import read_example
from mechanisms.dspark_presets import EXAMPLES, Example
from mechanisms.dspark_selection import POLICIES, first_output, policy_table, rates
from mechanisms.dspark_simulation import draw
from mechanisms.rejection_counts import counts_table, fit_table
from mechanisms.rejection_sampling import Check
from pages import _frame, _html, _payload
from pages._dspark_state import (
    DRAWS,
    OWN,
    TOPIC,
    choose,
    example_now,
    forget,
    form,
    get,
    note,
    opened,
    plain,
    put,
    show,
)  # fmt: skip
from pages._parts import Block
from pages._plots import bar, plot
from pages._words import language, t

RATE_ORDER = (
    "first_acceptance", "second_acceptance", "rate_0", "rate_1", "rate_2", "hindsight_length", "early_length",
    "steps_1", "steps_2", "steps_3",
)  # fmt: skip
HIDDEN = ("hindsight_length", "early_length")
LAW_ORDER = (
    "target_probability", "first_output", "bias", "draft_probability", "chosen_length", "kept_mass", "corrected_mass",
    "checked_mass", "replaced_mass", "lost_mass", "unverified_mass", "residual",
)  # fmt: skip
ROLES = {"target_probability": "target", "kept_mass": "accepted", "corrected_mass": "corrected",
         "first_output": "output", "lost_mass": "rejected", "draft_probability": "draft"}  # fmt: skip
DRAWN = ("first_drop", "hindsight")
REJECT_AT = 0.001  # false alarms of an exact policy: one seed in a thousand
LOOKS = ("own_now", "own_later", "position", "others", "history", "fixed")


def example_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        forget("case")
        own = example_now() if value == OWN and get("case") is None else get("case")
        put(example=value, case=own)

    choose(block, "example", (*EXAMPLES, OWN), words, notes=True, pick=pick)


def editor(block: Block, words: str) -> None:
    x = example_now()
    rows: Mapping[str, str] = {"p": plain(x.p), "q": plain(x.q), "second": plain(x.second), "sps": plain(x.sps)}
    form(block, "case", rows, words, read=read_example, take=lambda e: put(case=e, example=OWN),
         own=get("example") == OWN)  # fmt: skip


def rate_rows(block: Block, words: str) -> None:
    table = rates(example_now())
    if not opened("guess2"):  # which lengths are chosen belongs to the answer
        kept = [i for i, q in enumerate(table.columns) if q.name not in HIDDEN]
        table = replace(table, columns=tuple(table.columns[i] for i in kept), cells=tuple(table.cells[i] for i in kept))
    order = [n for n in RATE_ORDER if opened("guess2") or n not in HIDDEN]
    show(block, table, "rates", words, head="row_draft", order=order)


def _locked(block: Block, key: str) -> bool:
    if opened("guess2"):
        return False
    note(block, t(f"{TOPIC}.locked_look"), f"locked_{key}", "locked")
    return True


def policy_choice(block: Block, words: str) -> None:
    if not _locked(block, "policy"):
        choose(block, "policy", POLICIES, words, notes=True)


@lru_cache(maxsize=32)
def _laws(example: Example) -> _payload.Printed:
    return _payload.printed([first_output(example, p) for p in POLICIES], LAW_ORDER)


def law(block: Block, words: str) -> None:
    if opened("guess2"):
        first = first_output(example_now(), POLICIES[0])
        show(block, first, "first_output", words, head="row_token", topic=f"{TOPIC}.policy", order=LAW_ORDER,
             frames=_laws(example_now()), roles=ROLES)  # fmt: skip


def law_plot(block: Block, words: str) -> None:
    if not opened("guess2"):
        return
    traces = [
        bar("target_probability", "p", "target", t(f"{TOPIC}.bar_target")),
        bar("kept_mass", "law", "accepted", t(f"{TOPIC}.bar_kept")),
        bar("corrected_mass", "law", "corrected", t(f"{TOPIC}.bar_corrected"), "kept_mass"),
        bar("replaced_mass", "law", "target", t(f"{TOPIC}.bar_replaced"), "checked_mass", quiet=True),
        bar("first_output", "law", "output", t(f"{TOPIC}.bar_output"), outline=True),
    ]
    plot(block, f"{TOPIC}.first_output", traces, note=words, alt=t(f"{TOPIC}.law_alt"), key=f"{TOPIC}.law_plot")


def comparison(block: Block, words: str) -> None:
    if opened("guess2"):
        table = policy_table(example_now())
        rows = tuple(t(f"{TOPIC}.policy_{p}") for p in table.rows)
        show(block, replace(table, rows=rows), "policies", words, head="row_policy", roles={
            "first_token_output": "output", "first_token_target": "target"})  # fmt: skip


def happened(block: Block, words: str) -> None:
    """What the instrument showed, in words with its numbers."""
    if opened("guess2"):
        names = ("small_biased", "small_target", "appendix_biased", "appendix_target", "appendix_early", "appendix_a",
                 "appendix_b")  # fmt: skip
        numbers = {n: _html.value(f"{TOPIC}.{n}", language()) for n in names}
        block.prose(
            f"<h3>{_payload.plain_text(words)}</h3>{t(f'{TOPIC}.happened', **numbers)}", key=f"{TOPIC}.happened"
        )


def draws_choice(block: Block, words: str) -> None:
    if _locked(block, "draws"):
        return
    choose(block, "draws", DRAWS, words, labels=[f"{int(n):,}" for n in DRAWS])


def again(block: Block, words: str) -> None:
    if opened("guess2"):
        data = {"label": t(f"{TOPIC}.draw_again", seed=get("seed"))}
        block.part("action", data, key=f"{TOPIC}.again", go=lambda _: put(seed=(get("seed") + 1) % 2**31))
        note(block, words, "again_help")


@lru_cache(maxsize=16)
def _drawn(example: Example, policy: Any, draws: int, seed: int) -> Check:
    return draw(example, policy, draws, seed=seed)


def counts(block: Block, words: str) -> None:
    if not opened("guess2"):
        return
    note(block, words, "counts_help")
    for policy in DRAWN:
        found, name = _drawn(example_now(), policy, int(get("draws")), get("seed")), f"drawn_{policy}"
        block.prose(f"<h3>{t(f'{TOPIC}.{name}')}</h3>", key=f"{TOPIC}.{name}_head")
        caption = t(f"{TOPIC}.counts_caption", seed=found.seed, draws=f"{found.draws:,}")
        show(block, counts_table(found), name, caption, head="row_token",
             roles={"target_probability": "target", "frequency": "output"})  # fmt: skip
        show(block, fit_table(found), f"{name}_fit", caption, layout="strip", over=f"{TOPIC}.{name}")
        note(block, t(f"{TOPIC}.fit_{_verdict(found)}"), f"{name}_verdict")


def _verdict(found: Check) -> str:
    if found.p_value is None:
        return "no_test"
    return "contradicts" if found.p_value < REJECT_AT else "agrees"


def rule(block: Block, words: str) -> None:
    """What a scheduler may look at: words, so a plain table."""
    if _locked(block, "rule"):
        return
    head = [t(f"{TOPIC}.look_{h}") for h in ("what", "allowed", "why")]
    rows = [[t(f"{TOPIC}.look_{name}{part}") for part in ("", "_allowed", "_why")] for name in LOOKS]
    note(block, words, "rule_help")
    block.prose(_frame.data_table(words, head, rows), key=f"{TOPIC}.rule")
