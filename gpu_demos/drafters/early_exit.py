"""Early exit: the target's own first layers, its final norm and its LM head, without any training.

It reads and writes the target's own cache: keys and values of the first layers are the same for draft and target, so
the drafter needs neither memory nor a pass over the prompt, and its entries above the confirmed length are overwritten
by the verification. As a drafter it is poor, since nothing taught these layers to be the last ones; that is the point.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from gpu_demos.acceptance import Laws, of_row
from gpu_demos.decoding_types import NO_DRAFT, Draft, Seen, Session


class EarlyExit:
    """Drafts with the first `layers` layers. `begin` raises ValueError unless 1 <= layers < layers of the target."""

    taps: Sequence[int] = ()

    def __init__(self, layers: int) -> None:
        self.layers = layers
        self.name = f"exit at layer {layers}"
        self._session: Session | None = None

    def begin(self, session: Session) -> None:
        depth = len(session.target.layers)
        if not 1 <= self.layers < depth:
            raise ValueError(f"layers={self.layers} must lie in 1 … {depth - 1}: the target has {depth}")
        self._session = session

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        session = self._session
        assert session is not None
        starts = session.cache.lengths
        # In the first round the prompt is not cached yet: drafting would process it twice.
        if max(limits) < 1 or any(len(session.texts[r]) - s > 1 for r, s in zip(rows, starts, strict=True)):
            return [NO_DRAFT] * len(rows)
        last = [session.texts[row][-1] for row in rows]
        tokens: list[list[int]] = [[] for _ in rows]
        laws: list[Laws] = []
        for step in range(max(limits)):
            ids = torch.tensor(last, device=session.target.device)[:, None]
            places = [start + step for start in starts]
            hidden = session.target.run(ids, places, session.cache, layers=self.layers).hidden
            laws.append(session.sampling.laws(session.target.logits(hidden[:, -1])))
            for i, row in enumerate(rows):
                if step < limits[i]:  # a row that is done draws nothing, so its numbers do not depend on the others
                    last[i] = laws[-1].draw(i, session.uniforms(row, 1)[0])
                    tokens[i].append(last[i])
        return [Draft(tuple(drafted), of_row(laws[: len(drafted)], i)) for i, drafted in enumerate(tokens)]

    def observe(self, row: int, seen: Seen) -> None:
        """Nothing: the target's cache says it all."""
