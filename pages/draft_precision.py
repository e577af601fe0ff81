"""Chapter: an article on the precision of draft models, audited."""

from pages import (
    _frame,
    _measured,
    _precision_choice,
    _precision_guess,
    _precision_latency,
    _precision_rest,
    _precision_table,
)
from pages._precision_state import CHAPTER, CONTROLS, TOPIC

_BY_NAME: dict[str, _frame.Slot] = {
    "guess_length": _precision_guess.length,
    "audit": _precision_table.audit_table,
    "bounds": _precision_table.bounds_table,
    "legend": _precision_table.legend,
    "length": _precision_table.length_range,
    "scenario": _precision_table.scenario_choice,
    "window": _precision_table.window_table,
    "model": _precision_latency.model_choice,
    "price": _precision_latency.price_choice,
    "target": _precision_latency.target_range,
    "speedups": _precision_latency.speedup_table,
    "intervals": _precision_latency.intervals,
    "implied": _precision_latency.implied_table,
    "common": _precision_latency.common_strip,
    "free": _precision_latency.free_strip,
    "guess_step": _precision_guess.step,
    "break_even": _precision_latency.even_table,
    "rate": _precision_choice.rate_range,
    "step": _precision_choice.step_range,
    "best": _precision_choice.best_strip,
    "choices": _precision_choice.choice_table,
    "choice_plot": _precision_choice.choice_plot,
    "chain": _precision_choice.chain_choice,
    "breaks": _precision_choice.break_table,
    "break_plot": _precision_choice.break_plot,
    "cube": _precision_choice.cube_table,
    "pair": _precision_choice.pair_choice,
    "listing": _precision_choice.listing_tables,
    "parameters": _precision_rest.parameter_strip,
    "memory": _precision_rest.memory_table,
    "reading": _precision_rest.reading_table,
    "relative": _precision_rest.relative_table,
    "totals": _precision_rest.totals_table,
    "held": _precision_rest.held_table,
    "noise": _precision_rest.noise_strip,
    "own": _precision_table.own_fields,
    "own_row": _precision_table.own_strip,
}
SLOTS: dict[str, _frame.Slot] = {f"{TOPIC}.{name}": slot for name, slot in _BY_NAME.items()} | _measured.slots(CHAPTER)

# reading of the tokens, price and time of a pass are chosen in one block and used down to the break-even table
REACH = {"latency": "survives"}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
