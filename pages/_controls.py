"""What every chapter does with its controls and tables. Labels are interface texts under the control's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from mechanisms.table import Table
from pages import _payload, _state
from pages._parts import Block
from pages._words import language, t

_PLAYER = ("first", "previous", "next", "last", "play", "pause", "scrub", "speed", "transport")


def position(value: Any, most: int) -> int:
    """A slider position sent by a browser, held within its range."""
    return min(most, max(0, int(value))) if isinstance(value, int | float) and abs(value) < 1e9 else 0


def player_words() -> dict[str, str]:
    return {name: t(f"player.{name}") for name in _PLAYER}


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter's controls. head: interface text above the first column of a table, where the table names none."""

    topic: str
    controls: tuple[_state.Control, ...]
    head: str = ""

    def get(self, name: str) -> Any:
        return _state.get(self.topic, name)

    def put(self, **values: Any) -> None:
        _state.put(self.topic, self.controls, **values)

    def opened(self, name: str) -> bool:
        """Whether a guess is committed, or a teacher's link (`&unlock=1`) opens every answer."""
        return self.get(name) not in ("", -1) or st.query_params.get("unlock") == "1"

    def pills(
        self, name: str, options: Sequence[str], words: str, *, stem: str = "", labels: Sequence[str] = (),
        notes: bool = False, value: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Data of a row of pills, called `<topic>.<stem>_<option>` in the texts unless `labels` says otherwise.
        stem: where it is not the control's name; value: where what is chosen is not the control's value.
        """
        stem = stem or name
        named = labels or [t(f"{self.topic}.{stem}_{o.replace('.', '_')}") for o in options]
        made: list[dict[str, Any]] = []
        for option, label in zip(options, named, strict=True):
            note = {"note": t(f"{self.topic}.{stem}_{option}_note")} if notes else {}
            made.append({"id": option, "label": label, **note})
        chosen = str(self.get(name)) if value is None else value
        return {"label": words, "options": made, "value": chosen, "topic": f"{self.topic}.{name}"}

    def choose(
        self, block: Block, name: str, options: Sequence[str], words: str, *, pick: Callable[[str], None] | None = None,
        **more: Any,
    ) -> None:  # fmt: skip
        """A row of pills, as `pills` has them. pick: what a choice does, where it does not just set the control."""
        allowed, kind = tuple(options), type(self.get(name))
        act = pick or (lambda v: self.put(**{name: kind(v)}))
        data = self.pills(name, allowed, words, **more)
        block.part("choice", data, key=f"{self.topic}.{name}", value=lambda v: act(v) if v in allowed else None)

    def slide(self, block: Block, name: str, texts: Sequence[str], words: str, *, first: int = 0) -> None:
        """A slider over `texts`; `first` is the control's value at its leftmost position."""
        most = len(texts) - 1
        data = {
            "label": t(f"{self.topic}.{name}"), "help": words, "texts": list(texts),
            "value": min(most, self.get(name) - first), "topic": f"{self.topic}.{name}",
        }  # fmt: skip
        key = f"{self.topic}.{name}"
        block.part("range", data, key=key, value=lambda v: self.put(**{name: first + position(v, most)}))

    def together(self, block: Block, first: str, second: str, sizes: tuple[int, int], topic: str) -> None:
        """One position for two sliders, which tables with a frame for every pair follow."""
        data = {"topics": [f"{self.topic}.{first}", f"{self.topic}.{second}"], "sizes": list(sizes), "topic": topic}
        block.part("pair", data, key=topic)

    def table(self, table: Table, name: str, words: str = "", *, head: str = "", **more: Any) -> dict[str, Any]:
        """Data of a table or strip under the topic's id, its first column headed in the reader's words."""
        data = _payload.table(table, id=f"{self.topic}.{name}", lang=language(), caption=words, **more)
        named = head or self.head
        return {**data, "head": t(f"{self.topic}.{named}")} if named else data

    def show(self, block: Block, table: Table, name: str, words: str = "", **more: Any) -> None:
        block.part("table", self.table(table, name, words, **more), key=f"{self.topic}.{name}")

    def note(self, block: Block, text: str, key: str, kind: str = "help") -> None:
        block.prose(f'<p class="wiki-{kind}">{text}</p>', key=f"{self.topic}.{key}")
