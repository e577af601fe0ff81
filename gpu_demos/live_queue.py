"""Runs of readers' own prompts: one process at a time, a short queue, and limits; needs nothing but Python.

A job whose page has stopped asking for it is dropped: a server is not told when a reader leaves.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Literal, Self, get_args

from gpu_demos.models_fetch import GGUF_SHA256, cache_folder
from gpu_demos.trace import Trace, parse

ROOT = Path(__file__).resolve().parents[1]
WORKER = (sys.executable, "-m", "gpu_demos.live")
DRAFTS = 5
MOST_CHARACTERS, MOST_TOKENS, MOST_JOBS = 400, 64, 8
# A browser lets a page that nobody looks at ask once a minute only.
LIMIT_S, FORGOTTEN_S, LOOK_S = 120.0, 90.0, 0.1
DRAFTERS, DTYPES = ("lookup", "exit", "mtp", "block"), ("fp32", "bf16")
Failure = Literal["unavailable", "memory", "broken", "ended"]
FAILURES: tuple[Failure, ...] = get_args(Failure)
State = Literal["waiting", "running", "done", "failed", "late", "cancelled"]


class Refused(Exception):
    """A job that was not taken. reason: `busy` (this reader has one), `full` (the queue has no place)."""

    def __init__(self, reason: Literal["busy", "full"]) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Request:
    """What a reader asks for. dtype: fp32 or bf16; tokens: new ones at most."""

    prompt: str
    drafter: str
    dtype: str
    temperature: float
    tokens: int
    seed: int = 0

    def checked(self) -> Self:
        """ValueError for what a page would not send."""
        if not 0 < len(self.prompt.strip()) <= len(self.prompt) <= MOST_CHARACTERS:
            raise ValueError(f"prompt must have 1 … {MOST_CHARACTERS} characters")
        if self.drafter not in DRAFTERS or self.dtype not in DTYPES:
            raise ValueError(f"unknown drafter={self.drafter!r} or dtype={self.dtype!r}")
        if not 0 <= self.temperature <= 2 or not 1 <= self.tokens <= MOST_TOKENS:
            raise ValueError(
                f"temperature={self.temperature} must lie in 0 … 2, tokens={self.tokens} in 1 … {MOST_TOKENS}"
            )
        return self


@dataclass(slots=True)
class Job:
    """One run. tokens: written so far; trace: its result; failure: why there is none, of a job that failed."""

    owner: str
    request: Request
    asked: float
    state: State = "waiting"
    tokens: int = 0
    trace: Trace | None = None
    failure: Failure = "ended"
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def over(self) -> bool:
        return self.state not in ("waiting", "running")


def installed(folder: Path | None = None) -> bool:
    """Whether a live run can start here: libraries and unpacked model are there. Imports neither."""
    there = all(find_spec(name) is not None for name in ("torch", "transformers"))
    return there and any((folder or cache_folder()).glob(f"*-{GGUF_SHA256[:12]}/manifest.json"))


class Queue:
    """Jobs in the order they came; all methods may be called from any thread."""

    def __init__(
        self, worker: Sequence[str] = WORKER, *, most: int = MOST_JOBS, limit_s: float = LIMIT_S,
        forgotten_s: float = FORGOTTEN_S,
    ) -> None:  # fmt: skip
        self._worker, self._most, self._limit, self._forgotten = tuple(worker), most, limit_s, forgotten_s
        self._jobs: list[Job] = []
        self._lock = threading.Lock()
        self._busy = False

    def submit(self, owner: str, request: Request) -> Job:
        """Take a job. Raises ValueError for an unusable request and Refused where a limit is reached."""
        job = Job(owner, request.checked(), monotonic())
        with self._lock:
            self._sweep()
            if any(j.owner == owner for j in self._jobs):
                raise Refused("busy")
            if len(self._jobs) >= self._most:
                raise Refused("full")
            self._jobs.append(job)
            if not self._busy:
                self._busy = True
                threading.Thread(target=self._work, daemon=True).start()
        return job

    def position(self, job: Job) -> int:
        """Jobs before this one, 0 once it runs or is over. Asking keeps the job alive."""
        with self._lock:
            job.asked = monotonic()
            return self._jobs.index(job) if job in self._jobs else 0

    def cancel(self, job: Job) -> None:
        with self._lock:
            self._drop(job, "cancelled")

    def _sweep(self) -> None:
        for job in [j for j in self._jobs if monotonic() - j.asked > self._forgotten]:
            self._drop(job, "cancelled")

    def _drop(self, job: Job, state: State) -> None:
        if job.over:
            return
        job.state = state
        if job.process is not None:
            job.process.kill()
        if job in self._jobs:
            self._jobs.remove(job)

    def _work(self) -> None:
        while True:
            with self._lock:
                self._sweep()
                if not self._jobs:
                    self._busy = False
                    return
                job = self._jobs[0]
                try:
                    process = subprocess.Popen(
                        self._worker, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                        encoding="utf-8",
                    )  # fmt: skip
                except OSError:
                    job.failure = "broken"
                    self._drop(job, "failed")
                    continue
                job.state, job.process = "running", process
            reader = threading.Thread(target=self._read, args=(job, process), daemon=True)
            reader.start()
            self._watch(job, reader)
            reader.join()  # it ends with the process, and its pipe is closed by nobody else
            with process:
                pass

    def _watch(self, job: Job, reader: threading.Thread) -> None:
        end = monotonic() + self._limit
        while True:
            reader.join(LOOK_S)
            with self._lock:
                if not reader.is_alive():
                    self._drop(job, "done" if job.trace else "failed")
                elif monotonic() > end:
                    self._drop(job, "late")
                else:
                    self._sweep()
                if job.over:
                    return

    def _read(self, job: Job, process: subprocess.Popen[str]) -> None:
        """Follow the worker's lines; a line that is none of them ends the job as failed."""
        try:
            assert process.stdin is not None and process.stdout is not None
            with process.stdin as pipe:
                pipe.write(json.dumps(asdict(job.request)))
            for line in process.stdout:
                self._hear(job, json.loads(line))
        except BrokenPipeError:
            job.trace = None  # the process has ended before it has read the request
        except (OSError, ValueError, TypeError, KeyError):
            job.failure, job.trace = "broken", None
            process.kill()

    def _hear(self, job: Job, said: dict[str, Any]) -> None:
        job.tokens = int(said.get("tokens", job.tokens))
        if "error" in said:
            job.failure = FAILURES[FAILURES.index(said["error"])]
        if "trace" in said:
            job.trace = parse(said["trace"])
