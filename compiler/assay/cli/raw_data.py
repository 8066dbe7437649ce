"""`assay fetch` and `assay inspect`: get raw data, and list its records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from assay.cli import output
from assay.cli.options import cache_option, folders, out_option, system_option, table_option, working

if TYPE_CHECKING:
    from assay.app.inspect import RecordName
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


HEADER = ("name", "records", "hosts", "event", "metrics", "note")
FEW_HOSTS, FEW_METRICS = 2, 3  # that a table lists by name
WIDEST = 160  # characters of a record's text


@click.command()
@click.argument("run", metavar="[NAME=]RUN", shell_complete=folders)
@system_option
@table_option
@cache_option
@click.pass_context
def inspect(context: click.Context, run: str, system: str | None, form: str) -> None:
    """List the record names in a run: how often each occurs, which event it is, and which metrics need it.

    Names of events come first, then unknown names with the events that they may be new names of, then events without
    records. The command works even if it recognises no record.
    """
    from assay.app.inspect import inspect_run
    from assay.app.runs import named_runs

    with working(context) as session:
        (named,) = named_runs([run])
        inspection = inspect_run(session, named, system)
    if form == "json":
        output.data([_data(item) for item in inspection.names])
    else:
        output.rows(HEADER, [_row(item, form == "table") for item in inspection.names], form)
    output.warnings(inspection.notes)


def _row(item: RecordName, short: bool) -> tuple[str, ...]:
    hosts = _listed(item.hosts, FEW_HOSTS, "hosts") if short else " ".join(item.hosts)
    metrics = _listed(item.metrics, FEW_METRICS, "metrics") if short else " ".join(item.metrics)
    event = item.event if item.event and not item.ruled_out else "—" if short else ""
    return item.name, str(item.records), hosts, event, metrics, _note(item)


def _listed(names: tuple[str, ...], few: int, plural: str) -> str:
    """A few names, or how many there are."""
    return ", ".join(names) if len(names) <= few else f"{len(names)} {plural}"


def _note(item: RecordName) -> str:
    """What else is to be known of a name."""
    from assay.util.escape import truncate

    if item.ruled_out:
        return f"ruled out of `{item.event}` by what the record holds"
    if item.event:
        return "" if item.records else "no record"
    if item.ignored:
        return "ignored"
    likely = [f"may be `{rename.event}`: {rename.reason}" for rename in item.likely]
    example = [f"{item.where}: {truncate(item.text, WIDEST)}"] if item.where else []
    return "; ".join([*likely, *example])


def _data(item: RecordName) -> dict[str, object]:
    return {
        "source": item.source,
        "name": item.name,
        "records": item.records,
        "hosts": list(item.hosts),
        "event": item.event,
        "metrics": list(item.metrics),
        "ignored": item.ignored,
        "ruled_out": item.ruled_out,
        "may_be": [{"event": rename.event, "reason": rename.reason} for rename in item.likely],
        "where": item.where,
        "text": item.text,
    }
