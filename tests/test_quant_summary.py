"""Totals of a quantized vector against numpy, a count of what is stored, and hand-worked numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.error_budget import Scheme, quantize
from mechanisms.quant_presets import LAB, widget
from mechanisms.quant_summary import errors, summary
from tests.oracle_quant import SEEDED, VECTORS


@SEEDED
@given(VECTORS, st.integers(2, 8), st.sampled_from([None, 2, 3]), st.integers(0, 32))
def test_totals_equal_numpy(values: list[Fraction], bits: int, group: int | None, scale_bits: int) -> None:
    """Errors, counts and bits equal numpy's and a count of what is stored; 1e-12 covers its summation."""
    scheme = Scheme(bits=bits, group=group, scale_bits=scale_bits)
    table = quantize(values, scheme)
    row = summary(table, scheme)
    x, y = (np.array([float(v) for v in column]) for column in (values, table.column("restored")))  # type: ignore[arg-type]
    found = {q.name: row.value(0, q.name) for q in row.columns}
    assert float(found["mean_squared_error"]) == pytest.approx(np.mean((x - y) ** 2), rel=1e-12, abs=1e-15)  # type: ignore[arg-type]
    assert float(found["root_mean_squared_error"]) == pytest.approx(  # type: ignore[arg-type]
        math.sqrt(np.mean((x - y) ** 2)), rel=1e-12, abs=1e-14
    )
    assert float(found["largest_error"]) == pytest.approx(np.max(np.abs(x - y)), rel=1e-12, abs=1e-15)  # type: ignore[arg-type]
    assert float(found["mean_error"]) == pytest.approx(np.mean(y - x), rel=1e-12, abs=1e-14)  # type: ignore[arg-type]
    assert found["codes_used"] == len(set(table.column("code")))
    assert found["rounded_to_zero"] == int(np.sum((x != 0) & (y == 0)))
    stored = len(values) * bits + scale_bits * -(-len(values) // (group or len(values)))
    assert found["effective_bits"] == Fraction(stored, len(values))
    assert found["ratio_with_metadata"] == Fraction(16 * len(values), stored) and found["raw_ratio"] == Fraction(
        16, bits
    )


def test_part_of_a_table_counts_only_its_rows() -> None:
    """The seven ordinary values use one code and lose all seven once the last value is 12.8; worked by hand."""
    table = quantize(widget("12.8"), Scheme(bits=4))
    row = errors(table, rows=range(7))
    assert (row.value(0, "codes_used"), row.value(0, "rounded_to_zero"), row.value(0, "values")) == (1, 7, 7)
    with pytest.raises(ValueError, match="rows"):
        errors(table, rows=[])


def test_asymmetric_metadata_has_a_zero_point() -> None:
    """A zero point costs b bits a group unless its size is given."""
    scheme = Scheme(symmetric=False, group=2)
    assert summary(quantize(LAB, scheme), scheme).value(0, "effective_bits") == Fraction(5 * 4 + 3 * 20, 5)
    assert Scheme(symmetric=False, zero_bits=16).metadata_bits == 32
