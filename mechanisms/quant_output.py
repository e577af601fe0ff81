"""An error in the weights as an error of the output, Δy = (Ŵ − W)x: equal size, unequal damage.

Teaches: why the norm of the weight error says little without the inputs. Two errors with the same Frobenius norm are
built so that one meets the loud input channel and the other does not. Leaves out: how calibration finds such channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.error_budget import TOPIC
from mechanisms.expression import total
from mechanisms.quantity import Quantity, given, signed
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.quant_output"
Matrix = tuple[tuple[Fraction, ...], ...]
Vector = tuple[Fraction, ...]

ENTRY_ERROR = given(f"{TOPIC}.weight_error", r"\Delta w", "chosen")
INPUT = given(f"{TOPIC}.input", "x", "chosen")
_d, _x = signed(ENTRY_ERROR.name), signed(INPUT.name)
TERM = Quantity(f"{TOPIC}.output_term", "t", "derived", _d * _x)
OUTPUT_ERROR = Quantity(f"{TOPIC}.output_error", r"\Delta y", "derived", total(signed(TERM.name)), index="")
ROW_SIZE = Quantity(f"{TOPIC}.row_square", r"\|\Delta w\|^2", "derived", total(_d**2), index="")
ROW = (OUTPUT_ERROR, ROW_SIZE)

_y, _r = signed(OUTPUT_ERROR.name), ROW_SIZE.sym
OUTPUT_OF_ROW = Quantity(f"{TOPIC}.output_error", r"\Delta y", "derived", index="i")
SIZE_OF_ROW = Quantity(f"{TOPIC}.row_square", r"\|\Delta w\|^2", "derived", index="i")
FROBENIUS = Quantity(f"{TOPIC}.weight_error_square", r"\|\hat W - W\|_F^2", "derived", total(_r), index="")
DAMAGE = Quantity(f"{TOPIC}.output_error_square", r"\|\Delta y\|^2", "derived", total(_y**2), index="")

INPUT_VECTOR: Vector = tuple(map(Fraction, (16, 1, 1, 1)))  # one loud channel
QUIET: Matrix = tuple(tuple(Fraction(t) for t in row.split()) for row in ("0 1/8 1/8 0", "0 0 1/8 1/8"))
LOUD: Matrix = tuple(tuple(Fraction(t) for t in row.split()) for row in ("1/8 1/8 0 0", "1/8 0 0 1/8"))


def output_row(error: Sequence[Fraction], x: Sequence[Fraction]) -> Table:
    """One output: Δy_i = Σ_j Δw_ij·x_j, with the squares of its row of errors.

    >>> output_row(LOUD[0], INPUT_VECTOR).value(0, "output_error")
    Fraction(17, 8)

    Source: derived from y = Wx.
    """
    if len(error) != len(x) or not x:
        raise ValueError(f"error has {len(error)} values, x {len(x)}: must be equal and at least 1")
    columns = {ENTRY_ERROR.name: tuple(error), INPUT.name: tuple(x)}
    over = tabulate(
        f"{TOPIC}.output_terms", (ENTRY_ERROR, INPUT, TERM), [str(j + 1) for j in range(len(x))], columns,
        function=f"{_MODULE}.output_row",
    )  # fmt: skip
    return tabulate(f"{TOPIC}.output_row", ROW, ("",), {}, function=f"{_MODULE}.output_row", over=over)


def damage(error: Matrix, x: Sequence[Fraction], name: str = "") -> Table:
    """‖Ŵ − W‖_F² and ‖Δy‖² of an error matrix at one input, in one row.

    error: (outputs, inputs); x: (inputs,).

    >>> [str(damage(e, INPUT_VECTOR).value(0, c)) for e in (QUIET, LOUD)
    ...  for c in ("weight_error_square", "output_error_square")]
    ['1/16', '1/8', '1/16', '289/32']

    Source: derived; ‖Δy‖² averaged over inputs is tr(E H Eᵀ) with H = E[xxᵀ].
    """
    rows = [output_row(row, x) for row in error]
    cells: dict[str, list[Cell]] = {
        OUTPUT_OF_ROW.name: [row.value(0, OUTPUT_ERROR.name) for row in rows],
        SIZE_OF_ROW.name: [row.value(0, ROW_SIZE.name) for row in rows],
    }
    names = [str(i + 1) for i in range(len(rows))]
    over = tabulate(f"{TOPIC}.outputs", (OUTPUT_OF_ROW, SIZE_OF_ROW), names, cells, function=f"{_MODULE}.damage")
    return tabulate(f"{TOPIC}.damage", (FROBENIUS, DAMAGE), (name,), {}, function=f"{_MODULE}.damage", over=over)
