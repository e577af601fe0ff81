"""The audit's smaller tables: choice of K, breaks, memory, sentences; and every cell of all tables opened once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from transformers import Qwen2Config, Qwen2ForCausalLM

from mechanisms.draft_precision import matrix
from mechanisms.precision_break import CASES, breaks, cube
from mechanisms.precision_choice import best, choices
from mechanisms.precision_claims import held, noise, relative, totals
from mechanisms.precision_free import free_verification
from mechanisms.precision_latency import MODELS, common, implied, speedups
from mechanisms.precision_memory import memory, parameters, reading
from mechanisms.precision_survives import break_even
from mechanisms.precision_window import by_window
from mechanisms.quantity import as_fraction, is_infinite
from mechanisms.table import Table
from mechanisms.values.draft_precision import VALUES
from mechanisms.verify import REFERENCE, compare
from mechanisms.verify_draft import TABLES
from tests.oracle_precision import PRINTED, enumerated, mean_tokens
from tests.oracle_quant_tex import value
from tests.oracle_rejection import SEEDED

RATES = st.fractions(0, Fraction(19, 20), max_denominator=40)


def number(table: Table, row: int, name: str) -> Fraction:
    cell = table.value(row, name)
    assert cell is not None
    return as_fraction(cell)


def every_table() -> Iterator[Table]:
    """All tables of the chapter, at the settings that differ in form."""
    yield from (matrix(), free_verification(), cube(), held(), noise(), relative(), totals(), parameters(), memory())
    yield reading()
    yield from (by_window(k, s) for k in (1, 5, 12) for s in ("code", "chat"))  # type: ignore[arg-type]
    for model in MODELS:
        for price in (Fraction(1), Fraction(5, 4), Fraction(3, 2)):
            yield from (implied(model, price), common(model, price), speedups(model, Fraction(94), price))
            yield break_even(model, Fraction(54), price)
    for rate in ("0.6", "0.769"):
        found = choices(Fraction(rate), Fraction("4.2"))
        yield from (found, best(found))
    yield from (breaks(rate) for rate in CASES.values())


def test_substituted_formulas_denote_their_cells() -> None:
    """Each cell's formula with its numbers, read back from LaTeX, is the cell; undefined cells say so.

    Where a number put in is irrational it stands with six decimals, and a factor of 100 leaves 1e-4 of it.
    """
    opened = 0
    for table in every_table():
        for quantity in table.columns:
            for row in range(len(table.rows)):
                cell, told = table.value(row, quantity.name), table.explain(row, quantity.name)
                where = (table.id, quantity.name, row, told.substituted)
                assert (told.quantity, told.unit, told.kind) == (quantity.id, quantity.unit, quantity.kind)
                opened += 1
                if cell is None:
                    assert (
                        " = " not in told.substituted or "undefined" in told.substituted or quantity.defined is not None
                    ), where
                elif isinstance(cell, Fraction):
                    assert value(told.substituted) == cell, where
                else:
                    assert not is_infinite(cell)
                    assert float(value(told.substituted)) == pytest.approx(float(cell), rel=1e-5, abs=1e-4), where
    assert opened > 900


@pytest.mark.parametrize("name", TABLES)
def test_reference_tables_agree(name: str) -> None:
    """Every field of the reference file is ours."""
    result = compare(name, TABLES[name](), REFERENCE / f"{name}.csv")
    assert result.differences == () and result.cells > 0


@pytest.mark.parametrize(
    ("rate", "drafts", "published"),
    [("0.6", 2, "1.96"), ("0.7", 3, "2.53"), ("0.8", 2, "2.44"), ("0.8", 5, "3.69"), ("0.9", 10, "6.86")],
)
def test_speed_of_a_free_draft_equals_leviathan(rate: str, drafts: int, published: str) -> None:
    """A draft that costs nothing: Leviathan et al. 2022, Table 1, rounded to its two places."""
    table = choices(Fraction(rate), Fraction(0), most=drafts)
    assert f"{float(number(table, drafts, 'speedup_short')):.2f}" == published
    assert number(table, drafts, "speedup_short") == mean_tokens(Fraction(rate), drafts)


@pytest.mark.parametrize(
    ("rate", "cost", "published"),
    [(".75", ".02", 9), (".80", ".04", 9), (".82", ".11", 6), (".62", ".02", 6), (".71", ".11", 4), (".56", ".11", 3)],
)
def test_best_length_equals_the_recomputed_rows_of_leviathan(rate: str, cost: str, published: int) -> None:
    """The best draft length at the rate and cost of rows of Leviathan et al. 2022, Table 4; the times have no unit."""
    table = best(choices(Fraction(rate), Fraction(cost), short=Fraction(1), long=Fraction(1), most=12))
    assert number(table, 0, "best_length_short") == number(table, 0, "best_length_long") == published


@SEEDED
@given(RATES, st.fractions(0, 12, max_denominator=10), st.integers(1, 200), st.integers(1, 200))
def test_best_length_is_the_argmax(rate: Fraction, step: Fraction, short: int, long: int) -> None:
    """The marked rows are those of the largest speedup that enumerated rounds give."""
    table = choices(rate, step, Fraction(short), Fraction(long), most=6)
    for target, which in ((short, "short"), (long, "long")):
        wanted = [mean_tokens(rate, k) * target / (k * step + target) for k in range(7)]
        assert list(table.column(f"speedup_{which}")) == wanted
        top = max(wanted)
        assert [x == 1 for x in table.column(f"best_{which}")] == [x == top for x in wanted]
        assert number(best(table), 0, f"top_{which}") == top
        assert number(best(table), 0, f"best_length_{which}") == max(k for k, x in enumerate(wanted) if x == top)


@pytest.mark.parametrize(
    ("rate", "step", "short", "long", "most"),
    [("1", "1", "1", "1", 3), ("-1/2", "1", "1", "1", 3), ("1/2", "-1", "1", "1", 3), ("1/2", "1", "0", "1", 3),
     ("1/2", "1", "1", "-1", 3), ("1/2", "1", "1", "1", -1)],
)  # fmt: skip
def test_choices_reject_what_cannot_be(rate: str, step: str, short: str, long: str, most: int) -> None:
    """Rates outside [0, 1), negative steps, times that are not positive and negative lengths are errors."""
    with pytest.raises(ValueError, match=r"rate=|step="):
        choices(Fraction(rate), Fraction(step), Fraction(short), Fraction(long), most)


@SEEDED
@given(RATES, st.integers(1, 8))
def test_breaks_equal_the_enumeration(rate: Fraction, window: int) -> None:
    """The law of accepted drafts follows from all 2^K verdicts, and from scipy's geometric law up to the last row."""
    table, law = breaks(rate, window), enumerated(rate, window)
    assert list(table.column("break_probability")) == [law[j] for j in range(window + 1)]
    so_far = [sum(law[i] for i in range(j + 1)) for j in range(window + 1)]
    assert list(table.column("break_so_far")) == so_far and so_far[-1] == 1
    for j in range(window):
        wanted = stats.geom.pmf(j + 1, 1 - float(rate))
        assert float(number(table, j, "break_probability")) == pytest.approx(wanted, abs=1e-12)
    assert list(table.column("prefix_survival")) == [sum(law[i] for i in law if i >= j) for j in range(window + 1)]


