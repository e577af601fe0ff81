"""Chapter: the error budget of quantization."""

from pages import _budget_clip, _budget_formats, _budget_guess, _budget_lab, _budget_output, _frame, _measured
from pages import _budget_vector as vector
from pages import _budget_widget as widget
from pages._budget_state import CHAPTER, CONTROLS, TOPIC

_BY_NAME: dict[str, _frame.Slot] = {
    "guess_lost": _budget_guess.lost,
    "vector": vector.vector_choice,
    "bits": vector.bits_range,
    "last": vector.last_range,
    "settings": widget.settings,
    "editor": vector.editor,
    "range": widget.range_strip,
    "summary": widget.summary_strip,
    "line": widget.line,
    "map": widget.map_table,
    "clip_plot": _budget_clip.clip_plot,
    "clip_curve": _budget_clip.clip_table,
    "best_clip": _budget_clip.gaussian_table,
    "convention": _budget_clip.convention_choice,
    "largest": _budget_clip.largest_choice,
    "outlier_step": _budget_clip.outlier_strip,
    "variance_factor": _budget_clip.factor_strip,
    "law": _budget_clip.law_choice,
    "noise": _budget_clip.noise_table,
    "noise_plot": _budget_clip.noise_plot,
    "guess_groups": _budget_guess.groups,
    "lab_bits": _budget_lab.bits_choice,
    "lab_group": _budget_lab.group_choice,
    "lab_outlier": _budget_lab.outlier_choice,
    "lab": _budget_lab.lab_table,
    "lab_summary": _budget_lab.lab_strip,
    "grouping": _budget_lab.group_table,
    "nested": _budget_lab.nested_table,
    "tie": _budget_lab.tie_choice,
    "ties": _budget_lab.tie_table,
    "tie_errors": _budget_lab.tie_strip,
    "floats": _budget_lab.floats,
    "script": _budget_lab.download,
    "tensor": _budget_formats.tensor_choice,
    "formats": _budget_formats.format_table,
    "effective_bits": _budget_formats.bits_table,
    "shape": _budget_formats.shape_choice,
    "points": _budget_formats.points_line,
    "regions": _budget_formats.region_table,
    "overflow": _budget_formats.overflow_choice,
    "cast": _budget_formats.cast_table,
    "blocks": _budget_formats.block_table,
    "loud": _budget_output.loud_range,
    "damage": _budget_output.damage_strips,
    "model": _budget_output.model_choice,
    "bytes": _budget_output.bytes_table,
}
SLOTS: dict[str, _frame.Slot] = {f"{TOPIC}.{name}": slot for name, slot in _BY_NAME.items()} | _measured.slots(CHAPTER)

# the widget's vector and bits are used down to the clip search; the second guess opens a table of the lab
REACH = {"widget": "clip", "guess-groups": "lab"}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
