"""Chapter: when a draft pays."""

from pages import _economics_account as account
from pages import _economics_guess as guess
from pages import _economics_laws as laws
from pages import _economics_rates as rates
from pages import _economics_ridge as ridge
from pages import _economics_speed as speed
from pages import _economics_tree as tree
from pages import _frame, _measured
from pages._economics_state import CHAPTER, CONTROLS, TOPIC

_BY_NAME: dict[str, _frame.Slot] = {
    "guess_longer": guess.longer,
    "rate": speed.rate_range,
    "gamma": speed.gamma_range,
    "settings": speed.settings,
    "own_curve": speed.own_curve,
    "now": speed.now_strip,
    "best": speed.best_strip,
    "speed_plot": speed.speed_plot,
    "speed_curve": speed.curve_table,
    "example": account.example_choice,
    "bonus_split": account.split_strip,
    "reconcile": account.convention_table,
    "draft_ms": account.draft_range,
    "verify_ms": account.verify_range,
    "break_even": account.even_strip,
    "price": account.price_table,
    "leviathan_table_1": account.first_table,
    "leviathan_table_4": account.fourth_table,
    "chain": rates.chain_choice,
    "plug": rates.plug_choice,
    "own_chain": rates.own_chain,
    "chain_totals": rates.chain_strip,
    "chain_plot": rates.chain_plot,
    "chain_table": rates.chain_table,
    "trace": rates.trace_choice,
    "own_trace": rates.own_trace,
    "metrics": rates.metrics_strip,
    "positions": rates.positions_table,
    "guess_rivals": guess.rivals,
    "tail": laws.tail_choice,
    "shape": laws.shape_range,
    "overlap_summary": laws.overlap_strip,
    "overlap_plot": laws.overlap_plot,
    "overlap": laws.overlap_table,
    "pair": laws.pair_choice,
    "heat": laws.heat_range,
    "heated_rate": laws.heat_strip,
    "heated": laws.heat_table,
    "device": ridge.device_choice,
    "ridge_limits": ridge.limit_table,
    "drafts": ridge.drafts_range,
    "batch_plot": ridge.batch_plot,
    "batches": ridge.batch_table,
    "tree_pair": tree.pair_choice,
    "tree_editor": tree.editor,
    "tree": tree.shape_choice,
    "rule": tree.rule_choice,
    "tree_summary": tree.summary_strip,
    "tree_root": tree.root_table,
    "tree_levels": tree.levels_table,
    "again": tree.again,
    "mask": tree.mask_plot,
    "tree_walk": tree.walk_table,
    "coupling": laws.coupling_range,
    "two_step_totals": laws.coupling_strip,
    "two_steps": laws.coupling_table,
}
SLOTS: dict[str, _frame.Slot] = {f"{TOPIC}.{name}": slot for name, slot in _BY_NAME.items()} | _measured.slots(CHAPTER)

# the pair, the shape and the rule of the tree are used by the drawn tree below it
REACH = {"tree": "mask"}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