def test_int4_chains_break_by_the_second_draft() -> None:
    """By the second draft 62.5 and 75.5 percent are broken; the likeliest single place is the first."""
    for case, so_far in (("int4_code", "62.5"), ("int4_chat", "75.5")):
        table = breaks(CASES[case])
        assert f"{100 * float(number(table, 1, 'break_so_far')):.1f}" == so_far
        law = [number(table, j, "break_probability") for j in range(6)]
        assert max(law) == law[0]


@pytest.mark.parametrize(("rate", "window"), [("-1/9", 2), ("10/9", 2), ("1/2", 0)])
def test_breaks_reject_what_cannot_be(rate: str, window: int) -> None:
    """A rate outside [0, 1] or a round without drafts is an error."""
    with pytest.raises(ValueError, match="rate="):
        breaks(Fraction(rate), window)


def test_parameters_equal_transformers() -> None:
    """The model that transformers builds from the public configuration has exactly these parameters."""
    config = Qwen2Config(
        vocab_size=151936, hidden_size=1536, num_hidden_layers=28, intermediate_size=8960, num_attention_heads=12,
        num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    with torch.device("meta"):
        model = Qwen2ForCausalLM(config)
    named = {name: p.numel() for name, p in model.named_parameters()}
    table = parameters()
    assert number(table, 0, "all_weights") == sum(named.values())
    assert number(table, 0, "embedding_weights") == named["model.embed_tokens.weight"]
    kinds = {"linear_weights": "proj.weight", "bias_weights": "proj.bias", "norm_weights": "norm.weight"}
    for ours, ending in kinds.items():
        assert number(table, 0, ours) == sum(n for name, n in named.items() if name.endswith(ending))


def test_memory_readings_by_hand() -> None:
    """No reading rounds to the printed figure; two bytes a weight are 3,087,428,608 bytes."""
    table = memory()
    assert number(table, 0, "weight_bytes") == 2 * 1543714304
    assert number(table, 3, "weight_bytes") == 1310195712 * Fraction(133, 256) + 2 * (1543714304 - 1310195712)
    printed = [row["memory"] for row in PRINTED.values()]
    for i, said in enumerate((printed[0], printed[1], printed[1], printed[2], printed[2], printed[2])):
        ours = float(number(table, i, "weight_gigabytes"))
        places = 2 if said == 0.95 else 1
        assert number(table, i, "memory_reached") == int(round(ours, places) == said) == 0
        assert float(number(table, i, "other_gigabytes")) == pytest.approx(said - ours)


def test_reading_explains_little_of_a_step() -> None:
    """3.2 GB at 3.35 TB/s are 0.955 ms of the printed 6.8; halving them can save less than half a millisecond."""
    table = reading()
    assert f"{float(number(table, 0, 'reading_ms')):.3f}" == "0.955"
    saved = number(table, 0, "reading_ms") - number(table, 1, "reading_ms")
    assert saved < Fraction(1, 2) < number(table, 0, "step_printed") - number(table, 1, "step_printed")
    for i in range(3):
        assert number(table, i, "reading_ms") + number(table, i, "other_ms") == number(table, i, "step_printed")
        assert (
            number(table, i, "reading_ms") == number(table, i, "reading_share") * number(table, i, "step_printed") / 100
        )
        assert number(table, i, "implied_bandwidth") * number(table, i, "step_printed") == number(
            table, i, "memory_printed"
        )
    with pytest.raises(ValueError, match="bandwidth=0"):
        reading(Fraction(0))


def test_sentences_by_hand() -> None:
    """78.4 to 76.9 are 1.5 points and 1.91 percent; 3.2 to 1.7 save 46.9 percent; five steps of 6.8 ms are 34 ms."""
    table = relative()
    assert [f"{float(number(table, i, 'relative_drop')):.2f}" for i in (0, 1)] == ["1.91", "46.88"]
    assert number(table, 0, "drop") == number(table, 0, "claimed_percent") == Fraction(3, 2)
    assert number(held(), 0, "relative_drop") > number(held(), 0, "held_percent")
    assert totals().column("draft_total") == (34, 21)
    assert [f"{float(number(cube(), i, 'rate_cubed')):.2f}" for i in (0, 1)] == ["0.23", "0.23"]
    assert number(cube(), 0, "cube_printed") == Fraction(11, 50)


def test_noise_equals_scipy() -> None:
    """The standard error is scipy's binomial deviation over n; the difference adds variances, drawn and counted."""
    table = noise()
    wanted = 100 * stats.binom.std(500, 0.784) / 500
    assert float(number(table, 0, "standard_error")) == pytest.approx(wanted, rel=1e-12)
    other = 100 * stats.binom.std(500, 0.769) / 500
    assert float(number(table, 0, "difference_error")) == pytest.approx(math.hypot(wanted, other), rel=1e-12)
    rng = np.random.default_rng(5)
    drawn = (rng.binomial(500, 0.784, 200_000) - rng.binomial(500, 0.769, 200_000)) / 5
    assert drawn.std() == pytest.approx(float(number(table, 0, "difference_error")), rel=0.01)  # five sigma: 0.8 %
    assert float(number(table, 0, "drop_in_errors")) == pytest.approx(1.5 / math.hypot(wanted, other), rel=1e-12)


@pytest.mark.parametrize("id", VALUES)
def test_quoted_values_are_cells(id: str) -> None:
    """Every number that the lesson quotes is a defined cell whose derivation can be opened."""
    table, row, name = VALUES[id]()
    assert table.value(row, name) is not None and table.explain(row, name).decimal
