"""Run an S3 server (moto) on loopback, and a connection to it that tests can cut."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.servers import wait

REGION = "us-east-1"


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

    def count_listings(self) -> int:
        """Return the number of listings so far."""
        return len(re.findall(r"GET /[^ ]*list-type=2", self.log.read_text(errors="replace")))


def find_free_port() -> int:
    """Return a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


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
