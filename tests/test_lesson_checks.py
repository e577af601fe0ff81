"""Every drift check proved able to fail, on small lessons; and the command that stamps translations."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lessons.entries import Term
from lessons.model import Lesson
from lessons.parse import parse
from lessons.stamp import main as stamp
from tests import lesson_checks as checks

PAIRS = {
    "labels": checks.labels_differ,
    "contents": checks.contents_differ,
    "stamps": checks.stamps_stale,
}

ENGLISH = """(start)=
# Title

Read {term}`token` in {cite}`chen2023 §2`, see {value}`demo.alpha` and $a+b$. INT4 came in 2022.

:::{plot} demo.curve
Curve.
:::

(next)=
## More

:::{aside} demo.why
Folded.
:::
"""
CHINESE = """(start)=
<!-- en {start} -->
# 标题

$a+b$与{value}`demo.alpha`，见{cite}`chen2023 §2`里的{term}`token`，`4`位出现在2022年。

:::{plot} demo.curve
曲线。
:::

(next)=
<!-- en {next} -->
## 更多

:::{aside} demo.why
折叠。
:::
"""


def read(text: str, language: str) -> Lesson:
    """Parse a small lesson under a fixed name."""
    return parse(text, path=Path(f"{language}.md"), topic="demo", language=language)


def chinese(text: str = CHINESE) -> str:
    """The Chinese lesson with fresh stamps."""
    for block in read(ENGLISH, "en").blocks:
        text = text.replace(f"{{{block.label}}}", block.digest)
    return text


def glossary() -> dict[str, Term]:
    """One term with a word that must not stand for it in each language."""
    words = {"en": ("coin",), "zh": ("令牌",)}
    return {"token": Term("token", {"en": "token", "zh": "词元"}, {"en": "a", "zh": "b"}, words)}


@pytest.mark.parametrize("check", PAIRS.values(), ids=PAIRS.keys())
def test_pair_in_step_passes(check: Callable[[Lesson, Lesson], list[str]]) -> None:
    """Word order inside a block is free."""
    assert check(read(ENGLISH, "en"), read(chinese(), "zh")) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("labels", "(next)=", "(after)=", "labels en ['start', 'next'], zh ['start', 'after']"),
        ("contents", "{plot} demo.curve", "{table} demo.curve", "slots en [('plot', 'demo.curve')]"),
        ("contents", "demo.why", "demo.how", "(next)= line 10/11: slots"),
        ("contents", "曲线", "{term}`token`", "(start)= line 1/1: roles"),
        ("contents", "chen2023 §2", "chen2023 §3", "roles"),
        ("contents", "曲线", "$a+b$", "formulas en ('a+b',), zh ('a+b', 'a+b')"),
        ("stamps", "{next}", "00000000", "demo (next)= line 11: made from 00000000, English is "),
        ("stamps", "<!-- en {start} -->\n", "", "demo (start)= line 1: made from None, English is "),
    ],
    ids=["label", "slot-kind", "slot-id", "role", "locator", "formula-count", "stamp", "no-stamp"],
)
def test_pair_out_of_step_is_reported(name: str, old: str, new: str, message: str) -> None:
    """Each change breaks exactly the check that is for it."""
    assert old in CHINESE
    english, changed = read(ENGLISH, "en"), read(chinese(CHINESE.replace(old, new, 1)), "zh")
    found = {key: check(english, changed) for key, check in PAIRS.items()}
    assert [key for key, messages in found.items() if messages] == [name]
    assert message in found[name][0]


def test_changed_english_makes_stamp_stale_with_both_digests() -> None:
    """The message holds what the translation was made from and what the English is now."""
    before, after = read(ENGLISH, "en"), read(ENGLISH.replace("Folded", "Hidden"), "en")
    (message,) = checks.stamps_stale(after, read(chinese(), "zh"))
    assert "demo (next)=" in message and before.blocks[1].digest in message and after.blocks[1].digest in message


SINGLE: dict[str, Callable[[Lesson], list[str]]] = {
    "terms": lambda lesson: checks.terms_unknown(lesson, glossary()),
    "cites": lambda lesson: checks.cites_unknown(lesson, {"chen2023"}),
    "values": lambda lesson: checks.values_unknown(lesson, {"demo": {"demo.alpha"}}.get),
    "digits": checks.digits_typed,
    "words": lambda lesson: checks.words_forbidden(lesson, glossary()),
    "formulas": checks.formulas_broken,
    "slots": lambda lesson: checks.slots_unbound(lesson, {"demo.curve": None}),
}


@pytest.mark.parametrize("check", SINGLE.values(), ids=SINGLE.keys())
@pytest.mark.parametrize(("text", "language"), [(ENGLISH, "en"), (chinese(), "zh")], ids=["en", "zh"])
def test_sound_lesson_passes(check: Callable[[Lesson], list[str]], text: str, language: str) -> None:
    """Years, names with digits, locators and code hold digits that are allowed."""
    assert check(read(text, language)) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("terms", "{term}`token`", "{term}`tokn`", "en.md:4: term 'tokn'"),
        ("cites", "chen2023", "chen2024", "en.md:4: source 'chen2024'"),
        ("values", "demo.alpha", "demo.beta", "en.md:4: value 'demo.beta' is not in mechanisms.values.demo.VALUES"),
        ("values", "demo.alpha", "other.alpha", "there is no mechanisms.values.other"),
        ("digits", "Curve", "All 4 of them", "en.md:7: typed number '4'"),
        ("digits", "INT4", "INT 4", "typed number '4'"),
        ("digits", "2022", "0.72", "typed number '0.72'"),
        ("digits", "2022", "2026-10-29", "typed number '10'"),
        ("digits", "# More", "# More in ３ steps", "typed number '３'"),
        ("words", "Folded", "A coin", "en.md:14: 'coin' must not stand for 'token'"),
        ("formulas", "$a+b$", "$\\nosuch$", "(start)= tex="),
        ("slots", "{plot} demo.curve", "{plot} demo.other", "en.md:6: slot 'demo.other' is not in pages.demo.SLOTS"),
        ("slots", "{plot} demo.curve", "{plot} demo.other", "pages.demo.SLOTS: 'demo.curve' is nowhere in en.md"),
    ],
    ids=[
        "term", "cite", "value", "module", "digit-in-slot", "digit-alone", "decimal", "date", "full-width-digit",
        "word", "formula", "slot-unbound", "slot-unused",
    ],
)  # fmt: skip
def test_unsound_lesson_is_reported(name: str, old: str, new: str, message: str) -> None:
    """Each change breaks exactly the check that is for it."""
    assert old in ENGLISH
    lesson = read(ENGLISH.replace(old, new, 1), "en")
    found = {key: check(lesson) for key, check in SINGLE.items()}
    assert [key for key, messages in found.items() if messages] == [name]
    assert any(message in text for text in found[name]), found[name]


@pytest.mark.parametrize(("digit", "number"), [("第4位", "4"), ("共12个", "12"), ("在1850年", "1850")])
def test_number_between_chinese_characters_is_reported(digit: str, number: str) -> None:
    """Chinese characters are letters to Python, but a digit behind one is a number."""
    lesson = read(f"(start)=\n# 标题\n\n{digit}。", "zh")
    assert checks.digits_typed(lesson) == [f"zh.md:4: typed number {number!r}; use a value, a formula or a word"]
    assert checks.words_forbidden(read("(start)=\n# 令牌\n", "zh"), glossary()) != []


def test_missing_and_foreign_language_are_reported(tmp_path: Path) -> None:
    """A folder with one language, and one that the site does not speak."""
    for name in ("both/en.md", "both/zh.md", "half/en.md", "more/en.md", "more/zh.md", "more/fr.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert checks.missing_languages(tmp_path) == ["half: no zh.md", "more: fr.md is not a language of this site"]


def test_stamp_command_lists_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Listing fails while anything is stale, writing changes the stamps and nothing else."""
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/en.md").write_text(ENGLISH, encoding="utf-8")
    path = tmp_path / "demo/zh.md"
    path.write_text(CHINESE.replace("<!-- en {start} -->\n", "").replace("{next}", "00000000"), encoding="utf-8")
    assert stamp([], folder=tmp_path) == 1
    assert capsys.readouterr().out.count("demo (") == 2
    assert stamp(["--write", "demo", "next"], folder=tmp_path) == 0
    assert stamp([], folder=tmp_path) == 1
    assert "(next)=" not in capsys.readouterr().out.split("stamped")[1].split("\n", 1)[1]
    assert stamp(["--write", "demo"], folder=tmp_path) == 0
    assert stamp([], folder=tmp_path) == 0
    assert path.read_text(encoding="utf-8") == chinese()
    path.write_text(CHINESE.replace("<!-- en {start} -->\n", "").replace("{next}", "00000000"), encoding="utf-8")
    assert stamp(["--write", "demo"], folder=tmp_path) == 0
    assert path.read_text(encoding="utf-8") == chinese()
    with pytest.raises(SystemExit):
        stamp(["--write", "demo", "nosuch"], folder=tmp_path)
