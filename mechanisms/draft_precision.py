"""The results table of an article on quantized draft models, and what the article's own formula makes of its rates.

Teaches: that a printed mean can be checked against the formula printed beside it. Leaves out: other draft lengths
(`precision_window`), time (`precision_latency`), memory (`precision_memory`), sentences
(`precision_claims`). Does not know how the article measured anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.expression import REAL, Real, real
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

TOPIC = "draft_precision"
_MODULE = f"mechanisms.{TOPIC}"
TABLE = "draft_article results table"


@dataclass(frozen=True, slots=True)
class Draft:
    """One row of the article's table, as it is printed: GB, ms, percent, percent, tokens, times."""

    id: str
    memory: str
    step: str
    code: str
    chat: str
    tokens: str
    speedup: str


DRAFTS = (
    Draft("BF16", "3.2", "6.8", "78.4", "68.2", "3.82", "2.35"),
    Draft("FP8-E4M3", "1.7", "4.2", "76.9", "66.8", "3.74", "2.52"),
    Draft("INT4-AWQ", "0.95", "3.9", "61.2", "49.5", "2.65", "1.81"),
)
NAMES = tuple(d.id for d in DRAFTS)
WINDOW = 5  # drafts per round in the article


def half_unit(text: str) -> Fraction:
    """Half a unit in the last printed place: what rounding may have hidden.

    >>> half_unit("3.82")
    Fraction(1, 200)

    Source: derived.
    """
    return Fraction(1, 2 * 10 ** len(text.partition(".")[2]))


TOKENS_HALF, RATE_HALF = half_unit("3.82"), half_unit("78.4") / 100


def id_of(name: str) -> str:
    return f"{TOPIC}.{name}"


def printed(name: str, tex: str, **more: Any) -> Quantity:
    """A number that the article prints: quoted, or contradicted where ours differs."""
    fields: dict[str, Any] = {"kind": "quoted", "index": "d", **more}
    return Quantity(id_of(name), tex, TABLE, **fields)


def derived(name: str, tex: str, expression: Any, **more: Any) -> Quantity:
    fields: dict[str, Any] = {"source": "derived", "index": "d", **more}
    return Quantity(id_of(name), tex, expression=expression, **fields)


def half_sum(a: Any, b: Any) -> Any:
    """(a + b)/2, in this order on paper."""
    return sp.Mul(sp.Rational(1, 2), sp.Add(a, b, evaluate=False), evaluate=False)


def expected_tokens(rate: Any, window: Any) -> Any:
    """1 + α + … + α^K as one quotient; rate: not 1."""
    return (1 - rate ** (window + 1)) / (1 - rate)


def overlap(low: Any, high: Any, middle: Any, half: Any) -> Any:
    """1 where [low, high] and [middle − half, middle + half] meet, else 0."""
    return is_zero(sp.Max(0, low - (middle + half)) + sp.Max(0, (middle - half) - high))


EQUATION = "leviathan2022 Eq. 1"
MEMORY = printed("memory_printed", "M", unit="GB")
STEP = printed("step_printed", "t", unit="ms")
CODE_PRINTED = printed("code_printed", r"A_{\mathrm{code}}", unit="%")
CHAT_PRINTED = printed("chat_printed", r"A_{\mathrm{chat}}", unit="%")
TOKENS_PRINTED = printed("tokens_printed", r"N", unit="token", kind="contradicted")
SPEEDUP = printed("speedup_printed", "S", unit="×")
K = given(id_of("draft_length"), "K", "chosen", index="", counts=True)
CODE = derived("code_rate", r"\alpha_{\mathrm{code}}", CODE_PRINTED.sym / 100)
CHAT = derived("chat_rate", r"\alpha_{\mathrm{chat}}", CHAT_PRINTED.sym / 100)
MEAN_RATE = derived("mean_rate", r"\bar\alpha", half_sum(CODE.sym, CHAT.sym))


