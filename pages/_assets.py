"""Static files of the wiki, served by routes instead of from a CDN.

Scripts and styles are joined once, when the server starts, into one file each whose name carries a digest of its
content: a browser may keep such a file for ever, and a new release can never meet an old copy. Streamlit's own static
folder is not used, because it sends no such headers and has no list of what may be served.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import plotly
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

STATIC = Path(__file__).parent / "_static"
FOREVER = "public, max-age=31536000, immutable"
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
PLOTLY_URL = f"/assets/plotly.min.js?v={plotly.__version__}"

# Two narrow bars under one wide bar: fewer bits below, one call above. Drawn for this wiki.
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57d0"/>'
    '<g fill="#fbfaf7"><rect x="6" y="7" width="20" height="5" rx="1.5"/><rect x="6" y="15" width="9" height="4" '
    'rx="1.5"/><rect x="17" y="15" width="9" height="4" rx="1.5"/><rect x="6" y="22" width="4" height="3" rx="1"/>'
    '<rect x="12" y="22" width="4" height="3" rx="1"/></g></svg>'
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Joined files, ready to send: the address names the content."""

    url: str
    media_type: str
    raw: bytes
    packed: bytes


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def bundle(kind: str, media_type: str, text: str) -> Bundle:
    raw = text.encode()
    return Bundle(f"/assets/wiki.{digest(raw)}.{kind}", media_type, raw, gzip.compress(raw, 9, mtime=0))


def scripts(folder: Path = STATIC / "js") -> Bundle:
    """All scripts, in the order of their names. The line break and `;` keep one file from running into the next."""
    files = sorted(folder.glob("*.js"))
    return bundle("js", "text/javascript", "\n;".join(f.read_text("utf-8") for f in files))


def styles(folder: Path = STATIC / "css", fonts: Path = STATIC / "fonts") -> Bundle:
    """All styles; every font address gets its file's digest, so that a rebuilt font is fetched again."""
    text = "\n".join(f.read_text("utf-8") for f in sorted(folder.glob("*.css")))

    def stamp(match: re.Match[str]) -> str:
        return f"{match[0]}?v={digest((fonts / match[1]).read_bytes())[:8]}"

    return bundle("css", "text/css", re.sub(r"/assets/fonts/([\w.-]+\.woff2)", stamp, text))


def accepts_gzip(request: Request) -> bool:
    """Weights are not read: the middleware around us does not either, and would pack what this says no to."""
    return "gzip" in request.headers.get("accept-encoding", "")


def packed_response(request: Request, raw: bytes, packed: bytes, media_type: str, caching: str) -> Response:
    """One of two ready-made bodies, so that nothing is packed while a reader waits."""
    zipped = accepts_gzip(request)
    headers = {"cache-control": caching, "vary": "accept-encoding"} | ({"content-encoding": "gzip"} if zipped else {})
    return Response(packed if zipped else raw, media_type=media_type, headers=headers)


@cache
def plotly_files() -> tuple[bytes, bytes]:
    """Plotly's script and its gzip form (a third of a second, hence once and from the warm-up thread)."""
    raw = PLOTLY.read_bytes()
    return raw, gzip.compress(raw, 9, mtime=0)


def plotly_js(request: Request) -> Response:
    current = request.query_params.get("v") == plotly.__version__
    return packed_response(request, *plotly_files(), "text/javascript", FOREVER if current else "no-cache")


def missing(_: Request) -> Response:
    """Without this Streamlit would answer any unknown address with its start page and the status 200."""
    return Response("Not found", 404, {"cache-control": "no-store"}, "text/plain")


def routes(*bundles: Bundle) -> list[Route]:
    """The addresses under /assets. Fonts are looked up in a list made here, so no path reaches the file system."""
    fonts = {f.name: f for f in (STATIC / "fonts").glob("*.woff2")}

    def font(request: Request) -> Response:
        file = fonts.get(request.path_params["name"])
        if file is None:
            return missing(request)
        return FileResponse(file, headers={"cache-control": FOREVER}, media_type="font/woff2")

    def icon(_: Request) -> Response:
        return Response(ICON, media_type="image/svg+xml", headers={"cache-control": "public, max-age=86400"})

    def serve(part: Bundle) -> Route:
        def send(request: Request) -> Response:
            return packed_response(request, part.raw, part.packed, part.media_type, FOREVER)

        return Route(part.url, send)

    return [
        *map(serve, bundles),
        Route("/assets/plotly.min.js", plotly_js),
        Route("/assets/fonts/{name}", font),
        Route("/assets/icon.svg", icon),
        Route("/favicon.ico", icon),
        Route("/favicon.png", icon),
        Route("/assets/{rest:path}", missing),
    ]
