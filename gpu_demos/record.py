"""A measured number with all that is needed to judge and repeat it.

The module only checks and stores. It measures nothing, and it cannot tell whether what it is given is true.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, cast

SPREADS = ("iqr", "std", "range", "ci95")
_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the repetitions lie apart, in the unit of the value."""

    value: float
    meaning: str

    def __post_init__(self) -> None:
        _finite("spread.value", self.value, least=0)
        if self.meaning not in SPREADS:
            _refuse("spread.meaning", self.meaning, f"one of {', '.join(SPREADS)}")


@dataclass(frozen=True, slots=True)
class Bound:
    """What the hardware allows at best, and why."""

    value: float
    unit: str
    what: str

    def __post_init__(self) -> None:
        _finite("bound.value", self.value)
        _text("bound.unit", self.unit)
        _text("bound.what", self.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One number that was measured; `unit` is "1" for a pure number and `shape` () for a single one."""

    id: str
    value: float
    unit: str
    spread: Spread
    samples: int
    device: str
    dtype: str
    shape: tuple[int, ...]
    versions: Mapping[str, str]
    commit: str
    command: str
    date: str
    bound: Bound | None = None

    def __post_init__(self) -> None:
        _match("id", self.id, _ID, "topic.name in lower case")
        _finite("value", self.value)
        for name in ("unit", "device", "dtype", "command"):
            _text(name, getattr(self, name))
        _instance("spread", self.spread, Spread)
        if self.bound is not None:
            _instance("bound", self.bound, Bound)
        _count("samples", self.samples)
        _match("commit", self.commit, _COMMIT, "7 to 40 lower case hex digits")
        _day(self.date)
        object.__setattr__(self, "shape", _shape(self.shape))
        object.__setattr__(self, "versions", _versions(self.versions))


def load(path: Path) -> Record:
    """Read one record; a missing, unknown or unfit key is a ValueError that names the file."""
    try:
        entry = _entry("record", json.loads(path.read_text(encoding="utf-8")), Record)
        entry["spread"] = Spread(**_entry("spread", entry["spread"], Spread))
        if entry.get("bound") is not None:
            entry["bound"] = Bound(**_entry("bound", entry["bound"], Bound))
        return Record(**entry)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def dump(record: Record, path: Path) -> None:
    """Write one record; equal records give equal files."""
    entry = {field.name: getattr(record, field.name) for field in fields(record)}
    entry["spread"] = asdict(record.spread)
    entry["bound"] = asdict(record.bound) if record.bound else None
    entry["versions"] = dict(record.versions)
    path.write_text(json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def read_all(folder: Path) -> dict[str, Record]:
    """File name without ending -> record, for every JSON file of a folder, sorted by name."""
    if not folder.is_dir():
        _refuse("folder", str(folder), "an existing folder")
    return {path.stem: load(path) for path in sorted(folder.glob("*.json"))}


def _entry(name: str, value: object, kind: type[Any]) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(name, value, "a JSON object")
    entry = cast(dict[str, Any], value)
    known = [field.name for field in fields(kind)]
    if unknown := sorted(set(entry) - set(known)):
        _refuse(f"{name} key", unknown[0], f"one of {', '.join(known)}")
    if missing := [key for key in known if key not in entry and key != "bound"]:
        _refuse(f"{name} key", missing[0], "present; it is missing")
    return entry


def _shape(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple):
        _refuse("shape", value, "a list of sizes")
    sizes = tuple(cast(tuple[int, ...], value))
    for size in sizes:
        _count("shape", size)
    return sizes


def _versions(value: object) -> Mapping[str, str]:
    versions = cast(Mapping[str, str], value)
    if not isinstance(value, Mapping) or not versions:
        _refuse("versions", versions, "a mapping of at least one library name to its version")
    for name, version in versions.items():
        _text("versions", name)
        _text(f"versions[{name!r}]", version)
    return MappingProxyType(dict(sorted(versions.items())))


def _day(value: object) -> None:
    _match("date", value, _DAY, "a day like 2026-01-31")
    try:
        date.fromisoformat(str(value))
    except ValueError:
        _refuse("date", value, "a day of the calendar")


def _finite(name: str, value: object, *, least: float = -math.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < least:
        _refuse(name, value, "a finite number" + ("" if least == -math.inf else f" of at least {least}"))


def _count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        _refuse(name, value, "a whole number of at least 1")


def _text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        _refuse(name, value, "a non-empty text")


def _match(name: str, value: object, pattern: re.Pattern[str], allowed: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        _refuse(name, value, allowed)


def _instance(name: str, value: object, kind: type[object]) -> None:
    if not isinstance(value, kind):
        _refuse(name, value, f"a {kind.__name__}")


def _refuse(name: str, value: object, allowed: str) -> NoReturn:
    raise ValueError(f"{name}={value!r} must be {allowed}")
