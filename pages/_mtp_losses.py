"""Four losses on the current case: values, gradients, the field over two logits, a race, and vanishing gradients."""

from __future__ import annotations

from functools import lru_cache

from mechanisms.mtp_cases import CASES, Case
from mechanisms.mtp_field import COLUMN, TARGETS, field
from mechanisms.mtp_lambda import CHOICES, means, positions
from mechanisms.mtp_losses import LOSSES, gradients, values
from mechanisms.mtp_pair import DECAYS
from mechanisms.mtp_race import UNDER, race
from mechanisms.mtp_vanish import vanishing
from mechanisms.table import Table
from pages import _assets, _payload
from pages._mtp_state import RATES, SUPPORTS, TOPIC, case_now, choose, get, note, show, slide, texts_of
from pages._parts import Block
from pages._plots import bar
from pages._words import t

ROLE = dict(zip(LOSSES, ("target", "draft", "accepted", "corrected"), strict=True))
ROLES = {
    "target_probability": "target", "draft_probability": "draft",
    **{f"{loss}_gradient": "corrected" for loss in LOSSES},
}  # fmt: skip
LENGTHS = {"kl_length": "target", "tv_length": "draft", "nla_length": "accepted"}
POSITION_COLUMNS = (
    "first_target", "first_draft", "acceptance_rate", "kl_divergence", "weight_speculators", "weight_modelopt",
    "weight_specforge", "loss_speculators", "loss_modelopt", "loss_specforge", "loss_nemospeech", "depth", "is_second",
    "other_target", "other_draft", "positions", "depth_acceptance", "batch_acceptance", "decay_speculators",
    "decay_modelopt", "decay_specforge",
)  # fmt: skip
GRADIENT_COLUMNS = ("target_probability", "draft_probability", "side", "kl_gradient", "tv_gradient", "nla_gradient",
                    "hybrid_gradient", "logit", "kl_weight", "decay")  # fmt: skip
LENGTH_COLUMNS = ("kl_length", "tv_length", "nla_length", "acceptance_rate", "kl_on", "tv_on", "support_size",
                  "vocabulary")  # fmt: skip
FIELD_COLUMNS = ("kl_pull", "tv_pull", "nla_pull", "hybrid_pull", "first_draft", "acceptance_rate", "first_target",
                 "kl_weight", "decay", "best_gap", "logit_gap")  # fmt: skip
Frames = tuple[Table, _payload.Printed]


@lru_cache(maxsize=32)
def compared(case: Case) -> tuple[Frames, Frames]:
    """Gradients and losses for every position of the decay."""
    tables = [gradients(case, decay=d) for d in DECAYS]
    sums = [values(x, decay=d) for x, d in zip(tables, DECAYS, strict=True)]
    return (tables[0], _payload.printed(tables, GRADIENT_COLUMNS)), (sums[0], _payload.printed(sums))


@lru_cache(maxsize=1)
def fields() -> Frames:
    tables = [field(p) for p in TARGETS]
    return tables[0], _payload.printed(tables, FIELD_COLUMNS)


@lru_cache(maxsize=16)
def races(case: Case) -> Frames:
    tables = list(race(case, RATES))
    return tables[0], _payload.printed(tables)


@lru_cache(maxsize=1)
def lengths() -> Frames:
    tables = [vanishing(int(k)) for k in SUPPORTS]
    return tables[0], _payload.printed(tables, LENGTH_COLUMNS)


@lru_cache(maxsize=1)
def programs() -> tuple[Frames, Frames]:
    tables = [positions(c) for c in CHOICES]
    sums = [means(x) for x in tables]
    return (tables[0], _payload.printed(tables, POSITION_COLUMNS)), (sums[0], _payload.printed(sums))


def weight_range(block: Block, words: str) -> None:
    slide(block, "weight", texts_of(DECAYS), words)


def loss_strip(block: Block, words: str) -> None:
    first, cells = compared(case_now())[1]
    note(block, words, "losses_head")
    show(block, first, "losses", words, topic=f"{TOPIC}.weight", over=f"{TOPIC}.gradients", layout="strip",
         frames=cells)  # fmt: skip


