"""Controls of the calibration chapter, the layer it works on, and the results that all of its blocks share."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

import streamlit as st

from mechanisms.calibration import Result, compare
from mechanisms.calibration_container import ContainerError
from mechanisms.calibration_convert import METHODS, Recipe
from mechanisms.calibration_corrupt import CORRUPTIONS
from mechanisms.calibration_grid import Granularity, Grid
from mechanisms.calibration_layer import DOMAINS, Domain, Floats, Layer, synthetic_inputs, synthetic_layer
from mechanisms.calibration_load import HELD_OUT, load_inputs, load_layer
from mechanisms.calibration_statistics import Statistics, calibrate
from mechanisms.values.calibration import VECTORS
from pages import _state
from pages._controls import Chapter

TOPIC = "calibration"
BITS = ("2", "3", "4", "6", "8")
GRANULARITIES = ("tensor", "channel", "group")
ORDERS = ("natural", "act_order")
GUESSES = ("smaller", "same", "little", "several")
NO_CORRUPTION = "none"
DEMO_OUTPUTS, DEMO_WIDTH = 4, 16  # the layer of the column stepper
PEAKS = ("1024", "4096")
MAX_FILE = 4 * 2**20  # of a file sent by a browser; the command line takes more
MAX_OWN_SIDE = 256  # all methods on such a layer take a few seconds
_OWN = f"{TOPIC}._own"

CONTROLS = (
    _state.choice("domain", DOMAINS, DOMAINS[0]),
    _state.choice("bits", BITS, "4"),
    _state.choice("granularity", GRANULARITIES, "group"),
    _state.choice("grid", ("symmetric", "asymmetric"), "symmetric"),
    _state.choice("order", ORDERS, ORDERS[0]),
    _state.integer("output", 1, DEMO_OUTPUTS, 1),
    _state.integer("step", 0, DEMO_WIDTH - 1, 1),
    _state.choice("peaks", PEAKS, PEAKS[0]),
    _state.choice("method", METHODS, "gptq"),
    _state.choice("corruption", (NO_CORRUPTION, *CORRUPTIONS), NO_CORRUPTION),
    _state.choice("guess1", ("", *GUESSES), ""),
)
CHAPTER = Chapter(TOPIC, CONTROLS)
get, put, opened = CHAPTER.get, CHAPTER.put, CHAPTER.opened
choose, show, note = CHAPTER.choose, CHAPTER.show, CHAPTER.note


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A layer, its vectors and their statistics; `key` names them for the memory of results."""

    key: str
    layer: Layer
    calibration: Floats
    held_out: Floats
    statistics: Statistics
    own: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """A Hadamard matrix needs a power of two."""
        width = self.layer.shape[1]
        return tuple(m for m in METHODS if not (width & (width - 1) and METHODS[m][0].startswith("hadamard")))


@lru_cache(maxsize=4)
def built_in(domain: Domain) -> Work:
    """The built-in layer, calibrated on a domain; it is always measured on prose."""
    vectors = synthetic_inputs(domain, VECTORS)
    held_out = synthetic_inputs(DOMAINS[0], VECTORS, part=1)
    return Work(domain, synthetic_layer(), vectors, held_out, calibrate(vectors))


def read_file(name: str, data: bytes) -> Work:
    """A layer from a file. Raises ContainerError with a code and a detail."""
    if len(data) > MAX_FILE:
        raise ContainerError("too_large", f"{len(data)} > {MAX_FILE}")
    layer = load_layer(data, name=name)
    if max(layer.shape) > MAX_OWN_SIDE:
        raise ContainerError("too_large", f"{layer.shape[0]} × {layer.shape[1]} > {MAX_OWN_SIDE}")
    vectors = load_inputs(data, width=layer.shape[1])
    held_out = load_inputs(data, width=layer.shape[1], tensor=HELD_OUT)
    key = hashlib.sha256(data).hexdigest()
    return Work(key, layer, vectors, held_out, calibrate(vectors), own=True)


def work() -> Work:
    own: Work | None = st.session_state.get(_OWN)
    return built_in(get("domain")) if own is None else own


def keep(own: Work | None) -> None:
    """Use a layer of the reader's for the rest of the session, or the built-in one again."""
    st.session_state[_OWN] = own


def grid_now() -> Grid:
    """The chosen grid; a layer that groups do not divide is rounded per channel."""
    kind = cast(Granularity, get("granularity"))
    grid = Grid(int(get("bits")), get("grid") == "symmetric", kind)
    return replace(grid, granularity="channel") if group_missing(grid) else grid


def group_missing(grid: Grid) -> bool:
    return grid.granularity == "group" and work().layer.shape[1] % grid.group != 0


_RESULTS: OrderedDict[tuple[str, Grid], tuple[Result, ...]] = OrderedDict()  # pure, so shared by all sessions
MOST_RESULTS = 24


def results(progress: Callable[[float], None] | None = None) -> tuple[Result, ...]:
    """Every method on the layer of this session. Raises ValueError where a grid cannot hold its weights."""
    on = work()
    key = (on.key, grid_now())
    found = _RESULTS.get(key)
    if found is None:
        found = compare(
            on.layer, calibration=on.calibration, held_out=on.held_out, methods=on.methods,
            base=Recipe(grid=key[1]), progress=progress,
        )  # fmt: skip
        _RESULTS[key] = found
        while len(_RESULTS) > MOST_RESULTS:
            _RESULTS.popitem(last=False)
    return found


def chosen() -> Result:
    """The result of the chosen method, or of the first one where this layer does not allow it."""
    found = results()
    return next((r for r in found if r.method == get("method")), found[0])
