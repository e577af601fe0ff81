"""The small exact tree: its law, its levels, its attention mask, and one drawn tree on trial."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from mechanisms import distribution
from mechanisms.distribution import Column, InvalidInput, Pair, Problem
from mechanisms.economics_tree import MOST_TOKENS, RULES, SHAPES, Rule, Text, turned
from mechanisms.economics_tree_tables import (
    Drawn,
    draw_tree,
    mask,
    path,
    tree_levels,
    tree_root,
    tree_summary,
    tree_walk,
)
from mechanisms.quantity import short_text
from mechanisms.rejection_presets import PRESETS
from mechanisms.table import Table
from pages import _frame
from pages._economics_state import OWN, TOPIC, TREE_PAIRS, choose, get, note, put, show
from pages._parts import Block
from pages._rejection_pair import problem_data
from pages._words import t

_DRAFT = f"{TOPIC}._draft_pair"
SUMMARY_ORDER = ("tokens_per_round", "chain_tokens", "tree_gain", "tree_nodes", "joint_distance")
_ROLES = {"target_probability": "target", "draft_probability": "draft", "output_law": "output"}


def pair_now() -> Pair:
    own: Pair | None = get("own_pair")
    return own if get("tree_pair") == OWN and own is not None else PRESETS[_preset()]


def _preset() -> str:
    return get("tree_pair") if get("tree_pair") in TREE_PAIRS else TREE_PAIRS[0]


@lru_cache(maxsize=32)
def tables(pair: Pair, widths: tuple[int, ...], rule: Rule) -> tuple[Table, Table, Table]:
    text = turned(pair)
    return tree_summary(text, widths, rule), tree_root(text, widths[0], rule), tree_levels(text, widths, rule)


def _now() -> tuple[Table, Table, Table]:
    return tables(pair_now(), SHAPES[get("tree")], get("rule"))


def pair_choice(block: Block, words: str) -> None:
    options = (*TREE_PAIRS, OWN)

    def pick(value: str) -> None:
        st.session_state.pop(_DRAFT, None)
        put(tree_pair=value, **({"own_pair": pair_now()} if value == OWN else {}))

    labels = [t(f"rejection_ledger.preset_{o}") for o in options]
    choose(block, "tree_pair", options, words, labels=labels, pick=pick)


def _edit(event: Any) -> None:
    """New fields from the editor become the pair, or stay as typed beside what is wrong with them."""
    if not isinstance(event, Mapping):
        return
    found = {n: [str(x)[:200] for x in event.get(n) or ()][:40] for n in ("tokens", "p", "q")}
    names, p, q = found.values()
    count = event.get("count")  # of a pasted list, of which only the number was sent
    if isinstance(count, int) and count > MOST_TOKENS:
        column: Column = "q" if event.get("column") == "q" else "p"
        st.session_state[_DRAFT] = (names, p, q, (Problem("too_many", column, None, str(count)),))
        return
    try:
        pair = distribution.read_pair(names, p, q, least=2, most=MOST_TOKENS)
    except InvalidInput as error:
        st.session_state[_DRAFT] = (names, p, q, error.problems)
        return
    st.session_state.pop(_DRAFT, None)
    put(own_pair=pair, tree_pair=OWN)


def editor(block: Block, words: str) -> None:
    """Two to four tokens with p and q; shown while the reader's own pair is chosen."""
    if get("tree_pair") != OWN:
        return
    pair = pair_now()
    fields = (list(pair.tokens), [short_text(x) for x in pair.p], [short_text(x) for x in pair.q], ())
    names, p, q, problems = st.session_state.get(_DRAFT, fields)
    labels = {w: t(f"editor.{w}") for w in ("token", "p", "q", "remove", "add", "normalise", "kept", "hint")}
    data = {
        "tokens": names, "p": p, "q": q, "problems": problem_data(problems, MOST_TOKENS), "kept": bool(problems),
        "most": MOST_TOKENS, "words": {**labels, "caption": words},
    }  # fmt: skip
    block.part("editor", data, key=f"{TOPIC}.tree_editor", edit=_edit, normalise=_normalise)


