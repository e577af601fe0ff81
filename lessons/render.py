"""Lesson Markdown to HTML, with formulas as native MathML that needs no script and no font from elsewhere.

Raw HTML is escaped. What a role shows is the page's business: `roles` maps a role's name to target -> HTML.
"""

import html
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from lessons.syntax import dialect, tidy

Roles = Mapping[str, Callable[[str], str]]
# MathML gives these elements a fixed number of children; a browser shows an error or nothing otherwise.
_CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2, "msubsup": 3, "munderover": 3}


def render(markdown: str, roles: Roles) -> str:
    """HTML of a text of any length."""
    return str(_MARKDOWN.render(tidy(markdown), {"roles": roles}))


def render_inline(markdown: str, roles: Roles) -> str:
    """HTML of one line without a paragraph around it, for captions and labels."""
    return str(_MARKDOWN.renderInline(markdown.strip(), {"roles": roles}))


@lru_cache(maxsize=2048)
def mathml(tex: str, *, display: bool = False) -> str:
    """A `<math>` element whose alttext is the TeX.

    TeX that the converter does not know or would turn into broken MathML raises ValueError.
    """
    source = " ".join(tex.split())
    _refuse_unbalanced(source)
    try:
        element = convert_to_element(source, display="block" if display else "inline")
    except Exception as error:  # the converter's errors have no base class of their own
        raise ValueError(f"tex={source!r} cannot be converted: {type(error).__name__}") from error
    element.set("alttext", source)
    for node in element.iter():
        # The converter leaves character references in text, and its own way out would let a < through unescaped.
        node.text = html.unescape(node.text) if node.text else node.text
        _refuse_broken(node, source)
        if node.tag == "mo" and node.text and node.text.isalpha():
            node.tag = "mi"  # min, max, Pr: an operator would get wide gaps on both sides
    return tostring(element, encoding="unicode")


def _refuse_unbalanced(tex: str) -> None:
    depth, escaped = 0, False
    for sign in tex:
        depth += 0 if escaped else {"{": 1, "}": -1}.get(sign, 0)
        escaped = sign == "\\" and not escaped
        if depth < 0:
            break
    if depth:
        raise ValueError(f"tex={tex!r} has unbalanced braces")


def _refuse_broken(node: Element, tex: str) -> None:
    if node.tag in ("mi", "mo") and node.text and len(node.text) > 1 and node.text.startswith("\\"):
        raise ValueError(f"tex={tex!r} uses {node.text}, which the converter does not know")
    if node.tag == "mi" and node.text == "&":
        raise ValueError(
            f"tex={tex!r} has & outside an environment that the converter lays out, such as cases or array"
        )
    wanted = _CHILDREN.get(node.tag)
    if wanted is not None and len(node) != wanted:
        raise ValueError(f"tex={tex!r} leaves <{node.tag}> with {len(node)} of {wanted} parts; check the braces")


def _inline_math(self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
    return mathml(tokens[idx].content)


def _display_math(self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
    return mathml(tokens[idx].content, display=True) + ("\n" if tokens[idx].block else "")


def _role(self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
    name = str(tokens[idx].meta["name"])
    roles: Roles = env["roles"]
    if name not in roles:
        raise ValueError(f"role={name!r} has no renderer; given: {', '.join(sorted(roles)) or 'none'}")
    return roles[name](tokens[idx].content)


def _column_head(self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
    tokens[idx].attrSet("scope", "col")
    return self.renderToken(tokens, idx, options, env)


def _renderer() -> MarkdownIt:
    md = dialect(html=False)
    md.add_render_rule("math_inline", _inline_math)
    md.add_render_rule("math_inline_double", _display_math)
    md.add_render_rule("math_block", _display_math)
    md.add_render_rule("myst_role", _role)
    md.add_render_rule("th_open", _column_head)
    return md


_MARKDOWN = _renderer()
