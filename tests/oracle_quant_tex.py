"""The number that a substituted line of this chapter denotes: LaTeX turned into Python on rationals and evaluated."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

_WORDS = (
    (r"\left\lfloor", "floor("), (r"\right\rfloor", ")"), (r"\left|", "abs("), (r"\right|", ")"),
    (r"\left[", "int("), (r"\right]", ")"), (r"\left(", "("), (r"\right)", ")"), (r"\cdot", "*"), (r",\;", ","),
    (r"\operatorname{clip}", "clip"), (r"\operatorname{round}", "round"), (r"\operatorname{sgn}", "sgn"),
    (r"\max", "max"), (r"\min", "min"), (" = 0", "==0"),
)  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MARK = re.compile(r"\\(frac|sqrt)\s*|e\^|\^")


def group(text: str, start: int) -> int:
    """Place after the brace that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if not depth:
            return i + 1
    raise ValueError(f"open brace in {text!r}")


def unfolded(text: str, words: Iterable[tuple[str, str]], *, root: str, exponential: str = "") -> str:
    """Fractions, roots and powers from the innermost outwards, then words and bare braces."""
    while found := list(_MARK.finditer(text)):
        at = found[-1]  # the last one holds no other
        end = group(text, at.end())
        inside = text[at.end() + 1 : end - 1]
        if at[0] == "e^":
            text = f"{text[: at.start()]}{exponential}({inside}){text[end:]}"
        elif at[0] == "^":
            text = f"{text[: at.start()]}**({inside}){text[end:]}"
        elif at[1] == "sqrt":
            text = f"{text[: at.start()]}{root}({inside}){text[end:]}"
        else:
            last = group(text, end)
            text = f"{text[: at.start()]}(({inside})/({text[end + 1 : last - 1]})){text[last:]}"
    for word, code in words:
        text = text.replace(word, code)
    return text.replace("{", "(").replace("}", ")").strip()


def numbered(text: str, kind: str) -> str:
    """Every number as a value of this kind."""
    return _NUMBER.sub(lambda m: f"{kind}('{m[0]}')", text)


def python(text: str) -> str:
    return numbered(re.sub(r"\)\s+(?=[a-z(])", ")*", unfolded(text, _WORDS, root="root")), "Fraction")


def value(text: str) -> Any:
    """Right side of `symbol = expression`, evaluated."""
    scope: dict[str, Any] = {
        "Fraction": Fraction, "floor": math.floor, "root": math.sqrt,
        "clip": lambda x, low, high: min(max(x, low), high), "sgn": lambda x: (x > 0) - (x < 0),
    }  # fmt: skip
    return eval(python(text.split(" = ", 1)[1]), scope)
