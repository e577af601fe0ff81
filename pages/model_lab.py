"""Page: real decodings of a real model, to step through."""

from pages import _frame, _lab_live, _measured
from pages import _lab_trace as lab
from pages._lab_state import CHAPTER, CONTROLS, TOPIC

_BY_NAME: dict[str, _frame.Slot] = {
    "guess_domain": lab.guess_domain,
    "domain": lab.domain_choice,
    "drafter": lab.drafter_choice,
    "temperature": lab.temperature_choice,
    "prompt": lab.prompt_text,
    "player": lab.player,
    "verdicts": lab.verdict_rows,
    "totals": lab.total_strip,
    "positions": lab.position_rows,
    "rounds": lab.round_rows,
    "compared": lab.compared,
}
SLOTS: dict[str, _frame.Slot] = {f"{TOPIC}.{name}": slot for name, slot in _BY_NAME.items()} | _measured.slots(CHAPTER)

# the guess opens the comparison; the chosen decoding moves everything down to its rounds
REACH = {"guess-domain": "compared", "play": "rounds"}

if __name__ == "__main__":
    _frame.chapter(TOPIC, SLOTS, CONTROLS, REACH)
    _lab_live.section()
