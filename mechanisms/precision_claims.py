"""Sentences of the article beside the same arithmetic done again.

Teaches: points are not percent, a step is not a chain of steps, and a difference needs its noise. Leaves out: sentences
without a number.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.draft_precision import DRAFTS, NAMES, STEP, WINDOW, K, derived, id_of, printed_cells
from mechanisms.quantity import Quantity
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.precision_claims"
SAID, ADVISED = "draft_article findings", "draft_article recommendations"
RUNS = 500


def _printed(name: str, tex: str, source: str, **more: object) -> Quantity:
    return Quantity(id_of(name), tex, source, **{"kind": "quoted", "index": "", **more})  # type: ignore[arg-type]


BEFORE = _printed("before", "a", "draft_article results table")
AFTER = _printed("after", "b", "draft_article results table")
CLAIMED = _printed("claimed_percent", "c", SAID, unit="%", kind="contradicted")
HELD = _printed("held_percent", "c", ADVISED, unit="%")
DROP = derived("drop", r"\Delta", BEFORE.sym - AFTER.sym, index="")
RELATIVE = derived(
    "relative_drop", r"\delta", sp.Mul(100, BEFORE.sym - AFTER.sym, evaluate=False) / BEFORE.sym, unit="%", index=""
)


def relative() -> Table:
    """What a sentence calls percent, and the percent that its own two figures give: δ = 100(a − b)/a.

    Rows: acceptance from BF16 to FP8 in points (said to fall by 1.5 %), memory in GB (said to halve).

    >>> [str(x) for x in relative().column("relative_drop")]
    ['375/196', '375/8']

    Source: derived; both figures of each row are the article's.
    """
    old, new = DRAFTS[0], DRAFTS[1]
    cells = {
        CLAIMED.name: (Fraction("1.5"), Fraction(50)),
        BEFORE.name: (Fraction(old.code), Fraction(old.memory)),
        AFTER.name: (Fraction(new.code), Fraction(new.memory)),
    }
    columns = (CLAIMED, BEFORE, AFTER, DROP, RELATIVE)
    return tabulate(id_of("relative"), columns, ("acceptance", "memory"), cells, function=f"{_MODULE}.relative")


def held() -> Table:
    """A sentence that holds: the step is said to shrink by more than 35 percent.

    >>> str(held().value(0, "relative_drop"))
    '650/17'

    Source: derived.
    """
    old, new = DRAFTS[0], DRAFTS[1]
    cells = {HELD.name: (Fraction(35),), BEFORE.name: (Fraction(old.step),), AFTER.name: (Fraction(new.step),)}
    columns = (HELD, BEFORE, AFTER, DROP, RELATIVE)
    return tabulate(id_of("held"), columns, ("step",), cells, function=f"{_MODULE}.held")


TOTAL_SAID = _printed("total_said", "c", SAID, unit="ms", kind="contradicted")
TOTAL = derived("draft_total", "Kt", K.sym * STEP.sym, unit="ms")


def totals() -> Table:
    """What the article calls the total drafting time of a round, and K steps of its own table.

    >>> totals().column("draft_total")
    (Fraction(34, 1), Fraction(21, 1))

    Source: derived.
    """
    steps = printed_cells()[STEP.name][:2]
    cells = {TOTAL_SAID.name: steps, K.name: (Fraction(WINDOW),) * 2, STEP.name: steps}
    return tabulate(id_of("totals"), (TOTAL_SAID, K, STEP, TOTAL), NAMES[:2], cells, function=f"{_MODULE}.totals")


COUNT = _printed("runs", "n", "draft_article results table", counts=True)
RATE_BEFORE = _printed("rate_before", "p_1", "draft_article results table")
RATE_AFTER = _printed("rate_after", "p_2", "draft_article results table")
_n, _p1, _p2 = COUNT.sym, RATE_BEFORE.sym, RATE_AFTER.sym
VAR_BEFORE = derived("variance_before", r"\sigma_1^2", _p1 * (1 - _p1) / _n, index="")
VAR_AFTER = derived("variance_after", r"\sigma_2^2", _p2 * (1 - _p2) / _n, index="")


def _error(name: str, tex: str, variance: Any) -> Quantity:
    root = sp.sqrt(variance, evaluate=False)
    return derived(name, tex, 100 * root, unit="point", index="", kind="float")


ERROR = _error("standard_error", r"\sigma_1", VAR_BEFORE.sym)
DIFFERENCE = _error("difference_error", r"\sigma_\Delta", VAR_BEFORE.sym + VAR_AFTER.sym)
POINTS = derived(
    "drop_points", r"\Delta", sp.Mul(100, _p1 - _p2, evaluate=False), unit="point", index=""
)  # fmt: skip
IN_ERRORS = derived("drop_in_errors", "z", POINTS.sym / DIFFERENCE.sym, index="", kind="float")
NOISE = (COUNT, RATE_BEFORE, RATE_AFTER, VAR_BEFORE, VAR_AFTER, POINTS, ERROR, DIFFERENCE, IN_ERRORS)


def noise() -> Table:
    """If 500 runs were 500 yes-or-no trials: the standard error of the BF16 rate, and the drop to FP8 in such errors.

    σ = 100·√(p(1 − p)/n), σ_Δ = 100·√(σ₁² + σ₂²), z = Δ/σ_Δ. The article does not say what a trial is, so this is a
    reading of it, not a result.

    >>> from mechanisms.expression import REAL
    >>> REAL.nstr(noise().value(0, "standard_error"), 3)
    '1.84'

    Source: derived.
    """
    row = {
        COUNT.name: (Fraction(RUNS),),
        RATE_BEFORE.name: (Fraction(DRAFTS[0].code) / 100,),
        RATE_AFTER.name: (Fraction(DRAFTS[1].code) / 100,),
    }
    return tabulate(id_of("noise"), NOISE, ("",), row, function=f"{_MODULE}.noise")
