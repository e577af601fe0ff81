"""Which time of a plain target pass the article's speedups imply, and which readings of its tokens one time can serve.

Teaches: that three ratios with one hidden number can be tested against each other. The article names neither the time
T of a target pass nor the price of a verification pass. Leaves out: batches, and time outside the two models.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any, Literal, get_args

import sympy as sp

from mechanisms.draft_precision import (
    CHAT,
    CODE,
    DRAFTS,
    NAMES,
    RATE_HALF,
    SPEEDUP,
    STEP,
    TABLE,
    TOKENS_HALF,
    TOKENS_PRINTED,
    WINDOW,
    K,
    derived,
    expected_tokens,
    half_sum,
    half_unit,
    id_of,
    overlap,
    printed_cells,
)
from mechanisms.expression import largest
from mechanisms.precision_window import RATE_UNIT, TOKENS_UNIT
from mechanisms.quant_nodes import is_zero
from mechanisms.quantity import Quantity, given
from mechanisms.table import Cell, Table, tabulate

_MODULE = "mechanisms.precision_latency"
Model = Literal["printed", "code", "chat", "mean", "mean_rate"]
MODELS: tuple[Model, ...] = get_args(Model)
STEP_HALF, SPEEDUP_HALF = half_unit("6.8"), half_unit("2.35")

STEP_UNIT = given(id_of("step_half"), "h_t", "chosen", unit="ms", index="")
SPEEDUP_UNIT = given(id_of("speedup_half"), "h_S", "chosen", unit="×", index="")
PRICE = given(id_of("verify_price"), "v", "chosen", unit="×", index="")
TARGET = given(id_of("target_ms"), "T", "chosen", unit="ms", index="")
_N, _S, _t, _k, _v, _T = TOKENS_PRINTED.sym, SPEEDUP.sym, STEP.sym, K.sym, PRICE.sym, TARGET.sym
_hN, _hS, _ht = TOKENS_UNIT.sym, SPEEDUP_UNIT.sym, STEP_UNIT.sym
_CODE, _CHAT = (replace(q, expression=None, kind="quoted", source=TABLE) for q in (CODE, CHAT))
_names = ("tokens", "tokens_low", "tokens_high")
_E, _low, _high = (sp.Symbol(n, nonnegative=True) for n in _names)


def _read(model: Model, shift: Any) -> Any:
    """Tokens per round under a model, its inputs moved by a shift that rounding may have hidden (0, −1 or +1 units)."""
    a, b, h = CODE.sym, CHAT.sym, shift * RATE_UNIT.sym
    if model == "printed":
        return _N + shift * _hN
    if model == "code":
        return expected_tokens(a + h, _k)
    if model == "chat":
        return expected_tokens(b + h, _k)
    if model == "mean":
        return half_sum(expected_tokens(a + h, _k), expected_tokens(b + h, _k))
    return expected_tokens(half_sum(a, b) + h, _k)


@cache
def tokens_columns(model: Model) -> tuple[Quantity, ...]:
    """The tokens of a model and both ends of what rounding allows."""
    source = "derived" if model == "printed" else "leviathan2022 Eq. 1"
    return tuple(
        derived(name, tex, _read(model, shift), unit="token", source=source)
        for name, tex, shift in zip(_names, ("E", "E^-", "E^+"), (0, -1, 1), strict=True)
    )


def _inputs(model: Model) -> tuple[Quantity, ...]:
    if model == "printed":
        return (TOKENS_PRINTED, TOKENS_UNIT)
    rates = {"code": (_CODE,), "chat": (_CHAT,)}.get(model, (_CODE, _CHAT))
    return (*rates, RATE_UNIT)


def _ms(name: str, tex: str, expression: Any, **more: Any) -> Quantity:
    return derived(name, tex, expression, unit="ms", **more)


def _solved(speedup: Any, step: Any, tokens: Any) -> Any:
    """S(Kt + vT) = E·T solved for T."""
    return speedup * _k * step / (tokens - _v * speedup)


_least, _most = _S - _hS, _S + _hS
NEEDED = _ms("implied_target", "T^*", _solved(_S, _t, _E), defined=_E - _v * _S > 0)
NEEDED_LOW = _ms("implied_low", "T^-", _solved(_least, _t - _ht, _high), defined=_high - _v * _least > 0)
NEEDED_HIGH = _ms("implied_high", "T^+", _solved(_most, _t + _ht, _low), defined=_low - _v * _most > 0)
ROUND = _ms("round_ms", "R", _k * _t + _v * _T)
OURS = derived("speedup", r"\hat S", _E * _T / ROUND.sym, unit="×")
OURS_LOW = derived("speedup_low", r"\hat S^-", _low * _T / (_k * (_t + _ht) + _v * _T), unit="×")
OURS_HIGH = derived("speedup_high", r"\hat S^+", _high * _T / (_k * (_t - _ht) + _v * _T), unit="×")
REACHED = derived("speedup_reached", "r", overlap(OURS_LOW.sym, OURS_HIGH.sym, _S, _hS), counts=True)
LEFT = derived("common_low", "T_1", largest(NEEDED_LOW.sym), unit="ms", index="")
RIGHT = derived("common_high", "T_2", 1 / largest(1 / NEEDED_HIGH.sym), unit="ms", index="")
POSSIBLE = derived("one_target_possible", "p", is_zero(sp.Max(0, LEFT.sym - RIGHT.sym)), index="", counts=True)


def _cells(model: Model, price: Fraction, more: dict[str, Fraction] | None = None) -> dict[str, tuple[Cell, ...]]:
    if model not in MODELS or price <= 0:
        raise ValueError(f"model={model!r}, price={price}: model must be one of {MODELS}, price positive")
    n, found = len(DRAFTS), printed_cells()
    rates = {CODE.name: "code_printed", CHAT.name: "chat_printed"}
    constants = {
        K.name: Fraction(WINDOW), TOKENS_UNIT.name: TOKENS_HALF, RATE_UNIT.name: RATE_HALF, STEP_UNIT.name: STEP_HALF,
        SPEEDUP_UNIT.name: SPEEDUP_HALF, PRICE.name: price, **(more or {}),
    }  # fmt: skip
    return {
        **found,
        **{name: tuple(x / 100 for x in found[source]) for name, source in rates.items()},  # type: ignore[operator]
        **{name: (value,) * n for name, value in constants.items()},
    }


def implied(model: Model, price: Fraction = Fraction(1)) -> Table:
    """The time of a plain target pass that reproduces each printed speedup, and its bounds within rounding.

    S = E·T/(Kt + vT), so T = S·K·t/(E − vS). price: of a verification pass in plain passes, v > 0. Undefined where the
    tokens do not even pay for the verification.

    >>> implied("printed").value(0, "implied_target")
    Fraction(7990, 147)

    Source: derived; the time of a round is that of leviathan2022, §3.3, with a verification price.
    """
    columns = (
        *_inputs(model), K, STEP, STEP_UNIT, SPEEDUP, SPEEDUP_UNIT, PRICE, *tokens_columns(model), NEEDED, NEEDED_LOW,
        NEEDED_HIGH,
    )  # fmt: skip
    return tabulate(id_of("implied"), columns, NAMES, _cells(model, price), function=f"{_MODULE}.implied")


def common(model: Model, price: Fraction = Fraction(1)) -> Table:
    """One row: the largest lower and the smallest upper bound over the three drafts, and 1 where they leave room.

    Undefined where one row has no bound.

    >>> [str(common(m).value(0, "one_target_possible")) for m in MODELS]
    ['0', '0', '0', '1', '1']

    Source: derived.
    """
    return tabulate(
        id_of("common"), (LEFT, RIGHT, POSSIBLE), (model,), {}, function=f"{_MODULE}.common",
        over=implied(model, price),
    )  # fmt: skip


def speedups(model: Model, target: Fraction, price: Fraction = Fraction(1)) -> Table:
    """What the speedups would be at a given time of a target pass, and which printed ones are then reached.

    R = Kt + vT, S = E·T/R; reached is 1 where ours and the printed one meet within rounding. target: T > 0, in ms.

    >>> speedups("mean", Fraction(94)).column("speedup_reached")
    (Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))

    Source: derived; the round as in leviathan2022, §3.3.
    """
    if target <= 0:
        raise ValueError(f"target={target}: must be positive")
    columns = (
        *_inputs(model), K, STEP, STEP_UNIT, SPEEDUP, SPEEDUP_UNIT, PRICE, TARGET, *tokens_columns(model), ROUND, OURS,
        OURS_LOW, OURS_HIGH, REACHED,
    )  # fmt: skip
    cells = _cells(model, price, {TARGET.name: target})
    return tabulate(id_of("speedups"), columns, NAMES, cells, function=f"{_MODULE}.speedups")
