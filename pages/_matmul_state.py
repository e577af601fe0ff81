"""The controls of the integer-product chapter, and the case that its ledger works on."""

from __future__ import annotations

from mechanisms.integer_matmul import Case
from mechanisms.integer_matmul_read import CASES, BadCase, read_case
from mechanisms.integer_matmul_report import SIZES
from pages import _state
from pages._controls import Chapter

TOPIC = "integer_matmul"
ZERO_STEP, ZERO_POSITIONS = 5, 52  # the zero point of the activations: 0, 5, …, 255
TYPES = ("int8_int4", "int8_int8", "uint8_int8", "int16_int16")
# doubling, with the neighbours of every first overflow of the types above
TERMS = (
    1, 2, 3, 4, 8, 16, 31, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 65793, 65794, 131071, 131072, 2**20,
    2**21 - 1, 2**21, 2**24,
)  # fmt: skip
SEQUENCES = ("back", "worst", "wide", "unsigned")
MULTIPLIERS = ("tenth", "binary", "clipped")
FIRST_SUM, LAST_SUM = 765, 825
WEIGHT_TOP = 127
COUNTS = ("one", "two", "spare", "always")


def _write_own(own: Case | None) -> str:
    return "" if own is None else "~".join((",".join(map(str, own.q_x)), ",".join(map(str, own.q_w)), str(own.z_w)))


def _read_own(text: str) -> tuple[Case, bool]:
    parts = text.split("~")
    if len(parts) != 3 or len(text) > 1000:
        raise ValueError("own: must be x~w~zero")
    try:
        return read_case(parts[0].split(","), parts[1].split(","), parts[2], z_x=0), False
    except BadCase as error:
        raise ValueError(str(error)) from None


CONTROLS = (
    _state.choice("case", CASES, "worked"),
    _state.Control("own", None, _read_own, _write_own),
    _state.integer("zero", 0, ZERO_POSITIONS - 1, CASES["worked"].z_x // ZERO_STEP),
    _state.choice("types", TYPES, TYPES[0]),
    _state.integer("terms", 0, len(TERMS) - 1, 2),
    _state.choice("sequence", SEQUENCES, SEQUENCES[0]),
    _state.integer("step", 0, 20, 0),
    _state.integer("weight", 0, WEIGHT_TOP, WEIGHT_TOP),
    _state.choice("multiplier", MULTIPLIERS, MULTIPLIERS[0]),
    _state.integer("sum", 0, LAST_SUM - FIRST_SUM, 795 - FIRST_SUM),
    _state.integer("size", 0, len(SIZES) - 1, 0),
    _state.choice("guess1", ("", *COUNTS), ""),
    _state.guess("guess2", WEIGHT_TOP),
)
CHAPTER = Chapter(TOPIC, CONTROLS)
get, put = CHAPTER.get, CHAPTER.put
choose, slide, show, note = CHAPTER.choose, CHAPTER.slide, CHAPTER.show, CHAPTER.note


def base_case() -> Case:
    """What the reader chose; its zero point of the activations is the slider's."""
    own: Case | None = get("own")
    return CASES[get("case")] if own is None else own
