"""Bytes and bits against counts by hand, model shapes against torch, output errors against numpy, quoted values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.error_budget import Scheme, quantize
from mechanisms.formats_bits import LAYOUTS, Layout, effective_bits, layout
from mechanisms.quant_blocks import GRIDS, block_error
from mechanisms.quant_bytes import CACHE_128K, LLAMA_70B, SEVEN_BILLION, Shape, sparse_bits, weight_bytes
from mechanisms.quant_output import INPUT_VECTOR, LOUD, QUIET, Matrix, damage, output_row
from mechanisms.quant_reference import MONTE_CARLO, STANDARD_ERROR, get, status
from mechanisms.quant_summary import summary
from mechanisms.table import Cell
from mechanisms.values.error_budget import VALUES
from tests.oracle_quant import SEEDED, SMALL


def test_shape_counts_the_parameters_of_a_module() -> None:
    """A Llama block built from torch modules on the meta device has our linear and other weights."""
    shape = Shape(hidden=64, layers=3, intermediate=160, kv_width=16, vocabulary=100)

    def linear(wide: int, high: int) -> torch.nn.Module:
        return torch.nn.Linear(wide, high, bias=False, device="meta")

    h, k, m = shape.hidden, shape.kv_width, shape.intermediate
    layers = [
        linear(a, b) for _ in range(shape.layers) for a, b in ((h, h), (h, k), (h, k), (h, h), (h, m), (h, m), (m, h))
    ]
    rest = [torch.nn.Embedding(shape.vocabulary, h, device="meta"), linear(h, shape.vocabulary),
            *(torch.nn.RMSNorm(h, device="meta") for _ in range(2 * shape.layers + 1))]  # fmt: skip
    counts = [sum(p.numel() for module in part for p in module.parameters()) for part in (layers, rest)]
    assert counts == [shape.linear_weights, shape.other_weights]
    assert shape.weights == sum(counts)


def test_published_parameter_count() -> None:
    """Llama-3.1-70B has 70,553,706,496 parameters by its published shape, and 40 GiB of cache at 131,072 tokens."""
    assert LLAMA_70B.weights == 70_553_706_496 and CACHE_128K == 40 * 2**30


def test_parts_of_the_bytes_by_hand() -> None:
    """16 weights at 4 bits, one bit each of metadata, two weights at 16 bits and a cache of 10 bytes."""
    row = weight_bytes(16, Fraction(4), metadata=Fraction(1), kept=2, cache=10)
    names = ("code_bytes", "metadata_bytes", "kept_bytes", "weight_bytes", "total_bytes")
    assert [row.value(0, n) for n in names] == [8, 2, 4, 14, 24]
    assert row.value(0, "ratio_to_16_bit") == Fraction(36, 14) and row.value(0, "total_ratio") == Fraction(46, 24)


def test_gigabyte_is_not_gibibyte() -> None:
    """14 GB are 13.04 GiB: the two differ by 1.024³."""
    row = weight_bytes(SEVEN_BILLION, Fraction(16))
    gb, gib = row.value(0, "weight_gigabytes"), row.value(0, "weight_gibibytes")
    assert gb == 14 and gb / gib == Fraction("1.024") ** 3  # type: ignore[operator]


@pytest.mark.parametrize("arguments", [(-1, Fraction(4)), (1, Fraction(0)), (0, Fraction(4))], ids=str)
def test_bad_counts_are_errors(arguments: tuple[int, Fraction]) -> None:
    """Negative counts, no bits and no weights are ValueErrors."""
    with pytest.raises(ValueError, match="quantized"):
        weight_bytes(*arguments)
    with pytest.raises(ValueError, match="value_bits"):
        sparse_bits(0)


def test_sparse_bytes_by_counting() -> None:
    """Four 16-bit weights with two zeros: 32 bits of values and 4 of places, of 64; torch packs the same places."""
    assert [sparse_bits(v) * 4 for v in (16, 8, 4)] == [36, 20, 12]


@pytest.mark.parametrize("stored", LAYOUTS, ids=[x.id for x in LAYOUTS])
def test_effective_bits_by_counting(stored: Layout) -> None:
    """The bits of 2^18 values, counted group by group, are the table's; the ratio is 16 over them."""
    values = 2**18
    bits = values * stored.payload_bits + values // stored.group * (stored.scale_bits + stored.zero_bits)
    if stored.id == "nf4_double":
        bits += 32 * (values // 64 // 256)
    row = effective_bits(stored)
    assert row.value(0, "effective_bits") == Fraction(bits, values)
    assert row.value(0, "compression_ratio") == Fraction(16 * values, bits)
    share = Fraction(100 * (bits - values * stored.payload_bits), bits)
    assert row.value(0, "metadata_of_total") == share
    assert row.value(0, "metadata_of_payload") == share * bits / (values * stored.payload_bits)


def test_layouts_are_checked() -> None:
    """Unknown layouts and impossible ones are ValueErrors; a layout agrees with the summary of a real vector."""
    with pytest.raises(ValueError, match="nf5"):
        layout("nf5")
    for arguments in ((0, 8, 0, 32), (4, -1, 0, 32), (4, 8, 0, 0)):
        with pytest.raises(ValueError, match="bits"):
            Layout("x", *arguments)
    scheme = Scheme(bits=4, group=32, symmetric=False)
    row = summary(quantize([Fraction(i, 7) for i in range(64)], scheme), scheme)
    assert row.value(0, "effective_bits") == effective_bits(layout("int4_g32_zero")).value(0, "effective_bits")


@SEEDED
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(
    st.lists(st.lists(SMALL, min_size=n, max_size=n).map(tuple), min_size=1, max_size=3).map(tuple),
    st.lists(SMALL, min_size=n, max_size=n))))  # fmt: skip
