"""Requests that are refused: other methods, hosts, sites and paths; too large, slow or many ones."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.server.responses import REPORT_POLICY, REPORT_TYPES, read_file
from tests.support.commands import run_assay
from tests.support.local_sites import LocalSite, parse_answer, serve

BUILD = "/builds/service/comparison/1.0/1.1"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[LocalSite]:
    """Serve a workspace with a report that is built."""
    place = tmp_path_factory.mktemp("serve") / "shop"
    assert run_assay("init", place).status == 0
    (place / "assay.toml").write_text('runs-directory = "runs"\nresults = "results"\n', encoding="utf-8")
    with serve("--cache", cache, "serve", "--port", "0", cwd=place) as running:
        while (status := running.request(f"{BUILD}/report.html").status) == 202:
            pass
        assert status == 200
        yield running


def test_other_methods_are_refused(site: LocalSite) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X"):
        answer = site.request("/", method)
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD"), method


def test_head_has_headers_only(site: LocalSite) -> None:
    answer = site.request("/", "HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert int(answer.headers["content-length"]) > 1000


OTHER_HOSTS = (
    "example.org",
    "example.org:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.example.org:{port}",
    "localhost@x:{port}",
    "10.0.0.1:{port}",
    "localhost:{port}, example.org",
    "",
    "[::1",
    "127.0.0.1:{port}/",
    "localhost:99999999",
)


def test_other_hosts_are_refused(site: LocalSite) -> None:
    for host in OTHER_HOSTS:
        assert site.request("/", Host=host.format(port=site.port)).status == 421, host


def test_own_hosts_are_accepted(site: LocalSite) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert site.request("/", Host=f"{name}:{site.port}").status == 200, name


def test_request_needs_exactly_one_host(site: LocalSite) -> None:
    line = f"Host: localhost:{site.port}\r\n"
    for lines in ("", line + line, line + "host: example.org\r\n"):
        assert parse_answer(site.send(f"GET / HTTP/1.1\r\n{lines}\r\n".encode())).status == 421


def test_requests_of_other_sites_are_refused(site: LocalSite) -> None:
    for origin in ("cross-site", "same-site"):
        for mode, kind in (("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")):
            answer = site.request("/", Sec_Fetch_Site=origin, Sec_Fetch_Mode=mode, Sec_Fetch_Dest=kind)
            assert answer.status == 403
        link = site.request("/", Sec_Fetch_Site=origin, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")
        assert link.status == 200


def test_other_paths_do_not_exist(site: LocalSite) -> None:
    for path in (Path(__file__).parent / "missing_paths.txt").read_text(encoding="utf-8").splitlines():
        assert site.request(path).status == 404, path


MALFORMED_ADDRESSES = (
    "/%00",
    "/%0d%0aSet-Cookie:%20a=b",
    "/compare?report=a%0d%0aX:%20y",
    "/%ff",
    "/?x=%ff",
    "/%c0%ae%c0%ae/",
    "*",
    "x",
    "http://example.org/",
    "/?" + "a=1&" * 30,
)


def test_malformed_addresses_are_refused(site: LocalSite) -> None:
    for target in MALFORMED_ADDRESSES:
        answer = site.request(target)
        assert answer.status == 400, target
        assert not {"set-cookie", "x"} & set(answer.headers)


def test_redirection_escapes_names(site: LocalSite) -> None:
    target = "/compare?report=service/comparison&run=1.0&run=1.1"
    assert site.request(target).headers["location"] == f"{BUILD}/report.html"
    for name in ("//example.org", "\\\\example.org", "http://example.org"):
        answer = site.request(f"/compare?report={name}/x&run=1.0&run=1.1")
        assert (answer.status, answer.headers.get("location")) == (404, None)


def test_links_out_of_a_build_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir()
    (tmp_path / "secret.json").write_text("secret", encoding="utf-8")
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "parent").symlink_to(tmp_path)
    (folder / "loop.json").symlink_to(folder / "loop.json")
    (folder / "program.js").write_text("alert(1)", encoding="utf-8")
    (folder / "real.json").write_text("{}", encoding="utf-8")
    for parts in (["link.json"], ["parent", "secret.json"], ["loop.json"], ["program.js"], [".."], ["", "real.json"]):
        assert read_file(folder, parts, REPORT_TYPES, REPORT_POLICY) is None
    response = read_file(folder, ["real.json"], REPORT_TYPES, REPORT_POLICY)
    assert response
    assert response.body == b"{}"


def test_every_page_has_its_policy(site: LocalSite) -> None:
    for path in ("/", "/nope", "/assets/server.css", f"{BUILD}/report.html", f"{BUILD}/results.json", "/%00"):
        headers = site.request(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; ")
        assert "frame-ancestors" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
    page = site.request("/")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert not re.search(r"<script(?! src=\"/assets/)|<style| on[a-z]+=| style=", page.text)


def test_large_requests_are_refused(site: LocalSite) -> None:
    host = f"Host: localhost:{site.port}\r\n"
    for request in (f"GET /{'a' * 40_000} HTTP/1.1\r\n{host}\r\n", f"GET / HTTP/1.1\r\n{host}A: {'b' * 40_000}\r\n\r\n",
                    f"GET / HTTP/1.1\r\n{host}" + "A: b\r\n" * 200 + "\r\n"):  # fmt: skip
        data = site.send(request.encode())
        assert not data or parse_answer(data).status in (400, 414, 421, 431)
    assert site.request("/").status == 200


MALFORMED_REQUESTS = (
    b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1 x\r\n\r\n",
    b"GET / HTTP/1.1\r\n broken\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01",
)


def test_malformed_requests_do_no_harm(site: LocalSite) -> None:
    for data in MALFORMED_REQUESTS:
        answer = site.send(data + b"\n\n")
        assert b"Traceback" not in answer
        assert not answer or parse_answer(answer).status in (400, 421, 505), data
    assert site.request("/").status == 200


def test_idle_connections_do_not_block_others(site: LocalSite) -> None:
    """Those beyond the limit are closed at once; those within it after ten seconds, even if bytes trickle in."""
    connections = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(80)]
    try:
        start = time.monotonic()
        slow = connections[0]
        slow.settimeout(1)
        closed = False
        while not closed and time.monotonic() - start < 30:
            try:
                slow.sendall(b"G")
                closed = slow.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                closed = True
        assert closed
        while not site.send(f"HEAD / HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode()):
            assert time.monotonic() - start < 30  # the last of the others may be a moment later
    finally:
        for connection in connections:
            connection.close()


def test_other_hosts_are_warned_of(tmp_path: Path, cache: Path) -> None:
    assert run_assay("init", tmp_path / "shop").status == 0
    result = run_assay("serve", "--host", "192.0.2.1", cwd=tmp_path / "shop")
    assert result.status == 2
    assert result.err.startswith("error[address]: the server cannot listen at 192.0.2.1:8321\n")
    with serve("--cache", cache, "serve", "--host", "0.0.0.0", "--port", "0", cwd=tmp_path / "shop") as running:
        assert running.lines.startswith("warning: everyone who reaches 0.0.0.0 can read the pages: ")
        assert running.request("/", Host=f"10.1.2.3:{running.port}").status == 200
        assert running.request("/", Host=f"example.org:{running.port}").status == 421
