"""Imports go one way, files stay short; and every rule is shown to be able to fail on a made-up source."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.import_rules import PROJECT, import_faults, imports, init_faults, length_faults

ROOT = Path(__file__).parents[1]
FOLDERS = tuple(name for name in PROJECT if name != "app")


def project_files(root: Path) -> dict[str, str]:
    """Path from the root -> source of every Python file; a missing part of the project is an error."""
    missing = [name for name in FOLDERS if not any((root / name).glob("*.py"))]
    missing += [] if (root / "app.py").is_file() else ["app.py"]
    if missing:
        raise FileNotFoundError(f"{root}: no {', '.join(missing)}")
    paths = [root / "app.py", *(path for name in FOLDERS for path in sorted((root / name).rglob("*.py")))]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@pytest.mark.parametrize("check", [import_faults, length_faults, init_faults], ids=["imports", "lengths", "packages"])
def test_project_keeps_the_rules(check: Callable[[str, str], list[str]]) -> None:
    """No file of the project breaks a rule."""
    assert [fault for path, source in project_files(ROOT).items() for fault in check(path, source)] == []


@pytest.mark.parametrize("gone", ["app.py", "pages", "lessons", "mechanisms", "gpu_demos", "tests"])
def test_missing_part_is_an_error(tmp_path: Path, gone: str) -> None:
    """A rule about a folder that is not there must not pass."""
    for name in FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('"""Doc."""\n', encoding="utf-8")
    (tmp_path / "app.py").touch()
    assert len(project_files(tmp_path)) == len(PROJECT)
    if gone == "app.py":
        (tmp_path / gone).unlink()
    else:
        (tmp_path / gone / "__init__.py").unlink()
    with pytest.raises(FileNotFoundError, match=gone):
        project_files(tmp_path)


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        ("lessons/a.py", "import mechanisms.table", "mechanisms.table: lessons may import lessons of this project"),
        ("lessons/a.py", "from pages import _frame", "pages._frame: lessons may import"),
        ("lessons/a.py", "def f():\n    import streamlit", "a.py:2: streamlit: lessons may use markdown_it"),
        ("mechanisms/a.py", "from lessons import store", "lessons.store: mechanisms may import mechanisms"),
        ("mechanisms/a.py", "import streamlit as st", "streamlit: mechanisms may use sympy"),
        ("mechanisms/a.py", "def f():\n    import torch", "a.py:2: torch: only gpu_demos"),
        ("mechanisms/table.py", "import pandas", "pandas: mechanisms may use"),
        ("mechanisms/table.py", "def other():\n    import pandas", "pandas: mechanisms may use"),
        ("mechanisms/other.py", "def to_frame():\n    import pandas", "pandas: mechanisms may use"),
        ("pages/a.py", "from gpu_demos import decoding", "gpu_demos.decoding: pages may import"),
        ("pages/a.py", "from gpu_demos.recorder import x", "gpu_demos.recorder: pages may import"),
        ("pages/a.py", "import app", "app: pages may import"),
        ("pages/a.py", "if True:\n    import triton.language", "triton.language: only gpu_demos"),
        ("pages/deep/a.py", "from ...tests import x", "tests.x: pages may import"),
        ("app.py", "import gpu_demos.record", "gpu_demos.record: app may import"),
        ("app.py", "import torch", "torch: only gpu_demos"),
        ("gpu_demos/a.py", "from pages import x", "pages.x: gpu_demos may import"),
        ("gpu_demos/a.py", "import lessons", "lessons: gpu_demos may import"),
        ("gpu_demos/record.py", "import torch", "torch: this file keeps to the standard library"),
        ("gpu_demos/record.py", "import numpy", "numpy: this file keeps to the standard library"),
        ("pages/a.py", "from tests.browser import b", "tests.browser: pages may import"),
        (
            "mechanisms/a.py",
            "import importlib\nimportlib.import_module('pages.home')",
            "a.py:2: pages.home: mechanisms",
        ),
        ("mechanisms/a.py", "__import__('torch')", "torch: only gpu_demos"),
    ],
)
def test_wrong_import_is_reported(path: str, source: str, fault: str) -> None:
    """One fault, with its line and what is allowed."""
    found = import_faults(path, source)
    assert len(found) == 1 and fault in found[0], found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("app.py", "import streamlit\nfrom pages import _serve"),
        ("pages/a.py", "import streamlit, plotly\nfrom lessons import store\nfrom gpu_demos import record"),
        ("pages/a.py", "from gpu_demos.record import load\nfrom . import _frame\nimport mechanisms.table"),
        ("lessons/a.py", "import re\nfrom markdown_it import MarkdownIt\nfrom .model import Lesson"),
        ("mechanisms/a.py", "import numpy as np, sympy, mpmath\nfrom scipy import stats"),
        ("mechanisms/table.py", "class Table:\n    def to_frame(self):\n        import pandas as pd"),
        ("gpu_demos/a.py", "import torch\nimport triton\nfrom mechanisms import table"),
        ("tests/a.py", "import torch, pandas, app\nfrom pages import home\nfrom tests import browser"),
    ],
)
def test_right_import_passes(path: str, source: str) -> None:
    """What the layout allows is not reported."""
    assert import_faults(path, source) == []


def test_imports_are_found_wherever_they_stand() -> None:
    """Module level, conditions, nested functions and relative forms."""
    source = "import a.b\nif x:\n    from c import d\ndef f():\n    def g():\n        import e\n    from ..h import i\n"
    found = [(item.module, item.line, item.function) for item in imports("pages/deep/x.py", source)]
    assert found == [("a.b", 1, ""), ("c", 3, ""), ("e", 6, "g"), ("pages.h", 7, "f")]


def test_long_file_and_long_function_are_reported() -> None:
    """The limit itself is allowed, one line more is not."""
    assert length_faults("a.py", "x = 1\n" * 250) == []
    assert length_faults("a.py", "x = 1\n" * 251) == ["a.py: 251 lines, the limit is 250"]
    assert length_faults("a.py", "class A:\n    def f(self):\n" + "        x = 1\n" * 59) == []
    for kind in ("def", "async def"):
        source = f"class A:\n    {kind} f(self):\n" + "        x = 1\n" * 60
        assert length_faults("a.py", source) == ["a.py:2: f: 61 lines, the limit is 60"]


@pytest.mark.parametrize("source", ["", "x = 1", '"""Doc."""\nfrom a import b'], ids=["empty", "code", "re-export"])
def test_package_file_with_more_than_a_docstring_is_reported(source: str) -> None:
    """Other files may hold what they like."""
    assert init_faults("pages/__init__.py", source) == ["pages/__init__.py: must hold a docstring and nothing else"]
    assert init_faults("pages/a.py", source) == init_faults("pages/__init__.py", '"""Doc."""') == []
