"""The components, Python side. Each is a one-line stub: its code is in /assets, sent once and not with every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

NAMES = (
    "shell",
    "prose",
    "table",
    "range",
    "choice",
    "action",
    "plot",
    "player",
    "strips",
    "predict",
    "editor",
    "paste",
)
Handler = Callable[[Any], None]


def _component(name: str) -> Callable[..., Any]:
    return st.components.v2.component(
        f"wiki_{name}",
        html="<div class='wiki-part'></div>\n",
        js=f"export default a => window.wiki.draw('{name}', a)\n",
        isolate_styles=False,  # one stylesheet for all, and Plotly writes its own into <head>
    )


_COMPONENTS = {name: _component(name) for name in NAMES}


def part(name: str, data: Mapping[str, Any], *, key: str, **events: Handler) -> None:
    """Draw one component. `events`: what the browser may send, name -> handler of the value.

    A value from a browser is not to be trusted: each handler checks it and ignores what it does not know.
    """
    callbacks = {f"on_{event}_change": _deliver(key, event, handler) for event, handler in events.items()}
    _COMPONENTS[name](key=key, data=dict(data), **callbacks)


def _deliver(key: str, event: str, handler: Handler) -> Callable[[], None]:
    def call() -> None:
        value = st.session_state[key].get(event)
        if value is not None:
            handler(value)

    return call
