"""The files the wiki serves itself: bundles, fonts, Plotly; and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import plotly
import pytest

from pages import _assets
from tests.browser import ROOT, Server
from tests.small_site import Answer, asset


def test_bundles_are_immutable_packed_and_named_by_content(site: Server) -> None:
    for kind, media_type in (("js", "text/javascript"), ("css", "text/css")):
        path = asset(site, kind)
        plain, packed = Answer(site, path), Answer(site, path, Accept_Encoding="gzip, br")
        assert plain.headers["content-type"] == f"{media_type}; charset=utf-8"
        assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert packed.headers["content-encoding"] == "gzip"
        assert len(packed.body) < len(plain.body) or kind == "js"
        assert packed.text == plain.text
        assert path == f"/assets/wiki.{_assets.digest(plain.body)}.{kind}"
        assert Answer(site, path, "HEAD").headers["content-length"] == str(len(plain.body))
        assert Answer(site, re.sub(r"\.\w+\.", ".0123456789abcdef.", path)).status == 404


def test_every_part_has_one_script() -> None:
    """A second part of the same name would silently replace the first, on every page."""
    names = re.findall(r"\bparts\.(\w+) = ", _assets.scripts().raw.decode())
    assert len(names) > 20
    assert sorted(names) == sorted(set(names))


def test_every_font_of_the_style_sheet_is_served(site: Server) -> None:
    """All font addresses answer with an unpacked font, carry a digest, and no font lies in the folder unused."""
    addresses = re.findall(r"url\((/assets/fonts/[^)]+)\)", Answer(site, asset(site, "css")).text)
    names = {urlsplit(address).path.rpartition("/")[2] for address in addresses}
    assert names == {f.name for f in (ROOT / "pages/_static/fonts").glob("*.woff2")}
    for address in sorted(set(addresses)):
        font = Answer(site, address, Accept_Encoding="gzip")
        assert (font.status, font.body[:4]) == (200, b"wOF2"), address
        assert "immutable" in font.headers["cache-control"]
        assert re.search(r"\?v=[0-9a-f]{8}$", address)


@pytest.mark.parametrize(
    "path",
    [
        "/assets/fonts/../../app.py",
        "/assets/fonts/..%2f..%2fapp.py",
        "/assets/fonts/%2e%2e/%2e%2e/app.py",
        "/assets/fonts/..%5c..%5capp.py",
        "/assets/fonts/%2fetc%2fpasswd",
        "/assets/fonts//etc/passwd",
        "/assets/fonts/build.py",
        "/assets/fonts/README.md",
        "/assets/fonts/",
        "/assets/../app.py",
        "/assets/wiki.js",
        "/assets/",
        "/api/none",
    ],
)
def test_addresses_outside_the_list_are_refused(site: Server, path: str) -> None:
    answer = Answer(site, path)
    assert answer.status in {400, 404}
    assert len(answer.body) < 100


def test_plotly_comes_from_the_wheel(site: Server) -> None:
    packed = Answer(site, _assets.PLOTLY_URL, Accept_Encoding="gzip")
    assert packed.text == _assets.PLOTLY.read_text("utf-8")
    assert packed.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in packed.headers["cache-control"]
    assert plotly.__version__ in _assets.PLOTLY_URL
    assert Answer(site, "/assets/plotly.min.js?v=0").headers["cache-control"] == "no-cache"


def test_one_broken_off_file_does_not_run_into_the_next(tmp_path: Path) -> None:
    """A script that ends in a comment or without a semicolon leaves the next one whole; order is that of the names."""
    (tmp_path / "2.js").write_text("(() => { b() })()", "utf-8")
    (tmp_path / "1.js").write_text("(() => { a() })() // end", "utf-8")
    assert _assets.scripts(tmp_path).raw == b"(() => { a() })() // end\n;(() => { b() })()"


@pytest.mark.parametrize(
    ("offer", "expected"),
    [("", False), ("gzip", True), ("br, gzip;q=0.5", True), ("br", False)],
)
def test_gzip_only_where_the_client_takes_it(site: Server, offer: str, expected: bool) -> None:
    answer = Answer(site, asset(site, "css"), Accept_Encoding=offer)
    assert (answer.headers.get("content-encoding") == "gzip") is expected
