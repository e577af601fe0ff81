"""Chapter: the probability ledger of rejection sampling."""

from pages import _frame
from pages._rejection_guess import favourite, strings
from pages._rejection_ledger import ledger_table, masses_plot, paste_lists, summary_strip
from pages._rejection_pair import CONTROLS, TOPIC, blend_range, editor, preset_choice
from pages._rejection_round import cache_strip, player, reject_choice
from pages._rejection_rules import bias_table, keep_range, law_plot, law_table, length_strip, rule_choice, verdict_strip
from pages._rejection_sampling import again, counts, draws_choice, frequency_plot
from pages._rejection_strips import trial, uniform, walk


def _uniform(name: str) -> _frame.Slot:
    return lambda block, words: uniform(block, name, words)


SLOTS: dict[str, _frame.Slot] = {
    "rejection_ledger.guess_strings": strings,
    "rejection_ledger.reject": reject_choice,
    "rejection_ledger.round": player,
    "rejection_ledger.cache": cache_strip,
    "rejection_ledger.guess_favourite": favourite,
    "rejection_ledger.pair": preset_choice,
    "rejection_ledger.editor": editor,
    "rejection_ledger.blend": blend_range,
    "rejection_ledger.summary": summary_strip,
    "rejection_ledger.ledger": ledger_table,
    "rejection_ledger.masses": masses_plot,
    "rejection_ledger.lists": paste_lists,
    "rejection_ledger.u1": _uniform("u1"),
    "rejection_ledger.u2": _uniform("u2"),
    "rejection_ledger.u3": _uniform("u3"),
    "rejection_ledger.trial": trial,
    "rejection_ledger.w1": _uniform("w1"),
    "rejection_ledger.w2": _uniform("w2"),
    "rejection_ledger.walk": walk,
    "rejection_ledger.length": length_strip,
    "rejection_ledger.rule": rule_choice,
    "rejection_ledger.keep": keep_range,
    "rejection_ledger.verdict": verdict_strip,
    "rejection_ledger.law": law_table,
    "rejection_ledger.law_plot": law_plot,
    "rejection_ledger.bias": bias_table,
    "rejection_ledger.draws": draws_choice,
    "rejection_ledger.again": again,
    "rejection_ledger.counts": counts,
    "rejection_ledger.frequency_plot": frequency_plot,
}

# the pair is chosen in the ledger block, the broken rule below it; both are used down to the sampling check
REACH = {"ledger": "sampling", "break": "sampling"}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