def tokens_of(name: str, tex: str, expression: Any, source: str = EQUATION) -> Quantity:
    return derived(name, tex, expression, unit="token", source=source)


TOKENS_CODE = tokens_of("tokens_code", r"E_{\mathrm{code}}", expected_tokens(CODE.sym, K.sym))
TOKENS_CHAT = tokens_of("tokens_chat", r"E_{\mathrm{chat}}", expected_tokens(CHAT.sym, K.sym))
TOKENS_MEAN = tokens_of("tokens_mean", r"\bar E", half_sum(TOKENS_CODE.sym, TOKENS_CHAT.sym), "derived")
AT_MEAN_RATE = tokens_of("tokens_at_mean_rate", r"E_{\bar\alpha}", expected_tokens(MEAN_RATE.sym, K.sym))
EXCESS = tokens_of("excess_over_code", "x", TOKENS_PRINTED.sym - TOKENS_CODE.sym, "derived")
NEEDED = Quantity(id_of("needed_rate"), r"\alpha^*", "derived", index="d", kind="float")
BOUND = tokens_of("upper_bound", r"E_{\max}", 1 + K.sym * CODE.sym, "derived")
DRAFT_TOTAL = derived("draft_total", "Kt", K.sym * STEP.sym, unit="ms")
MATRIX = (
    MEMORY, STEP, CODE_PRINTED, CHAT_PRINTED, TOKENS_PRINTED, SPEEDUP, K, CODE, CHAT, MEAN_RATE, TOKENS_CODE,
    TOKENS_CHAT, TOKENS_MEAN, AT_MEAN_RATE, EXCESS, NEEDED, BOUND, DRAFT_TOTAL,
)  # fmt: skip


def needed_rate(tokens: Fraction, window: int) -> Real | None:
    """The constant rate α with 1 + α + … + α^K = tokens; None where no rate in [0, 1] gives it.

    Bisection on 200 halvings, 50 digits. tokens: of a round, with the last one; window: K ≥ 1.

    >>> REAL.nstr(needed_rate(Fraction(7, 4), 2), 3)
    '0.5'

    Source: derived.
    """
    if window < 1:
        raise ValueError(f"window={window}: must be at least 1")
    if not 1 <= tokens <= window + 1:
        return None
    if tokens in (1, window + 1):  # no draft or every draft passes: halving would only come near
        return REAL.mpf(int(tokens > 1))
    low, high, wanted = REAL.mpf(0), REAL.mpf(1), real(tokens)
    for _ in range(200):
        middle = (low + high) / 2
        if REAL.fsum(middle**i for i in range(window + 1)) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def printed_cells() -> dict[str, tuple[Cell, ...]]:
    """The article's columns by the names of their quantities."""
    columns = {
        MEMORY: "memory", STEP: "step", CODE_PRINTED: "code", CHAT_PRINTED: "chat", TOKENS_PRINTED: "tokens",
        SPEEDUP: "speedup",
    }  # fmt: skip
    return {q.name: tuple(Fraction(getattr(d, field)) for d in DRAFTS) for q, field in columns.items()}


def matrix() -> Table:
    """The article's table, one row a draft, with what its formula gives beside it.

    E = (1 − α^(K+1)) / (1 − α), K = 5; excess = printed − E(code); E_max = 1 + Kα, the largest mean that runs with
    differing rates of mean α can have.

    >>> matrix().value(2, "tokens_code")
    Fraction(2384669393743, 976562500000)

    Source: leviathan2022, Eq. 1; the rates are the article's.
    """
    n = len(DRAFTS)
    needed = tuple(needed_rate(Fraction(d.tokens), WINDOW) for d in DRAFTS)
    cells = {**printed_cells(), K.name: (Fraction(WINDOW),) * n, NEEDED.name: needed}
    return tabulate(id_of("matrix"), MATRIX, NAMES, cells, function=f"{_MODULE}.matrix")
