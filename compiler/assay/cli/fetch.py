"""`assay fetch`: raw data from a server into a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from assay.cli import output
from assay.cli.options import out_option

if TYPE_CHECKING:
    from assay.app.session import Session


class Watch:
    """What is told of the progress: what is done, how much of it, of how much."""

    def __init__(self) -> None:
        self.progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None


@click.command()
@click.argument("kind", type=click.Choice(["prometheus"]))
@click.argument("url")
@click.option("--match", "selectors", metavar="SELECTOR", multiple=True, required=True,
              help='Series to fetch, such as up or {job="node"} (repeatable).')  # fmt: skip
@click.option("--start", metavar="T", required=True, help="Start time: RFC 3339, or seconds since 1970.")
@click.option("--end", metavar="T", required=True, help="End time, in the same formats.")
@out_option("Folder for samples.parquet.")
@click.option(
    "--step-size", default="1h", show_default=True, metavar="DURATION", help="Longest time that one request covers."
)
def fetch(
    kind: str, url: str, selectors: tuple[str, ...], start: str, end: str, out: str, step_size: str
) -> None:  # fmt: skip
    """Download raw samples from a server."""
    from assay.cli.progress import watched
    from assay.remote import prometheus
    from assay.remote.http import Server

    assert kind == "prometheus"
    request = prometheus.request_of(selectors, start, end, step_size)
    watch = Watch()
    with watched(cast("Session", watch)):
        place = prometheus.fetch(
            Server(url), request, Path(out), lambda what, done, total: watch.progress(what, done, total)
        )
    output.line(place)
