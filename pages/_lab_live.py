"""A decoding of the reader's own text, run where the laboratory is installed, and shown as a stored one is."""

from __future__ import annotations

import uuid
from functools import lru_cache

import streamlit as st

from gpu_demos import live_queue
from gpu_demos.live_queue import DRAFTERS, DTYPES, MOST_CHARACTERS, MOST_TOKENS, Job, Queue, Refused, Request
from gpu_demos.trace import Trace
from pages import _payload, _traces
from pages._controls import player_words
from pages._lab_state import TOPIC, note, show
from pages._lab_trace import ROLES, VERDICT_ORDER, prompt_shown, steps, tables
from pages._parts import Block
from pages._words import language, t

LOOK_EVERY_S = 1.0
_JOB, _OWNER, _FAULT, _FOLLOWED = "_lab_job", "_lab_owner", "_lab_fault", "_lab_followed"
STEPS = f"{TOPIC}.live_step"


@lru_cache(maxsize=1)
def queue() -> Queue:
    """One for all readers of this server."""
    return Queue()


def section() -> None:
    """The form, the job's progress or its result; in one sentence what is missing where nothing can be run."""
    block = Block(f"block-{TOPIC}-live")
    block.prose(f"<h2>{t(f'{TOPIC}.live_title')}</h2>", key=f"{TOPIC}.live_title", anchor="live")
    ready = live_queue.installed()
    note(block, t(f"{TOPIC}.live_{'about' if ready else 'missing'}"), "live_about")
    block.mount()
    if ready:
        _form()
        job = st.session_state.get(_JOB)
        st.fragment(_follow, run_every=LOOK_EVERY_S if job and not job.over else None)()


def _form() -> None:
    word = {
        name: t(f"{TOPIC}.live_{name}") for name in ("prompt", "drafter", "dtype", "temperature", "tokens", "start")
    }
    st.text_area(word["prompt"], max_chars=MOST_CHARACTERS, key=f"{TOPIC}.live_prompt")
    left, middle, right = st.columns(3)
    drafters = {name: t(f"{TOPIC}.drafter_{name}") for name in DRAFTERS}  # in the language of this run
    left.selectbox(word["drafter"], DRAFTERS, format_func=drafters.__getitem__, key=f"{TOPIC}.live_drafter")
    middle.selectbox(word["dtype"], DTYPES, key=f"{TOPIC}.live_dtype")
    right.selectbox(word["temperature"], (0.0, 0.6, 1.0), key=f"{TOPIC}.live_temperature")
    st.slider(word["tokens"], 8, MOST_TOKENS, 48, key=f"{TOPIC}.live_tokens")
    st.button(word["start"], key=f"{TOPIC}.live_start", on_click=_start, type="primary")


def _start() -> None:
    """Submit what the form holds; a refusal is kept for the run that follows."""
    asked = {name: st.session_state[f"{TOPIC}.live_{name}"] for name in ("prompt", "drafter", "dtype", "temperature")}
    owner = st.session_state.setdefault(_OWNER, uuid.uuid4().hex)
    st.session_state.pop(_FAULT, None)
    try:
        request = Request(**asked, tokens=st.session_state[f"{TOPIC}.live_tokens"])
        st.session_state[_JOB] = queue().submit(owner, request)
    except Refused as refused:
        st.session_state[_FAULT] = f"live_{refused.reason}"
    except ValueError:  # the widgets keep everything else within its limits
        st.session_state[_FAULT] = "live_empty"


def _follow() -> None:
    """Drawn again every second while the job waits or runs, and the whole page once when it is over."""
    if fault := st.session_state.get(_FAULT):
        st.warning(t(f"{TOPIC}.{fault}"))
    job: Job | None = st.session_state.get(_JOB)
    if job is None:
        return
    before = queue().position(job)
    if not job.over:
        st.session_state[_FOLLOWED] = job
        words = "live_waiting" if job.state == "waiting" else "live_running"
        part = min(1.0, job.tokens / job.request.tokens)
        st.progress(part, t(f"{TOPIC}.{words}", before=before, tokens=job.tokens, most=job.request.tokens))
        st.button(t(f"{TOPIC}.live_cancel"), key=f"{TOPIC}.live_cancel", on_click=queue().cancel, args=(job,))
        return
    if st.session_state.pop(_FOLLOWED, None) is job:
        st.session_state.pop(_FAULT, None)  # a second run was refused because of this one
        st.rerun()  # ends the looking every second
    if job.trace is None:
        st.warning(t(f"{TOPIC}.live_{job.state}", why=t(f"{TOPIC}.live_{job.failure}")))
    else:
        _result(job.trace)


def _result(trace: Trace) -> None:
    """Player and tables of the finished run."""
    name = _traces.keep(trace)
    frames, total, places, each = tables(name, language())
    block = Block(f"block-{TOPIC}-live-result")
    prompt_shown(block, trace, t(f"{TOPIC}.live_prompt_shown"), "live_prompt_shown")
    block.frame(True)
    data = {
        "variants": [steps(name, language())], "topic": "", "words": player_words(), "step": 0,
        "alt": t(f"{TOPIC}.live_alt"), "steps": STEPS,
    }  # fmt: skip
    block.part("stepper", data, key=f"{TOPIC}.live_player")
    show(
        block, frames[0], "live_verdicts", t(f"{TOPIC}.live_verdicts"), head="row_position", topic=STEPS, roles=ROLES,
        frames=_payload.printed(frames, VERDICT_ORDER), order=VERDICT_ORDER,
    )  # fmt: skip
    show(block, total, "live_totals", t(f"{TOPIC}.live_totals"), layout="strip", over=f"{TOPIC}.live_rounds")
    show(block, places, "live_positions", t(f"{TOPIC}.live_positions"), head="row_position")
    show(block, each, "live_rounds", t(f"{TOPIC}.live_rounds"))
    kind = "sampled" if trace.temperature else "equal" if trace.parted is None else "parted"
    note(block, t(f"{TOPIC}.live_{kind}", place=(trace.parted or 0) + 1), "live_compared")
    block.mount()