def gradient_rows(block: Block, words: str) -> None:
    first, cells = compared(case_now())[0]
    show(block, first, "gradients", words, topic=f"{TOPIC}.weight", roles=ROLES, order=GRADIENT_COLUMNS, frames=cells)


def gradient_plot(block: Block, words: str) -> None:
    traces = [bar(f"{loss}_gradient", loss, ROLE[loss], t(f"{TOPIC}.loss_{loss}")) for loss in LOSSES]
    data = {
        "table": f"{TOPIC}.gradients", "traces": traces, "note": words, "alt": t(f"{TOPIC}.gradient_alt"),
        "axis": t(f"{TOPIC}.axis_gradient"), "plotly": _assets.PLOTLY_URL,
    }  # fmt: skip
    block.part("plot", data, key=f"{TOPIC}.gradient_plot")


def teacher_range(block: Block, words: str) -> None:
    slide(block, "teacher", texts_of(TARGETS), words)


def loss_choice(block: Block, words: str) -> None:
    choose(block, "loss", tuple(LOSSES), words)


def field_arrows(block: Block, words: str) -> None:
    data = {
        "table": f"{TOPIC}.field", "gap": "logit_gap", "best": "best_gap", "columns": [COLUMN[n] for n in LOSSES],
        "topic": f"{TOPIC}.loss", "axes": [t(f"{TOPIC}.axis_first"), t(f"{TOPIC}.axis_second")],
        "alt": t(f"{TOPIC}.field_alt"), "note": words,
    }  # fmt: skip
    block.part("arrows", data, key=f"{TOPIC}.field_arrows")


def field_rows(block: Block, words: str) -> None:
    first, cells = fields()
    show(block, first, "field", words, head="head_gap", topic=f"{TOPIC}.teacher", order=FIELD_COLUMNS, frames=cells)


def start_choice(block: Block, words: str) -> None:
    choose(block, "start", tuple(CASES), words, stem="case")


def speed_range(block: Block, words: str) -> None:
    slide(block, "speed", texts_of(RATES), words)


def race_lines(block: Block, words: str) -> None:
    series = [{"column": UNDER[n].name, "role": ROLE[n], "label": t(f"{TOPIC}.loss_{n}")} for n in LOSSES]
    data = {
        "table": f"{TOPIC}.race", "x": "step", "series": series, "range": [0, 1], "axis": t(f"{TOPIC}.head_step"),
        "alt": t(f"{TOPIC}.race_alt"), "note": words,
    }  # fmt: skip
    block.part("lines", data, key=f"{TOPIC}.race_lines")


def race_rows(block: Block, words: str) -> None:
    first, cells = races(CASES[get("start")])
    show(block, first, "race", words, head="head_step", topic=f"{TOPIC}.speed", frames=cells)


def support_choice(block: Block, words: str) -> None:
    choose(block, "support", SUPPORTS, words)


def length_lines(block: Block, words: str) -> None:
    series = [{"column": n, "role": r, "label": t(f"{TOPIC}.line_{n}")} for n, r in LENGTHS.items()]
    data = {
        "table": f"{TOPIC}.vanishing", "x": "vocabulary", "series": series, "log": True, "logy": True,
        "axis": t(f"{TOPIC}.head_vocabulary"), "alt": t(f"{TOPIC}.length_alt"), "note": words,
    }  # fmt: skip
    block.part("lines", data, key=f"{TOPIC}.length_lines")


def length_rows(block: Block, words: str) -> None:
    first, cells = lengths()
    show(
        block,
        first,
        "vanishing",
        words,
        head="head_vocabulary",
        topic=f"{TOPIC}.support",
        order=LENGTH_COLUMNS,
        frames=cells,
    )


def program_choice(block: Block, words: str) -> None:
    choose(block, "program", CHOICES, words)


def program_strip(block: Block, words: str) -> None:
    first, cells = programs()[1]
    note(block, words, "means_head")
    show(block, first, "means", words, topic=f"{TOPIC}.program", over=f"{TOPIC}.positions", layout="strip",
         frames=cells)  # fmt: skip


def program_rows(block: Block, words: str) -> None:
    first, cells = programs()[0]
    show(block, first, "positions", words, head="head_position", topic=f"{TOPIC}.program", order=POSITION_COLUMNS,
         frames=cells)  # fmt: skip
