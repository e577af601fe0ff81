"""The form for a text of one's own, through Streamlit's test driver, with a worker that only pretends."""

from __future__ import annotations

from time import sleep

import pytest
from streamlit.testing.v1 import AppTest

from gpu_demos import live_queue
from lessons import store
from pages import _lab_live
from tests.chapters import at, parts, sent, session
from tests.lab_page import TOPIC, exact, per_round, positions, stored, totals, verdicts
from tests.test_lab_live import READ, SLEEPS, WRITES, queue


def opened(monkeypatch: pytest.MonkeyPatch, code: str, lang: str) -> AppTest:
    """The page where a laboratory is installed whose worker runs `code`."""
    made = queue(code)
    monkeypatch.setattr(live_queue, "installed", lambda: True)
    monkeypatch.setattr(_lab_live, "queue", lambda: made)
    return at(session(lang), TOPIC)


def started(app: AppTest) -> AppTest:
    app.text_area(key=f"{TOPIC}.live_prompt").set_value("Name three colours.")
    return app.button(key=f"{TOPIC}.live_start").click().run()


def ended(app: AppTest) -> AppTest:
    for _ in range(200):
        if app.session_state["_lab_job"].over:
            return app.run()
        sleep(0.05)
    raise AssertionError("the run did not end")


@pytest.mark.parametrize("lang", store.LANGUAGES)
def test_without_the_laboratory_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch, lang: str) -> None:
    """It names the command; there is no form, and the stored decodings play."""
    monkeypatch.setattr(live_queue, "installed", lambda: False)
    app = at(session(lang), TOPIC)
    found = parts(app)
    assert "make lab" in found[f"{TOPIC}.live_about"]["html"] and not app.text_area
    assert found[f"{TOPIC}.player"]["variants"][0]


@pytest.mark.parametrize("lang", store.LANGUAGES)
def test_result_is_shown_as_a_stored_one(monkeypatch: pytest.MonkeyPatch, lang: str) -> None:
    """Player and all tables are those of the worker's trace, and the origin names no file."""
    found, rounds = parts(ended(started(opened(monkeypatch, WRITES, lang)))), stored("chat", "lookup", "0")
    assert exact(sent(found[f"{TOPIC}.live_totals"])) == totals(rounds)
    assert exact(sent(found[f"{TOPIC}.live_positions"])) == positions(rounds)
    assert exact(sent(found[f"{TOPIC}.live_rounds"])) == per_round(rounds)
    table = found[f"{TOPIC}.live_verdicts"]
    assert len(table["frames"]) == len(found[f"{TOPIC}.live_player"]["variants"][0]) == len(rounds)
    for i, r in enumerate(rounds):
        assert exact(sent(table, i)) == verdicts(r)
    assert "json" not in next(c["source"] for c in table["columns"] if c["name"] == "p")


def test_run_can_be_cancelled_and_a_second_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it runs the page shows that and refuses another; after a cancel it says so and takes a new one."""
    app = started(opened(monkeypatch, SLEEPS, "en"))
    again = app.button(key=f"{TOPIC}.live_start").click().run()
    assert [w.value for w in again.warning] == [store.ui(f"{TOPIC}.live_busy", "en")]
    app = ended(app.button(key=f"{TOPIC}.live_cancel").click().run())
    assert store.ui(f"{TOPIC}.live_cancelled", "en") in [w.value for w in app.warning]
    app = started(app)
    assert app.button(key=f"{TOPIC}.live_cancel")
    app.button(key=f"{TOPIC}.live_cancel").click().run()


@pytest.mark.parametrize(
    ("code", "said"), [("import os; os._exit(3)", "ended"), (READ + "say(error='memory')", "memory")]
)
def test_failure_is_a_sentence(monkeypatch: pytest.MonkeyPatch, code: str, said: str) -> None:
    """A crash and an error reach the reader as a message; the rest of the page stays."""
    app = ended(started(opened(monkeypatch, code, "en")))
    why = store.ui(f"{TOPIC}.live_{said}", "en")
    assert [w.value for w in app.warning] == [store.ui(f"{TOPIC}.live_failed", "en", why=why)]
    assert f"{TOPIC}.player" in parts(app)


def test_empty_prompt_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a prompt nothing is submitted."""
    app = opened(monkeypatch, WRITES, "en").button(key=f"{TOPIC}.live_start").click().run()
    assert [w.value for w in app.warning] == [store.ui(f"{TOPIC}.live_empty", "en")]
