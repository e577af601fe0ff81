"""Two drafts side by side: what each loss says of them, where the hybrid turns, and a search for more such pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mechanisms.mtp_cases import Drafts
from mechanisms.mtp_pair import DECAYS, LOSS_ROWS, curve, draft_totals, flip, masses, preferences, preferred
from mechanisms.mtp_search import MOST_DRAWS, Finding, count_table, report, search
from mechanisms.table import Table
from pages import _payload
from pages._mtp_state import (
    OWN,
    PAIRS,
    TOKENS,
    TOPIC,
    choose,
    drafts_now,
    get,
    note,
    opened,
    put,
    remember,
    show,
    slide,
    texts_of,
)
from pages._parts import Block
from pages._plots import bar, plot
from pages._words import language, t

ROLES = {
    "target_probability": "target",
    "draft_probability": "draft",
    "shared_mass": "accepted",
    "kl_term": "corrected",
}
CURVE = ("hybrid_a", "hybrid_b", "hybrid_gap", "weight_a", "weight_b", "acceptance_a", "acceptance_b", "kl_a", "kl_b",
         "decay")  # fmt: skip
SHOWN = ("acceptance_rate", "kl_divergence", "total_variation", "pinsker_bound", "reverse_kl", "nla_loss",
         "decay", "kl_weight", "hybrid_loss")  # fmt: skip


def _names(lang: str) -> tuple[str, ...]:
    return tuple(t(f"{TOPIC}.loss_{r}") for r in LOSS_ROWS)


@lru_cache(maxsize=32)
def compared(drafts: Drafts, lang: str) -> dict[str, Any]:
    """All tables of one pair, those with a decay for every position of its slider, and the verdict on each."""
    over = {w: masses(drafts, w) for w in "ab"}
    sums = {w: [draft_totals(over[w], decay=d) for d in DECAYS] for w in "ab"}
    losses = [preferences(a, b, _names(lang)) for a, b in zip(sums["a"], sums["b"], strict=True)]
    printed = _payload.printed
    return {
        "over": over, "a": (sums["a"][0], printed(sums["a"], SHOWN)), "b": (sums["b"][0], printed(sums["b"], SHOWN)),
        "losses": (losses[0], printed(losses)), "verdicts": [_verdict(x) for x in losses], "curve": curve(drafts),
        "flip": flip(drafts),
    }  # fmt: skip


def _verdict(table: Table) -> str:
    items: list[str] = []
    for row, name in enumerate(table.rows):
        who = preferred(table, row)
        items.append(f'<li data-prefers="{who}">{name}<b>{t(f"{TOPIC}.prefers_{who}")}</b></li>')
    return f'<ul class="wiki-verdicts">{"".join(items)}</ul>'


def pair_choice(block: Block, words: str) -> None:
    def pick(value: str) -> None:
        if value in PAIRS:
            remember("pair_editor", None)
            put(pair=value, drafts=None)
        elif value == OWN and get("drafts") is None:
            put(drafts=drafts_now())

    chosen = get("pair") if get("drafts") is None else OWN
    choose(block, "pair", (*PAIRS, OWN), words, notes=True, value=chosen, pick=pick)


def decay_range(block: Block, words: str) -> None:
    slide(block, "decay", texts_of(DECAYS), words)


def masses_rows(block: Block, words: str) -> None:
    found = compared(drafts_now(), language())
    note(block, words, "masses_head")
    for w in "ab":
        show(block, found["over"][w], f"masses_{w}", t(f"{TOPIC}.draft_{w}"), roles=ROLES)


def masses_plot(block: Block, words: str) -> None:
    a, b = f"{TOPIC}.masses_a", f"{TOPIC}.masses_b"
    traces = [
        bar("target_probability", "p", "target", t(f"{TOPIC}.bar_target")),
        bar("draft_probability", "a", "accepted", t(f"{TOPIC}.draft_a")),
        bar("draft_probability", "b", "corrected", t(f"{TOPIC}.draft_b"), table=b),
    ]
    plot(block, a, traces, note=words, alt=t(f"{TOPIC}.masses_alt"), key=f"{TOPIC}.masses_plot")


def draft_strips(block: Block, words: str) -> None:
    found = compared(drafts_now(), language())
    for w in "ab":
        first, cells = found[w]
        note(block, t(f"{TOPIC}.draft_{w}_totals"), f"strip_{w}_head")
        show(block, first, f"draft_{w}", t(f"{TOPIC}.draft_{w}_totals"), topic=f"{TOPIC}.decay", order=SHOWN,
             over=f"{TOPIC}.masses_{w}", layout="strip", frames=cells)  # fmt: skip


def preference_rows(block: Block, words: str) -> None:
    found = compared(drafts_now(), language())
    first, cells = found["losses"]
    show(block, first, "preferences", words, head="head_loss", topic=f"{TOPIC}.decay", frames=cells)
    block.part("follow", {"texts": found["verdicts"], "topic": f"{TOPIC}.decay"}, key=f"{TOPIC}.verdict")


def flip_strip(block: Block, words: str) -> None:
    found: Table | None = compared(drafts_now(), language())["flip"]
    if found is None:
        block.prose(f'<p class="wiki-help">{t(f"{TOPIC}.no_flip")}</p>', key=f"{TOPIC}.flip_head")
        return
    note(block, words, "flip_head")
    show(block, found, "flip", words, layout="strip", order=("decay", *CURVE[:-1]))


def curve_lines(block: Block, words: str) -> None:
    series = [("hybrid_a", "accepted", "a"), ("hybrid_b", "corrected", "b")]
    data = {
        "table": f"{TOPIC}.curve", "x": "decay", "cursor": f"{TOPIC}.decay", "axis": t(f"{TOPIC}.head_decay"),
        "series": [{"column": c, "role": r, "label": t(f"{TOPIC}.draft_{w}")} for c, r, w in series],
        "alt": t(f"{TOPIC}.curve_alt"), "note": words,
    }  # fmt: skip
    block.part("lines", data, key=f"{TOPIC}.curve_lines")


def curve_rows(block: Block, words: str) -> None:
    show(block, compared(drafts_now(), language())["curve"], "curve", words, head="head_decay", order=CURVE)


@lru_cache(maxsize=32)
def finding(tokens: int, seed: int) -> Finding:
    return search(tokens=tokens, draws=MOST_DRAWS, rng=np.random.default_rng(seed))


def _seed() -> int:
    """0 until the reader asks for a search or has committed a guess about it."""
    return get("seed") or int(opened("guess2"))


def tokens_choice(block: Block, words: str) -> None:
    choose(block, "tokens", TOKENS, words)


def search_button(block: Block, words: str) -> None:
    seed = _seed()
    label = t(f"{TOPIC}.search_again", seed=seed) if seed else t(f"{TOPIC}.search")
    block.part("action", {"label": label}, key=f"{TOPIC}.search", go=lambda _: put(seed=(seed + 1) % 10000))
    block.prose(f'<p class="wiki-help">{words}</p>', key=f"{TOPIC}.search_help")


def found_rows(block: Block, words: str) -> None:
    if not _seed():
        return
    found = finding(int(get("tokens")), _seed())
    show(block, count_table(found), "count", t(f"{TOPIC}.count"), layout="strip")
    show(block, report(found.kept), "report", words, head="head_pair")


@lru_cache(maxsize=32)
def _shown(tokens: int, seed: int) -> dict[str, list[Table]]:
    kept = finding(tokens, seed).kept
    return {w: [masses(d, w) for d in kept] for w in "ab"}


def found_pair(block: Block, words: str) -> None:
    """One of the pairs that were found, token by token; the browser has them all."""
    if not _seed():
        return
    every = _shown(int(get("tokens")), _seed())
    names = [str(i + 1) for i in range(len(every["a"]))]
    choose(block, "found", names, words, labels=names, value=str(min(get("found"), len(names))))
    for w in "ab":
        show(block, every[w][0], f"found_{w}", t(f"{TOPIC}.draft_{w}"), roles=ROLES, topic=f"{TOPIC}.found",
             frames=_payload.printed(every[w]))  # fmt: skip
