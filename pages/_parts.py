"""The components, Python side. A block of a lesson is one component of many parts: each mounted component costs the
server and the browser about as much as all that it holds, so a chapter mounts a dozen and not eighty. The code of the
parts is in /assets, sent once and not with every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

Handler = Callable[[Any], None]
_ANSWERING = "_answering"


def _component(name: str) -> Callable[..., Any]:
    return st.components.v2.component(
        f"wiki_{name}",
        html="<div class='wiki-part'></div>\n",
        js=f"export default a => window.wiki.draw('{name}', a)\n",
        isolate_styles=False,  # one stylesheet for all, and Plotly writes its own into <head>
    )


_SHELL, _BLOCK = _component("shell"), _component("block")


def _packed(*data: Mapping[str, Any]) -> bytes:
    """One line of JSON each. Streamlit would walk through a mapping, write it, and write it sorted for its digest; and
    the browser need not parse the line of a part that has not changed.
    """
    return "\n".join(json.dumps(d, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for d in data).encode()


class Block:
    """Collects the parts of one block of a lesson and mounts them together.

    A value from a browser is not to be trusted: each handler checks it and ignores what it does not know.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._heads: list[dict[str, Any]] = []
        self._data: list[dict[str, Any]] = []
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._framed = False

    def part(self, name: str, data: Mapping[str, Any], *, key: str, **events: Handler) -> None:
        """Add a part. key: unique on the page; events: what the browser may send, name -> handler of the value."""
        self._heads.append({"name": name, "key": key, "framed": self._framed})
        self._data.append(dict(data))
        self._handlers |= {(key, event): handler for event, handler in events.items()}

    def prose(self, text: str, *, key: str, anchor: str = "") -> None:
        """Add HTML of the page's own making. Not `st.html`, which strips formulas."""
        self.part("prose", {"html": text, "anchor": anchor}, key=key)

    def frame(self, on: bool) -> None:
        """Whether the parts that follow stand inside an instrument's frame."""
        self._framed = on

    def status(self) -> Any:
        """A place above the block for a progress bar; ask for it in every run, so that the block keeps its place."""
        return st.empty()

    def mount(self) -> None:
        head = {"parts": self._heads, "heard": st.session_state.get(self._heard)}
        _BLOCK(key=self.key, data=_packed(head, *self._data), on_events_change=self._deliver)

    @property
    def _heard(self) -> str:
        return f"_heard.{self.key}"

    def _deliver(self) -> None:
        """Hand over what was not heard before. A browser repeats its events until they are confirmed: of two that come
        during one run Streamlit keeps the later only."""
        sent = st.session_state[self.key].get("events")
        if not isinstance(sent, Mapping) or not isinstance(sent.get("events"), Sequence):
            return
        sender = str(sent.get("sender"))[:40]
        before = st.session_state.get(self._heard) or {}
        heard = before["number"] if before.get("sender") == sender else 0
        for event in sent["events"]:
            number = event.get("number") if isinstance(event, Mapping) else None
            if not isinstance(number, int) or number <= heard:
                continue
            heard = number
            handler = self._handlers.get((str(event.get("key")), str(event.get("name"))))
            if handler is not None and event.get("value") is not None:
                handler(event["value"])
        st.session_state[self._heard] = {"sender": sender, "number": heard}
        st.session_state[_ANSWERING] = True


def answering() -> bool:
    """Whether this run answers something that a learner did in a block; says so once a run."""
    return bool(st.session_state.pop(_ANSWERING, False))


def shell(data: Mapping[str, Any], go: Handler) -> None:
    """Mount the part that belongs to the page and to no lesson."""

    def deliver() -> None:
        event = st.session_state["wiki_shell"].get("go")
        if event is not None:
            go(event)

    _SHELL(key="wiki_shell", data=_packed(data), on_go_change=deliver)
