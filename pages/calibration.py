"""Chapter: a layer is calibrated, converted, measured and exported."""

from pages import _frame, _measured
from pages._calibration_artifact import corruption_choice, downloads, reload_strip, verdict
from pages._calibration_base import baseline_strip, domain_choice, facts, statistics_plot, statistics_rows, upload
from pages._calibration_convert import (
    bits_choice,
    comparison_plot,
    comparison_rows,
    granularity_choice,
    sweep_curve,
    sweep_rows,
    symmetric_choice,
)
from pages._calibration_gptq import column_rows, order_choice, output_choice, player
from pages._calibration_guess import weight_guess
from pages._calibration_measure import (
    domain_plot,
    domain_rows,
    method_choice,
    output_plot,
    output_rows,
    peaks_choice,
    peaks_strip,
)
from pages._calibration_state import CHAPTER, CONTROLS, TOPIC

SLOTS: dict[str, _frame.Slot] = {
    "calibration.guess_weight": weight_guess,
    "calibration.file": upload,
    "calibration.domain": domain_choice,
    "calibration.facts": facts,
    "calibration.baseline": baseline_strip,
    "calibration.statistics": statistics_rows,
    "calibration.statistics_plot": statistics_plot,
    "calibration.bits": bits_choice,
    "calibration.granularity": granularity_choice,
    "calibration.symmetric": symmetric_choice,
    "calibration.comparison": comparison_rows,
    "calibration.comparison_plot": comparison_plot,
    "calibration.order": order_choice,
    "calibration.output": output_choice,
    "calibration.player": player,
    "calibration.column": column_rows,
    "calibration.sweep_curve": sweep_curve,
    "calibration.sweep": sweep_rows,
    "calibration.peaks": peaks_choice,
    "calibration.hadamard": peaks_strip,
    "calibration.domains": domain_rows,
    "calibration.domains_plot": domain_plot,
    "calibration.method": method_choice,
    "calibration.outputs_plot": output_plot,
    "calibration.outputs": output_rows,
    "calibration.reload": reload_strip,
    "calibration.download": downloads,
    "calibration.corruption": corruption_choice,
    "calibration.verdict": verdict,
} | _measured.slots(CHAPTER)

# the guess uncovers a column of the comparison; a file or a domain changes all that is computed from it; so do the
# choices of the grid, and the method its artifact
REACH: dict[str, str] = dict.fromkeys(("guess-weight", "baseline", "convert", "outputs"), "artifact")

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
