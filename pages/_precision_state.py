"""State of the audit chapter: draft length, reading of the tokens, times, acceptance, and a typed row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from mechanisms.precision_break import CASES
from mechanisms.precision_latency import MODELS
from mechanisms.precision_own import FIELDS, Own, read_own
from mechanisms.quantity import short_text
from mechanisms.table import Table
from pages import _state
from pages._controls import Chapter
from pages._parts import Block
from pages._words import t

TOPIC = "draft_precision"
LENGTHS = tuple(range(1, 13))
SCENARIOS = ("code", "chat")
PRICES = ("1", "1.1", "1.25", "1.5")
TARGETS = tuple(Fraction(n) for n in (*range(30, 111), *range(120, 271, 10)))  # ms, finer where most intervals lie
_RATES = ("0.4", "0.45", "0.495", "0.55", "0.6", "0.612", "0.668", "0.7", "0.769", "0.8", "0.85", "0.9")
RATES = tuple(map(Fraction, _RATES))
STEPS = tuple(Fraction(x) for x in ("0.5", "1", "2", "3.9", "4.2", "6.8", "10"))  # ms
PAIRS = (
    "identical", "argmax_differs_tv_small", "argmax_agrees_tv_large", "sharp_target_flat_draft", "zero_in_draft",
    "disjoint",
)  # fmt: skip
LENGTH_GUESSES = ("five", "six", "eight", "none")
STEP_GUESSES = ("as_printed", "half", "quarter", "never")
POSITION = f"{TOPIC}.position"  # acceptance and draft step together: the frame that the tables of K show


def _listed(name: str, values: Sequence[Fraction], default: str) -> _state.Control:
    """A slider over listed values; the link says the value, and what lies between two is bent to the nearer one."""
    texts = [short_text(v) for v in values]

    def read(text: str) -> tuple[int, bool]:
        wanted = float(text[:20])
        if wanted != wanted or abs(wanted) > 1e9 or len(text) > 20:
            raise ValueError(f"{name}={text[:20]!r}: must be a number")
        near = min(range(len(values)), key=lambda i: abs(float(values[i]) - wanted))
        return near, float(values[near]) != wanted

    return _state.Control(name, texts.index(default), read, lambda i: texts[i])


def _read_own(text: str) -> tuple[Own, bool]:
    parts = text[:400].split("~")
    if len(parts) != len(FIELDS):
        raise ValueError("own: must be rate~length~tokens~step~speedup")
    return read_own(dict(zip(FIELDS, parts, strict=True))), False


def own_texts(own: Own) -> dict[str, str]:
    return {f: short_text(getattr(own, f)).replace("−", "-") for f in FIELDS}


def _write_own(own: Own | None) -> str:
    return "" if own is None else "~".join(own_texts(own).values())


CONTROLS = (
    _state.integer("length", LENGTHS[0], LENGTHS[-1], 5),
    _state.choice("scenario", SCENARIOS, "code"),
    _state.choice("model", MODELS, "printed"),
    _state.choice("price", PRICES, "1"),
    _listed("target", TARGETS, "54"),
    _listed("rate", RATES, "0.769"),
    _listed("step", STEPS, "4.2"),
    _state.choice("chain", CASES, "int4_code"),
    _state.choice("pair", PAIRS, "identical"),
    _state.Control("own", None, _read_own, _write_own),
    _state.choice("guess1", ("", *LENGTH_GUESSES), ""),
    _state.choice("guess2", ("", *STEP_GUESSES), ""),
)
CHAPTER = Chapter(TOPIC, CONTROLS, head="row_draft")
get, put, together = CHAPTER.get, CHAPTER.put, CHAPTER.together
choose, slide, note = CHAPTER.choose, CHAPTER.slide, CHAPTER.note


def show(block: Block, table: Table, name: str, words: str = "", *, audit: Any = None, **more: Any) -> None:
    """A table or strip; `audit`, where it audits printed figures: see `audit`."""
    data = CHAPTER.table(table, name, words, **more)
    if audit is None:
        block.part("table", data, key=f"{TOPIC}.{name}")
    else:
        block.part("audited", {**data, "audit": audit}, key=f"{TOPIC}.{name}")


TAGS = (
    "agrees",
    "contradicted",
    "underivable",
    "quoted",
    "points",
    "reached",
    "missed",
    "fast",
    "slow",
    "best",
    "other",
)


def audit(
    printed: Sequence[str],
    pairs: Mapping[str, Sequence[str]] | None = None,
    *,
    fixed: Mapping[str, Sequence[str]] | None = None,
    computed: Mapping[str, tuple[str, tuple[str, str]]] | None = None,
    hide: Sequence[str] = (),
) -> dict[str, Any]:
    """How a table shows printed figures: which columns are as printed, what stands beneath them, and their verdicts.

    pairs: printed column -> our columns; fixed: column -> a tag for each row; computed: column -> a column of 0 and 1
    and the tags for both; hide: columns that only derivations need.
    """
    words = {tag: t(f"{TOPIC}.tag_{tag}") for tag in TAGS} | {w: t(f"{TOPIC}.pair_{w}") for w in ("printed", "none")}
    named = {p: [[o, t(f"{TOPIC}.pair_{o}")] for o in ours] for p, ours in (pairs or {}).items()}
    tags: dict[str, Any] = {name: {"fixed": list(rows)} for name, rows in (fixed or {}).items()}
    tags |= {name: {"by": by, "names": list(names)} for name, (by, names) in (computed or {}).items()}
    return {"printed": list(printed), "pairs": named, "tags": tags, "hide": list(hide), "words": words}
