"""Single trial and two-draft walk as unit strips. Every tick's outcome is decided here, by `verify_round`."""

from __future__ import annotations

import html
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, product
from typing import Any

from mechanisms.distribution import Pair, inverse_cdf
from mechanisms.quantity import decimal_text, short_text
from mechanisms.rejection_ledger import ledger
from mechanisms.rejection_walk import Round, verify_round
from pages._parts import Block
from pages._rejection_pair import TICKS, TOPIC, pair_now, slide, tick_texts
from pages._words import language, t

TICK = [Fraction(i, TICKS) for i in range(TICKS)]
WALK_DRAFTS = (Fraction("0.4"), Fraction("0.8"))
WALK_CORRECTION, WALK_BONUS = Fraction("0.2"), Fraction("0.3")
Json = dict[str, Any]


def _law_form(names: Sequence[str], law: Sequence[Fraction], role: str, points: Sequence[Fraction], words: str) -> Json:
    """A law laid end to end. `hits[i]` is the part under point i; rows without mass take no part."""
    live = [i for i, x in enumerate(law) if x > 0]
    edges = [Fraction(0), *accumulate(law[i] for i in live)]
    parts = [_part(names[i], role, a, b) for i, a, b in zip(live, edges[:-1], edges[1:], strict=True)]
    hits = [live.index(inverse_cdf(u, law)) for u in points] if live else [0] * len(points)
    results = [
        t(words, token=html.escape(names[i]), low=short_text(a), high=short_text(b))
        for i, a, b in zip(live, edges[:-1], edges[1:], strict=True)
    ]
    return {"parts": parts, "hits": hits, "results": results, "rows": live}


def _part(name: str, role: str, low: Fraction, high: Fraction) -> Json:
    text = f"{short_text(low)} ≤ u < {short_text(high)}"
    return {
        "name": name,
        "role": role,
        "from": round(float(100 * low), 4),
        "width": round(float(100 * (high - low)), 4),
        "text": text,
    }


def _accept_form(a: Fraction) -> Json:
    """[0, a) accepts, [a, 1) rejects; a part of no width is left in place so that part 0 always accepts."""
    yes, no = t("rejection_ledger.accepted"), t("rejection_ledger.rejected")
    parts = [_part(yes, "accepted", Fraction(0), a), _part(no, "rejected", a, Fraction(1))]
    shown = short_text(a) if "/" not in short_text(a) else f"{short_text(a)} ≈ {decimal_text(a)}"
    results = [t("rejection_ledger.strip_accepts", a=shown), t("rejection_ledger.strip_rejects", a=shown)]
    return {"parts": parts, "hits": [int(u >= a) for u in TICK], "results": results, "rows": [0, 1]}


def _bar(name: str, forms: list[Json], **more: Any) -> Json:
    return {
        "id": name,
        "label": t(f"rejection_ledger.strip_{name}"),
        "unreached": t("rejection_ledger.strip_unreached"),
        "forms": forms,
        **more,
    }


def _fractions(pair: Pair, column: str) -> list[Fraction]:
    return [x if isinstance(x, Fraction) else Fraction(0) for x in ledger(pair).column(column)]


def _outcome(done: Round) -> str:
    last = t("rejection_ledger.outcome_correction" if done.last == "correction" else "rejection_ledger.outcome_bonus")
    output = " ".join(html.escape(x) for x in done.output)
    sentence = t("rejection_ledger.outcome", output=output, count=len(done.output), last=last)
    return f'<span data-output="{output}">{sentence}</span>'


def _one_outcome(done: Round) -> str:
    token = html.escape(done.output[0])
    key = "trial_accepted" if done.steps[0].accepted else "trial_corrected"
    return f'<span data-output="{token}">{t(f"rejection_ledger.{key}", token=token)}</span>'


def _first(hits: Sequence[int], part: int) -> Fraction | None:
    """A tick that hits the part, to run the round with."""
    return TICK[hits.index(part)] if part in hits else None


