"""Stage five: the artifact, its reload, and what happens to a spoilt one."""

from __future__ import annotations

import base64
import html

from mechanisms.calibration_artifact import Artifact, ArtifactError, export, load
from mechanisms.calibration_cli import MANIFEST, PAYLOAD
from mechanisms.calibration_corrupt import CORRUPTIONS, corrupt
from mechanisms.calibration_report import reload_table
from pages._calibration_base import quoted
from pages._calibration_convert import attempt
from pages._calibration_state import NO_CORRUPTION, TOPIC, choose, chosen, get, show, work
from pages._parts import Block
from pages._words import t

CHOICES = (NO_CORRUPTION, *CORRUPTIONS)


def _artifact() -> Artifact:
    on = work()
    return export(chosen().conversion, on.layer, on.statistics)


def reload_strip(block: Block, words: str) -> None:
    def draw() -> None:
        on = work()
        table = reload_table(_artifact(), on.layer, chosen().conversion, on.statistics)
        show(block, table, "reload", words, layout="strip")

    attempt(block, "reload", draw)


def _link(name: str, data: bytes, kind: str) -> str:
    address = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    label = t(f"{TOPIC}.download", name=name)
    return f'<a class="wiki-download" download="{name}" href="{address}">{label}</a>'


def downloads(block: Block, words: str) -> None:
    """Both files as links that hold them, so that nothing is kept on the server; the manifest also to read."""

    def show() -> None:
        made = _artifact()
        links = _link(PAYLOAD, made.payload, "application/octet-stream")
        links += _link(MANIFEST, made.manifest, "application/json")
        text = html.escape(made.manifest.decode())
        title = t(f"{TOPIC}.manifest")
        fold = f'<details class="wiki-fold"><summary>{title}</summary><pre tabindex="0">{text}</pre></details>'
        block.prose(
            f'<p class="wiki-help">{words}</p><p class="wiki-downloads">{links}</p>{fold}', key=f"{TOPIC}.download"
        )

    attempt(block, "download", show)


def corruption_choice(block: Block, words: str) -> None:
    choose(block, "corruption", CHOICES, words, stem="spoil", notes=True)


def outcome(code: str) -> tuple[str, str]:
    """Load the artifact, spoilt or not: the code of the refusal, "" for none, and its detail."""
    made, layer = _artifact(), work().layer
    if code != NO_CORRUPTION:
        made, layer = corrupt(made, layer, next(c for c in CORRUPTIONS if c == code))
    try:
        load(made, layer)
    except ArtifactError as error:
        return error.code, error.detail
    return "", ""


def verdict(block: Block, words: str) -> None:
    def show() -> None:
        code, detail = outcome(get("corruption"))
        text = t(f"{TOPIC}.refused_{code}", detail=quoted(detail)) if code else t(f"{TOPIC}.accepted")
        kind = "broken" if code else "exact"
        block.prose(
            f'<p class="wiki-help">{words}</p><p class="wiki-verdict" data-verdict="{kind}" data-refusal="{code}"'
            f' role="status">{text}</p>',
            key=f"{TOPIC}.verdict",
        )

    attempt(block, "verdict", show)