def _normalise(event: Any) -> None:
    """Divide one column by its sum, because the reader asked for it."""
    if not isinstance(event, Mapping) or event.get("column") not in ("p", "q"):
        return
    column = event["column"]
    numbers = [distribution.read_number(str(x)[:200]) for x in event.get(column) or ()]
    exact = [n for n in numbers if not isinstance(n, str)]
    fields = dict(event)
    if len(exact) == len(numbers) and sum(exact):
        fields[column] = [str(n) for n in distribution.normalised(exact)]
    _edit(fields)


def shape_choice(block: Block, words: str) -> None:
    choose(block, "tree", tuple(SHAPES), words)


def rule_choice(block: Block, words: str) -> None:
    choose(block, "rule", RULES, words, notes=True)


def summary_strip(block: Block, words: str) -> None:
    note(block, words, "tree_head")
    over = f"{TOPIC}.tree_levels"
    show(block, _now()[0], "tree_summary", words, layout="strip", order=SUMMARY_ORDER, over=over)


def root_table(block: Block, words: str) -> None:
    show(block, _now()[1], "tree_root", words, head="row_token", roles=_ROLES)


def levels_table(block: Block, words: str) -> None:
    show(block, _now()[2], "tree_levels", words, head="row_level")


def again(block: Block, words: str) -> None:
    label = {"label": t(f"{TOPIC}.again", seed=get("seed"))}
    block.part("action", label, key=f"{TOPIC}.again", go=lambda _: put(seed=(get("seed") + 1) % 10000))
    note(block, words, "again_help")


@lru_cache(maxsize=32)
def drawn(pair: Pair, widths: tuple[int, ...], rule: Rule, seed: int) -> tuple[Text, tuple[Drawn, ...], Table, str]:
    """One tree and its verification; the tree itself is always drawn without replacement."""
    rng, text = np.random.default_rng(seed), turned(pair)
    nodes = draw_tree(text, widths, rng)
    return text, nodes, *tree_walk(text, nodes, rng, rule)


def _drawn() -> tuple[Text, tuple[Drawn, ...], Table, str]:
    rule = "exact" if get("rule") == "replacement" else get("rule")
    return drawn(pair_now(), SHAPES[get("tree")], rule, get("seed"))


def mask_plot(block: Block, words: str) -> None:
    """The mask as a table of dots: rows look, columns are looked at."""
    text, nodes, *_ = _drawn()
    names = [html.escape(path(text, nodes, i)) for i in range(len(nodes))]
    seen, hidden = t(f"{TOPIC}.mask_seen"), t(f"{TOPIC}.mask_hidden")
    cells = [
        [f'<span data-seen="{int(x)}"><span class="wiki-hidden">{seen if x else hidden}</span></span>' for x in row]
        for row in mask(nodes)
    ]
    body = _frame.data_table(t(f"{TOPIC}.mask_alt"), [t(f"{TOPIC}.row_node"), *names], zip_rows(names, cells))
    block.prose(f'<div class="wiki-mask" tabindex="0" role="region" aria-label="{t(f"{TOPIC}.mask_alt")}">{body}</div>'
                f'<p class="wiki-help">{words}</p>', key=f"{TOPIC}.mask")  # fmt: skip


def zip_rows(names: list[str], cells: list[list[str]]) -> list[list[str]]:
    return [[name, *row] for name, row in zip(names, cells, strict=True)]


def walk_table(block: Block, words: str) -> None:
    *_, table, output = _drawn()
    show(block, table, "tree_walk", words, head="row_candidate")
    said = t(f"{TOPIC}.walk_output", output=html.escape(output))
    block.prose(f'<p class="wiki-help" role="status">{said}</p>', key=f"{TOPIC}.walk_output")
