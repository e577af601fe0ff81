"""Reliability points of the paper's own figure, as read from it, and what follows from them.

Teaches: before the calibration every point lies below the diagonal. The points are quotations: they were read off the
lines of a vector figure, and how many drafts stand behind a point is not printed there, so the errors beside them
cannot be recomputed. Leaves out: other figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from mechanisms.dspark_drafter import TOPIC
from mechanisms.expression import largest
from mechanisms.quantity import Quantity, signed
from mechanisms.table import Table, tabulate

_MODULE = "mechanisms.drafter_published"
_FIGURE = "dspark2026 Fig. 6"
# place -> points before and after, each "prediction observed"
_POINTS = {
    1: (
        ".327 .286 .476 .407 .626 .557 .725 .616 .825 .735 .926 .851 .990 .974",
        ".328 .230 .478 .407 .625 .590 .725 .714 .825 .832 .926 .940 .987 .990",
    ),
    3: (
        ".126 .098 .325 .250 .525 .396 .674 .547 .774 .622 .875 .771 .988 .969",
        ".127 .087 .325 .314 .525 .525 .674 .693 .774 .784 .875 .891 .985 .986",
    ),
    5: (
        ".124 .089 .324 .249 .525 .397 .674 .524 .774 .613 .875 .763 .987 .961",
        ".123 .112 .324 .340 .524 .511 .674 .694 .775 .773 .875 .875 .984 .985",
    ),
    7: (
        ".123 .083 .325 .228 .525 .383 .675 .530 .774 .623 .875 .796 .986 .959",
        ".123 .129 .324 .318 .525 .517 .675 .674 .774 .742 .876 .872 .983 .987",
    ),
}
PUBLISHED = tuple(_POINTS)
_SCORES = {1: ".057 .020 .818", 3: ".082 .017 .812", 5: ".058 .008 .864", 7: ".033 .004 .907"}


def _quoted(name: str, tex: str, index: str = "i") -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, _FIGURE, kind="quoted", index=index)


def _derived(name: str, tex: str, expression: Any, index: str = "i") -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, index=index)


SAID, SEEN = _quoted("point_before", "a"), _quoted("seen_before", "y")
SAID_AFTER, SEEN_AFTER = _quoted("point_after", "a'"), _quoted("seen_after", "y'")
OVER = _derived("excess_before", "g", SAID.sym - SEEN.sym)
OVER_AFTER = _derived("excess_after", "g'", SAID_AFTER.sym - SEEN_AFTER.sym)
POINTS = (SAID, SEEN, OVER, SAID_AFTER, SEEN_AFTER, OVER_AFTER)

ERROR, ERROR_AFTER, CURVE = (
    _quoted(name, tex, "")
    for name, tex in (
        ("quoted_error_before", r"\mathrm{ECE}"), ("quoted_error_after", r"\mathrm{ECE}'"),
        ("quoted_curve", r"\mathrm{AUC}"),
    )
)  # fmt: skip
MOST = _derived("most_gap_before", r"|g|_{\max}", largest(sp.Abs(signed(OVER))), "")
MOST_AFTER = _derived("most_gap_after", r"|g'|_{\max}", largest(sp.Abs(signed(OVER_AFTER))), "")
SUMMARY = (ERROR, ERROR_AFTER, CURVE, MOST, MOST_AFTER)


def _numbers(text: str) -> list[Fraction]:
    return [Fraction(x) for x in text.split()]


def published_points(place: int) -> Table:
    """Prediction and observed share of each point, before and after, with prediction − observed. place: 1, 3, 5 or 7.

    >>> str(published_points(7).value(3, "excess_before"))
    '29/200'

    Source: dspark2026, Fig. 6.
    """
    if place not in _POINTS:
        raise ValueError(f"place={place}: must be one of {PUBLISHED}")
    before, after = (_numbers(text) for text in _POINTS[place])
    rows: dict[str, Sequence[Fraction]] = {
        SAID.name: before[::2], SEEN.name: before[1::2], SAID_AFTER.name: after[::2], SEEN_AFTER.name: after[1::2],
    }  # fmt: skip
    names = [str(i + 1) for i in range(len(before) // 2)]
    return tabulate(f"{TOPIC}.published", POINTS, names, rows, function=f"{_MODULE}.published_points")


def published_summary(points: Table, place: int) -> Table:
    """The errors and the area that the figure prints, and the largest distance of its points from the diagonal.

    >>> points = published_points(1)
    >>> [str(published_summary(points, 1).value(0, n)) for n in ("most_gap_before", "most_gap_after")]
    ['109/1000', '49/500']

    Source: dspark2026, Fig. 6.
    """
    if place not in _POINTS:
        raise ValueError(f"place={place}: must be one of {PUBLISHED}")
    rows = {q.name: [x] for q, x in zip((ERROR, ERROR_AFTER, CURVE), _numbers(_SCORES[place]), strict=True)}
    return tabulate(
        f"{TOPIC}.published_scores", SUMMARY, ("",), rows, function=f"{_MODULE}.published_summary", over=points
    )
