"""A stored decoding as a step player, and the tables made of it."""

from __future__ import annotations

import html
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gpu_demos.trace import Trace, TraceRound
from mechanisms.table import Table
from mechanisms.trace_tables import Judged, compare_table, position_table, round_table, total_table, verdict_table
from pages import _payload, _predict
from pages._controls import player_words
from pages._lab_state import (
    CHAPTER,
    DOMAINS,
    DRAFTERS,
    MOST_ROUNDS,
    POSITIONS,
    TEMPERATURES,
    TOPIC,
    choose,
    get,
    name_now,
    name_of,
    note,
    opened,
    put,
    show,
)
from pages._parts import Block
from pages._traces import stored
from pages._words import language, t

Json = dict[str, Any]
STEPS = f"{TOPIC}.trace_step"
SHOWN_BEFORE = 9  # tokens of the text that stay in sight
VERDICT_ORDER = ("acceptance_probability", "uniform", "margin", "p", "q")
ROLES = {"p": "target", "q": "draft", "acceptance_probability": "accepted"}


def numbers(r: TraceRound) -> Judged:
    """A round's numbers as exact decimals: six places, or three digits where six places would hide the value."""
    p, q, u = ((_decimal(x) for x in row) for row in (r.p, r.q, r.uniforms))
    return Judged(tuple(p), tuple(q), tuple(u), r.accepted, len(r.emitted))


def _decimal(x: float) -> Fraction:
    return Fraction(f"{x:.6f}") if x == 0 or x >= 1e-3 else Fraction(f"{x:.3g}")


def domain_choice(block: Block, words: str) -> None:
    choose(block, "domain", DOMAINS, words)


def drafter_choice(block: Block, words: str) -> None:
    choose(block, "drafter", DRAFTERS, words, notes=True)


def temperature_choice(block: Block, words: str) -> None:
    choose(block, "temperature", TEMPERATURES, words)


def prompt_text(block: Block, words: str) -> None:
    prompt_shown(block, stored(name_now()), words, "prompt")


def prompt_shown(block: Block, trace: Trace, words: str, name: str) -> None:
    """The prompt as it was typed."""
    text = f'<pre class="wiki-prompt" tabindex="0">{html.escape(trace.prompt)}</pre>'
    block.prose(f"<p class='wiki-help'>{words}</p>{text}", key=f"{TOPIC}.{name}")


def _visible(text: str) -> str:
    """A token with its blanks in sight."""
    return text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "∅"


def _cell(text: str, state: str, name: str, mark: str = "") -> Json:
    return {"text": f"{mark}{_visible(text)}", "state": state, "title": t(f"{TOPIC}.cell_{name}")}


def _drafts(r: TraceRound) -> list[Json]:
    cells = []
    for k, text in enumerate(r.drafts):
        if k < r.accepted:
            cells.append(_cell(text, "accepted", "accepted", "✓ "))
        elif k < len(r.uniforms):
            cells.append(_cell(text, "rejected", "rejected", "✗ "))
        else:
            cells.append(_cell(text, "discarded", "discarded"))
    return cells or [{"text": "·", "state": "col-free", "title": t(f"{TOPIC}.cell_none")}]


def _step(trace: Trace, index: int) -> Json:
    r, before = trace.rounds[index], [x for y in trace.rounds[:index] for x in y.emitted]
    text = [_cell(x, "confirmed", "confirmed") for x in before[-SHOWN_BEFORE:-1]]
    text += [_cell(before[-1], "pending", "pending")] if before else [_cell("…", "confirmed", "prompt")]
    last = [_cell(r.emitted[-1], r.last, r.last)] if r.last else [_cell("", "col-free", "needless")]
    lanes = (("text", text), ("drafts", _drafts(r)), ("last", last))
    kind = "none" if not r.drafts else "all" if r.accepted == len(r.drafts) else "some"
    caption = t(
        f"{TOPIC}.event_{kind}", round=index + 1, drafted=len(r.drafts), accepted=r.accepted,
        tokens=len(before) + len(r.emitted),
    )  # fmt: skip
    made = [{"label": t(f"{TOPIC}.lane_{name}"), "cells": cells} for name, cells in lanes]
    return {"event": f"{kind}-{r.last or 'end'}", "caption": caption, "lanes": made}


