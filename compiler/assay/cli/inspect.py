"""`assay inspect`: the names of the records in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli import output
from assay.cli.completion import folders
from assay.cli.options import cache_option, system_option, table_option, working

if TYPE_CHECKING:
    from assay.app.inspect import RecordName

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
    from assay.util.escape import cut

    if item.ruled_out:
        return f"ruled out of `{item.event}` by what the record holds"
    if item.event:
        return "" if item.records else "no record"
    if item.ignored:
        return "ignored"
    likely = [f"may be `{rename.event}`: {rename.reason}" for rename in item.likely]
    example = [f"{item.where}: {cut(item.text, WIDEST)}"] if item.where else []
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
