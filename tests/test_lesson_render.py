"""Lesson Markdown as HTML: roles, escaping, tables, and formulas as MathML."""

from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from lessons.render import mathml, render, render_inline

ROLES: dict[str, Callable[[str], str]] = {"term": lambda target: f"<dfn>{target}</dfn>"}


def test_render_resolves_roles_and_escapes_html() -> None:
    """A role's HTML comes from its function, HTML typed in a lesson is shown as text."""
    assert render("a {term}`token` <b>\n", ROLES) == "<p>a <dfn>token</dfn> &lt;b&gt;</p>\n"
    assert render_inline("**a** \\$5 {term}`x`\n", ROLES) == "<strong>a</strong> $5 <dfn>x</dfn>"
    assert render("% of\n\n+++ more\n", ROLES) == "<p>% of</p>\n<p>+++ more</p>\n"
    with pytest.raises(ValueError, match="role='cite' has no renderer; given: term"):
        render("{cite}`a`", ROLES)


def test_render_table_has_column_heads_and_formulas_with_bars() -> None:
    """A | inside a formula does not split its cell, outside it does."""
    table = ElementTree.fromstring(render("| A | B |\n|---|---|\n| $|x|$ | $\\|y\\| < 1$ |\n| `c \\| d` | e |\n", {}))
    assert [head.get("scope") for head in table.iter("th")] == ["col", "col"]
    cells = ["".join(cell.itertext()) for cell in table.iter("td")]
    assert cells == ["|x|", "‖y‖<1", "c | d", "e"]
    assert [node.get("alttext") for node in table.iter() if node.get("alttext")] == ["|x|", "\\|y\\| < 1"]


def test_render_display_formula() -> None:
    """Two dollars give display maths, alone or within a paragraph."""
    assert render("$$\nx\n$$", {}).count('display="block"') == 1
    assert render("so\n$$x$$\nis", {}).count('display="block"') == 1
    assert render("so $x$ is", {}).count('display="inline"') == 1


@pytest.mark.parametrize(
    "tex", ["\\min(1, p/q)", "a < b", '\\text{<b>&"}', "\\sum_v [p_v - q_v]_+", "\\tfrac12", "\\{ a", "x \\\\ {y}"]
)
def test_mathml_is_well_formed_and_keeps_its_tex(tex: str) -> None:
    """The element parses as XML and its alttext is the formula."""
    element = ElementTree.fromstring(mathml(tex, display=True))
    assert element.tag == "{http://www.w3.org/1998/Math/MathML}math"
    assert (element.get("alttext"), element.get("display")) == (tex, "block")
    assert mathml(tex, display=True) is mathml(tex, display=True)


@pytest.mark.parametrize(
    ("tex", "message"),
    [
        ("\\nosuch", "does not know"),
        ("\\frac a", "parts"),
        ("{a", "unbalanced"),
        ("a}{", "unbalanced"),
        ("x_", "cannot be converted"),
        ("", "cannot be converted"),
        ("\\begin{aligned}a&=b\\end{aligned}", "outside an environment"),
    ],
    ids=["command", "fraction", "open", "closed-first", "subscript", "empty", "aligned"],
)
def test_mathml_refuses_what_a_browser_would_show_broken(tex: str, message: str) -> None:
    """The converter lets these through or fails without saying where."""
    with pytest.raises(ValueError, match=message):
        mathml(tex)
