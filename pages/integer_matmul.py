"""Chapter: a matrix product in integers."""

from pages import _frame
from pages._matmul_case import case_editor, ledger_table, preset_choice, sums_strip, zero_range
from pages._matmul_guess import pair_guess, width_guess
from pages._matmul_layer import error_strip, layer_plot, layer_rows, size_range, work_strip
from pages._matmul_output import multiplier_choice, pair_range, pair_strip, requantize_strip, sum_range
from pages._matmul_state import CONTROLS, TOPIC
from pages._matmul_width import (
    overflow_rows,
    player,
    running_rows,
    sequence_choice,
    terms_range,
    types_choice,
    worst_rows,
)

SLOTS: dict[str, _frame.Slot] = {
    "integer_matmul.guess_width": width_guess,
    "integer_matmul.case": preset_choice,
    "integer_matmul.editor": case_editor,
    "integer_matmul.zero": zero_range,
    "integer_matmul.sums": sums_strip,
    "integer_matmul.ledger": ledger_table,
    "integer_matmul.types": types_choice,
    "integer_matmul.overflow": overflow_rows,
    "integer_matmul.terms": terms_range,
    "integer_matmul.worst": worst_rows,
    "integer_matmul.sequence": sequence_choice,
    "integer_matmul.player": player,
    "integer_matmul.running": running_rows,
    "integer_matmul.guess_pair": pair_guess,
    "integer_matmul.weight": pair_range,
    "integer_matmul.pair": pair_strip,
    "integer_matmul.multiplier": multiplier_choice,
    "integer_matmul.sum": sum_range,
    "integer_matmul.requantize": requantize_strip,
    "integer_matmul.size": size_range,
    "integer_matmul.error": error_strip,
    "integer_matmul.layer": layer_rows,
    "integer_matmul.layer_plot": layer_plot,
    "integer_matmul.work": work_strip,
}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS)
