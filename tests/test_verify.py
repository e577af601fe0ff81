"""`python -m mechanisms.verify`: what it prints, when it fails, and the reference files read as numbers."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest

from mechanisms.verify import PROSE, REFERENCE, compare, main, verify
from mechanisms.verify_rejection import TABLES as REJECTION

ROOT = Path(__file__).resolve().parent.parent
LINES = (
    "spec_ledger 420 0", "spec_ledger_summary 104 0", "spec_single_trial 560 0", "spec_two_draft_walk 1280 0",
    "spec_two_draft_length 72 0", "spec_wrong_rules 1168 0", "greedy_draft_bias 96 0", "spec_rejection_cache 65 0",
)  # fmt: skip
FILES = [REFERENCE / f"{name}.csv" for name in REJECTION]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The mechanisms and their reference files in a folder of their own; returns that of the references."""
    shutil.copytree(ROOT / "mechanisms", tmp_path / "mechanisms", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REFERENCE, tmp_path / "tests" / "reference")
    for path in (tmp_path / "tests" / "reference").iterdir():
        path.chmod(0o644)
    return tmp_path / "tests" / "reference"


def run(reference: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "mechanisms.verify"]
    return subprocess.run(command, cwd=reference.parents[1], capture_output=True, text=True, check=False)


def test_all_cells_agree(capsys: pytest.CaptureFixture[str]) -> None:
    """The eight tables of the rejection chapter, 3765 cells, agree; the last line adds up all that were compared."""
    assert main() == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.split()[0] in REJECTION] == list(LINES)
    assert sum(int(line.split()[1]) for line in LINES) == 3765
    assert last == f"{len(lines)} tables, {sum(int(line.split()[1]) for line in lines)} cells, 0 mismatches"


def test_changed_cell_is_reported(copy: Path) -> None:
    """One changed cell is named with its row, column and both values, and the exit status is 1."""
    path = copy / "spec_ledger.csv"
    text = path.read_text(encoding="utf-8")
    assert text.count("0.571429,4/7") == 1
    path.write_text(text.replace("0.571429,4/7", "0.571428,4/7"), encoding="utf-8")
    done = run(copy)
    assert done.returncode == 1
    out = done.stdout.splitlines()
    assert out[-1].endswith(" cells, 1 mismatches")
    at = out.index("spec_ledger 420 1")
    assert out[at + 1].strip() == "row 4 accept: '0.571428' wanted, '0.571429' found"


def test_lost_row_is_reported(copy: Path) -> None:
    """A reference file that is one row short differs, although every row that is left agrees."""
    path = copy / "spec_two_draft_length.csv"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    result = compare("lengths", REJECTION["spec_two_draft_length"](), path)
    assert result.differences == ("rows: 7 wanted, 8 found",)


def test_missing_file_is_an_error(copy: Path) -> None:
    """A table without its reference file does not pass."""
    (copy / "spec_rejection_cache.csv").unlink()
    with pytest.raises(FileNotFoundError, match="spec_rejection_cache"):
        list(verify(copy))


def test_unknown_file_is_an_error(copy: Path) -> None:
    """A reference file that no table covers does not pass unseen."""
    (copy / "other.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="other"):
        list(verify(copy))


def test_unknown_column_differs(tmp_path: Path) -> None:
    """A column that our table lacks is a difference, and a sentence is not compared."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,lesson\n1,2,words\n", encoding="utf-8")
    result = compare("t", iter([{"a": "1"}]), path)
    assert (result.cells, result.differences) == (2, ("row 1 b: '2' wanted, None found",))


@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_reference_decimals_are_their_rationals(path: Path) -> None:
    """Every `x_exact` is a reduced fraction, and `x` beside it is its decimal, rounded half to even."""
    for row in read(path):
        for column, text in row.items():
            if not column.endswith("_exact") or not text:
                continue
            value = Fraction(text)
            assert str(value) == text
            if decimal := row.get(column.removesuffix("_exact")):
                with localcontext() as context:
                    context.prec = 60
                    exact = Decimal(value.numerator) / value.denominator
                    places = Decimal(1).scaleb(-len(decimal.partition(".")[2]))
                    assert exact.quantize(places, ROUND_HALF_EVEN) == Decimal(decimal)


@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_computed_rationals_equal_the_reference(path: Path) -> None:
    """Read back with Fraction, the exact columns of our rows are those of the file."""
    for want, have in zip(read(path), REJECTION[path.stem](), strict=True):
        for column in want:
            if column.endswith("_exact"):
                assert [Fraction(x) for x in have[column].split()] == [Fraction(x) for x in want[column].split()]


def test_readme_counts_rows_and_cells() -> None:
    """The note beside the reference files lists each table of this chapter with its rows and cells."""
    text = (REFERENCE / "README.md").read_text(encoding="utf-8")
    for path in FILES:
        rows = read(path)
        cells = sum(len(row.keys() - PROSE) for row in rows)
        assert f"| `{path.name}` | {len(rows)} | {cells} |" in text
