"""What happens around the pages: warm-up when the server starts, the readiness answer, the error box."""

from __future__ import annotations

import gc
import importlib
import logging
import secrets
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages import _assets

VERSION = "0.1.0"
LOG = logging.getLogger("wiki")

# The modules whose first import takes a noticeable part of a second, and those that need them.
HEAVY = (
    "numpy",
    "sympy",
    "pandas",
    "plotly.graph_objects",
    "latex2mathml.converter",
    "markdown_it",
    "mdit_py_plugins",
)

# The words live here and not in lessons/ui.toml: they must be there when a lesson file is what cannot be read.
ERROR = {
    "en": "Something on this page failed, and it is our fault. Reload the page to try again; "
    "the other chapters still work. Report number: {ref}",
    "zh": "本页有一处出错，责任在我们。请刷新重试；其他章节不受影响。报错编号：{ref}",
}


@dataclass(slots=True)
class Readiness:
    """`starting` → `ok`, or `failed` when a module cannot be imported (then the log says which)."""

    status: str = "starting"


READINESS = Readiness()


def warm_up() -> None:
    """Import what pages need, pack Plotly's script, compute the presets that every visitor asks for first, and keep
    Python's garbage collection off all that: it would stop every session for 0.1 s each time.
    """
    try:
        for name in HEAVY:
            importlib.import_module(name)
        _assets.plotly_files()
        importlib.import_module("pages._warm").presets()  # not imported at the top: SymPy would delay the open port
    except Exception:
        READINESS.status = "failed"
        LOG.exception("warm-up failed")
    else:
        gc.freeze()  # what is loaded by now stays: no collection needs to walk through it again
        READINESS.status = "ok"


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Warm up in a thread. Without it the first visitor waits for SymPy's import inside the first script run; in the
    event loop it would hold up the port instead. A visitor who comes meanwhile waits for the rest of it, no longer.
    """
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    yield


def ready(_: Request) -> Response:
    body = {"status": READINESS.status, "streamlit": st.__version__, "wiki": VERSION}
    return JSONResponse(body, 200 if READINESS.status == "ok" else 503, {"cache-control": "no-store"})


def missing(_: Request) -> Response:
    return JSONResponse({"error": "not found"}, 404, {"cache-control": "no-store"})


ROUTES = [Route("/api/ready", ready), Route("/api/{rest:path}", missing)]


def reader_language() -> str:
    """The language of the page that failed, from the first place that names one we have."""
    for candidate in (st.query_params.get("lang"), st.session_state.get("lang")):
        if candidate in ERROR:
            return str(candidate)
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def on_script_error(error: Exception) -> bool:
    """Our box instead of Streamlit's English one. The trace is in the log only, where Streamlit has just written it;
    the line after it carries the number that the reader sees. A syntax error in a page never comes here.
    """
    ref = secrets.token_hex(4)
    LOG.error("report %s: %s in the trace above", ref, type(error).__name__)
    st.error(ERROR[reader_language()].format(ref=ref), icon=":material/error:")
    return True
