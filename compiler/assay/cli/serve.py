"""Define `assay serve`, and the server of `assay watch --serve`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from assay.cli import output
from assay.cli.options import add_cache_option, add_results_option, open_command_session
from assay.server.http_server import LocalServer, open_server
from assay.server.registry_site import RegistrySite
from assay.server.requests import is_loopback
from assay.util.scratch import create_temporary_folder

HOST = "127.0.0.1"
PORT, WATCH_PORT = 8321, 8322
LAST_PORT = 65_535


def add_address_options(port: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds `--host` and `--port`."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--port", type=click.IntRange(0, LAST_PORT), default=port, show_default=True,
                               metavar="N", help="Port of the pages; 0 is any free port.")(command)  # fmt: skip
        return click.option("--host", default=HOST, show_default=True, metavar="NAME",
                            help="Address at which the server listens.")(command)  # fmt: skip

    return add


def print_address(server: LocalServer) -> None:
    """Print the address of a server; warn if other machines can reach it."""

    if not is_loopback(server.host):
        output.print_warnings(
            [f"everyone who reaches {server.host} can read the pages: there is no password and no encryption"]
        )
    output.print_line(f"serving {server.url} (Ctrl-C stops it)")
    sys.stdout.flush()


@click.command()
@add_address_options(PORT)
@add_results_option
@add_cache_option
@click.pass_context
def serve(context: click.Context, host: str, port: int, results: Path | None) -> None:
    """Show runs, comparisons, histories and definitions in the browser.

    Comparisons are built when they are opened. Only this machine can open the pages, and write notes on level shifts.
    """

    with open_command_session() as session, create_temporary_folder() as root:
        site = RegistrySite(session, context.obj["config"], results, root, may_write=is_loopback(host))
        with open_server(host, port, site.answer, site.posts) as server, exit_on_termination():
            print_address(server)
            try:
                server.serve_forever()
            finally:
                site.runner.stop()


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """Let SIGTERM end the block as an exit with status 0, so that what it started ends, too."""
    former = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
