"""How a chapter's blocks are laid out on the server: who needs a fragment, and what a run sends first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pages import _frame, _html, _parts
from pages._menu import PAGES
from tests.chapters import at, session

CHAPTERS = [name for name in PAGES if name not in ("home", "sources")]


@pytest.mark.parametrize("topic", CHAPTERS)
def test_only_blocks_with_a_control_listen(topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections without a control, a player or a guess share a block; none of their parts waits for an event."""
    mounted: dict[str, set[tuple[str, str]]] = {}

    def mount(self: _parts.Block) -> None:
        if self.key.startswith(f"block-{topic}-"):
            mounted[self.key] = set(self._handlers)

    monkeypatch.setattr(_parts.Block, "mount", mount)
    at(session("en"), topic, lang="en")
    sections = _html.lesson(topic, "en")
    still = {f"block-{topic}-{s.label}" for s in sections if _frame._still(s)}
    assert {key for key in mounted if key in still and mounted[key]} == set()
    moving = {f"block-{topic}-{s.label}" for s in sections} - still
    assert moving <= mounted.keys() and len(mounted) < len(sections)


def test_what_was_touched_goes_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that answers an event mounts the touched block, waits once, and then mounts what follows; any other run
    does not wait."""
    done: list[Any] = []
    real = _parts.Block.mount
    monkeypatch.setattr(_parts.Block, "mount", lambda self: (done.append(self.key), real(self)))
    monkeypatch.setattr(_frame, "time", SimpleNamespace(sleep=done.append))
    app = at(session("en"), "calibration", lang="en")
    assert _frame.AHEAD_S not in done
    done.clear()
    app.session_state["_answering"] = True
    app.run()
    first = done.index(_frame.AHEAD_S)
    assert done.count(_frame.AHEAD_S) == 1
    assert done[first - 1].startswith("block-calibration-") and done[first + 1].startswith("block-calibration-")
