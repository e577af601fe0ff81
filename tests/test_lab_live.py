"""Runs of readers' own prompts: queue, limits, cancelling, and a worker that fails in every way it can."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep

import pytest

from gpu_demos import live
from gpu_demos.drafters.choose import NAMES
from gpu_demos.live_queue import DRAFTERS, Job, Queue, Refused, Request, installed
from tests.browser import ROOT
from tests.lab_measure import tiny_loaded

ASKED = Request("Name three colours.", "lookup", "fp32", 0.0, 16)
STORED = ROOT / "gpu_demos/traces/chat_lookup_0.json"
READ = "import json, sys, time; asked = json.load(sys.stdin); say = lambda **x: print(json.dumps(x), flush=True); "
WRITES = READ + f"say(tokens=3); say(trace=json.load(open({str(STORED)!r})))"
SLEEPS = READ + "say(tokens=2); time.sleep(60)"


def queue(code: str, **limits: float) -> Queue:
    return Queue((sys.executable, "-c", code), **limits)  # type: ignore[arg-type]


def until(true: Callable[[], bool]) -> None:
    end = monotonic() + 60
    while not true():
        assert monotonic() < end, "nothing happened for a minute"
        sleep(0.02)


def test_run_ends_with_a_checked_trace() -> None:
    """The worker's trace is read as a stored one is, and its progress is seen."""
    job = queue(WRITES).submit("a", ASKED)
    until(lambda: job.over)
    assert job.state == "done" and job.tokens == 3
    assert job.trace is not None and len(job.trace.rounds) == len(json.loads(STORED.read_text("utf-8"))["rounds"])


def test_queue_has_places_and_limits() -> None:
    """One runs, others wait at their place; a second job of a reader and one too many are refused; a cancelled one
    makes room at once, and its process is gone."""
    q = queue(SLEEPS, most=3)
    jobs = [q.submit(name, ASKED) for name in "abc"]
    until(lambda: jobs[0].tokens == 2)
    assert [q.position(j) for j in jobs] == [0, 1, 2] and [j.state for j in jobs] == ["running", "waiting", "waiting"]
    for owner, reason in (("a", "busy"), ("d", "full")):
        with pytest.raises(Refused) as caught:
            q.submit(owner, ASKED)
        assert caught.value.reason == reason
    q.cancel(jobs[0])
    process = jobs[0].process
    assert jobs[0].state == "cancelled" and process is not None
    until(lambda: process.poll() is not None and jobs[1].state == "running")
    assert q.position(jobs[2]) == 1
    for job in jobs:
        q.cancel(job)
    until(lambda: jobs[1].process is not None and jobs[1].process.poll() is not None)
    assert jobs[2].process is None


def test_late_and_forgotten_jobs_are_stopped() -> None:
    """A run past its limit ends as late; one whose page has not asked for long ends too, and the next one starts."""
    job = queue(SLEEPS, limit_s=0.3).submit("a", ASKED)
    until(lambda: job.over)
    assert job.state == "late"
    q = queue(SLEEPS, forgotten_s=0.5)
    left = q.submit("a", ASKED)
    until(lambda: left.over)
    assert left.state == "cancelled" and q.submit("a", ASKED).state in ("waiting", "running")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os._exit(3)", "ended"),
        (READ + "say(error='memory')", "memory"),
        (READ + "say(error='odd')", "broken"),
        (READ + "print('junk', flush=True); time.sleep(60)", "broken"),
        (READ + "say(trace={'rounds': []})", "broken"),
    ],
)
def test_failing_worker_leaves_a_message(code: str, said: str) -> None:
    """A crash, an error, junk and a trace that is none: the job fails, no trace is shown, the queue goes on."""
    q = queue(code)
    for owner in "ab":
        job: Job = q.submit(owner, ASKED)
        until(lambda: job.over)  # noqa: B023  # waited for within the same turn
        assert job.state == "failed" and job.trace is None and job.failure == said


@pytest.mark.parametrize(
    "odd", [{"prompt": " "}, {"prompt": "x" * 401}, {"drafter": "x"}, {"dtype": "fp8"}, {"tokens": 65}]
)
def test_unusable_requests_are_refused(odd: dict[str, object]) -> None:
    """Nothing outside the limits reaches the queue."""
    with pytest.raises(ValueError, match=r"must|unknown"):
        queue(WRITES).submit("a", Request(**{**asdict(ASKED), **odd}))  # type: ignore[arg-type]


def test_worker_decodes_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tiny random model: the last count is the number of tokens, and the trace passes its own checks."""
    out = io.StringIO()
    trace = live.run(tiny_loaded("fp32"), ASKED, out)
    counts = [json.loads(line)["tokens"] for line in out.getvalue().splitlines()]
    assert counts[-1] == len(trace.tokens) <= 16 and len(counts) == len(trace.rounds)
    assert trace.parted is None and trace.domain == "own"


def test_page_and_laboratory_know_the_same_drafters() -> None:
    """The queue cannot ask the laboratory for its list: it runs where no device library is installed."""
    assert DRAFTERS == NAMES


def test_installed_looks_for_the_model(tmp_path: Path) -> None:
    """Without an unpacked model a live run is not offered."""
    assert not installed(tmp_path)
