"""Run an S3 server (moto) on loopback, and a connection to it that tests can cut."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.servers import wait

REGION = "us-east-1"
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


@dataclass(frozen=True)
class S3Server:
    """A server with its address, log, and a client that is not under test."""

    url: str
    log: Path
    client: Any

    def put(self, folder: Path, bucket: str, prefix: str) -> None:
        """Upload the files of a folder below a prefix."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                key = f"{prefix}/{path.relative_to(folder).as_posix()}"
                self.client.put_object(Bucket=bucket, Key=key, Body=path.read_bytes())

    def list_read_objects(self) -> list[str]:
        """Return the objects read so far, one per request."""
        return re.findall(r"GET /([^? ]+/[^? ]+) HTTP", self.log.read_text(errors="replace"))

    def list_objects(self, bucket: str, prefix: str) -> list[str]:
        """Return the names of the objects of a bucket that begin with a prefix."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [item["Key"] for page in pages for item in page.get("Contents", ())]

    def count_listings(self) -> int:
        """Return the number of listings so far."""
        return len(re.findall(r"GET /[^ ]*list-type=2", self.log.read_text(errors="replace")))


def find_free_port() -> int:
    """Return a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def list_settings(url: str, folder: Path) -> dict[str, str]:
    """Return the environment of a process that uses a server, without the settings of the user; `folder` is empty."""
    return {
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": url,
        "AWS_DEFAULT_REGION": REGION, "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(folder / "none"), "AWS_SHARED_CREDENTIALS_FILE": str(folder / "none"),
    }  # fmt: skip


@contextmanager
def run_s3_server(folder: Path, **environment: str) -> Iterator[S3Server]:
    """Run a server without buckets."""
    import boto3

    port = find_free_port()
    url, log = f"http://127.0.0.1:{port}", folder / f"{port}.log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as stream:
        server = subprocess.Popen(command, stdout=stream, stderr=stream, env={**os.environ, **environment})
        try:
            wait(server, f"{url}/moto-api/", log)
            client = boto3.client("s3", endpoint_url=url, region_name=REGION, aws_access_key_id="put",
                                  aws_secret_access_key="put")  # fmt: skip
            yield S3Server(url, log, client)
            client.close()
        finally:
            server.kill()
            server.wait()


@dataclass
class BusyGateway:
    """A gateway to a server that answers 503 to those requests, counted from 1, for which `is_busy` returns true."""

    url: str = ""
    requests: int = 0
    refusals: int = 0
    is_busy: Callable[[int], bool] = lambda _number: False


@contextmanager
def open_busy_gateway(server: S3Server) -> Iterator[BusyGateway]:
    """Open a gateway to a server on a port of its own."""
    gateway, lock = BusyGateway(), threading.Lock()
    target = urllib.parse.urlsplit(server.url).netloc

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_request(self) -> None:
            """Forward a request, or answer that the server is busy."""
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                gateway.requests += 1
                is_refused = gateway.is_busy(gateway.requests)
                gateway.refusals += is_refused
            if is_refused:
                self.answer(503, {}, SLOW_DOWN)
                return
            connection = http.client.HTTPConnection(target, timeout=60)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            content = response.read()
            names = {"content-length", "transfer-encoding", "connection", "date", "server"}
            headers = {name: value for name, value in response.getheaders() if name.lower() not in names}
            if self.command == "HEAD":
                headers["Content-Length"] = response.headers.get("Content-Length", "0")
            self.answer(response.status, headers, content)
            connection.close()

        def answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
            """Write a response."""
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request  # noqa: N815  # names of the base class

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        gateway.url = f"http://127.0.0.1:{httpd.server_port}"
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield gateway
        httpd.shutdown()


@dataclass
class CutConnection:
    """A connection that ends after this many bytes of answers, each time; None: never."""

    url: str
    byte_count: int = 0
    limit: int | None = None


@contextmanager
def open_cut_connection(server: S3Server) -> Iterator[CutConnection]:
    """Open a connection to a server on a port of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    connection = CutConnection(f"http://127.0.0.1:{listening.getsockname()[1]}")
    target = int(server.url.rpartition(":")[2])

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(("127.0.0.1", target))
                for one, other, is_counted in ((near, far, False), (far, near, True)):
                    threading.Thread(
                        target=_forward_bytes, args=(connection, one, other, is_counted), daemon=True
                    ).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield connection
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def _forward_bytes(connection: CutConnection, one: socket.socket, other: socket.socket, is_counted: bool) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(2**14):
            if is_counted:
                connection.byte_count += len(data)
            if is_counted and connection.limit is not None and connection.byte_count > connection.limit:
                break
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
