"""Keys and values with fewer bits, and a cache that forgets: two caches that a target can use in place of its own.

Rounding happens in blocks of positions: what is new stays exact until its block is full, so that a scale over positions
(keys per channel) never needs a key that is not there yet, and so that keys per channel and per token are compared
under one rule. Only the effect on the numbers is here; memory is not saved. Source: liu2024kivi for the grids and the
exact rest, xiao2023streaming for the sink. Difference from the latter: a key keeps the position it was rotated for,
where the paper renumbers what is left, which matters only beyond the context a model was trained for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from gpu_demos.cache import KVCache
from gpu_demos.quantize import affine
from gpu_demos.target import Target

BLOCK = 32  # positions that are rounded together
Keys = Literal["channel", "token"]


@dataclass(frozen=True, slots=True)
class CacheGrid:
    """How keys and values are rounded; bits of None leave them exact. Values always get one scale a token and head."""

    keys: Keys = "channel"
    key_bits: int | None = 4
    value_bits: int | None = 4

    def __post_init__(self) -> None:
        for name, bits in (("key_bits", self.key_bits), ("value_bits", self.value_bits)):
            if bits is not None and not 2 <= bits <= 8:
                raise ValueError(f"{name}={bits} must be None or lie in 2 … 8")

    def bits(self, head_size: int, exact: int = 32) -> float:
        """Bits a number, keys and values averaged, with 16 bits each for scale and minimum. exact: of a number kept.

        >>> CacheGrid().bits(64)
        4.75
        """
        shared = BLOCK if self.keys == "channel" else head_size
        keys = exact if self.key_bits is None else self.key_bits + 32 / shared
        return (keys + (exact if self.value_bits is None else self.value_bits + 32 / head_size)) / 2


class QuantizedCache(KVCache):
    """Rounds every block of positions once, as soon as it is full and something is written behind it."""

    def __init__(self, target: Target, rows: int, capacity: int, grid: CacheGrid) -> None:
        size = target.head_size
        super().__init__(
            len(target.layers), rows, target.kv_heads, capacity, size, dtype=target.dtype, device=target.device
        )  # fmt: skip
        self.grid = grid
        self.rounded = [0] * len(target.layers)  # positions of each layer that are rounded already

    def write(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor | None, start: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """As `KVCache.write`. Raises ValueError for rows of unlike length: their blocks would not end together."""
        if slots is not None:
            raise ValueError("slots: rows must all have one length")
        begin, end = self.rounded[layer], start // BLOCK * BLOCK
        if end > begin:
            self._round(layer, begin, end)
        return super().write(layer, keys, values, None, start)

    def rollback(self, row: int, length: int) -> None:
        """As `KVCache.rollback`; positions that are written anew are rounded anew."""
        super().rollback(row, length)
        self.rounded = [min(done, length // BLOCK * BLOCK) for done in self.rounded]

    def _round(self, layer: int, begin: int, end: int) -> None:
        stored = self.keys[layer][:, :, begin:end]
        if self.grid.key_bits is not None:
            blocks = stored.unflatten(2, (-1, BLOCK))
            axis = -2 if self.grid.keys == "channel" else -1
            stored.copy_(affine(blocks, self.grid.key_bits, axis).flatten(2, 3))
        stored = self.values[layer][:, :, begin:end]
        if self.grid.value_bits is not None:
            stored.copy_(affine(stored, self.grid.value_bits, -1))
        self.rounded[layer] = end


class WindowCache(KVCache):
    """Shows a new token the first `sink` positions and the last `window`, itself included; the rest is forgotten."""

    def __init__(self, target: Target, rows: int, capacity: int, *, window: int, sink: int) -> None:
        if window < 1 or sink < 0:
            raise ValueError(f"window={window}, sink={sink}: at least 1 and 0")
        size = target.head_size
        super().__init__(
            len(target.layers), rows, target.kv_heads, capacity, size, dtype=target.dtype, device=target.device
        )  # fmt: skip
        self.window, self.sink = window, sink

    def write(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor | None, start: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """As `KVCache.write`, and only what is left comes back. Raises ValueError unless one token a row is written at
        one position: several would each need a window of their own."""
        if slots is not None or keys.shape[2] != 1:
            raise ValueError(f"keys: {keys.shape[2]} positions, must be one, the same in all rows")
        every = super().write(layer, keys, values, None, start)
        first = start + 1 - self.window
        if first <= self.sink:
            return every
        kept_keys, kept_values = (torch.cat((x[:, :, : self.sink], x[:, :, first:]), 2) for x in every)
        return kept_keys, kept_values


def read_in_steps(target: Target, ids: torch.Tensor, cache: KVCache, step: int) -> torch.Tensor:
    """(B, T) tokens -> (B, T, d) states, `step` tokens a pass: what decoding would compute, `BLOCK` wide with a
    quantized cache, one by one with a window."""
    width = ids.shape[1]
    starts = range(0, width, step)
    return torch.cat([target.run(ids[:, i : i + step], [i] * len(ids), cache).hidden for i in starts], 1)