@lru_cache(maxsize=16)
def steps(name: str, lang: str) -> list[Json]:
    """What the player shows of each round."""
    trace = stored(name)
    return [_step(trace, i) for i in range(len(trace.rounds))]


def player(block: Block, words: str) -> None:
    data = {
        "variants": [steps(name_now(), language())], "topic": "", "words": player_words(),
        "step": get("step"), "alt": words, "steps": STEPS,
    }  # fmt: skip

    def save(value: Any) -> None:
        if isinstance(value, int) and 0 <= value < MOST_ROUNDS:
            put(step=value)

    block.part("stepper", data, key=f"{TOPIC}.player", step=save)


@lru_cache(maxsize=16)
def tables(name: str, lang: str) -> tuple[list[Table], Table, Table, Table]:
    """Verdicts of every round, totals, positions, rounds."""
    rounds, source = [numbers(r) for r in stored(name).rounds], f"trace {name}"
    places = [str(k + 1) for k in range(POSITIONS)]
    each = round_table(rounds, [str(i + 1) for i in range(len(rounds))], source)
    verdicts = [verdict_table(r, places, source) for r in rounds]
    return verdicts, total_table(each), position_table(rounds, places, source), each


def _now() -> tuple[list[Table], Table, Table, Table]:
    return tables(name_now(), language())


def verdict_rows(block: Block, words: str) -> None:
    frames = _now()[0]
    show(
        block, frames[0], "verdicts", words, head="row_position", topic=STEPS, roles=ROLES,
        frames=_payload.printed(frames, VERDICT_ORDER), order=VERDICT_ORDER,
    )  # fmt: skip


def total_strip(block: Block, words: str) -> None:
    note(block, words, "totals_head")
    show(block, _now()[1], "totals", words, layout="strip", over=f"{TOPIC}.rounds")


def position_rows(block: Block, words: str) -> None:
    show(
        block, _now()[2], "positions", words, head="row_position", order=("acceptance_rate", "accepted_here", "judged")
    )


def round_rows(block: Block, words: str) -> None:
    show(block, _now()[3], "rounds", words)


def guess_domain(block: Block, words: str) -> None:
    best = max(DOMAINS, key=lambda d: -len(stored(name_of(d, "lookup", "0")).rounds))
    _predict.option(CHAPTER, block, "guess1", words, options=DOMAINS, right=best, why=True)


def compared(block: Block, words: str) -> None:
    """All traces side by side, once the guess is made."""
    if not opened("guess1"):
        note(block, t(f"{TOPIC}.before_guess"), "before_guess")
        return
    order = (*(f"per_round_{d}" for d in DRAFTERS), *(f"{n}_{d}" for d in DRAFTERS for n in ("tokens", "passes")))
    show(block, side_by_side(language()), "compared", words, head="row_domain", order=order)


@lru_cache(maxsize=2)
def side_by_side(lang: str) -> Table:
    """Tokens and passes of every drafter, a row for each text and temperature."""
    cases = [(d, temperature) for temperature in TEMPERATURES for d in DOMAINS]
    counts = {x: [_counts(name_of(d, x, temperature)) for d, temperature in cases] for x in DRAFTERS}
    rows = [t(f"{TOPIC}.row_case", domain=t(f"{TOPIC}.domain_{d}"), temperature=x) for d, x in cases]
    return compare_table(counts, rows, {x: f"trace *_{x}_*" for x in DRAFTERS})


def _counts(name: str) -> tuple[int, int]:
    trace = stored(name)
    return len(trace.tokens), len(trace.rounds)
