"""State of the laboratory page: which stored decoding is shown, and its round."""

from __future__ import annotations

from gpu_demos.live_queue import DRAFTERS
from pages import _state
from pages._controls import Chapter

TOPIC = "model_lab"
DOMAINS = ("code", "prose", "chat")
TEMPERATURES = ("0", "1")
POSITIONS = 5  # drafts of a round at most
MOST_ROUNDS = 48
CONTROLS = (
    _state.choice("domain", DOMAINS, "code"),
    _state.choice("drafter", DRAFTERS, "mtp"),
    _state.choice("temperature", TEMPERATURES, "0"),
    _state.integer("step", 0, MOST_ROUNDS - 1, 1),
    _state.choice("guess1", ("", *DOMAINS), ""),
)
CHAPTER = Chapter(TOPIC, CONTROLS, head="row_round")
get, put, opened = CHAPTER.get, CHAPTER.put, CHAPTER.opened
choose, show, note = CHAPTER.choose, CHAPTER.show, CHAPTER.note


def name_of(domain: str, drafter: str, temperature: str) -> str:
    return f"{domain}_{drafter}_{temperature}"


def name_now() -> str:
    return name_of(get("domain"), get("drafter"), get("temperature"))
