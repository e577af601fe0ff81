"""Keys and values of a batch in memory that is reserved once, and how a rejected draft is undone.

Every row counts its own positions from slot 0: nothing is padded on the left, and rows may differ in length. A token
at position i always writes slot i, and a query reads slots up to its own position only. So a rollback moves a number:
what lies above it is stale, is never read, and is overwritten by the next tokens. (`transformers`' caches copy on every
step, and their `crop` takes in 5.24 a negative count of tokens where older releases took the length that remains.)
"""

from __future__ import annotations

from collections.abc import Sequence

import torch


class KVCache:
    """`keys`, `values`: one (rows, heads, capacity, head size) tensor per layer; `lengths`: positions that count."""

    def __init__(
        self, layers: int, rows: int, heads: int, capacity: int, size: int, *, dtype: torch.dtype, device: torch.device
    ) -> None:
        if min(layers, rows, heads, capacity, size) < 1:
            raise ValueError(f"layers={layers}, rows={rows}, heads={heads}, capacity={capacity}, size={size}: all >= 1")
        shape = (rows, heads, capacity, size)
        # Zeros and not `empty`: a masked weight of 0 times a stale NaN would still be NaN.
        self.keys = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(layers)]
        self.values = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(layers)]
        self.lengths = [0] * rows

    @property
    def capacity(self) -> int:
        return self.keys[0].shape[2]

    def write(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor | None, start: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store new (rows, heads, T, size) entries and return everything up to the last slot that was written.

        slots: (rows, T) for rows of unlike length, `start` being the largest first slot; None if all begin at `start`.
        """
        end = start + keys.shape[2]
        stored_keys, stored_values = self.keys[layer], self.values[layer]
        if slots is None:
            stored_keys[:, :, start:end] = keys
            stored_values[:, :, start:end] = values
        else:
            rows = torch.arange(slots.shape[0], device=slots.device)[:, None]
            stored_keys[rows, :, slots] = keys.transpose(1, 2)
            stored_values[rows, :, slots] = values.transpose(1, 2)
        return stored_keys[:, :, :end], stored_values[:, :, :end]

    def rollback(self, row: int, length: int) -> None:
        """Keep the first `length` positions of a row. Raises ValueError unless 0 <= length <= what is there."""
        if not 0 <= length <= self.lengths[row]:
            raise ValueError(f"length={length} must lie in 0 … {self.lengths[row]}, the positions of row {row}")
        self.lengths[row] = length

    def keep_rows(self, rows: Sequence[int]) -> None:
        """Drop all other rows, in one copy: finished texts must not cost time."""
        index = torch.tensor(rows, device=self.keys[0].device)
        self.keys = [keys[index] for keys in self.keys]
        self.values = [values[index] for values in self.values]
        self.lengths = [self.lengths[row] for row in rows]
