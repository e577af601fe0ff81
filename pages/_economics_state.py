"""State of the economics chapter, and the few helpers that its panels share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import streamlit as st

from mechanisms import economics_tree
from mechanisms.distribution import Pair
from mechanisms.economics_conventions import EXAMPLES
from mechanisms.economics_decay import CHAINS, PLUGS
from mechanisms.economics_lists import MOST, Fault, InvalidList, Kind, read_list
from mechanisms.economics_markov import COUPLINGS
from mechanisms.economics_metrics import TRACES
from mechanisms.economics_overlap import PAIRS, SHAPES, TAILS, TEMPERATURES
from mechanisms.hardware import DEVICES
from mechanisms.rejection_presets import PRESETS
from mechanisms.speculation_economics import COSTS, MOST_DRAFTS, RATES, VERIFICATIONS
from pages import _state
from pages._controls import Chapter
from pages._parts import Block
from pages._rejection_pair import read_own as read_pair
from pages._rejection_pair import write_own as write_pair
from pages._words import t

TOPIC = "speculation_economics"
OWN = "own"
COST_IDS = tuple(str(float(c)).removesuffix(".0") for c in COSTS)
DRAFT_TIMES = tuple(range(11))
VERIFY_TIMES = tuple(range(10, 31, 2))
TREE_PAIRS = tuple(n for n in ("argmax_agrees_tv_large", "argmax_differs_tv_small", "zero_in_draft") if n in PRESETS)
GUESSES = ("same", "other", "equal", "unknown")
MEASURED = {  # curve of the two processor cores -> how numbers are stored, and whose linear layers
    "real_fp32": ("fp32", "torch"),
    "real_bf16": ("bf16", "torch"),
    "real_own": ("bf16", "invariant"),
}
CURVES = (*(v.id for v in VERIFICATIONS), *MEASURED, OWN)
SPEEDS = tuple(Fraction(i, 10) for i in range(31))  # what the first guess may say


def _own_list(name: str, kind: Kind) -> _state.Control:
    def read(text: str) -> tuple[tuple[Fraction, ...], bool]:
        return read_list(text[:2000], kind), False

    return _state.Control(name, None, read, lambda v: "" if v is None else "~".join(map(str, v)))


def _read_tree_pair(text: str) -> tuple[Pair, bool]:
    pair = read_pair(text)[0]
    economics_tree.turned(pair)  # ValueError where it has too few or too many tokens
    return pair, False


CONTROLS = (
    _state.integer("rate", 0, len(RATES) - 1, 16),
    _state.integer("gamma", 0, MOST_DRAFTS, 4),
    _state.choice("cost", COST_IDS, "0.1"),
    _state.choice("curve", CURVES, "constant"),
    _own_list("own_curve", "costs"),
    _state.choice("example", (e.id for e in EXAMPLES), "recap"),
    _state.integer("draft_ms", 0, len(DRAFT_TIMES) - 1, 3),
    _state.integer("verify_ms", 0, len(VERIFY_TIMES) - 1, 1),
    _state.choice("chain", (*(c.id for c in CHAINS), OWN), "linear"),
    _own_list("own_chain", "rates"),
    _state.choice("plug", PLUGS, "first"),
    _state.choice("trace", (*TRACES, OWN), "falling"),
    _own_list("own_trace", "lengths"),
    _state.choice("tail", TAILS, "alike"),
    _state.integer("shape", 0, len(SHAPES) - 1, 28),
    _state.choice("pair", PAIRS, "same_favourite"),
    _state.integer("heat", 0, len(TEMPERATURES) - 1, 9),
    _state.choice("device", (d.id for d in DEVICES), "h100"),
    _state.integer("drafts", 0, MOST_DRAFTS, 4),
    _state.choice("tree_pair", (*TREE_PAIRS, OWN), TREE_PAIRS[0]),
    _state.Control("own_pair", None, _read_tree_pair, write_pair),
    _state.choice("tree", economics_tree.SHAPES, "two"),
    _state.choice("rule", economics_tree.RULES, "exact"),
    _state.integer("seed", 0, 9999, 1),
    _state.integer("coupling", 0, len(COUPLINGS) - 1, len(COUPLINGS) - 1),
    _state.guess("guess1", len(SPEEDS) - 1),
    _state.choice("guess2", ("", *GUESSES), ""),
)
CHAPTER = Chapter(TOPIC, CONTROLS, head="row_case")
get, put, pills, together = CHAPTER.get, CHAPTER.put, CHAPTER.pills, CHAPTER.together
choose, slide, show, note = CHAPTER.choose, CHAPTER.slide, CHAPTER.show, CHAPTER.note


def choose_list(
    block: Block, name: str, options: Sequence[str], words: str, now: Callable[[], Sequence[Fraction]]
) -> None:
    """A row of presets, the last of which is the reader's own list: it starts from what is shown."""

    def pick(value: str) -> None:
        st.session_state.pop(draft_key(name), None)
        put(**{name: value, f"own_{name}": tuple(now())} if value == OWN else {name: value})

    choose(block, name, options, words, notes=True, pick=pick)


def draft_key(name: str) -> str:
    return (
        f"{TOPIC}._draft_{name}"  # (text as typed, None where only the browser has it; faults), while it cannot be used
    )


def own_list(block: Block, name: str, kind: Kind, words: str, now: Callable[[], Sequence[Fraction]]) -> None:
    """A list typed in a fold. What cannot be used stays as typed beside the reasons, and the last result stays."""
    tries = f"{TOPIC}._tries_{name}"

    def edit(event: Any) -> None:
        st.session_state[tries] = st.session_state.get(tries, 0) + 1
        if not isinstance(event, Mapping):
            return
        text, count = str(event.get("text") or "")[:20_000], event.get("count")
        if isinstance(count, int) and count > MOST[kind]:
            st.session_state[draft_key(name)] = (None, (Fault("too_many", None, f"{count:,}"),))
            return
        try:
            values = read_list(text, kind)
        except InvalidList as error:
            st.session_state[draft_key(name)] = (text, error.faults)
            return
        st.session_state.pop(draft_key(name), None)
        put(**{name: OWN, f"own_{name}": values})

    shown, faults = st.session_state.get(draft_key(name), (", ".join(str(x) for x in now()), ()))
    kept = [t(f"{TOPIC}.list_kept")] if faults else []
    labels = {"label": t(f"{TOPIC}.list_{kind}"), "use": t(f"{TOPIC}.list_use"), "working": t("words.working")}
    data = {
        "title": t(f"{TOPIC}.list_title"), "help": words, "text": shown, "most": MOST[kind], "words": labels,
        "problems": [fault_text(f, kind) for f in faults[:6]] + kept, "tries": st.session_state.get(tries, 0),
        "open": bool(faults) or get(name) == OWN,
    }  # fmt: skip
    block.part("vector", data, key=f"{TOPIC}.own_{name}", edit=edit)


def fault_text(fault: Fault, kind: Kind) -> str:
    place = "" if fault.place is None else t("problems.at", place=fault.place + 1)
    return place + t(f"{TOPIC}.fault_{fault.code}", detail=fault.detail, limit=MOST[kind])