@lru_cache(maxsize=64)
def trial_data(pair: Pair, lang: str) -> Json:
    """Three bars: draft from q, accept below a of the drafted token, correct from the residual."""
    names = pair.labels
    drafts = _law_form(names, pair.q, "draft", TICK, "rejection_ledger.strip_drafts")
    accept = _fractions(pair, "acceptance_probability")
    accepts = [_accept_form(accept[row]) for row in drafts["rows"]]
    fix = _law_form(names, _fractions(pair, "residual"), "corrected", TICK, "rejection_ledger.strip_corrects")
    outcomes = {}
    for d, k in product(range(len(drafts["rows"])), (0, 1)):
        for c in range(len(fix["rows"])) if k else [None]:
            points = (
                _first(drafts["hits"], d),
                _first(accepts[d]["hits"], k),
                Fraction(0) if c is None else _first(fix["hits"], c),
            )
            if None not in points:
                done = _run(pair, points[:1], points[1:2], points[2], Fraction(0))
                outcomes[f"{d},{k},{'-' if c is None else c}"] = _one_outcome(done)
    bars = [
        _bar("draft", [drafts], topic=f"{TOPIC}.u1"),
        _bar("accept", accepts, by="draft", topic=f"{TOPIC}.u2"),
        _bar("correct", [fix], topic=f"{TOPIC}.u3", when=[[["accept", 1]]]),
    ]
    return {"bars": bars, "outcomes": outcomes, "ticks": tick_texts(), "none": t("rejection_ledger.no_residual_needed")}


def _run(pair: Pair, drafts: Sequence[Fraction], accepts: Sequence[Fraction], fix: Fraction, bonus: Fraction) -> Round:
    named = Pair(pair.labels, pair.p, pair.q)
    return verify_round(
        [named] * len(drafts),
        draft_uniforms=drafts,
        accept_uniforms=accepts,
        correction_uniform=fix,
        bonus_uniform=bonus,
    )


@lru_cache(maxsize=64)
def walk_data(pair: Pair, lang: str) -> Json:
    """Six bars: two drafts at fixed uniforms, their checks under the sliders, one correction, one bonus."""
    names, accept = pair.labels, _fractions(pair, "acceptance_probability")
    drafts = [_law_form(names, pair.q, "draft", [u], "rejection_ledger.strip_drafts") for u in WALK_DRAFTS]
    forms = [_accept_form(accept[d["rows"][d["hits"][0]]]) for d in drafts]
    fix = _law_form(
        names, _fractions(pair, "residual"), "corrected", [WALK_CORRECTION], "rejection_ledger.strip_corrects"
    )
    bonus = _law_form(names, pair.p, "target", [WALK_BONUS], "rejection_ledger.strip_bonuses")
    outcomes = {}
    for one, two in ((1, None), (0, 1), (0, 0)):
        points = [_first(forms[0]["hits"], one), TICK[0] if two is None else _first(forms[1]["hits"], two)]
        if None not in points:
            done = _run(pair, WALK_DRAFTS, points, WALK_CORRECTION, WALK_BONUS)
            key = [drafts[0]["hits"][0], one, drafts[1]["hits"][0], "-" if two is None else two]
            key += ["-" if two == 0 else fix["hits"][0], bonus["hits"][0] if two == 0 else "-"]
            outcomes[",".join(map(str, key))] = _outcome(done)
    bars = [
        _bar("draft_1", drafts[:1], at=short_text(WALK_DRAFTS[0])),
        _bar("accept_1", forms[:1], topic=f"{TOPIC}.w1"),
        _bar("draft_2", drafts[1:], at=short_text(WALK_DRAFTS[1])),
        _bar("accept_2", forms[1:], topic=f"{TOPIC}.w2", when=[[["accept_1", 0]]]),
        _bar("correct", [fix], at=short_text(WALK_CORRECTION), when=[[["accept_1", 1]], [["accept_2", 1]]]),
        _bar("bonus", [bonus], at=short_text(WALK_BONUS), when=[[["accept_2", 0]]]),
    ]
    return {"bars": bars, "outcomes": outcomes, "ticks": tick_texts(), "none": t("rejection_ledger.no_residual_needed")}


def uniform(block: Block, name: str, words: str) -> None:
    slide(block, name, tick_texts(), words)


def trial(block: Block, words: str) -> None:
    block.part("strips", {**trial_data(pair_now(), language()), "alt": words}, key=f"{TOPIC}.trial")


def walk(block: Block, words: str) -> None:
    block.part("strips", {**walk_data(pair_now(), language()), "alt": words}, key=f"{TOPIC}.walk")
