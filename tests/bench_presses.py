"""What `tests.bench` presses: controls of the chapters, of a bare page, and of a page without a framework."""

from __future__ import annotations

from dataclasses import dataclass

FRAMES_PER_ROUND = 5  # one drag


@dataclass(frozen=True, slots=True)
class Press:
    """One thing to measure: focus `control`, press one of `keys` in turn, watch `shown`.

    `typed` is typed first, with a new number for each turn.
    """

    name: str
    page: str
    control: str
    shown: str
    keys: tuple[str, ...] = ("ArrowRight",)
    repeat: int = 1
    typed: str = ""


def of(topic: str, key: str, what: str = "input:checked") -> str:
    """The control of a chapter that is to be pressed."""
    return f"[data-key='{topic}.{key}'] {what}"


def table(topic: str, name: str) -> str:
    return f'[data-table="{topic}.{name}"]'


SLIDER, TOKEN = "input[type=range]", '[data-at="token-0"]'
RIGHT, BOTH = ("ArrowRight",), ("ArrowRight", "ArrowLeft")
R, E, M, C, S, B, D, F, A = CHAPTERS = (
    "rejection_ledger", "error_budget", "integer_matmul", "calibration", "speculation_economics", "mtp_boosting",
    "dspark", "dspark_drafter", "draft_precision",
)  # fmt: skip
PRESSES = (
    Press("floor, browser", "floor", "#slider", "#value", repeat=FRAMES_PER_ROUND),
    Press("bare slider, server", "bare", ".st-key-slider input[type=range]", "#slider-value"),
    Press("bare radio, server", "bare", ".st-key-radio input:checked", "#radio-value", ("ArrowDown",)),
    Press("tuned slider, server", "tuned", ".st-key-slider input[type=range]", "#slider-value"),
    Press("tuned radio, server", "tuned", ".st-key-radio input:checked", "#radio-value", ("ArrowDown",)),
    Press("ledger preset, server", R, of(R, "pair"), table(R, "ledger"), BOTH),
    Press("ledger rule, server", R, of(R, "rule"), table(R, "law")),
    # the same choice up to the last of the blocks that follow from it
    Press("ledger last block, server", R, of(R, "pair"), table(R, "counts_exact"), BOTH),
    Press("ledger blend, browser", R, of(R, "blend", SLIDER), table(R, "ledger"), repeat=FRAMES_PER_ROUND),
    # a pair that no cache has seen; from it the preset radio goes to the first or to the last preset
    Press("ledger new pair, server", R, of(R, "editor", TOKEN), table(R, "ledger"), ("Enter",), typed="A{}"),
    Press("budget vector, server", E, of(E, "vector"), table(E, "map"), BOTH),
    Press("budget bits, browser", E, of(E, "bits", SLIDER), table(E, "map"), BOTH, FRAMES_PER_ROUND),
    # another vector starts with its own last value, so that this slider begins each round at its left end
    Press("budget last, browser", E, of(E, "last", SLIDER), table(E, "map"), RIGHT, FRAMES_PER_ROUND),
    Press("integer types, server", M, of(M, "types"), table(M, "overflow"), BOTH),
    Press("integer zero, browser", M, of(M, "zero", SLIDER), table(M, "sums"), BOTH, FRAMES_PER_ROUND),
    # between grids that were compared before: what the ten methods cost the first time is not the page's doing
    Press("calibration bits, server", C, of(C, "bits"), table(C, "comparison"), BOTH),
    Press("calibration last block, server", C, of(C, "bits"), table(C, "reload"), BOTH),
    Press("calibration column, browser", C, of(C, "player", SLIDER), table(C, "column"), BOTH, FRAMES_PER_ROUND),
    Press("economics tree, server", S, of(S, "tree"), table(S, "tree_summary"), BOTH),
    Press("economics rate, browser", S, of(S, "rate", SLIDER), table(S, "speed_curve"), BOTH, FRAMES_PER_ROUND),
    Press("boosting case, server", B, of(B, "case"), table(B, "state"), BOTH),
    Press("boosting rate, browser", B, of(B, "rate", SLIDER), table(B, "trajectory"), BOTH, FRAMES_PER_ROUND),
    Press("budget curve, server", D, of(D, "curve"), table(D, "path"), BOTH),
    Press("survival drag, browser", D, of(D, "drag", SLIDER), table(D, "survival"), BOTH, FRAMES_PER_ROUND),
    Press("drafter sample, server", F, of(F, "temper"), table(F, "scores_before"), BOTH),
    Press("drafter head, browser", F, of(F, "strength", SLIDER), table(F, "pairs"), BOTH, FRAMES_PER_ROUND),
    Press("audit reading, server", A, of(A, "model"), table(A, "speedups"), BOTH),
    Press("audit target, browser", A, of(A, "target", SLIDER), table(A, "speedups"), BOTH, FRAMES_PER_ROUND),
)
