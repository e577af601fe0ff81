"""The rotation table in the shape of its reference file.

Three kinds of columns, compared alike as text. Exact rows: `max_exact`, `max_12dp` and the ratio are rationals, and
computed here. Random rows: mean, standard error and smallest draw are a statistic, but of a seeded stream that the
reference documents, so the same 2000 draws are made again; another generator would agree to a few standard errors only.
`max_printed` and `ratio_printed` are quotations of the audited text: they are copied, and agree by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from mechanisms.calibration_hadamard import peak_table, signed_peaks
from mechanisms.quantity import as_fraction, decimal_text, exact_text
from mechanisms.table import Table

Row = Mapping[str, str]
SEED, DRAWS = 20240501, 2000
CASES = ((1024, 500), (4096, 1000))
EXACT = (
    ("outlier alone", "peak_alone", "gain_alone"),
    ("recipe of the article, plus 1", "peak_plus_one", "gain_plus_one"),
    ("literal ones, Sylvester matrix", "peak_of_ones", "gain_of_ones"),
)
QUOTED_PEAK = {(1024, "peak_alone"): "15.6", (1024, "peak_plus_one"): "17", (4096, "peak_plus_one"): "17"}
QUOTED_GAIN = {(1024, "peak_plus_one"): "30", (4096, "peak_plus_one"): "60"}


def _number(table: Table, name: str, places: int = 12) -> str:
    return decimal_text(as_fraction(table.value(0, name)), places)


def _hadamard() -> Iterator[Row]:
    rng = np.random.default_rng(SEED)
    for d, outlier in CASES:
        table = peak_table(d, outlier, signed_peaks(d, outlier, DRAWS, rng=rng))
        head = {"dimension": str(d), "outlier": str(outlier)}
        for case, peak, gain in EXACT:
            yield head | {
                "case": case, "max_printed": QUOTED_PEAK.get((d, peak), ""),
                "max_exact": exact_text(as_fraction(table.value(0, peak))), "max_12dp": _number(table, peak),
                "step_ratio_12dp": _number(table, gain), "ratio_printed": QUOTED_GAIN.get((d, peak), ""),
                "standard_error": "", "smallest_draw": "",
            }  # fmt: skip
        yield head | {
            "case": "random signs, mean maximum (Monte Carlo)", "max_printed": "", "max_exact": "",
            "max_12dp": _number(table, "peak_with_signs"), "step_ratio_12dp": _number(table, "gain_with_signs"),
            "ratio_printed": "", "standard_error": _number(table, "standard_error", 6),
            "smallest_draw": _number(table, "smallest_draw", 6),
        }  # fmt: skip


TABLES: dict[str, Callable[[], Iterator[Row]]] = {"recap_hadamard": _hadamard}
