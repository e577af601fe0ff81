"""Broken verification rules: the law that each one really produces."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mechanisms.distribution import MAX_TOKENS, Pair
from mechanisms.rejection_bias import greedy_bias, greedy_law
from mechanisms.rejection_ledger import summary, two_draft_length
from mechanisms.rejection_rules import RULE_IDS, output_law, rule, verdict
from pages import _payload
from pages._parts import Block
from pages._plots import bar, plot
from pages._rejection_pair import TOPIC, choose, get, note, pair_now, show, slide
from pages._words import language, t

ROLES = {
    "target_probability": "target", "draft_probability": "draft", "sampled_probability": "draft",
    "accepted_mass": "accepted", "added_mass": "corrected", "output_law": "output",
}  # fmt: skip

FIRST = (
    "target_probability",
    "output_law",
    "difference",
    "accepted_mass",
    "added_mass",
)  # the outcome before its parts


def rule_choice(block: Block, words: str) -> None:
    choose(block, "rule", RULE_IDS[1:], words, notes=True)


def keep_range(block: Block, words: str) -> None:
    """How many tokens the filter keeps; only the rule that filters has this control."""
    if get("rule") != "filtered_draft":
        return
    texts = [str(i) for i in range(1, min(MAX_TOKENS, sum(pair_now().multiplicity)) + 1)]
    slide(block, "keep", texts, words, first=1)


@lru_cache(maxsize=256)
def _tables(pair: Pair, rule_id: str, keep: int, lang: str, caption: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    law = output_law(pair, rule(rule_id), keep=keep)
    found = verdict(law)
    order = [*FIRST, *(q.name for q in law.columns if q.name not in FIRST)]
    long = _payload.table(law, id=f"{TOPIC}.law", lang=lang, caption=caption, roles=ROLES, order=order)
    short = _payload.table(
        found, id=f"{TOPIC}.verdict", lang=lang, over=f"{TOPIC}.law", layout="strip", caption=t(f"{TOPIC}.verdict")
    )
    distance = found.value(0, "distance")
    return long, short, "broken_down" if distance is None else "exact" if distance == 0 else "broken"


def _current(words: str = "") -> tuple[dict[str, Any], dict[str, Any], str]:
    return _tables(pair_now(), get("rule"), get("keep"), language(), words)


def law_table(block: Block, words: str) -> None:
    block.part("table", _current(words)[0], key=f"{TOPIC}.law")


def verdict_strip(block: Block, words: str) -> None:
    _, strip, outcome = _current()
    block.part("table", strip, key=f"{TOPIC}.verdict")
    exact = outcome == "exact" and get("rule") == "equality"
    key = "verdict_equality" if exact else f"verdict_{outcome}"
    if (
        outcome == "exact"
        and get("rule") == "filtered_draft"
        and get("keep") >= sum(x > 0 for x in pair_now().single().q)
    ):
        key = "verdict_no_cut"
    block.prose(
        f'<p class="wiki-verdict" data-verdict="{outcome}">{t(f"{TOPIC}.{key}")}</p>', key=f"{TOPIC}.verdict_text"
    )


def law_plot(block: Block, words: str) -> None:
    traces = [
        bar("target_probability", "p", "target", t(f"{TOPIC}.bar_target")),
        bar("accepted_mass", "law", "accepted", t(f"{TOPIC}.bar_accepted")),
        bar("added_mass", "law", "corrected", t(f"{TOPIC}.bar_added"), "accepted_mass"),
        bar("output_law", "law", "output", t(f"{TOPIC}.bar_law"), outline=True),
    ]
    plot(block, f"{TOPIC}.law", traces, note=words, alt=t(f"{TOPIC}.law_alt"), key=f"{TOPIC}.law_plot")


def bias_table(block: Block, words: str) -> None:
    """Three numbers called acceptance, for the current pair."""
    note(block, words, "bias_help")
    show(block, greedy_law(pair_now()), "greedy_law", layout="none")
    show(block, greedy_bias(pair_now()), "greedy_bias", words, layout="strip", over=f"{TOPIC}.greedy_law")


def length_strip(block: Block, words: str) -> None:
    rate = summary(pair_now()).value(0, "acceptance_rate")
    note(block, words, "length_help")
    show(block, two_draft_length(rate), "length", words, layout="strip")
