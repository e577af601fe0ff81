"""Losses on one draft position written a second time with torch in double precision; gradients by autograd.

Nothing here imports `mechanisms`. The reader of LaTeX lines turns them into mpmath and knows no quantity either.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import torch
from hypothesis import settings
from hypothesis import strategies as st

from tests.oracle_quant_tex import numbered, unfolded
from tests.oracle_rejection import shares

SEEDED = settings(max_examples=40, derandomize=True, database=None)
Tensor = torch.Tensor
LOGITS = st.integers(-80, 80).map(lambda n: Fraction(n, 10))


@st.composite
def cases(draw: st.DrawFn, most: int = 8) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """A teacher, zeros allowed, and logits over two to eight tokens."""
    n = draw(st.integers(2, most))
    weights = draw(st.lists(st.integers(0, 40), min_size=n, max_size=n).filter(any))
    return tuple(shares(weights)), tuple(draw(st.lists(LOGITS, min_size=n, max_size=n)))


def kl(p: Tensor, z: Tensor) -> Tensor:
    return torch.nn.functional.kl_div(torch.log_softmax(z, -1), p, reduction="sum")


def alpha(p: Tensor, z: Tensor) -> Tensor:
    return torch.minimum(p, torch.softmax(z, -1)).sum()


def tv(p: Tensor, z: Tensor) -> Tensor:
    return (p - torch.softmax(z, -1)).abs().sum() / 2


def nla(p: Tensor, z: Tensor) -> Tensor:
    return -torch.log(alpha(p, z))


def hybrid(p: Tensor, z: Tensor, decay: float = 3.0) -> Tensor:
    weight = torch.exp(-decay * alpha(p, z)).detach()  # no gradient flows through the weight
    return weight * kl(p, z) + (1 - weight) * tv(p, z)


def soft_kl(p: Tensor, z: Tensor, temperature: float) -> Tensor:
    teacher = torch.softmax(torch.log(p) / temperature, -1)
    return temperature**2 * kl(teacher, z / temperature)


def autograd(
    loss: Callable[..., Tensor], p: Sequence[Fraction], z: Sequence[Fraction], *more: float
) -> tuple[float, list[float]]:
    """Value and gradient in the logits."""
    target = torch.tensor([float(x) for x in p], dtype=torch.float64)
    logits = torch.tensor([float(x) for x in z], dtype=torch.float64, requires_grad=True)
    value = loss(target, logits, *more)
    value.backward()
    assert logits.grad is not None
    return value.item(), logits.grad.tolist()


_WORDS = (
    (r"\operatorname{sgn}", "mp.sign"), (r"\ln", "mp.log"), (r"\min", "min"), (r"\left|", "abs("), (r"\right|", ")"),
    (r"\left(", "("), (r"\right)", ")"), (r"\cdot", "*"), (r"\,", ""), (r"\;", ""), (r"\infty", "mp.inf"),
)  # fmt: skip


def _python(text: str) -> str:
    text = unfolded(text, _WORDS, root="mp.sqrt", exponential="mp.exp")
    return numbered(re.sub(r"(?<=[\d)])\s*(?=mp\.)", "*", text), "mp.mpf")


def denoted(line: str) -> Any:
    """What stands right of the first ` = `, evaluated in fifty digits; 0 · ln(0/q) counts as 0."""
    text = line.split(" = ", 1)[1]
    text = re.sub(r"(?<![\d.}])0\\,\\ln\\frac\{0\}\{[^{}]*(\{[^{}]*\}[^{}]*)*\}", "0", text)
    with mpmath.workdps(50):
        return eval(_python(text), {"mp": mpmath.mp, "min": min, "abs": abs})


def compositions(total: int, parts: int) -> int:
    """How many lists of `parts` positive whole numbers have this sum."""
    return math.comb(total - 1, parts - 1)
