"""Chapter: inside the DSpark drafter."""

from pages import _drafter_block as drafted
from pages import _drafter_guess, _drafter_order, _frame
from pages import _drafter_pairs as pairs
from pages import _drafter_scores as scores
from pages._drafter_state import CONTROLS, TOPIC

_BY_NAME: dict[str, _frame.Slot] = {
    "guess_pair": _drafter_guess.pair,
    "anchor": drafted.anchor_choice,
    "draw": drafted.draw_choice,
    "head": drafted.head_choice,
    "player": drafted.player,
    "bias_row": drafted.bias_rows,
    "law": drafted.law_rows,
    "sizes": drafted.sizes,
    "place": pairs.place_choice,
    "strength": pairs.strength_range,
    "collisions": pairs.collision_strip,
    "pairs": pairs.pair_rows,
    "pair_plot": pairs.pair_plot,
    "previous": pairs.previous_choice,
    "label_value": pairs.label_strip,
    "labels": pairs.label_rows,
    "means": pairs.mean_strip,
    "contexts": pairs.context_rows,
    "guess_order": _drafter_guess.order,
    "lock": _drafter_order.lock_choice,
    "heat": _drafter_order.heat_range,
    "leads": _drafter_order.lead_strip,
    "order": _drafter_order.order_rows,
    "temper": scores.temper_choice,
    "rounds": scores.rounds_choice,
    "protocol": scores.protocol_strip,
    "places": scores.place_rows,
    "position": scores.position_range,
    "scores": scores.score_strips,
    "reliability": scores.reliability,
    "bins": scores.bin_rows,
    "own": scores.own,
    "published": _drafter_order.published_choice,
    "points_summary": _drafter_order.published_strip,
    "published_diagram": _drafter_order.published_diagram,
    "points": _drafter_order.published_rows,
}
SLOTS: dict[str, _frame.Slot] = {f"{TOPIC}.{name}": slot for name, slot in _BY_NAME.items()}

# the anchor is used down to the labels, the second guess opens a column, rounds and temper are used down to the bins
REACH = {"architecture": "confidence", "guess-order": "bins", "calibration": "bins"}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
