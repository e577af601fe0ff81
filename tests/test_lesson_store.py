"""Lessons, interface words, glossary and sources as pages ask for them, and the faults in them that are refused."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lessons import store
from lessons.entries import placeholders, read_glossary, read_sources, read_ui
from lessons.model import LessonError
from lessons.render import render


def test_store_reads_lesson_and_refuses_other_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Topics are the folders with lessons; nothing falls back to English."""
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/en.md").write_text("(start)=\n# Title\n", encoding="utf-8")
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    store.load.cache_clear()
    assert store.topics() == ("demo",)
    assert store.load("demo", "en").title == "Title"
    assert store.load("demo", "en") is store.load("demo", "en")
    with pytest.raises(FileNotFoundError):
        store.load("demo", "zh")
    with pytest.raises(ValueError, match="language='fr' must be one of en, zh"):
        store.load("demo", "fr")
    (tmp_path / "demo/zh.md").write_text("(start)=\ntext", encoding="utf-8")
    with pytest.raises(LessonError, match=r"zh\.md:1: "):
        store.load("demo", "zh")
    store.load.cache_clear()


def test_ui_fills_placeholders_and_names_missing_key() -> None:
    """Both languages answer to the same key."""
    assert store.ui("kinds.measured", "zh") == "实测"
    assert store.ui("home.verify_done", "zh", tables=2, cells=3, mismatches=0) == "2 张表，3 格，0 处不符。"
    assert placeholders("{a} of {b:.2f} {{c}}") == {"a", "b"}
    with pytest.raises(KeyError, match=r"nosuch\.key"):
        store.ui("nosuch.key", "en")


def test_glossary_and_sources_are_readable_text() -> None:
    """Definitions and notes render without roles, and keep to their own forbidden words."""
    for entry in store.glossary().values():
        for language in store.LANGUAGES:
            assert render(entry.definition[language], {})
            text = entry.name[language] + entry.definition[language]
            forbidden = [word for term in store.glossary().values() for word in term.forbidden[language]]
            assert [word for word in forbidden if word in text] == [], entry.id
    assert all(source.url.startswith("https://") for source in store.sources().values())
    assert set(store.HTML_TAGS) == set(store.LANGUAGES)


def test_every_kind_has_a_word_and_a_definition() -> None:
    """The badge of a number says the same as the glossary knows."""
    for kind in ("exact", "float", "simulated", "measured", "quoted", "contradicted"):
        assert kind in store.glossary()
        assert all(store.ui(f"kinds.{kind}", language) for language in store.LANGUAGES)


SOURCE = 'authors="A"\nyear=2022\ntitle="T"\nvenue="V"\nurl="U"\nstatus="quoted"\nnote={en="e", zh="z"}\n'


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (read_ui, '[a]\nb = { en = "x" }', "a.b.zh=None must be a non-empty str"),
        (read_ui, '[a]\nb = { en = "x", zh = "" }', "a.b.zh='' must be a non-empty str"),
        (read_ui, '[a]\nb = { en = "x", zh = "y", fr = "z" }', "a.b.fr is unknown"),
        (read_ui, '[a]\nb = "x"', "a.b.en=None"),
        (read_ui, '[a]\nb = { en = "{n}", zh = "{m}" }', "a.b: placeholders differ"),
        (read_ui, "a = 1", "a=1 must be a table"),
        (read_ui, "[a", "Expected ']'"),
        (read_glossary, '[t]\nen = "x"\nzh = "y"', "t.definition.en=None"),
        (read_glossary, '[t]\nen = "x"\ndefinition = { en = "a", zh = "b" }', "t.zh=None"),
        (read_glossary, '[t]\nen = "x"\nzh = "y"\nwords = 1', "t.words is unknown"),
        (
            read_glossary,
            '[t]\nen = "x"\nzh = "y"\ndefinition = { en = "a", zh = "b" }\nforbidden = { zh = "c" }',
            "t.forbidden.zh='c' must be a list of words",
        ),
        (read_sources, "[s]\n" + SOURCE.replace('"quoted"', '"rumour"'), "s.status='rumour' must be one of"),
        (read_sources, "[s]\n" + SOURCE.replace("2022", '"2022"'), "s.year='2022' must be a non-empty int"),
        (read_sources, "[s]\n" + SOURCE.replace("2022", "true"), "s.year=True must be"),
        (read_sources, "[s]\n" + SOURCE.replace(', zh="z"', ""), "s.note.zh=None"),
        (read_sources, "[s]\nchecked='today'\n" + SOURCE, "s.checked='today' must be a non-empty date"),
        (read_sources, "[s]\nday=1\n" + SOURCE, "s.day is unknown"),
    ],
)
def test_faulty_table_is_refused_with_file_and_key(
    reader: Callable[[Path], Mapping[str, Any]], text: str, message: str, tmp_path: Path
) -> None:
    """The author of a TOML file learns which entry to mend."""
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        reader(path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)


def test_sound_source_is_read(tmp_path: Path) -> None:
    """Dates that are not known are None."""
    path = tmp_path / "x.toml"
    path.write_text("[s]\n" + SOURCE + "checked = 2026-01-31\n", encoding="utf-8")
    source = read_sources(path)["s"]
    assert (source.key, source.year, source.version, str(source.checked)) == ("s", 2022, None, "2026-01-31")
