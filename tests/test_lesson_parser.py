"""The lesson grammar: what it reads, and which mistakes it refuses with file, line and a message."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.model import Lesson, LessonError, Prose, Slot, split_cite
from lessons.parse import DIRECTIVES, parse

HEAD = "(start)=\n# Title\n\n"
LESSON = """(start)=
# Which token stays

Read {term}`token`, {term}`token` and {cite}`chen2023 §2` with $a+b$.

:::{plot} demo.curve
The dot is {value}`demo.alpha`, the line $\\min(1, p/q)$.
:::

After the plot.

(second-part)=
## Again

:::{aside} demo.why
:::
"""


def read(text: str, language: str = "en") -> Lesson:
    """Parse under a fixed name."""
    return parse(text, path=Path("x.md"), topic="demo", language=language)


def test_parse_gives_title_blocks_parts_and_lines() -> None:
    """Structure and positions are those of the file."""
    lesson = read(LESSON)
    assert (lesson.topic, lesson.language, lesson.title) == ("demo", "en", "Which token stays")
    first, second = lesson.blocks
    assert (first.label, first.line, first.stamp, first.heading) == ("start", 1, None, "Which token stays")
    assert [(type(part), part.line) for part in first.parts] == [(Prose, 2), (Slot, 6), (Prose, 10)]
    assert first.slots[0].body == "The dot is {value}`demo.alpha`, the line $\\min(1, p/q)$."
    assert (second.label, second.line, second.heading) == ("second-part", 12, "Again")
    assert second.slots == (Slot("aside", "demo.why", "", 15),)
    assert [slot.id for slot in lesson.slots] == ["demo.curve", "demo.why"]


def test_block_counts_roles_and_formulas_of_prose_and_slots() -> None:
    """Both are sorted multisets, so that word order is free."""
    block = read(LESSON).blocks[0]
    assert block.roles == (
        ("cite", "chen2023 §2"),
        ("term", "token"),
        ("term", "token"),
        ("value", "demo.alpha"),
    )
    assert block.formulas == ("\\min(1, p/q)", "a+b")
    assert split_cite("chen2023 §2, Theorem 1") == ("chen2023", "§2, Theorem 1")


def test_formulas_and_digest_do_not_depend_on_how_they_are_typed() -> None:
    """Blanks inside a formula and the two ways to write an accent are no difference."""
    spread, close = (read(HEAD + f"$${tex}$$").blocks[0] for tex in ("\na +\n  b\n", "a + b"))
    assert spread.formulas == close.formulas == ("a + b",)
    assert read(HEAD + "e\u0301").blocks[0].digest == read(HEAD + "\u00e9").blocks[0].digest


def test_stamp_below_a_gap_is_refused() -> None:
    """A stamp that is not on the line under its label would be shown to readers."""
    with pytest.raises(LessonError, match=r"^x\.md:3: raw HTML"):
        read("(start)=\n\n<!-- en 1a2b3c4d -->\n# Title\n")


def test_stamp_is_read_and_kept_out_of_the_text() -> None:
    """The comment under a translated label is the stamp; what follows it keeps its line."""
    block = read("(start)=\n<!-- en 1a2b3c4d -->\n# 标题\n\n正文。\n", "zh").blocks[0]
    assert (block.stamp, block.source) == ("1a2b3c4d", "# 标题\n\n正文。")
    assert block.parts == (Prose("# 标题\n\n正文。", 3),)


def test_digest_is_that_of_sha256() -> None:
    """`printf '# T' | sha256sum` starts with these digits."""
    assert read("(start)=\n# T\n").blocks[0].digest == "4321893d"


@pytest.mark.parametrize(
    ("text", "same"),
    [("# T\r\n\r\ntext\r\n", True), ("\n# T  \n\n\n\ntext", True), ("# T\n\ntexts\n", False), ("# T\n\nTEXT\n", False)],
    ids=["windows-lines", "blanks", "a-letter", "case"],
)
def test_digest_ignores_blanks_only(text: str, same: bool) -> None:
    """Invisible changes keep a translation fresh, visible ones do not."""
    plain = read("(start)=\n# T\n\ntext\n").blocks[0].digest
    assert (read("(start)=\n" + text).blocks[0].digest == plain) is same


MISTAKES = {
    "text-before-label": ("hello\n\n" + HEAD, 1, "text before the first label"),
    "definition-before-label": ("\n[a]: /b\n\n" + HEAD, 2, "text before the first label"),
    "no-label": ("", 1, "no block"),
    "label-shape": ("(Start)=\n# T\n", 1, "label (Start)= must be lower case"),
    "label-twice": (HEAD + "text\n\n(start)=\ntext\n", 6, "label (start)= is already used on line 1"),
    "label-in-list": (HEAD + "- a\n\n  (b)=\n", 6, "label (b)= inside a directive, list or quote"),
    "empty-block": ("(start)=\n\n(b)=\ntext\n", 1, "block (start)= is empty"),
    "no-title": ("(start)=\ntext\n", 1, "needs a title"),
    "title-too-small": ("(start)=\n## T\n", 1, "needs a title"),
    "title-not-plain": ("(start)=\n# T $x$\n", 2, "must be plain words"),
    "second-title": (HEAD + "text\n\n# Again\n", 6, "second title"),
    "title-in-second-block": (HEAD + "(b)=\n# Again\n", 5, "second title"),
    "title-after-heading": ("(start)=\n## T\n\n# U\n", 4, "second title"),
    "underlined-title": (HEAD + "Again\n=====\n", 4, "second title"),
    "title-in-slot": (HEAD + ":::{aside} a.b\n# T\n:::\n", 5, "second title"),
    "stamp-shape": ("(start)=\n<!-- en 1a2b -->\n# T\n", 2, "only a stamp like"),
    "stamp-in-english": ("(start)=\n<!-- en 1a2b3c4d -->\n# T\n", 2, "carries no stamp"),
    "comment-elsewhere": (HEAD + "<!-- en 1a2b3c4d -->\n", 4, "raw HTML"),
    "unknown-directive": (HEAD + ":::{figure} a.b\n:::\n", 4, "unknown directive 'figure'"),
    "directive-without-braces": (HEAD + ":::plot a.b\n:::\n", 4, "unknown directive 'plot a.b'"),
    "directive-without-id": (HEAD + ":::{plot}\n:::\n", 4, "directive {plot}: no id"),
    "id-without-dot": (HEAD + ":::{plot} curve\n:::\n", 4, "id 'curve' is not topic.name"),
    "id-in-capitals": (HEAD + ":::{plot} a.Curve\n:::\n", 4, "id 'a.Curve' is not topic.name"),
    "id-twice": (HEAD + ":::{plot} a.b\n:::\n:::{plot} a.b\n:::\n", 6, "id a.b is already used on line 4"),
    "directive-without-end": (HEAD + ":::{plot} a.b\ntext\n", 4, "{plot} a.b has no end"),
    "directive-alone-without-end": (HEAD + ":::{plot} a.b", 4, "{plot} a.b has no end"),
    "end-too-short": (HEAD + "::::{plot} a.b\ntext\n:::\n", 4, "close it with ::::"),
    "end-only": (HEAD + "text\n\n:::\n", 6, "::: closes nothing"),
    "nested": (HEAD + ":::{plot} a.b\n:::{aside} a.c\n:::\n", 5, "directive :::{aside} a.c inside a directive"),
    "nested-longer": (HEAD + "::::{plot} a.b\ntext\n:::{aside} a.c\n:::\n::::\n", 6, "inside a directive"),
    "label-before-end": (HEAD + ":::{plot} a.b\ntext\n\n(b)=\n:::\n", 7, "missing :::"),
    "directive-in-list": (HEAD + "- x\n\n  :::{plot} a.b\n  :::\n", 6, "inside a directive, list or quote"),
    "directive-in-backticks": (HEAD + "```{plot} a.b\n```\n", 4, "directives use :::"),
    "unknown-role": (HEAD + "one\ntwo {num}`a.b`\n", 5, "unknown role {num}"),
    "role-with-space": (HEAD + "see {term} `token`\n", 4, "role {term} without a target"),
    "value-without-topic": (HEAD + "{value}`alpha`\n", 4, "has target 'alpha'; expected topic.name"),
    "term-shape": (HEAD + "{term}`Two words`\n", 4, "expected id"),
    "cite-shape": (HEAD + "{cite}`§2 chen`\n", 4, "expected key"),
    "lone-dollar": (HEAD + "costs $5\n", 4, "a $ that belongs to no formula"),
    "two-prices": (HEAD + "a $5 and $6 b\n", 4, "a $ that belongs to no formula"),
    "price-then-dollar": (HEAD + "a $5 and $ b\n", 4, "a $ that belongs to no formula"),
    "blank-after-dollar": (HEAD + "the $ x$ is\n", 4, "a $ that belongs to no formula"),
    "digit-after-dollar": (HEAD + "the $x$2 is\n", 4, "a $ that belongs to no formula"),
    "open-display": (HEAD + "$$\nx\n", 4, "a $ that belongs to no formula"),
    "dollar-in-heading": (HEAD + "## A $ sign\n", 4, "a $ that belongs to no formula"),
    "dollar-in-cell": (HEAD + "| a |\n|---|\n| $x |\n", 6, "a $ that belongs to no formula"),
    "dollar-in-slot": (HEAD + ":::{plot} a.b\none\ntwo $\n:::\n", 6, "a $ that belongs to no formula"),
    "html-block": (HEAD + "<div>\nx\n</div>\n", 4, "raw HTML '<div>"),
    "html-inline": (HEAD + "one <b>two</b>\n", 4, "raw HTML '<b>'"),
    "image": (HEAD + "![a](b.png)\n", 4, "images are not part"),
    "literal-stars": (HEAD + "这是**“词元”**的意思。\n", 4, "these ** stayed literal"),
    "open-stars": (HEAD + "one **two\n", 4, "these ** stayed literal"),
    "literal-star": (HEAD + "two * three\n", 4, "this * stayed literal"),
}


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistake_is_refused_with_file_line_and_message(text: str, line: int, message: str) -> None:
    """An author sees where the mistake is and what to do."""
    with pytest.raises(LessonError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x.md:{line}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["**“词元”** 是单位。", "看 **（注）** 这里。", "*，*", "**词元。** 好"],
    ids=["start-of-line", "between-blanks", "emphasis", "closing-only"],
)
def test_chinese_punctuation_inside_stars_is_refused_even_where_it_works(text: str) -> None:
    """It would turn literal as soon as a word moves in front of it."""
    with pytest.raises(LessonError, match="put the punctuation outside"):
        read("(start)=\n# 标题\n\n" + text, "zh")


def test_line_is_right_behind_a_formula_of_several_lines() -> None:
    """Formulas that span lines do not shift later positions."""
    with pytest.raises(LessonError, match=r"^x\.md:8: "):
        read(HEAD + "one\n$$\na +\nb $$\nthen $ here\n")


ALLOWED = {
    "escaped-dollar": "it costs \\$5 and \\$6",
    "dollar-in-code": "`$HOME` and `a * b`",
    "chinese-around-formula": "共$n$个，即$n+1$。",
    "punctuation-outside": "这是“**词元**”，**草稿**。",
    "display-in-paragraph": "so\n$$x = 1$$\nholds",
    "display-on-its-own": "$$\n\\frac{1}{2}\n$$",
    "percent-and-plus": "% of all\n\n+++ more",
    "escaped-star": "a \\* b",
    "fenced-code": "```python\nx = 'a $ ** b'  # {term}\n```",
    "braces": "a {b c} and {} d",
    "english-quotes-in-stars": "the **“token”** is",
    "link-and-list": "- [a](https://b.c)\n- <https://d.e>",
}


@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED.keys())
def test_sound_text_is_read(text: str) -> None:
    """What looks like a mistake but is none passes."""
    assert read(HEAD + text).blocks[0].parts[0].line == 2


words = st.text("abcdefgh词元，。 \n", min_size=1).filter(str.strip)
names = st.from_regex(r"[a-z][a-z0-9]{0,5}(_[a-z0-9]{1,3})?", fullmatch=True)


@given(st.lists(st.tuples(names, st.sampled_from(DIRECTIVES), words), min_size=1, max_size=5, unique_by=lambda b: b[0]))
def test_written_blocks_come_back(blocks: list[tuple[str, str, str]]) -> None:
    """Labels, slots and bodies survive writing and reading."""
    parts = [f"({name})=\n{{head}}:::{{{kind}}} t.{name}\n{body}\n:::\n" for name, kind, body in blocks]
    text = "\n".join(part.replace("{head}", "" if index else "# T\n\n", 1) for index, part in enumerate(parts))
    lesson = read(text)
    assert [block.label for block in lesson.blocks] == [name for name, _, _ in blocks]
    assert [(slot.id, slot.name, slot.body) for slot in lesson.slots] == [
        (f"t.{name}", kind, body.rstrip()) for name, kind, body in blocks
    ]


@given(
    st.lists(st.sampled_from([*"\n\n\n #$*`|-:(){}=<>!\\a元。", ":::", "(a)=", "{plot} a.b", "$x$", "| a |\n|---|\n"]))
)
def test_any_text_is_read_or_refused(fragments: list[str]) -> None:
    """No input, however broken, raises anything but the author's error, and its line is in the file."""
    text = HEAD + "".join(fragments)
    try:
        line = len(read(text).blocks)
    except LessonError as error:
        line = error.line
    assert 1 <= line <= text.count("\n") + 1
