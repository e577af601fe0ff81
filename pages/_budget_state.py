"""State of the error-budget chapter: which vector, which grid, and the settings of its smaller experiments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechanisms import quant_vector
from mechanisms.error_budget import Scheme
from mechanisms.quant_nodes import RULES
from mechanisms.quant_noise import LAWS
from mechanisms.quant_presets import LAST_VALUES, widget
from mechanisms.quant_steps import CONVENTIONS
from mechanisms.quantity import short_text
from pages import _payload, _state
from pages._parts import Block
from pages._words import language, t

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
    _state.integer("guess1", -1, 7, -1),
    _state.choice("guess2", ("", *GUESSES), ""),
)


def get(name: str) -> Any:
    return _state.get(TOPIC, name)


def put(**values: Any) -> None:
    _state.put(TOPIC, CONTROLS, **values)


def position(value: Any, most: int) -> int:
    """A slider position sent by a browser, held within its range."""
    return min(most, max(0, int(value))) if isinstance(value, int | float) and value == value else 0


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


def choose(block: Block, name: str, options: Sequence[str], words: str, *, notes: bool = False) -> None:
    """A row of pills whose labels are `<topic>.<name>_<option>` in the interface texts."""
    made: list[dict[str, Any]] = []
    for o in options:
        note = {"note": t(f"{TOPIC}.{name}_{o}_note")} if notes else {}
        made.append({"id": o, "label": t(f"{TOPIC}.{name}_{o}"), **note})
    data = {"label": words, "options": made, "value": get(name), "topic": f"{TOPIC}.{name}"}
    block.part("choice", data, key=f"{TOPIC}.{name}", value=lambda v: put(**{name: v}) if v in options else None)


def show(block: Block, table: Any, name: str, words: str = "", *, head: str = "row_value", **more: Any) -> None:
    """A table or strip under the topic's id, its first column headed in the reader's words."""
    data = _payload.table(table, id=f"{TOPIC}.{name}", lang=language(), caption=words, **more)
    block.part("table", {**data, "head": t(f"{TOPIC}.{head}")}, key=f"{TOPIC}.{name}")


def heading(block: Block, text: str, key: str) -> None:
    block.prose(f'<p class="wiki-help">{text}</p>', key=f"{TOPIC}.{key}")
