"""The error-budget tables against their reference files, and every cell of the chapter's tables opened once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.error_budget import Scheme, quantize, ranges
from mechanisms.formats_bits import LAYOUTS, effective_bits
from mechanisms.formats_compare import FORMATS, bell, through
from mechanisms.formats_floats import E2M1, code_points
from mechanisms.formats_overflow import overflow
from mechanisms.formats_regions import float_regions
from mechanisms.quant_blocks import block_errors
from mechanisms.quant_bytes import weight_bytes
from mechanisms.quant_gaussian import best_clip, gaussian_error, levels_of
from mechanisms.quant_lab import grouping
from mechanisms.quant_nodes import RULES
from mechanisms.quant_noise import LAWS, noise
from mechanisms.quant_output import INPUT_VECTOR, LOUD, damage
from mechanisms.quant_presets import LAB
from mechanisms.quant_steps import CONVENTIONS, outlier_step, variance_factor
from mechanisms.quant_summary import summary
from mechanisms.table import Table
from mechanisms.verify import REFERENCE, compare
from mechanisms.verify_quant import TABLES
from tests.oracle_quant_tex import value

CELLS = {
    "quant_lab": 90, "quant_lab_summary": 16, "quant_lab_outlier": 80, "quant_lab_grouping": 128,
    "quant_rounding_ties": 12, "quant_widget_preset": 2592, "quant_widget_summary": 432, "weight_gigabytes": 18,
    "recap_effective_bits": 135, "recap_outlier_step": 132, "recap_variance_factor": 54, "recap_gaussian_clip": 9,
    "recap_nf4_vs_int4": 35, "recap_weight_bytes": 60,
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_reference_table(name: str) -> None:
    """Every field of the table agrees as text with its file."""
    result = compare(name, TABLES[name](), REFERENCE / f"{name}.csv")
    assert (result.cells, result.differences) == (CELLS[name], ())


def test_a_wrong_printed_value_is_seen(tmp_path: Path) -> None:
    """A file that prints another value differs in that field: printed values are a transcription that is compared."""
    text = (REFERENCE / "recap_effective_bits.csv").read_text(encoding="utf-8")
    path = tmp_path / "recap_effective_bits.csv"
    path.write_text(text.replace(",4.156,", ",4.157,"), encoding="utf-8")
    done = compare("recap_effective_bits", TABLES["recap_effective_bits"](), path)
    assert done.differences == ("row 1 bits_printed: '4.157' wanted, '4.156' found",)


def chapter() -> Iterator[Table]:
    """One table of every kind, with the tables that their sums run over."""
    for symmetric in (True, False):
        for rule in RULES:
            scheme = Scheme(symmetric=symmetric, rule=rule, group=3)
            table = quantize(LAB, scheme)
            yield from (*ranges(LAB, scheme), table, summary(table, scheme))
    yield from (
        grouping(4, "outlier alone"),
        code_points(E2M1),
        float_regions(E2M1),
        block_errors(),
        overflow(saturate=True),
    )
    yield from (effective_bits(x) for x in LAYOUTS)
    for c in CONVENTIONS:
        yield from (outlier_step(Fraction(15), 4, c), variance_factor(8, 4, c), best_clip(4, c))
        yield gaussian_error(levels_of(Fraction(2), 2, c))
    yield from (noise(law, 10, np.random.default_rng(0)) for law in LAWS)
    yield from through(bell(64), FORMATS[0])
    yield from (weight_bytes(8, Fraction(4), kept=1, cache=3), damage(LOUD, INPUT_VECTOR))


def test_every_cell_opens() -> None:
    """Each cell has both formulas, a decimal unless it is undefined, a source and a function; ids are the chapter's."""
    opened = 0
    for table in chapter():
        for part in filter(None, (table, table.over)):
            for row in range(len(part.rows)):
                for quantity in part.columns:
                    done = part.explain(row, quantity.name)
                    assert done.general and done.substituted and done.source and done.function.startswith("mechanisms.")
                    assert (done.decimal is None) == (part.value(row, quantity.name) is None)
                    assert done.quantity.startswith("error_budget.") and "undefined" not in done.substituted
                    opened += 1
    assert opened > 1000


def test_substituted_lines_give_their_values() -> None:
    """Read as arithmetic, every substituted formula gives its cell: rationals exactly; reals to 1e-3, as a
    substituted 0.008460 has four digits.

    The Gaussian integrals are left out: Φ and φ are written, not calculated, there (`test_quant_gaussian` does that).
    """
    read = 0
    for table in chapter():
        for part in filter(None, (table, table.over)):
            for row in range(len(part.rows)):
                for quantity in part.columns:
                    done, cell = part.explain(row, quantity.name), part.value(row, quantity.name)
                    if quantity.expression is None or cell is None or "varphi" in done.general:
                        continue
                    if done.exact is not None:
                        assert value(done.substituted) == cell, done
                    else:
                        assert float(value(done.substituted)) == pytest.approx(float(cell), rel=1e-3, abs=1e-5), done
                    read += 1
    assert read > 500
