"""Five recipes of one real head, measured: what the exact tables of this chapter look like in training."""

from __future__ import annotations

from pages import _records
from pages._mtp_state import TOPIC, show
from pages._parts import Block
from pages._records import Column
from pages._words import t

RECIPES = ("base", "kl", "kl_mixing", "lk", "lk_mixing")
COLUMNS = (
    Column("measured_tokens", r"\tau", "tokens_per_round", {}, "token"),
    Column("measured_gain", r"\Delta\tau", "tokens_per_round_gain", {}, "token"),
    Column("measured_gain_half", r"\pm", "tokens_per_round_gain", {}, "token", spread=True),
    Column("measured_first", r"\alpha_1", "acceptance_rate", {"position": "1"}),
    Column("measured_third", r"\alpha_3", "acceptance_rate", {"position": "3"}),
    Column("measured_fifth", r"\alpha_5", "acceptance_rate", {"position": "5"}),
)


def recipe_rows(block: Block, words: str) -> None:
    at = {"domain": "all", "temperature": "1"}
    rows = {t(f"{TOPIC}.recipe_{r}"): {"recipe": r, **at} for r in RECIPES}
    show(block, _records.table(TOPIC, "recipes", "recipes", COLUMNS, rows), "recipes", words, head="head_recipe")
