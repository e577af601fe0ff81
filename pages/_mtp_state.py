"""State of the draft-training chapter: the case that is trained, the pair that is compared, and smaller settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any
from urllib.parse import quote, unquote

import streamlit as st

from mechanisms.mtp_boosting import STEPS
from mechanisms.mtp_cases import CASES, SEED_DRAFTS, Case, Drafts
from mechanisms.mtp_check import WIDTHS
from mechanisms.mtp_field import TARGETS
from mechanisms.mtp_lambda import CHOICES
from mechanisms.mtp_losses import LOSSES
from mechanisms.mtp_mixing import DEPTHS, MODES
from mechanisms.mtp_pair import DECAYS
from mechanisms.mtp_read import read_case, read_drafts
from mechanisms.mtp_search import KEPT
from mechanisms.mtp_temperature import TEMPERATURES
from mechanisms.quantity import short_text
from pages import _state
from pages._controls import Chapter

TOPIC = "mtp_boosting"
OWN = "own"
RATES = tuple(Fraction(x) for x in ("0.05", "0.1", "0.2", "0.3", "0.5", "1", "2", "5", "10", "20"))
_PLAIN = Drafts(
    tuple("ABC"), SEED_DRAFTS.p, *(tuple(map(Fraction, x.split())) for x in ("0.7 0.2 0.1", "0.5 0.3 0.2"))
)  # A is better by every measure
PAIRS: dict[str, Drafts] = {"plain": _PLAIN, "seed": SEED_DRAFTS}
SUPPORTS = ("1", "5", "50")
TOKENS = ("2", "3", "5", "8")
GUESSES = ("a_a", "b_a", "a_b", "b_b")  # what KL prefers, which draft has more accepted
PLACE = f"{TOPIC}.position"  # step size and step together: the frame that the state shows


def _joined(names: Sequence[str], *columns: Sequence[Fraction]) -> str:
    words = [quote(x, safe="").replace("~", "%7E") for x in names]
    return "~".join(",".join(c) for c in (words, *([str(x) for x in column] for column in columns)))


def _parts(text: str, count: int) -> list[list[str]]:
    parts = [part.split(",") for part in text.split("~")]
    if len(parts) != count or len(text) > 4000:
        raise ValueError("own: wrong number of columns")
    return [[unquote(n) for n in parts[0]], *parts[1:]]


def _read_case(text: str) -> tuple[Case, bool]:
    return read_case(*_parts(text, 3)), False


def _read_drafts(text: str) -> tuple[Drafts, bool]:
    return read_drafts(*_parts(text, 4)), False


def _write_case(case: Case | None) -> str:
    return "" if case is None else _joined(case.tokens, case.p, case.z)


def _write_drafts(drafts: Drafts | None) -> str:
    return "" if drafts is None else _joined(drafts.tokens, drafts.p, drafts.a, drafts.b)


CONTROLS = (
    _state.choice("case", CASES, "seed"),
    _state.Control("own", None, _read_case, _write_case),
    _state.integer("rate", 0, len(RATES) - 1, 2),
    _state.integer("step", 0, STEPS, 0),
    _state.integer("width", 0, len(WIDTHS) - 1, 2),
    _state.choice("pair", PAIRS, "plain"),
    _state.Control("drafts", None, _read_drafts, _write_drafts),
    _state.integer("decay", 0, len(DECAYS) - 1, 6),
    _state.choice("tokens", TOKENS, "5"),
    _state.integer("seed", 0, 9999, 0),
    _state.integer("found", 1, KEPT, 1),
    _state.integer("weight", 0, len(DECAYS) - 1, 6),
    _state.integer("teacher", 0, len(TARGETS) - 1, 6),
    _state.choice("loss", LOSSES, "kl"),
    _state.choice("start", CASES, "far"),
    _state.integer("speed", 0, len(RATES) - 1, 5),
    _state.choice("support", SUPPORTS, "5"),
    _state.integer("heat", 0, len(TEMPERATURES) - 1, 2),
    _state.choice("program", CHOICES, "defaults"),
    _state.choice("mode", MODES, "plain"),
    _state.integer("moment", 0, DEPTHS - 1, 0),
    _state.integer("depth", 2, DEPTHS, 4),
    _state.choice("guess1", ("", *GUESSES), ""),
    _state.guess("guess2", 100),
)
CHAPTER = Chapter(TOPIC, CONTROLS)
get, put, opened, together = CHAPTER.get, CHAPTER.put, CHAPTER.opened, CHAPTER.together
choose, slide, show, note = CHAPTER.choose, CHAPTER.slide, CHAPTER.show, CHAPTER.note


def case_now() -> Case:
    own: Case | None = get("own")
    return CASES[get("case")] if own is None else own


def drafts_now() -> Drafts:
    own: Drafts | None = get("drafts")
    return PAIRS[get("pair")] if own is None else own


def texts_of(values: Sequence[Fraction]) -> list[str]:
    return [short_text(x) for x in values]


MOST_ROWS, MOST_CHARACTERS = 12, 200


def fields_of(event: Any, names: Sequence[str]) -> dict[str, list[str]]:
    """The fields that a browser sent, cut to a bearable size; missing columns are empty."""
    found = event.get("fields") if isinstance(event, Mapping) else None
    found = found if isinstance(found, Mapping) else {}
    columns = {n: found.get(n) for n in names}
    return {
        n: [str(x)[:MOST_CHARACTERS] for x in c][:MOST_ROWS] if isinstance(c, list) else [] for n, c in columns.items()
    }


def remember(name: str, fields: dict[str, list[str]] | None, problems: Sequence[Any] = ()) -> None:
    """Fields as typed, kept while they cannot be used; None forgets them."""
    if fields is None:
        st.session_state.pop(f"{TOPIC}._{name}", None)
    else:
        st.session_state[f"{TOPIC}._{name}"] = (fields, tuple(problems))


def remembered(name: str) -> tuple[dict[str, list[str]], tuple[Any, ...]] | None:
    return st.session_state.get(f"{TOPIC}._{name}")
