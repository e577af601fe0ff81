"""Files of records: what belongs together, what is refused and how, and how one record is found."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gpu_demos.record import SHARED, Record, dump, find, load, read_all
from tests.test_record import record


def test_file_has_stable_order(tmp_path: Path) -> None:
    """Equal records give equal bytes, whatever the order of their versions and conditions; keys follow the class, what
    is shared stands first and once, and each record has a line of its own."""
    dump([record(at={"b": "2", "a": "1"}), record()], tmp_path / "a.json")
    turned = {"numpy": "2.4.6", "torch": "2.13.0"}
    dump([record(at={"a": "1", "b": "2"}, versions=turned), record(versions=turned)], tmp_path / "b.json")
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.json").read_text(encoding="utf-8")
    assert list(json.loads(text)) == [*SHARED, "records"]
    assert list(json.loads(text)["records"][0]) == [
        "id", "at", "value", "unit", "spread", "samples", "dtype", "shape", "bound",
    ]  # fmt: skip
    assert [line.count('"id"') for line in text.splitlines() if '"id"' in line] == [1, 1]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "records=[] must be at least one record"),
        ([record(), record(at={}, date="2026-02-01")], "date='2026-02-01' must be the date of the first record"),
        ([record(), record(at={}, versions={"torch": "1"})], "versions="),
        ([record(), record(value=3)], "('decoding.step', ('width', '4')) must be there once"),
    ],
    ids=["none", "date", "versions", "twice"],
)
def test_records_that_do_not_belong_together_are_not_written(
    tmp_path: Path, records: list[Record], message: str
) -> None:
    """One file is what one command measured on one machine, each number once; nothing is left behind."""
    with pytest.raises(ValueError) as caught:
        dump(records, tmp_path / "r.json")
    assert message in str(caught.value) and not list(tmp_path.iterdir())


def test_one_record_is_found_by_its_conditions() -> None:
    """Conditions may be left out as long as one record is meant."""
    records = [record(at={"width": w, "batch": b}) for w in "12" for b in "12"]
    assert find(records, "decoding.step", width="2", batch="1") is records[2]
    with pytest.raises(LookupError, match="2 records, must be one"):
        find(records, "decoding.step", width="2")
    with pytest.raises(LookupError, match="0 records, must be one"):
        find(records, "decoding.other", width="2", batch="1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"speed": 1}, "record key='speed' must be one of id, at, value"),
        ({"unit": None}, "unit=None must be a non-empty text"),
        ({"samples": ...}, "record key='samples' must be present"),
        ({"spread": {"value": 1}}, "spread key='meaning' must be present"),
        ({"spread": {"value": 1, "meaning": "iqr", "n": 3}}, "spread key='n' must be one of value, meaning"),
        ({"spread": 1}, "spread=1 must be a JSON object"),
        ({"bound": {"value": 1, "unit": "ms"}}, "bound key='what' must be present"),
        ({"value": math.nan}, "value=nan must be a finite number"),
    ],
    ids=["unknown", "null", "missing", "spread-short", "spread-long", "spread-number", "bound-short", "nan"],
)
def test_unfit_record_is_refused_with_its_file(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """`...` takes the key away."""
    path = tmp_path / "r.json"
    dump([record()], path)
    sheet = json.loads(path.read_text(encoding="utf-8"))
    sheet["records"] = [{k: v for k, v in {**sheet["records"][0], **change}.items() if v is not ...}]
    path.write_text(json.dumps(sheet), encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commit": ...}, "file key='commit' must be present"),
        ({"host": "x"}, "file key='host' must be one of device, versions"),
        ({"records": []}, "records=[] must be a list of at least one record"),
        ({"date": "today"}, "date='today' must be a day"),
    ],
    ids=["missing", "unknown", "empty", "date"],
)
def test_unfit_file_is_refused_with_its_name(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """What the records share is checked as well."""
    path = tmp_path / "r.json"
    dump([record()], path)
    sheet = {**json.loads(path.read_text(encoding="utf-8")), **change}
    path.write_text(json.dumps({k: v for k, v in sheet.items() if v is not ...}), encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{"], ids=["empty", "list", "broken"])
def test_file_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    """Broken JSON names its file too."""
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"r\.json: "):
        load(tmp_path / "r.json")


def test_bound_may_be_left_out(tmp_path: Path) -> None:
    """Null and absence mean the same."""
    dump([record(bound=None)], tmp_path / "r.json")
    sheet = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    del sheet["records"][0]["bound"]
    (tmp_path / "s.json").write_text(json.dumps(sheet), encoding="utf-8")
    assert load(tmp_path / "r.json") == load(tmp_path / "s.json") == (record(bound=None),)


def test_read_all_reads_json_files_by_name(tmp_path: Path) -> None:
    """Other files are left alone, a missing folder is an error."""
    for name in "fbdaec":
        dump([record(id=f"demo.{name}")], tmp_path / f"{name}.json")
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    assert [(name, [r.id for r in found]) for name, found in read_all(tmp_path).items()] == [
        (name, [f"demo.{name}"]) for name in "abcdef"
    ]
    with pytest.raises(ValueError, match="must be an existing folder"):
        read_all(tmp_path / "nowhere")
