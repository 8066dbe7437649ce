"""Define `assay fetch`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import click

from assay.app.session.session import Session
from assay.cli import output
from assay.cli.options import (
    add_out_option,
)
from assay.cli.progress import display_progress
from assay.remote import prometheus
from assay.remote.http import Server


class ProgressHolder:
    """A progress callback (step, done, total), held as an attribute like that of a session."""

    def __init__(self) -> None:
        self.progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None


@click.command()
@click.argument("kind", type=click.Choice(["prometheus"]))
@click.argument("url")
@click.option("--match", "selectors", metavar="SELECTOR", multiple=True, required=True,
              help='Series to fetch, such as up or {job="node"} (repeatable).')  # fmt: skip
@click.option("--start", metavar="T", required=True, help="Start time: RFC 3339, or seconds since 1970.")
@click.option("--end", metavar="T", required=True, help="End time, in the same formats.")
@add_out_option("Folder for samples.parquet.")
@click.option(
    "--step-size", default="1h", show_default=True, metavar="DURATION", help="Longest time range of one request."
)
def fetch(kind: str, url: str, selectors: tuple[str, ...], start: str, end: str, out: str, step_size: str) -> None:
    """Download raw samples from a server."""

    assert kind == "prometheus"
    request = prometheus.build_request(selectors, start, end, step_size)
    progress_holder = ProgressHolder()
    with display_progress(cast("Session", progress_holder)):
        place = prometheus.fetch(
            Server(url), request, Path(out), lambda label, done, total: progress_holder.progress(label, done, total)
        )
    output.print_line(place)
