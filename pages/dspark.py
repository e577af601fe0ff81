"""Chapter: how many drafts to verify, and what may decide about it."""

from pages import _dspark_batch as batch
from pages import _dspark_chain as chain
from pages import _dspark_cost as cost
from pages import _dspark_guess as guess
from pages import _dspark_recompute as recompute
from pages import _dspark_selection as selection
from pages import _frame, _measured
from pages._dspark_state import CHAPTER, CONTROLS, TOPIC

_BY_NAME: dict[str, _frame.Slot] = {
    "versions": chain.versions,
    "chain": chain.chain_choice,
    "position": chain.position_choice,
    "drag": chain.drag_range,
    "chain_editor": chain.editor,
    "summary": chain.summary,
    "survival": chain.survival,
    "survival_plot": chain.survival_plot,
    "rejection_law": chain.rejection_law,
    "substitution": chain.substitution,
    "cap": chain.cap,
    "guess_length": guess.length,
    "rate_plot": cost.rate_plot,
    "cost_a": cost.table_a,
    "cost_b": cost.table_b,
    "cost_editor": cost.editor,
    "curve": batch.curve_choice,
    "player": batch.player,
    "path": batch.path_rows,
    "path_plot": batch.path_plot,
    "outcomes": batch.outcomes,
    "batch_editor": batch.editor,
    "allocations": batch.allocations,
    "singles": batch.singles,
    "sums": batch.sums,
    "guess_look": guess.look,
    "example": selection.example_choice,
    "case_editor": selection.editor,
    "rates": selection.rate_rows,
    "policy": selection.policy_choice,
    "first_output": selection.law,
    "law_plot": selection.law_plot,
    "policies": selection.comparison,
    "happened": selection.happened,
    "draws": selection.draws_choice,
    "again": selection.again,
    "counts": selection.counts,
    "rule": selection.rule,
    "grid": recompute.grid_choice,
    "recompute": recompute.start,
    "counted": recompute.counted,
    "counted_caps": recompute.counted_cap,
    "checked": recompute.checked,
}
SLOTS: dict[str, _frame.Slot] = {f"{TOPIC}.{name}": slot for name, slot in _BY_NAME.items()} | _measured.slots(CHAPTER)

# the chain is used down to its cost, a guess uncovers what it asked about, the batch and the example go on below
REACH = {"survival": "cost", "guess-length": "cost", "batch": "alone", "guess-look": "rule", "selection": "draws"}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
