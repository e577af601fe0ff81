"""Milliseconds per token from three times: a plain step, a draft, a verification.

Teaches: drafting pays once a round confirms more tokens than it costs plain steps. Leaves out: where the tokens per
round come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.quantity import Quantity, given
from mechanisms.speculation_economics import TOPIC
from mechanisms.table import Table, tabulate

PLAIN_MS, DRAFT_MS, VERIFY_MS = Fraction(10), Fraction(3), Fraction(12)
COUNTS = tuple(Fraction(x) for x in ("3", "1", "1.5", "2", "2.5", "4"))


def _id(name: str) -> str:
    return f"{TOPIC}.{name}"


TOKENS = given(_id("confirmed_tokens"), "N", "chosen", unit="token", index="")
PLAIN = given(_id("plain_ms"), "T", "chosen", unit="ms", index="")
DRAFT = given(_id("draft_ms"), "D", "chosen", unit="ms", index="")
VERIFY = given(_id("verify_ms"), "W", "chosen", unit="ms", index="")
EACH = Quantity(_id("ms_per_token"), "t", "derived", (DRAFT.sym + VERIFY.sym) / TOKENS.sym, unit="ms", index="N")
SPEED = Quantity(_id("price_speedup"), "S", "derived", PLAIN.sym / EACH.sym, unit="×", index="N")
EVEN = Quantity(
    _id("break_even"), "N_0", "derived", (DRAFT.sym + VERIFY.sym) / PLAIN.sym, unit="token", index=""
)  # fmt: skip
COLUMNS = (TOKENS, PLAIN, DRAFT, VERIFY, EACH, SPEED)


def _times(plain: Fraction, draft: Fraction, verify: Fraction, rows: int) -> dict[str, list[Fraction]]:
    for name, value, least in (
        ("plain", plain, "above 0"),
        ("draft", draft, "at least 0"),
        ("verify", verify, "above 0"),
    ):
        if value < 0 or (value == 0 and least == "above 0"):
            raise ValueError(f"{name}={value}: must be {least}")
    return {PLAIN.name: [plain] * rows, DRAFT.name: [draft] * rows, VERIFY.name: [verify] * rows}


def price(
    plain: Fraction = PLAIN_MS, draft: Fraction = DRAFT_MS, verify: Fraction = VERIFY_MS,
    counts: Sequence[Fraction] = COUNTS,
) -> Table:  # fmt: skip
    """Time per token and speed-up for several counts of confirmed tokens: t = (D + W)/N, S = T/t.

    plain, verify > 0 and draft ≥ 0 in milliseconds; counts > 0.

    >>> price().value(0, "ms_per_token"), price().value(1, "price_speedup")
    (Fraction(5, 1), Fraction(2, 3))

    Source: derived; the three times are an example of the source document.
    """
    if min(counts, default=0) <= 0:
        raise ValueError(f"counts={[str(x) for x in counts]}: needs values above 0, and at least one")
    values = _times(plain, draft, verify, len(counts)) | {TOKENS.name: list(counts)}
    names = tuple(str(float(x)).removesuffix(".0") for x in counts)
    return tabulate(_id("price"), COLUMNS, names, values, function="mechanisms.economics_price.price")


def break_even(plain: Fraction = PLAIN_MS, draft: Fraction = DRAFT_MS, verify: Fraction = VERIFY_MS) -> Table:
    """How many tokens a round must confirm to be no slower than plain steps: N₀ = (D + W)/T.

    >>> break_even().value(0, "break_even")
    Fraction(3, 2)

    Source: derived.
    """
    values = _times(plain, draft, verify, 1)
    function = "mechanisms.economics_price.break_even"
    return tabulate(_id("break_even"), (PLAIN, DRAFT, VERIFY, EVEN), ("",), values, function=function)
