"""Measured numbers with all that is needed to judge and repeat them; what one command measured is one file.

The module only checks and stores. It measures nothing, and it cannot tell whether what it is given is true.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, cast

SPREADS = ("iqr", "std", "range", "ci95")
SHARED = ("device", "versions", "commit", "command", "date")  # the same for all records of one file
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
    """One number that was measured; `unit` is "1" for a pure number and `shape` () for a single one. `at` says under
    which conditions, name -> value, as texts: {"drafter": "lookup", "position": "1"}."""

    id: str
    at: Mapping[str, str]
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
        object.__setattr__(self, "at", _texts("at", self.at))
        object.__setattr__(self, "versions", _versions(self.versions))


def load(path: Path) -> tuple[Record, ...]:
    """Read the records of one file; a missing, unknown or unfit key is a ValueError that names the file."""
    try:
        sheet = _object("file", json.loads(path.read_text(encoding="utf-8")), (*SHARED, "records"))
        shared = {key: sheet[key] for key in SHARED}
        if not isinstance(sheet["records"], list) or not sheet["records"]:
            _refuse("records", sheet["records"], "a list of at least one record")
        return tuple(_record(entry, shared) for entry in cast(list[object], sheet["records"]))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def dump(records: Sequence[Record], path: Path) -> None:
    """Write the records of one command; equal records give equal files. ValueError where they do not belong together:
    another device, version, commit, command or date, or one id twice under one condition."""
    if not records:
        _refuse("records", records, "at least one record")
    for key in SHARED:
        if odd := [r for r in records if getattr(r, key) != getattr(records[0], key)]:
            _refuse(key, getattr(odd[0], key), f"the {key} of the first record, {getattr(records[0], key)!r}")
    names = [(r.id, *sorted(r.at.items())) for r in records]
    if twice := [name for name in names if names.count(name) > 1]:
        _refuse("records", twice[0], "there once")
    shared = {key: getattr(records[0], key) for key in SHARED} | {"versions": dict(records[0].versions)}
    text = json.dumps(shared, indent=2, ensure_ascii=False)[:-2]  # one record a line: a change is one line of a diff
    lines = ",\n".join(f"    {json.dumps(_own(r), ensure_ascii=False, allow_nan=False)}" for r in records)
    path.write_text(f'{text},\n  "records": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def read_all(folder: Path) -> dict[str, tuple[Record, ...]]:
    """File name without ending -> its records, for every JSON file of a folder, sorted by name."""
    if not folder.is_dir():
        _refuse("folder", str(folder), "an existing folder")
    return {path.stem: load(path) for path in sorted(folder.glob("*.json"))}


def find(records: Iterable[Record], id: str, **at: str) -> Record:
    """The one record of this id whose conditions include `at`. LookupError where none or several do."""
    found = [r for r in records if r.id == id and at.items() <= r.at.items()]
    if len(found) != 1:
        raise LookupError(f"id={id!r}, at={at!r}: {len(found)} records, must be one")
    return found[0]


def _own(record: Record) -> dict[str, Any]:
    entry = {field.name: getattr(record, field.name) for field in fields(record) if field.name not in SHARED}
    entry["at"], entry["spread"] = dict(record.at), asdict(record.spread)
    entry["bound"] = asdict(record.bound) if record.bound else None
    return entry


def _record(value: object, shared: Mapping[str, Any]) -> Record:
    own = tuple(field.name for field in fields(Record) if field.name not in SHARED)
    entry = _object("record", value, own, may_lack=("bound",))
    entry["spread"] = Spread(**_object("spread", entry["spread"], ("value", "meaning")))
    if entry.get("bound") is not None:
        entry["bound"] = Bound(**_object("bound", entry["bound"], ("value", "unit", "what")))
    return Record(**shared, **entry)


def _object(name: str, value: object, keys: Sequence[str], may_lack: Sequence[str] = ()) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(name, value, "a JSON object")
    entry = cast(dict[str, Any], value)
    if unknown := sorted(set(entry) - set(keys)):
        _refuse(f"{name} key", unknown[0], f"one of {', '.join(keys)}")
    if missing := [key for key in keys if key not in entry and key not in may_lack]:
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
    if not value:
        _refuse("versions", value, "a mapping of at least one library name to its version")
    return _texts("versions", value)


def _texts(name: str, value: object) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        _refuse(name, value, "a mapping of names to texts")
    texts = cast(Mapping[str, str], value)
    for key, text in texts.items():
        _text(name, key)
        _text(f"{name}[{key!r}]", text)
    return MappingProxyType(dict(sorted(texts.items())))


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
