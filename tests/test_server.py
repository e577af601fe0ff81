"""The server around the pages: start page, headers, readiness, what runs first, error box."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import expect
from streamlit import file_util

from pages import _serve
from tests.browser import Server, environment, idle, visit
from tests.small_site import Answer


@pytest.mark.parametrize("path", ["/", "/deep", "/?lang=en"])
def test_start_page_is_ours_at_every_page_address(site: Server, path: str) -> None:
    """Name, icon, style and script are in the page, the script before Streamlit's, and Streamlit's own are gone."""
    page = Answer(site, path)
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<title>Fewer Bits, Fewer Calls</title>" in page.text
    assert '<link rel="icon" type="image/svg+xml" href="/assets/icon.svg">' in page.text
    assert page.text.index('<script src="/assets/wiki.') < page.text.index('type="module"')
    for gone in ("shortcut icon", 'rel="preload"', "SourceSans", "service-desc", "You need to enable JavaScript"):
        assert gone not in page.text
    noscript = page.text.partition("<noscript>")[2].partition("</noscript>")[0]
    assert 'lang="en"' in noscript
    assert 'lang="zh-Hans"' in noscript


@pytest.mark.parametrize(
    ("path", "there"),
    [("/no/such/page?lang=zh&x=%3C", "/?missing=no%2Fsuch%2Fpage&lang=zh&x=%3C"),
     ("/home?lang=en", "/?lang=en"), ("/index.html", "/?")],
    ids=["none", "home", "file"],
)  # fmt: skip
def test_addresses_without_a_page_lead_home(site: Server, path: str, there: str) -> None:
    """What is not a page is named to the first page, on this host; the rest of the query stays."""
    answer = Answer(site, path)
    assert (answer.status, answer.headers["location"]) == (307, there)


@pytest.mark.parametrize(
    ("query", "accept", "tag"),
    [
        ("?lang=zh", "en-US,en;q=0.9", "zh-Hans"),
        ("?lang=en", "zh-CN", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        ("", "zh-TW", "zh-Hans"),
        ("", "en;q=0.5, zh;q=0.9", "zh-Hans"),
        ("", "fr, zh;q=0.9", "en"),
        ("?lang=fr", "zh", "zh-Hans"),
        ('?lang="><script>', "", "en"),
        ("", "", "en"),
        ("", ";;q=x,,", "en"),
    ],
)
def test_lang_attribute_follows_query_then_browser(site: Server, query: str, accept: str, tag: str) -> None:
    page = Answer(site, f"/deep{query}", Accept_Language=accept)
    assert re.findall(r'<html lang="([^"]*)">', page.text) == [tag]
    assert page.headers["content-language"] == tag
    assert "accept-language" in page.headers["vary"]


def test_head_and_304_agree_with_get(site: Server) -> None:
    """Length and tag belong to the body that GET sends; a browser that has this body gets 304 without one."""
    for accept in ("", "gzip"):
        got = Answer(site, "/deep", Accept_Encoding=accept)
        head = Answer(site, "/deep", "HEAD", Accept_Encoding=accept)
        assert (got.headers.get("content-encoding") == "gzip") == bool(accept)
        assert int(got.headers["content-length"]) == len(got.body)
        assert head.body == b""
        same = ("content-length", "etag", "content-type", "content-encoding", "content-security-policy")
        assert [head.headers[name] for name in same] == [got.headers[name] for name in same]
        again = Answer(site, "/deep", Accept_Encoding=accept, If_None_Match=got.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        assert Answer(site, "/deep?lang=zh", Accept_Encoding=accept, If_None_Match=got.headers["etag"]).status == 200


def test_new_shape_of_streamlits_page_stops_the_start() -> None:
    """A Streamlit release that changes its page is noticed when the server starts."""
    with pytest.raises(RuntimeError, match=r"0 places for '<html lang"):
        _serve.start_page("<html><title>x</title></html>", "en", "/a.js", "/a.css")


@pytest.mark.parametrize(
    "path",
    ["/", "/deep", "/assets/icon.svg", "/assets/none", "/api/ready", "/_stcore/health", "/favicon.ico", "//x", "/a/"],
)
def test_security_headers_on_every_answer(site: Server, path: str) -> None:
    headers = Answer(site, path).headers
    policy = headers["content-security-policy"]
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in re.search("script-src ([^;]*)", policy)[1]
    assert {"default-src 'self'", "connect-src 'self'", "frame-ancestors 'self'"} <= set(policy.split("; "))
    assert "http" not in policy
    assert len(headers.get_all("content-security-policy")) == 1
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]


def test_streamlits_own_answers_pass_unchanged(site: Server) -> None:
    assert Answer(site, "/_stcore/health").body == b"ok"
    script = re.search(r'src="\./(static/js/index[^"]+)"', Answer(site, "/").text)[1]
    local = Path(file_util.get_static_dir()) / script
    assert Answer(site, f"/{script}").body == local.read_bytes()


def test_ready_names_the_versions(site: Server) -> None:
    answer = Answer(site, "/api/ready")
    assert answer.headers["content-type"] == "application/json"
    assert f'"streamlit":"{streamlit.__version__}"' in answer.text
    assert '"status":"ok"' in answer.text


def test_blocked_module_cannot_be_imported(tmp_path: Path) -> None:
    """The servers of these tests have no torch, even where it is installed; tried with a module that always is."""
    run = [sys.executable, "-c", "import json.decoder"]
    result = subprocess.run(run, env=environment(tmp_path, ("json",)), capture_output=True, text=True, check=False)
    assert "json is blocked in this test" in result.stderr


@pytest.mark.browser
def test_script_runs_before_the_first_component(site: Server, pages_of: Callable) -> None:
    """`window.wiki` is there when a component draws for the first time; a deep link opens its page on a cold server."""
    page = pages_of(site.url)()
    visit(page, "/deep")
    expect(page.get_by_role("heading", name="Deep")).to_be_visible()
    visit(page, "/")
    expect(page.get_by_text("wiki is here")).to_be_visible()


@pytest.mark.browser
def test_four_megabytes_of_text_reach_the_script(site: Server, pages_of: Callable) -> None:
    """The limits of the socket leave room for a long pasted text, here at its worst: every character is quoted."""
    page = pages_of(site.url)()
    visit(page, "/")
    page.get_by_role("button", name="send").click()
    expect(page.get_by_text("received 4000000")).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize(("lang", "words"), [("en", "Report number: "), ("zh", "报错编号：")])
def test_error_box_speaks_the_language_and_tells_nothing(
    site: Server, pages_of: Callable, lang: str, words: str
) -> None:
    """Our sentence with a number; neither page nor socket carries the exception; the log has both."""
    frames: list[bytes] = []
    page = pages_of(site.url)(locale="fr-FR")
    page.on("websocket", lambda s: s.on("framereceived", lambda f: frames.append(f if isinstance(f, bytes) else b"")))
    visit(page, f"/?lang={lang}&fail=1")
    idle(page)
    box = page.get_by_test_id("stAlert")
    expect(box).to_contain_text(words)
    received = b"".join(frames) + page.content().encode()
    for leak in (b"secret detail", b"Traceback", b"RuntimeError", b'File "', b"in home", b"Streamlit Cloud"):
        assert leak not in received
    number = re.search(r"[0-9a-f]{8}", box.inner_text())[0]
    assert "RuntimeError: the secret detail" in site.log_text()
    assert f"report {number}: RuntimeError" in site.log_text()
