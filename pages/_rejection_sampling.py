"""The sampling check: counts of many draws beside the exact law, with a broken rule as negative control."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mechanisms.rejection_counts import counts_table, fit_table
from mechanisms.rejection_rules import output_law, rule, verdict
from mechanisms.rejection_sampling import Check, check
from pages import _payload
from pages._parts import Block
from pages._plots import bar, plot
from pages._rejection_pair import DRAWS, TOPIC, choose, get, note, pair_now, put
from pages._words import language, t

SHOW_PROGRESS = 1_000_000  # draws; below this a bar would only flicker
_MEMORY = f"{TOPIC}._checks"
REJECT_AT = 0.001  # false alarms of the exact rule: one seed in a thousand


def draws_choice(block: Block, words: str) -> None:
    choose(block, "draws", DRAWS, words, labels=[f"{int(n):,}" for n in DRAWS])


def again(block: Block, words: str) -> None:
    """New draws are a new seed, so that a link repeats them."""
    data = {"label": t(f"{TOPIC}.draw_again", seed=get("seed"))}
    block.part("action", data, key=f"{TOPIC}.again", go=lambda _: put(seed=(get("seed") + 1) % 2**31))
    note(block, words, "again_help")


def _checked(place: Any, rule_id: str) -> Check:
    """The check of a rule, kept for this session: the last eight."""
    args = (pair_now(), rule_id, int(get("draws")), get("seed"), get("keep"))
    memory: dict[Any, Check] = st.session_state.setdefault(_MEMORY, {})
    if args not in memory:
        pair, _, draws, seed, keep = args
        progress = place.progress(0.0, t("words.working")) if draws >= SHOW_PROGRESS else None
        memory[args] = check(
            pair, rule(rule_id), draws, seed=seed, keep=keep, progress=progress.progress if progress else None
        )
        if progress is not None:
            place.empty()
        while len(memory) > 8:
            del memory[next(iter(memory))]
    return memory[args]


def _one(block: Block, place: Any, rule_id: str, heading: str) -> None:
    found, name = _checked(place, rule_id), f"{TOPIC}.counts_{'exact' if rule_id == 'exact' else 'control'}"
    block.prose(f"<h3>{heading}</h3>", key=f"{name}_head")
    fit = _payload.table(
        fit_table(found), id=f"{name}_fit", lang=language(), layout="strip", over=name, caption=heading
    )
    caption = t(f"{TOPIC}.counts_caption", seed=found.seed, draws=f"{found.draws:,}")
    rows = _payload.table(
        counts_table(found), id=name, lang=language(), caption=caption,
        roles={"target_probability": "target", "frequency": "output"},
    )  # fmt: skip
    block.part("table", rows, key=name)
    block.part("table", fit, key=f"{name}_fit")
    outcome = _outcome(found)
    block.prose(
        f'<p class="wiki-help" data-verdict="{outcome}">{t(f"{TOPIC}.sampling_{outcome}")}</p>', key=f"{name}_outcome"
    )


def _outcome(found: Check) -> str:
    if found.impossible:
        return "impossible"
    if found.p_value is None:
        return "no_test"
    if found.p_value < REJECT_AT:
        return "contradicts"
    return "few" if found.smallest_expected < 5 else "agrees"


def counts(block: Block, words: str) -> None:
    note(block, words, "counts_help")
    place = block.status()
    _one(block, place, "exact", t(f"{TOPIC}.counts_exact"))
    control = get("rule")
    name = t(f"{TOPIC}.rule_{control}")
    distance = verdict(output_law(pair_now(), rule(control), keep=get("keep"))).value(0, "distance")
    if distance is None:
        note(block, t(f"{TOPIC}.control_undefined", rule=name), "control_note", "notice")
        return
    heading = "counts_control" if distance else "counts_compared"
    _one(block, place, control, t(f"{TOPIC}.{heading}", rule=name))
    if distance == 0:
        note(block, t(f"{TOPIC}.control_is_exact", rule=name), "control_note", "notice")


def frequency_plot(block: Block, words: str) -> None:
    name = f"{TOPIC}.counts_exact"
    traces = [
        bar("target_probability", "p", "target", t(f"{TOPIC}.bar_target")),
        bar("frequency", "s", "simulated", t(f"{TOPIC}.bar_frequency"), low="interval_low", high="interval_high"),
    ]
    plot(block, name, traces, note=words, alt=t(f"{TOPIC}.frequency_alt"), key=f"{TOPIC}.frequency_plot")
