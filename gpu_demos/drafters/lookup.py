"""Prompt lookup: copy what followed the last time these tokens were there. No weights, hardly any time.

The longest n-gram at the end of the text that occurred before is continued. `transformers` takes the first occurrence
(`occurrence="first"` here) and ends at the end of the text; here the latest one counts by default, since texts drift,
and a copy may read what it has just written, as in LZ77, so that a period shorter than the draft is not cut off.
Source: saxena2023, prompt lookup decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from gpu_demos.acceptance import Laws
from gpu_demos.decoding_types import NO_DRAFT, Draft, Seen, Session


class Lookup:
    """n-grams of at most `longest` and at least `shortest` tokens."""

    name = "lookup"
    taps: Sequence[int] = ()

    def __init__(
        self, *, longest: int = 3, shortest: int = 1, occurrence: Literal["latest", "first"] = "latest"
    ) -> None:
        if not 1 <= shortest <= longest:
            raise ValueError(f"shortest={shortest}, longest={longest}: 1 <= shortest <= longest is needed")
        self.sizes = range(longest, shortest - 1, -1)
        self.latest = occurrence == "latest"
        self._session: Session | None = None
        self._found: list[dict[tuple[int, ...], int]] = []
        self._indexed: list[int] = []

    def begin(self, session: Session) -> None:
        self._session = session
        self._found = [{} for _ in session.texts]
        self._indexed = [0] * len(session.texts)

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        assert self._session is not None
        return [self._draft(row, self._session.texts[row], limit) for row, limit in zip(rows, limits, strict=True)]

    def observe(self, row: int, seen: Seen) -> None:
        """Nothing: the texts say it all."""

    def _draft(self, row: int, text: list[int], limit: int) -> Draft:
        self._index(row, text)
        for size in self.sizes:
            after = self._found[row].get(tuple(text[-size:])) if size < len(text) else None
            if after is not None:
                back = len(text) - after
                copied: list[int] = []
                for place in range(limit):
                    copied.append(text[after + place] if place < back else copied[place - back])
                return Draft(tuple(copied), Laws(sure=copied)) if copied else NO_DRAFT
        return NO_DRAFT

    def _index(self, row: int, text: list[int]) -> None:
        """Note for each n-gram where its continuation starts; the one at the very end has none yet."""
        found = self._found[row]
        for after in range(max(self._indexed[row], 1), len(text)):
            for size in self.sizes:
                if size <= after:
                    gram = tuple(text[after - size : after])
                    if self.latest:
                        found[gram] = after
                    else:
                        found.setdefault(gram, after)
        self._indexed[row] = len(text)
