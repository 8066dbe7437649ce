"""Serve a site over HTTP to browsers on this machine.

The standard library suffices: each connection has one request (HTTP/1.0) and a thread. Limits of size, time and number
bound what a client can use.
"""

from __future__ import annotations

import io
import os
import re
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assay.server.requests import (
    BadRequestError,
    Request,
    is_foreign_post,
    is_of_other_site,
    is_own_host,
    parse_form,
    parse_target,
)
from assay.server.responses import Response, build_text_response
from assay.util.diagnostics import USAGE, fail

MOST_BYTES = 32_768  # of a request
MOST_SECONDS = 10.0  # for a request to arrive, and for each part of a response to leave
MOST_CONNECTIONS = 64
METHODS = ("GET", "HEAD")
_UNSAFE = re.compile(r"[^\x20-\x7e]")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Answer = Callable[[Request], Response]
NO_POSTS: Mapping[str, Answer] = {}


class _LimitedReader(io.RawIOBase):
    """The bytes of a request. Raises TimeoutError after the time limit; ends at the size limit."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._end_time = time.monotonic() + MOST_SECONDS
        self._room = MOST_BYTES

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has arrived, at most as much as the limit leaves."""
        seconds = self._end_time - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)
        size = self._connection.recv_into(memoryview(buffer)[: self._room]) if self._room else 0
        self._room -= size
        return size

    @property
    def is_full(self) -> bool:
        """Whether the size limit is reached."""
        return self._room == 0


class _Handler(BaseHTTPRequestHandler):
    """Reads one request and sends its response."""

    server: LocalServer
    default_request_version = "HTTP/1.0"  # so that each response has headers

    def setup(self) -> None:
        """Limit what is read."""
        super().setup()
        self._reader = _LimitedReader(self.connection)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        """Answer the request of a connection; a connection that breaks or takes too long is closed."""
        self.close_connection = True
        self.command, self.request_version, self.requestline = "", "HTTP/1.0", ""
        try:
            self.raw_requestline = self.rfile.readline(MOST_BYTES)
            if len(self.raw_requestline) == MOST_BYTES:
                self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG)
            elif self.raw_requestline and self.parse_request():
                response = self._choose_response()
                self.connection.settimeout(MOST_SECONDS)
                self._send(response)
        except (TimeoutError, ConnectionError):
            return

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Refuse a request that cannot be parsed; the response has no text of it."""
        status = HTTPStatus(code)
        self._send(build_text_response(status, status.phrase))

    def _choose_response(self) -> Response:
        """Return the response of the site, or the refusal of a request that is not for it."""
        server = self.server
        if self._reader.is_full:
            return build_text_response(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request is too large")
        if not is_own_host(self.headers, server.host, server.port):
            return build_text_response(HTTPStatus.MISDIRECTED_REQUEST, f"the Host is not that of {server.url}")
        if is_of_other_site(self.headers):
            return build_text_response(HTTPStatus.FORBIDDEN, "a page of another site sent the request")
        if self.command == "POST" and (post := server.posts.get(self.path)):
            return self._post(post)
        if self.command not in METHODS:
            response = build_text_response(HTTPStatus.METHOD_NOT_ALLOWED, "the site is read-only")
            return Response(response.body, response.type, response.status, headers={"Allow": ", ".join(METHODS)})
        return _answer_safely(lambda: server.answer(parse_target(self.path)))

    def _post(self, post: Answer) -> Response:
        """Return the response to a form."""
        if is_foreign_post(self.headers):
            return build_text_response(HTTPStatus.FORBIDDEN, "a page of another site sent the form")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            return build_text_response(HTTPStatus.LENGTH_REQUIRED, "the length of the form is not known")
        if int(length) > MOST_BYTES:
            return build_text_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the form is too large")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return build_text_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the form is too large, or incomplete")
        return _answer_safely(lambda: post(parse_form(self.headers, body)))

    def _send(self, response: Response) -> None:
        self.send_response_only(response.status)
        headers = {**HEADERS, "Content-Type": response.type, "Content-Security-Policy": response.policy}
        if isinstance(response.body, bytes):
            headers["Content-Length"] = str(len(response.body))
        for name, value in {**headers, **(response.headers or {})}.items():
            assert not _UNSAFE.search(value), name
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        for piece in (response.body,) if isinstance(response.body, bytes) else response.body:
            self.wfile.write(piece)


def _answer_safely(answer: Callable[[], Response]) -> Response:
    """Return a response; a bug must not end the server."""
    try:
        return answer()
    except BadRequestError as error:
        return build_text_response(HTTPStatus.BAD_REQUEST, str(error))
    except Exception as error:
        text = f"internal error: {type(error).__name__}: {error}"
        return build_text_response(HTTPStatus.INTERNAL_SERVER_ERROR, text)


class LocalServer(ThreadingHTTPServer):
    """A server that listens at a host and port; `answer` returns the response to each request.

    `posts` are those to forms, by the address that they are sent to.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str, port: int, answer: Answer, posts: Mapping[str, Answer] = NO_POSTS) -> None:
        self.host = host
        self.answer = answer
        self.posts = posts
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    @property
    def port(self) -> int:
        """The port, also if the system chose it."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address of the first page."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}/"

    def server_bind(self) -> None:
        """Bind without a look-up of the name, which may take seconds."""
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a request in a thread; close the connection if there are too many."""
        if self._slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a request, then make room for another one."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that broke."""


def open_server(host: str, port: int, answer: Answer, posts: Mapping[str, Answer] = NO_POSTS) -> LocalServer:
    """Listen at a host and port; 0 is any free port. Raises AssayError (usage) if that is not possible."""
    try:
        return LocalServer(host, port, answer, posts)
    except (OSError, UnicodeError, TypeError) as error:  # the last two: a host that is no valid name
        number = getattr(error, "errno", None) or 0  # negative for a name that is not known
        cause = os.strerror(number) if number > 0 else str(error)
        raise fail("address", f"the server cannot listen at {host}:{port}", found=cause,
                   hint="choose another --port, or `--port 0` for any free one", status=USAGE) from None  # fmt: skip
