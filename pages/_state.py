"""A page's state: one value per control, mirrored in the URL so that a link restores it.

The URL carries `v` and every control that differs from its default. A URL with `v` is a whole state: what it leaves out
is at its default. One without `v` only changes what it names, so that menu links keep what the session knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

VERSION = "1"


@dataclass(frozen=True, slots=True)
class Control:
    """One control: `read` turns URL text into a value and whether it had to be bent; ValueError means unusable."""

    name: str
    default: Any
    read: Callable[[str], tuple[Any, bool]]
    write: Callable[[Any], str] = str


@dataclass(frozen=True, slots=True)
class Notice:
    """A URL value that could not be taken as it was; `used` is what stands instead."""

    name: str
    given: str
    used: str


def choice(name: str, options: Iterable[str], default: str) -> Control:
    allowed = tuple(options)

    def read(text: str) -> tuple[str, bool]:
        if text not in allowed:
            raise ValueError(f"{name}={text!r}: must be one of {allowed}")
        return text, False

    return Control(name, default, read)


def integer(name: str, low: int, high: int, default: int) -> Control:
    def read(text: str) -> tuple[int, bool]:
        if len(text) > 20:  # int() of a long text is slow and no control is that wide
            raise ValueError(f"{name}: too long")
        value = round(float(text)) if float(text) == float(text) and abs(float(text)) < 1e18 else None
        if value is None:
            raise ValueError(f"{name}={text!r}: must be a number")
        clamped = min(high, max(low, value))
        return clamped, clamped != float(text)

    return Control(name, default, read)


def guess(name: str, most: int) -> Control:
    """A committed guess, 0 … most, or none (-1): what is out of range is no guess, lest a link commit one."""

    def read(text: str) -> tuple[int, bool]:
        value = int(text)
        if not 0 <= value <= most:
            raise ValueError(f"{name}={value}: must lie in 0 … {most}")
        return value, False

    return Control(name, -1, read, lambda value: "" if value < 0 else str(value))


def tick(name: str, ticks: int, default: int) -> Control:
    """A uniform number as a slider's position; a link may also say it as the page shows it, `0.40`."""
    plain = integer(name, 0, ticks - 1, default)

    def read(text: str) -> tuple[int, bool]:
        return plain.read(str(round(float(text) * ticks)) if "." in text else text)

    return Control(name, default, read)


def _key(topic: str, name: str) -> str:
    return f"state.{topic}.{name}"  # a component's own key is `<topic>.<control>`


def get(topic: str, name: str) -> Any:
    return st.session_state[_key(topic, name)]


def begin(topic: str, controls: tuple[Control, ...]) -> list[Notice]:
    """Bring session and URL into step at the start of a run; returns what had to be corrected."""
    asked = {c.name: st.query_params[c.name] for c in controls if c.name in st.query_params}
    ours = st.session_state.get(_key(topic, "_written"))
    whole = "v" in st.query_params
    notices: list[Notice] = []
    for control in controls:
        key = _key(topic, control.name)
        if asked == ours and key in st.session_state:
            continue
        if control.name in asked:
            st.session_state[key] = _read(control, asked[control.name], notices)
        elif whole or key not in st.session_state:
            st.session_state[key] = control.default
    _publish(topic, controls)
    return notices


def _read(control: Control, text: str, notices: list[Notice]) -> Any:
    try:
        value, bent = control.read(text)
    except (ValueError, OverflowError):
        value, bent = control.default, True
    if bent:
        notices.append(Notice(control.name, text[:40], control.write(value)))
    return value


def put(topic: str, controls: tuple[Control, ...], **values: Any) -> None:
    """Change controls and the URL with them."""
    for name, value in values.items():
        st.session_state[_key(topic, name)] = value
    _publish(topic, controls)


def _publish(topic: str, controls: tuple[Control, ...]) -> None:
    """One write of the whole query, and only where it changes: each write is a message to the browser."""
    mine = {c.name: c.write(get(topic, c.name)) for c in controls if get(topic, c.name) != c.default}
    st.session_state[_key(topic, "_written")] = mine
    names = {c.name for c in controls} | {"v"}
    kept = {k: v for k, v in st.query_params.to_dict().items() if k not in names}
    # What is chosen right after a switch of the language still comes with the address of before.
    spoken = {"lang": st.session_state["lang"]} if "lang" in st.session_state else {}
    wanted = {**kept, **spoken, "v": VERSION, **mine}
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)
