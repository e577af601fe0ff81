"""Calibration of simulated rounds, and of pairs that a reader types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from mechanisms.drafter_calibration import (
    Result,
    bin_table,
    calibrate,
    calibrate_all,
    place_table,
    protocol,
    score_table,
)
from mechanisms.drafter_rounds import MOST, PLACES, TEMPERS, InvalidPairs, Problem, read_pairs, simulate
from mechanisms.table import Table
from pages import _payload
from pages._drafter_order import diagram
from pages._drafter_state import COUNTS, TOPIC, choose, get, note, opened, put, show, slide
from pages._parts import Block
from pages._words import t

WHEN = ("before", "after")
FOLLOWS = f"{TOPIC}.position"
ROLES = {"bin_mean": "draft", "bin_share": "target"}
Printed = tuple[Table, _payload.Printed]  # the table of the first place, and the numbers of all
Pieces = tuple[Printed, Printed]  # bins, scores


def _pieces(result: Result, when: str, prefix: str) -> Pieces:
    """Bins and scores of every place, before or after."""
    found = result.after if when == "after" else result.before
    bins, scores = list[Table](), list[Table]()
    for k in range(result.places):
        a, y = found[:, k], result.survived[:, k]
        rows = bin_table(a, y, f"{prefix}bins_{when}", result.kind)
        bins.append(rows)
        scores.append(score_table(rows, a, y, f"{prefix}scores_{when}", result.kind))
    return (bins[0], _payload.printed(bins)), (scores[0], _payload.printed(scores))


@lru_cache(maxsize=16)
def _simulated(temper: Any, count: int, seed: int) -> tuple[Result, Table, dict[str, Pieces]]:
    result = calibrate(simulate(temper, count, np.random.default_rng(seed)))
    return result, place_table(result), {when: _pieces(result, when, "") for when in WHEN}


def _now() -> tuple[Result, Table, dict[str, Pieces]]:
    return _simulated(get("temper"), int(get("rounds")), get("seed"))


def temper_choice(block: Block, words: str) -> None:
    choose(block, "temper", TEMPERS, words)


def rounds_choice(block: Block, words: str) -> None:
    choose(block, "rounds", COUNTS, words, labels=[f"{int(n):,}" for n in COUNTS])
    again = {"label": t(f"{TOPIC}.again", seed=get("seed"))}
    block.part("action", again, key=f"{TOPIC}.again", go=lambda _: put(seed=(get("seed") + 1) % 10_000))


def protocol_strip(block: Block, words: str) -> None:
    show(block, protocol(_now()[0]), "protocol", words, layout="strip")


def place_rows(block: Block, words: str) -> None:
    """The share of pairs that change places answers a question of the chapter: it waits for the guess."""
    table = _now()[1]
    shown = [q.name for q in table.columns if q.name != "swapped" or opened("guess2")]
    show(block, table, "places", words, head="head_position", order=shown)


def position_range(block: Block, words: str) -> None:
    slide(block, "position", [str(k) for k in range(1, PLACES + 1)], words, first=1)


def _scores(block: Block, pieces: Mapping[str, Pieces], prefix: str, topic: str) -> None:
    for when in WHEN:
        note(block, t(f"{TOPIC}.scores_{when}"), f"{prefix}scores_{when}_head")
        table, numbers = pieces[when][1]
        show(
            block, table, f"{prefix}scores_{when}", t(f"{TOPIC}.scores_{when}"), layout="strip", topic=topic,
            over=f"{TOPIC}.{prefix}bins_{when}", frames=numbers,
        )  # fmt: skip


def _bins(block: Block, pieces: Mapping[str, Pieces], prefix: str, topic: str) -> None:
    for when in WHEN:
        table, numbers = pieces[when][0]
        show(
            block, table, f"{prefix}bins_{when}", t(f"{TOPIC}.bins_{when}"), head="head_bin", topic=topic,
            roles=ROLES, frames=numbers,
        )  # fmt: skip


def score_strips(block: Block, words: str) -> None:
    note(block, words, "scores_words")
    _scores(block, _now()[2], "", FOLLOWS)


def bin_rows(block: Block, words: str) -> None:
    note(block, words, "bins_words")
    _bins(block, _now()[2], "", FOLLOWS)


def _series(prefix: str) -> list[dict[str, str]]:
    return [
        {
            "table": f"{TOPIC}.{prefix}bins_{n}", "x": "bin_mean", "y": "bin_share", "size": "bin_count", "role": n,
            "label": t(f"{TOPIC}.series_{n}"),
        }
        for n in WHEN
    ]  # fmt: skip


def reliability(block: Block, words: str) -> None:
    diagram(block, "reliability", _series(""), words)


_OWN = f"{TOPIC}._own"  # the last usable result, the problems of the last attempt, and the number of attempts
_NOTHING: tuple[Any, tuple[Problem, ...], int] = (None, (), 0)


def _paste(event: Any) -> None:
    """Usable lists become the result; others are named, and the last good result stays."""
    if not isinstance(event, Mapping):
        return
    good, _, tries = st.session_state.get(_OWN, _NOTHING)
    counts = event.get("counts")
    if isinstance(counts, Mapping):  # lists so long that the browser sent only their lengths
        found = {n: counts.get(n) for n in ("p", "q")}
        long = [Problem("too_many", n, None, f"{c:,}") for n, c in found.items() if isinstance(c, int) and c > MOST]  # type: ignore[arg-type]
        st.session_state[_OWN] = (good, tuple(long), tries + 1)
        return
    texts = [str(event.get(n) or "")[: 60 * MOST] for n in ("p", "q")]
    try:
        result = calibrate_all(read_pairs(*texts))
    except InvalidPairs as error:
        st.session_state[_OWN] = (good, error.problems, tries + 1)
        return
    st.session_state[_OWN] = (result, (), tries + 1)


def _problems(problems: Sequence[Problem], kept: bool) -> list[dict[str, Any]]:
    data = []
    for p in problems:
        place = "" if p.row is None else t(f"{TOPIC}.problem_at", place=f"{p.row + 1:,}")
        text = place + t(f"{TOPIC}.problem_{p.code}", detail=p.detail, limit=f"{MOST:,}")
        data.append({"code": p.code, "column": p.column, "row": p.row, "text": text})
    if kept and problems:
        data.append({"code": "kept", "column": problems[-1].column, "row": None, "text": t(f"{TOPIC}.own_kept")})
    return data


def own(block: Block, words: str) -> None:
    """Two lists in a fold, with the same scores, diagram and bins below once they can be used."""
    result, problems, tries = st.session_state.get(_OWN, _NOTHING)
    labels = {"p": t(f"{TOPIC}.own_p"), "q": t(f"{TOPIC}.own_q"), "summarise": t(f"{TOPIC}.own_use")}
    data = {
        "problems": _problems(problems, result is not None), "most": MOST, "title": t(f"{TOPIC}.own_title"),
        "help": words, "tries": tries, "open": True, "examples": {"p": "0.9 0.75 0.6 0.95", "q": "1 1 0 1"},
        "words": {**labels, "working": t("words.working")},
    }  # fmt: skip
    block.part("outcomes", data, key=f"{TOPIC}.own", paste=_paste)
    if result is None:
        return
    pieces = {when: _pieces(result, when, "own_") for when in WHEN}
    table = place_table(result)
    shown = [q.name for q in table.columns if q.name != "swapped"]  # nothing to turn around at a single place
    show(block, table, "own_places", t(f"{TOPIC}.own_places"), head="head_position", order=shown)
    _scores(block, pieces, "own_", "")
    diagram(block, "own_reliability", _series("own_"), t(f"{TOPIC}.own_note"))
    _bins(block, pieces, "own_", "")
