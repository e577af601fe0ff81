"""What stands between the browser and Streamlit: the rewritten start page and the security headers.

Imported by app.py only. The wiki is served from the root of a host; `server.baseUrlPath` is not supported, because the
addresses under /assets are absolute.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

from pages import _assets
from pages._menu import PAGES

NAME = {"en": "Fewer Bits, Fewer Calls", "zh": "少用位，少调用"}
TAG = {"en": "en", "zh": "zh-Hans"}

NOSCRIPT = {
    "en": "This wiki calculates in your browser and on its server, so it needs JavaScript. Please switch it on.",
    "zh": "本站的数字由浏览器和服务器当场算出，需要启用 JavaScript。请在浏览器设置中打开。",
}


def language(query: str | None, accept: str) -> str:
    """`?lang=` if we have that language, else the language the reader's browser puts first (as `st.context.locale`)."""
    if query in NAME:
        return query

    def weight(part: str) -> float:
        q = re.search(r";\s*q=(\d(?:\.\d+)?)", part)
        return float(q[1]) if q else 1.0

    first = max(accept.split(","), key=weight)
    return "zh" if first.strip().lower().startswith("zh") else "en"


def replaced(page: str, pattern: str, by: str) -> str:
    """Exactly one replacement; Streamlit's page is not ours, so a new shape must stop the start, not pass unseen."""
    page, count = re.subn(pattern, lambda _: by, page, flags=re.DOTALL)
    if count != 1:
        raise RuntimeError(f"Streamlit {st.__version__}: index.html has {count} places for {pattern!r}, expected 1")
    return page


def start_page(original: str, lang: str, script: str, style: str) -> str:
    """Streamlit's index.html with our language, name, icon, style and script.

    The script blocks on purpose and stands first: Streamlit's own scripts are modules and run after parsing, so
    `window.wiki` exists before the first component is drawn. Streamlit's font is not preloaded, as no page uses it.
    """
    order = sorted(NAME, key=lambda code: code != lang)
    words = "".join(f'<p lang="{TAG[code]}">{html.escape(NOSCRIPT[code])}</p>' for code in order)
    head = (
        f'<title>{NAME[lang]}</title><script src="{script}"></script><link rel="stylesheet" href="{style}">'
        '<link rel="icon" type="image/svg+xml" href="/assets/icon.svg">'
    )
    page = replaced(original, r'<html lang="en">', f'<html lang="{TAG[lang]}">')
    page = replaced(page, r'\s*<link rel="shortcut icon"[^>]*>', "")
    page = replaced(page, r'\s*<link\s+rel="preload"[^>]*as="font"[^>]*>', "")
    page = replaced(page, r'\s*<!--(?:(?!-->).)*?-->\s*<link rel="service-desc"[^>]*>', "")
    page = replaced(page, r"<title>.*?</title>", head)
    return replaced(page, r"<noscript>.*?</noscript>", f"<noscript>{words}</noscript>")


def inline_hashes(page: str) -> str:
    """The digests that let exactly the inline scripts of the start page run, and no other."""
    bodies = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(b.encode()).digest()).decode()}'" for b in bodies)


# Streamlit's own files under these prefixes are passed on as they are; a component's HTML is not the start page.
UNTOUCHED = ("/_stcore/", "/media/", "/component/", "/static/", "/assets/", "/api/")


class Frame:
    """Pure ASGI, so that websockets and streamed answers pass through without being collected."""

    def __init__(self, app: ASGIApp, script: str, style: str) -> None:
        original = (Path(file_util.get_static_dir()) / "index.html").read_text("utf-8")
        self.app = app
        self.pages = {lang: start_page(original, lang, script, style).encode() for lang in NAME}
        self.packed = {lang: gzip.compress(page, 9, mtime=0) for lang, page in self.pages.items()}
        self.headers = security_headers(inline_hashes(original))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        ours = not scope["path"].startswith(UNTOUCHED)
        page: Response | None = None

        async def out(message: Message) -> None:
            nonlocal page
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                if ours and message["status"] == 200 and headers.get("content-type", "").startswith("text/html"):
                    page = self.answer(Request(scope))
                    return
                headers.update(self.headers)
            if page is None:
                await send(message)

        await self.app(plain(scope) if ours else scope, receive, out)
        if page is not None:
            await page(scope, receive, send)

    def answer(self, request: Request) -> Response:
        """The start page in the reader's language, or 304 when the browser has it; home for a page that is none."""
        path = request.url.path.strip("/")
        if path and path not in PAGES[1:]:  # the first page's address is "/"
            missing = [] if path in (PAGES[0], "index.html") else [("missing", path)]
            query = urlencode([*missing, *request.query_params.multi_items()])
            return RedirectResponse(f"/?{query}", headers=self.headers)
        lang = language(request.query_params.get("lang"), request.headers.get("accept-language", ""))
        zipped = _assets.accepts_gzip(request)
        body = self.packed[lang] if zipped else self.pages[lang]
        headers = dict(self.headers) | {"cache-control": "no-cache", "vary": "accept-encoding, accept-language"}
        headers |= {"content-language": TAG[lang], "etag": f'"{_assets.digest(body)}"'}
        known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if headers["etag"] in known or "*" in known:
            return Response(status_code=304, headers=headers)
        headers |= {"content-encoding": "gzip"} if zipped else {}
        return Response(body, media_type="text/html", headers=headers)  # for HEAD the server leaves the body out


def plain(scope: Scope) -> Scope:
    """The request without what would make Streamlit answer in a form we cannot recognise: packed, partial or 304."""
    drop = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"if-range", b"range"}
    return {**scope, "headers": [(k, v) for k, v in scope["headers"] if k not in drop], "extensions": {}}


def security_headers(hashes: str) -> dict[str, str]:
    """Nothing is fetched from another host and no string is run as code.

    `blob:` is how Streamlit loads the script of a component, inline styles are how its style library works.
    """
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {hashes}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
    }
