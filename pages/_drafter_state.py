"""State of the drafter chapter: which block is drafted, how strong the head is, and what is calibrated."""

from __future__ import annotations

from mechanisms.drafter_order import LOCKS, TEMPERATURES
from mechanisms.drafter_published import PUBLISHED
from mechanisms.drafter_rounds import PLACES, TEMPERS
from mechanisms.drafter_toy import ANCHORS, STRENGTHS, VOCABULARY
from mechanisms.drafter_walk import DRAWS
from mechanisms.quantity import short_text
from pages import _state
from pages._controls import Chapter

TOPIC = "dspark_drafter"
HEADS = ("off", "on")
COUNTS = ("200", "1000", "5000")
GUESSES = ("never", "same", "differ", "can")
LAST_STEP = 6

CONTROLS = (
    _state.choice("anchor", ANCHORS, "to"),
    _state.choice("draw", DRAWS, "first"),
    _state.choice("head", HEADS, "on"),
    _state.integer("step", 0, LAST_STEP, 0),
    _state.choice("place", ("1", "2"), "1"),
    _state.integer("strength", 0, len(STRENGTHS) - 1, 4),
    _state.choice("previous", VOCABULARY, "New"),
    _state.choice("lock", LOCKS, "second"),
    _state.integer("heat", 0, len(TEMPERATURES) - 1, 3),
    _state.choice("temper", TEMPERS, "over"),
    _state.choice("rounds", COUNTS, "1000"),
    _state.integer("seed", 0, 9999, 1),
    _state.integer("position", 1, PLACES, 2),
    _state.choice("published", (str(p) for p in PUBLISHED), "1"),
    _state.guess("guess1", 100),
    _state.choice("guess2", ("", *GUESSES), ""),
)
CHAPTER = Chapter(TOPIC, CONTROLS)
get, put, opened = CHAPTER.get, CHAPTER.put, CHAPTER.opened
choose, slide, show, note = CHAPTER.choose, CHAPTER.slide, CHAPTER.show, CHAPTER.note


def strength_texts() -> list[str]:
    return [short_text(s) for s in STRENGTHS]
