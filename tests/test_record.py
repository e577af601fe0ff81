"""Measured records: what is accepted, what is refused and how, and that files come back as they were written."""

import math
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_demos.record import SPREADS, Bound, Record, Spread, dump, load


def record(**changes: Any) -> Record:
    """A sound record with some arguments changed."""
    sound: dict[str, Any] = {
        "id": "decoding.step",
        "at": {"width": "4"},
        "value": 21.3,
        "unit": "ms",
        "spread": Spread(0.4, "iqr"),
        "samples": 30,
        "device": "CPU, 2 cores",
        "dtype": "bf16",
        "shape": (1, 576),
        "versions": {"torch": "2.13.0", "numpy": "2.4.6"},
        "commit": "0123abc",
        "command": "python -m gpu_demos.step",
        "date": "2026-01-31",
        "bound": Bound(3.1, "ms", "weights / bandwidth"),
    }
    return Record(**{**sound, **changes})


def test_sound_record_is_frozen_all_through() -> None:
    """Neither a field nor an entry of a mapping can change after the checks."""
    sound = record(shape=[1, 576])
    assert sound.shape == (1, 576)
    with pytest.raises(FrozenInstanceError):
        sound.value = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        sound.versions["torch"] = "0"  # type: ignore[index]
    with pytest.raises(TypeError):
        sound.at["width"] = "5"  # type: ignore[index]


REFUSED: dict[str, tuple[str, Any]] = {
    "id-without-topic": ("id", "step"),
    "id-not-text": ("id", 3),
    "nan": ("value", math.nan),
    "infinite": ("value", math.inf),
    "value-text": ("value", "21"),
    "value-bool": ("value", True),
    "no-unit": ("unit", ""),
    "spread-number": ("spread", 0.4),
    "no-samples": ("samples", 0),
    "samples-fraction": ("samples", 2.5),
    "samples-bool": ("samples", True),
    "blank-device": ("device", " "),
    "no-dtype": ("dtype", ""),
    "shape-zero": ("shape", (1, 0)),
    "shape-text": ("shape", "1x2"),
    "shape-fraction": ("shape", (1.5,)),
    "versions-empty": ("versions", {}),
    "versions-list": ("versions", ["torch"]),
    "at-list": ("at", ["width"]),
    "at-number": ("at", {"width": 4}),
    "version-empty": ("versions", {"torch": ""}),
    "commit-short": ("commit", "0123ab"),
    "commit-word": ("commit", "main-branch"),
    "no-command": ("command", ""),
    "date-order": ("date", "31-01-2026"),
    "date-compact": ("date", "20260131"),
    "date-impossible": ("date", "2026-02-30"),
    "bound-number": ("bound", 3.1),
}


@pytest.mark.parametrize(("name", "value"), REFUSED.values(), ids=REFUSED.keys())
def test_unfit_argument_is_refused(name: str, value: Any) -> None:
    """The message names the argument, shows its value and says what is allowed."""
    with pytest.raises(ValueError) as caught:
        record(**{name: value})
    message = str(caught.value)
    assert message.startswith(name) and " must be " in message
    assert repr(value) in message or name in ("shape", "versions", "at")


@pytest.mark.parametrize(
    ("value", "meaning", "name"),
    [(-0.1, "iqr", "spread.value"), (math.nan, "iqr", "spread.value"), (0.1, "noise", "spread.meaning")],
    ids=["negative", "nan", "meaning"],
)
def test_unfit_spread_is_refused(value: float, meaning: str, name: str) -> None:
    """A spread is finite, not negative, and says what it is."""
    with pytest.raises(ValueError, match=rf"^{name}=.* must be "):
        Spread(value, meaning)


@pytest.mark.parametrize(
    ("bound", "name"),
    [((math.inf, "ms", "x"), "bound.value"), ((1.0, "", "x"), "bound.unit"), ((1.0, "ms", ""), "bound.what")],
    ids=["infinite", "unit", "what"],
)
def test_unfit_bound_is_refused(bound: tuple[float, str, str], name: str) -> None:
    """A bound without a reason is no bound."""
    with pytest.raises(ValueError, match=rf"^{name}=.* must be "):
        Bound(*bound)


@given(
    value=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6),
    spread=st.floats(0, 1e9),
    meaning=st.sampled_from(SPREADS),
    shape=st.lists(st.integers(1, 10**6), max_size=4).map(tuple),
    device=st.text('aé词"\\\n', min_size=1).filter(str.strip),
    bounded=st.booleans(),
)
def test_written_record_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    value: float,
    spread: float,
    meaning: str,
    shape: tuple[int, ...],
    device: str,
    bounded: bool,
) -> None:
    """Every digit survives the file."""
    bound = Bound(value, "ms", device) if bounded else None
    sound = record(value=value, spread=Spread(spread, meaning), shape=shape, device=device, bound=bound)
    path = tmp_path_factory.getbasetemp() / "record.json"
    other = record(id="decoding.other", at={device: meaning})
    dump([sound, replace(other, device=device)], path)
    assert load(path) == (sound, replace(other, device=device))


def test_readme_lists_the_keys_of_a_record() -> None:
    """The table of the README's section on records names every key and every meaning of a spread."""
    text = (Path(__file__).parents[1] / "gpu_demos/README.md").read_text(encoding="utf-8")
    readme = text.split("\n## A record\n")[1].split("\n## ")[0]
    keys = [line.split("|")[1].split(",") for line in readme.splitlines() if line.startswith("| `")]
    rows = {cell.strip(" `") for cells in keys for cell in cells}
    assert rows == set(Record.__dataclass_fields__)
    assert all(f"`{meaning}`" in readme or f'"{meaning}"' in readme for meaning in SPREADS)
