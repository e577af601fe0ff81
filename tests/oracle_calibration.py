"""Slow, plain versions of the calibrated methods, written from their definitions, nothing carried over."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parent / "data" / "calibration"
Round = Callable[[np.ndarray, int], np.ndarray]  # (values of a column, its index) -> nearest grid values


def cases(name: str) -> list[dict[str, Any]]:
    """Stored results of other people's code; the file names command and versions."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))["cases"]


def constrained_gptq(w: np.ndarray, h: np.ndarray, round_column: Round, order: list[int]) -> np.ndarray:
    """Every column in order: fix it at its grid value and solve for the free columns anew.

    Given the fixed columns F with total change e_F, the free change minimises e H eᵀ: e_R H_RR = −e_F H_FR. Nothing is
    carried over from step to step but the fixed values.
    """
    fixed: list[int] = []
    result = np.array(w, dtype=float)
    for column in order:
        current = w[:, column].copy()
        if fixed:
            rest = [c for c in order if c not in fixed]
            change = result[:, fixed] - w[:, fixed]
            best = -np.linalg.solve(h[np.ix_(rest, rest)], (change @ h[np.ix_(fixed, rest)]).T).T
            current = current + best[:, rest.index(column)]
        result[:, column] = round_column(current, column)
        fixed.append(column)
    return result


def lagrange_correction(h: np.ndarray, column: int, change: float) -> np.ndarray:
    """Least eᵀ H e subject to e_column = change, from the full system of the Lagrangian."""
    n = len(h)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n], system[n, column], system[column, n] = 2 * h, 1, 1
    return np.linalg.solve(system, np.append(np.zeros(n), change))[:n]


def loop_round(w: np.ndarray, bits: int, *, symmetric: bool, group: int) -> np.ndarray:
    """Round to nearest, one weight at a time, with float64 scales rounded to float16."""
    out = np.zeros_like(w, dtype=float)
    for r in range(w.shape[0]):
        for start in range(0, w.shape[1], group):
            block = [float(v) for v in w[r, start : start + group]]
            if symmetric:
                top = 2 ** (bits - 1) - 1
                exact = max(abs(v) for v in block) / top
                low, high, zero = -top, top, 0
            else:
                least, most = min([*block, 0.0]), max([*block, 0.0])
                exact, low, high = (most - least) / (2**bits - 1), 0, 2**bits - 1
            scale = float(np.float16(exact)) if exact > 0 else 1.0
            if not symmetric:
                zero = min(max(round(-least / scale), 0), high)
            for i, v in enumerate(block):
                out[r, start + i] = (min(max(round(v / scale) + zero, low), high) - zero) * scale
    return out
