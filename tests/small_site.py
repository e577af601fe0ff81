"""The wiki's server with a small main script: it can fail on request, and needs no chapter.

Everything but the main script and the wiki's own scripts is the real thing, copied to a folder of its own.
"""

from __future__ import annotations

import gzip
import http.client
import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from tests.browser import ROOT, Server

SCRIPT = '''
import streamlit as st

BIG = st.components.v2.component("big", html="<button>send</button>", js="""
export default function ({ parentElement, setStateValue }) {
  parentElement.querySelector('button').onclick = () => setStateValue('text', '"'.repeat(4_000_000))
}
""")
SEEN = st.components.v2.component("seen", html="<p class='seen'></p>", js="""
export default function ({ parentElement }) { parentElement.querySelector('p').textContent = `wiki is ${window.wiki}` }
""")


def home():
    st.title("Home")
    SEEN(key="seen")
    result = BIG(key="big", on_text_change=lambda: None)
    st.text(f"received {len(result.text or '')}")
    if st.query_params.get("fail"):
        raise RuntimeError("the secret detail")


def deep():
    st.title("Deep")


st.navigation([st.Page(home, default=True), st.Page(deep, url_path="deep")]).run()
'''


def build(folder: Path) -> Path:
    shutil.copy(ROOT / "app.py", folder)
    shutil.copytree(ROOT / ".streamlit", folder / ".streamlit")
    shutil.copytree(ROOT / "pages/_static", folder / "pages/_static", ignore=shutil.ignore_patterns("*.js"))
    (folder / "pages/_static/js").mkdir(exist_ok=True)
    (folder / "pages/_static/js/00-probe.js").write_text("(() => { window.wiki = 'here' })()", "utf-8")
    for file in ("__init__", "_assets", "_boot", "_serve"):
        shutil.copy(ROOT / f"pages/{file}.py", folder / "pages")
    (folder / "pages/_menu.py").write_text('PAGES = ("home", "deep")\n', "utf-8")
    (folder / "pages/_warm.py").write_text("def presets():\n    pass\n", "utf-8")
    (folder / "pages/__main__.py").write_text(SCRIPT, "utf-8")
    return folder


class Answer:
    """One answer, with the body as it came over the wire."""

    def __init__(self, server: Server, path: str, method: str = "GET", **headers: str) -> None:
        # http.client sends the path as it is written; urllib would tidy `..` away before the server sees it.
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
        connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        raw = connection.getresponse()
        self.status, self.headers, self.body = raw.status, raw.headers, raw.read()
        connection.close()

    @property
    def text(self) -> str:
        packed = self.headers.get("content-encoding") == "gzip"
        return (gzip.decompress(self.body) if packed else self.body).decode()


def asset(server: Server, kind: str) -> str:
    match = re.search(rf'"(/assets/wiki\.\w+\.{kind})"', Answer(server, "/").text)
    assert match, f"the start page names no {kind} file"
    return match[1]
