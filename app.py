"""Entry point: `streamlit run app.py`. The main script lies inside pages/, so that deep links work on a cold server."""

import os

# Before the first import of numpy: its matrices here have some dozen rows, and threads that wait for each other make
# one request several times slower and take the processor from all others.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import streamlit as st
from starlette.middleware import Middleware

from pages import _assets, _boot, _serve

script, style = _assets.scripts(), _assets.styles()

app = st.App(
    "pages/__main__.py",
    routes=[*_boot.ROUTES, *_assets.routes(script, style)],
    middleware=[Middleware(_serve.Frame, script=script.url, style=style.url)],
    lifespan=_boot.lifespan,
    on_script_error=_boot.on_script_error,
)
