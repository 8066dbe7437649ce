"""Define `assay inspect`."""

from __future__ import annotations

import click

from assay.app.author.inspect import RecordName, inspect_run
from assay.app.session.runs import parse_runs
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_system_option,
    add_table_option,
    complete_folders,
    open_command_session,
)
from assay.util.escape import truncate

HEADER = ("name", "records", "hosts", "event", "metrics", "note")


FEW_HOSTS, FEW_METRICS = 2, 3  # listed by name in a table


WIDEST = 160  # characters shown of a record's text


WIDEST_NAME = 60  # characters shown of a name in a table; those of text logs are patterns


@click.command()
@click.argument("run", metavar="[NAME=]RUN", shell_complete=complete_folders)
@add_system_option
@add_table_option
@add_cache_option
def inspect(run: str, system: str | None, form: str) -> None:
    """List the record names in a run, with their counts, events and metrics.

    Lists the names of events, then unknown names with the events that they may be new names of, then events without
    records. Works even if no record is recognised. The table cuts long names; --format json and csv have them whole.
    """

    with open_command_session() as session:
        (named_run,) = parse_runs([run])
        inspection = inspect_run(session, named_run, system)
    if form == "json":
        output.print_data([_export_record_name(item) for item in inspection.names])
    else:
        output.print_rows(HEADER, [_format_row(item, form == "table") for item in inspection.names], form)
    output.print_warnings(inspection.notes)


def _format_row(item: RecordName, is_short: bool) -> tuple[str, ...]:

    hosts = _format_few(item.hosts, FEW_HOSTS, "hosts") if is_short else " ".join(item.hosts)
    metrics = _format_few(item.metrics, FEW_METRICS, "metrics") if is_short else " ".join(item.metrics)
    event = item.event if item.event and not item.is_ruled_out else "—" if is_short else ""
    name = truncate(item.name, WIDEST_NAME) if is_short else item.name
    return name, str(item.records), hosts, event, metrics, _format_note(item)


def _format_few(names: tuple[str, ...], limit: int, plural: str) -> str:
    """Return a few names, or the number of many."""
    return ", ".join(names) if len(names) <= limit else f"{len(names)} {plural}"


def _format_note(item: RecordName) -> str:
    """Return further information on a name."""

    if item.is_ruled_out:
        return f"rejected by the conditions of `{item.event}`"
    if item.event:
        return "" if item.records else "no record"
    if item.is_ignored:
        return "ignored"
    suggestions = [f"may be `{rename.event}`: {rename.reason}" for rename in item.likely_renames]
    example = [f"{item.location}: {truncate(item.text, WIDEST)}"] if item.location else []
    return "; ".join([*suggestions, *example])


def _export_record_name(item: RecordName) -> dict[str, object]:
    return {
        "source": item.source,
        "name": item.name,
        "records": item.records,
        "hosts": list(item.hosts),
        "event": item.event,
        "metrics": list(item.metrics),
        "ignored": item.is_ignored,
        "ruled_out": item.is_ruled_out,
        "may_be": [{"event": rename.event, "reason": rename.reason} for rename in item.likely_renames],
        "where": item.location,
        "text": item.text,
    }
