"""Run commands that serve pages, and send them requests byte by byte."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.commands import build_environment

PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The status, headers (by lower-case name) and body of a response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


@dataclass(frozen=True, slots=True)
class LocalSite:
    """A running command, the address that it printed, and the lines up to it."""

    process: subprocess.Popen[str]
    url: str
    lines: str

    @property
    def port(self) -> int:
        """The port of the address."""
        return int(self.url.rpartition(":")[2].rstrip("/"))

    def send(self, request: bytes) -> bytes:
        """Send the bytes of a request, and return those of the response, until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall(request)
            pieces = []
            try:
                while piece := connection.recv(65_536):
                    pieces.append(piece)
            except ConnectionResetError:  # the server closed the connection before it had read everything
                pass
            return b"".join(pieces)

    def request(self, target: str, method: str = "GET", **headers: str) -> Answer:
        """Send a request with headers, whose names have `_` for `-`."""
        fields = {"Host": f"127.0.0.1:{self.port}", **{key.replace("_", "-"): text for key, text in headers.items()}}
        lines = [f"{method} {target} HTTP/1.1", *(f"{key}: {text}" for key, text in fields.items()), "", ""]
        return parse_answer(self.send("\r\n".join(lines).encode("latin-1")))


def parse_answer(data: bytes) -> Answer:
    """Parse a response."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = [line.partition(": ") for line in lines]
    assert len({name.lower() for name, _, _ in pairs}) == len(pairs), lines
    return Answer(int(first.split(" ")[1]), {name.lower(): value for name, _, value in pairs}, body)


@contextmanager
def serve(*arguments: str | Path, cwd: Path) -> Iterator[LocalSite]:
    """Run a command that serves pages, until the end of the block."""
    line = [sys.executable, "-m", "assay", *map(str, arguments)]
    environment = build_environment(PYTHONUNBUFFERED="1")
    with subprocess.Popen(
        line, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout
            lines = ""
            while not (match := re.search(r"http://\S+/", lines)):
                assert process.poll() is None, lines
                lines += process.stdout.readline()
            yield LocalSite(process, match[0], lines)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