def test_damage_equals_numpy(case: tuple[Matrix, list[Fraction]]) -> None:
    """Norms of error and output error equal numpy's; 1e-12 covers its summation."""
    error, x = case
    e, v = (np.array(a, dtype=float) for a in case)
    row = damage(error, x)
    assert float(row.value(0, "weight_error_square")) == pytest.approx(np.linalg.norm(e) ** 2, rel=1e-12, abs=1e-14)  # type: ignore[arg-type]
    assert float(row.value(0, "output_error_square")) == pytest.approx(np.sum((e @ v) ** 2), rel=1e-12, abs=1e-12)  # type: ignore[arg-type]


def test_equal_errors_do_unequal_damage() -> None:
    """Both errors have four entries of 1/8; at the loud channel the output error is 289/4 times as large, by hand."""
    quiet, loud = (damage(e, INPUT_VECTOR) for e in (QUIET, LOUD))
    assert quiet.value(0, "weight_error_square") == loud.value(0, "weight_error_square") == Fraction(4, 64)
    ratio = loud.value(0, "output_error_square") / quiet.value(0, "output_error_square")  # type: ignore[operator]
    assert ratio == Fraction(2 * 17**2, 64) / Fraction(2 * 2**2, 64) == Fraction(289, 4)
    with pytest.raises(ValueError, match="error"):
        output_row([Fraction(1)], INPUT_VECTOR)


@pytest.mark.parametrize("name", VALUES)
def test_quoted_values_open(name: str) -> None:
    """Every number that prose quotes is a defined cell that derives itself."""
    table, row, column = VALUES[name]()
    cell: Cell = table.value(row, column)
    assert cell is not None and name.startswith("error_budget.")
    done = table.explain(row, column)
    assert done.decimal and done.function.startswith("mechanisms.") and done.general and done.substituted


def test_status_compares_at_the_printed_places() -> None:
    """A printed value is right where ours rounds to it, whatever its number of places; nothing printed is `derived`."""
    assert status(("4.156", Fraction(133, 32)), ("3.85", Fraction(512, 133))) == "ok"
    assert status(("4.15", Fraction(133, 32))) == "mismatch" and status(("", Fraction(1))) == "derived"


def test_quoted_monte_carlo_mean_is_near_ours() -> None:
    """The one quoted mean lies 1.1 of its standard errors from our integral, and would not be passed on beyond five."""
    distance = abs(block_error(GRIDS[4]) - float(MONTE_CARLO)) / float(STANDARD_ERROR)
    assert 1.0 < distance < 1.2


def test_get_reads_a_cell() -> None:
    """An undefined cell is no number."""
    assert get(effective_bits(layout("mxfp4")), "effective_bits") == Fraction(17, 4)
