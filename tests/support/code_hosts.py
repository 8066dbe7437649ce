"""Serve the comments of one pull request as GitHub and GitLab do: list in pages, add, replace."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class CodeHost:
    """A server; `comments` are in the order of their ids, which are their positions.

    `requests` has the method, the path and the credentials of each request. It refuses all with `status`, if set.
    """

    comments: list[str] = field(default_factory=list)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    address: str = ""
    status: int = 0
    answer: Any = None

    def respond(self, method: str, path: str, query: dict[str, list[str]], body: str) -> tuple[int, Any]:
        """Return the status and the data of a response."""
        if self.status:
            return self.status, self.answer
        if method == "GET":
            size, page = int(query["per_page"][0]), int(query["page"][0])
            numbered = [{"id": number, "body": text} for number, text in enumerate(self.comments)]
            return 200, numbered[size * (page - 1) : size * page]
        if method == "POST":
            self.comments.append(body)
            return 201, {"id": len(self.comments) - 1}
        self.comments[int(path.rpartition("/")[2])] = body
        return 200, {}


@contextmanager
def serve_comments(*comments: str) -> Iterator[CodeHost]:
    """Run a server with these comments."""
    host = CodeHost(list(comments))

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            secret = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
            host.requests.append((self.command, parts.path, secret))
            body = json.loads(content)["body"] if content else ""
            status, data = host.respond(self.command, parts.path, parse_qs(parts.query), body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(data).encode())

        do_GET = do_POST = do_PATCH = do_PUT = _answer  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
