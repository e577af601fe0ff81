"""The calibration as tables: bins, scores of one place, all places, and the choices that were made.

Teaches: the calibration error opens into its bins. Sums of predictions are kept to six decimals, so that they can be
put into the formula; counts are whole. Leaves out: how the numbers were fitted (`drafter_scaling`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import sympy as sp

from mechanisms.drafter_metrics import BINS, area_under_curve, bins, brier, calibration_error, swapped
from mechanisms.drafter_rounds import Flags, Floats, Rounds
from mechanisms.drafter_scaling import GRID, GRID_HIGH, GRID_LOW, fit, products
from mechanisms.dspark_drafter import TOPIC
from mechanisms.expression import REAL, total
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.drafter_calibration"
_DECIMALS = 10**6
_PAIRED = 400  # rounds of which every pair is compared
Kind = Literal["simulated", "float"]


def _quantity(name: str, tex: str, source: str = "derived", expression: Any = None, **more: Any) -> Quantity:
    fields: dict[str, Any] = {"kind": "simulated", "index": "b", **more}
    return Quantity(f"{TOPIC}.{name}", tex, source, expression, **fields)


COUNT = _quantity("bin_count", "n", counts=True)
PREDICTED = _quantity("bin_predicted", "S")
HAPPENED = _quantity("bin_happened", "Y", counts=True)
MEAN = _quantity("bin_mean", r"\bar a", "guo2017 §2", PREDICTED.sym / COUNT.sym, defined=COUNT.sym > 0)
SHARE = _quantity("bin_share", r"\bar y", "guo2017 §2", HAPPENED.sym / COUNT.sym, defined=COUNT.sym > 0)
MISS = _quantity("bin_miss", "e", "derived", sp.Abs(PREDICTED.sym - HAPPENED.sym))
BIN_COLUMNS = (COUNT, PREDICTED, HAPPENED, MEAN, SHARE, MISS)

ERROR = _quantity(
    "calibration_error", r"\mathrm{ECE}", "guo2017 Eq. 3", total(MISS.sym) / total(COUNT.sym), index=""
)  # fmt: skip
BRIER = _quantity("brier", r"\mathrm{BS}", "brier1950", index="")
CURVE = _quantity("area_under_curve", r"\mathrm{AUC}", "hanley1982", index="")
SCORES = (ERROR, BRIER, CURVE)

HEAT = _quantity("temperature", "T", "dspark2026 §3.2.1", index="k")
_WHEN = (("before", ""), ("after", "'"))
PLACE_COLUMNS = (
    HEAT,
    *(_quantity(f"error_{n}", rf"\mathrm{{ECE}}{m}", "guo2017 Eq. 3", index="k") for n, m in _WHEN),
    *(_quantity(f"brier_{n}", rf"\mathrm{{BS}}{m}", "brier1950", index="k") for n, m in _WHEN),
    *(_quantity(f"curve_{n}", rf"\mathrm{{AUC}}{m}", "hanley1982", index="k") for n, m in _WHEN),
    _quantity("swapped", r"\omega", "derived", index="k"),
)

FITTED, JUDGED = (
    given(f"{TOPIC}.{n}", tex, "chosen", index="", counts=True, unit="round")
    for n, tex in (("fit_rounds", r"N_{\mathrm{fit}}"), ("held_out_rounds", "N"))
)
BIN_NUMBER = given(f"{TOPIC}.bins", "n_b", "dspark2026 §4", index="", counts=True)
LOW, HIGH = (
    given(f"{TOPIC}.{n}", tex, "chosen", index="") for n, tex in (("grid_low", r"T_{\min}"), ("grid_high", r"T_{\max}"))
)
POINTS = given(f"{TOPIC}.grid_points", "n_T", "chosen", index="", counts=True)
PROTOCOL = (FITTED, JUDGED, BIN_NUMBER, LOW, HIGH, POINTS)


@dataclass(frozen=True, slots=True)
class Result:
    """A fit and its judgement: predictions of survival (N, places) before and after, and what happened."""

    temperatures: tuple[float, ...]
    before: Floats
    after: Floats
    survived: Flags
    fitted_on: int
    kind: Kind = "simulated"

    @property
    def places(self) -> int:
        return self.before.shape[1]


def calibrate(rounds: Rounds) -> Result:
    """Fit on the first half, judge on the second. Source: dspark2026, §3.2.1."""
    first, second = rounds.halves()
    found = fit(first)
    return Result(
        found, products(second.confidence), products(second.confidence, found), second.survived, len(first.survived)
    )


def calibrate_all(rounds: Rounds) -> Result:
    """Fit and judge on the same rounds, where there are too few to split: the error after is flattered."""
    found = fit(rounds)
    after = products(rounds.confidence, found)
    return Result(found, products(rounds.confidence), after, rounds.survived, len(rounds.survived), "float")


def _of(kind: Kind, columns: Sequence[Quantity]) -> tuple[Quantity, ...]:
    return tuple(c if c.kind in (kind, "given") else replace(c, kind=kind) for c in columns)


def _decimals(x: float) -> Fraction:
    return Fraction(round(x * _DECIMALS), _DECIMALS)


def bin_names() -> tuple[str, ...]:
    return tuple(f"{i / BINS:.2f} – {(i + 1) / BINS:.2f}" for i in range(BINS))


def bin_table(prediction: Floats, outcome: Flags, name: str, kind: Kind = "simulated") -> Table:
    """One row per bin: n, S = Σ predictions, Y = accepted prefixes, S/n, Y/n and |S − Y|. name: of the table.

    Source: guo2017, §2.
    """
    found = bins(prediction, outcome)
    rows: Mapping[str, Sequence[Cell]] = {
        COUNT.name: [Fraction(int(n)) for n in found.count],
        PREDICTED.name: [_decimals(x) for x in found.predicted],
        HAPPENED.name: [Fraction(int(n)) for n in found.happened],
    }
    return tabulate(f"{TOPIC}.{name}", _of(kind, BIN_COLUMNS), bin_names(), rows, function=f"{_MODULE}.bin_table")


def score_table(rows: Table, prediction: Floats, outcome: Flags, name: str, kind: Kind = "simulated") -> Table:
    """ECE from its bins, Brier score and area under the curve from all predictions. rows: their `bin_table`.

    Source: guo2017, Eq. 3; brier1950; hanley1982.
    """
    values: Mapping[str, Sequence[Cell]] = {
        BRIER.name: [REAL.mpf(brier(prediction, outcome))], CURVE.name: [area_under_curve(prediction, outcome)],
    }  # fmt: skip
    columns = _of(kind, SCORES)
    return tabulate(f"{TOPIC}.{name}", columns, ("",), values, function=f"{_MODULE}.score_table", over=rows)


def place_table(result: Result) -> Table:
    """All places: the temperature, and every score before and after. `swapped`: share of pairs among the first four
    hundred rounds whose order of survival the calibration turns around.

    Source: as `score_table`; dspark2026, §3.2.1, for the temperatures.
    """
    every = [result.survived[:, k] for k in range(result.places)]
    rows: dict[str, list[Cell]] = {
        HEAT.name: [REAL.mpf(t) for t in result.temperatures],
        "swapped": [swapped(result.before[:_PAIRED, k], result.after[:_PAIRED, k]) for k in range(result.places)],
    }
    for name, found in (("before", result.before), ("after", result.after)):
        columns = [found[:, k] for k in range(result.places)]
        rows[f"error_{name}"] = [_decimals(calibration_error(a, y)) for a, y in zip(columns, every, strict=True)]
        rows[f"brier_{name}"] = [REAL.mpf(brier(a, y)) for a, y in zip(columns, every, strict=True)]
        rows[f"curve_{name}"] = [area_under_curve(a, y) for a, y in zip(columns, every, strict=True)]
    names = [str(k + 1) for k in range(result.places)]
    return tabulate(
        f"{TOPIC}.places", _of(result.kind, PLACE_COLUMNS), names, rows, function=f"{_MODULE}.place_table"
    )  # fmt: skip


def protocol(result: Result) -> Table:
    """The choices that the paper leaves open, and how many rounds were used.

    Source: chosen; the number of bins is that of the released evaluator.
    """
    values = (result.fitted_on, len(result.before), BINS, GRID_LOW, GRID_HIGH, len(GRID))
    rows = {c.name: [Fraction(v)] for c, v in zip(PROTOCOL, values, strict=True)}
    return tabulate(f"{TOPIC}.protocol", PROTOCOL, ("",), rows, function=f"{_MODULE}.protocol")
