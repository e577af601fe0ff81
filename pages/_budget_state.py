"""State of the error-budget chapter: which vector, which grid, and the settings of its smaller experiments."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from mechanisms import quant_vector
from mechanisms.error_budget import Scheme
from mechanisms.quant_nodes import RULES
from mechanisms.quant_noise import LAWS
from mechanisms.quant_presets import LAST_VALUES, widget
from mechanisms.quant_steps import CONVENTIONS
from mechanisms.quantity import short_text
from pages import _state
from pages._controls import Chapter

TOPIC = "error_budget"
Values = tuple[Fraction, ...]
BITS = tuple(range(2, 9))
GROWTH = tuple(2**k for k in range(len(LAST_VALUES)))  # the preset's last values are 0.8 times these
VECTORS = ("preset", *quant_vector.GENERATED, "own")
CLIPS = ("1", "0.95", "0.9", "0.8", "0.7", "0.5")
GROUPS = ("all", "4", "2")
LAB_GROUPS = {"one": "one group", "two": "first two | last three", "three": "first three | last two",
              "alone": "outlier alone"}  # fmt: skip
LARGEST = ("4", "10", "15", "20")
OVERFLOWS = ("saturate", "strict")
SHAPES = ("int4", "e2m1", "e4m3", "e5m2", "nf4")
GUESSES = ("always", "never_worse", "may_rise", "same")
POSITION = f"{TOPIC}.position"  # bits and last value together: the frame that the widget's tables show


def _read_own(text: str) -> tuple[Values, bool]:
    values = quant_vector.read_vector(text.replace("~", " ")[:2000])
    if len(values) > quant_vector.MOST_SHOWN:
        raise ValueError("own: too many values for a table")
    return values, False


def _write_own(values: Values | None) -> str:
    return "" if values is None else "~".join(str(v) for v in values)


CONTROLS = (
    _state.choice("vector", VECTORS, "preset"),
    _state.Control("own", None, _read_own, _write_own),
    _state.integer("seed", 0, 9999, 1),
    _state.integer("bits", BITS[0], BITS[-1], 4),
    _state.integer("last", 0, len(GROWTH) - 1, 0),
    _state.choice("grid", ("symmetric", "asymmetric"), "symmetric"),
    _state.choice("clip", CLIPS, "1"),
    _state.choice("group", GROUPS, "all"),
    _state.choice("rule", RULES, "half_even"),
    _state.choice("convention", CONVENTIONS, "levels"),
    _state.choice("largest", LARGEST, "10"),
    _state.choice("law", (law.id for law in LAWS), "gaussian"),
    _state.choice("lab_bits", ("4", "8"), "4"),
    _state.choice("lab_group", LAB_GROUPS, "one"),
    _state.choice("lab_outlier", ("no", "yes"), "no"),
    _state.choice("tie", RULES, "half_even"),
    _state.choice("tensor", ("outlier", "plain"), "outlier"),
    _state.choice("shape", SHAPES, "e2m1"),
    _state.choice("overflow", OVERFLOWS, OVERFLOWS[0]),
    _state.integer("loud", 0, 5, 4),
    _state.choice("model", ("seven", "large"), "large"),
    _state.guess("guess1", 7),
    _state.choice("guess2", ("", *GUESSES), ""),
)
CHAPTER = Chapter(TOPIC, CONTROLS, head="row_value")
get, put, together = CHAPTER.get, CHAPTER.put, CHAPTER.together
choose, slide, show, note = CHAPTER.choose, CHAPTER.slide, CHAPTER.show, CHAPTER.note


def base_values() -> Values:
    """The vector before its last value is made larger."""
    kind = get("vector")
    if kind == "own" and get("own") is not None:
        return get("own")
    return widget(LAST_VALUES[0]) if kind in ("preset", "own") else quant_vector.generate(kind, get("seed"))


@lru_cache(maxsize=64)
def grown(values: Values) -> tuple[Values, ...]:
    """The vector for each position of the last-value slider."""
    return tuple((*values[:-1], values[-1] * k) for k in GROWTH)


def values_now() -> Values:
    return grown(base_values())[get("last")]


def scheme(bits: int) -> Scheme:
    group = None if get("group") == "all" else int(get("group"))
    return Scheme(
        bits=bits, symmetric=get("grid") == "symmetric", clip_ratio=Fraction(get("clip")), group=group, rule=get("rule")
    )


def last_texts(values: Values) -> list[str]:
    return [short_text(v[-1]) for v in grown(values)]
