"""Define `assay list`."""

from __future__ import annotations

import click

from assay.app.session.list_definitions import list_definitions
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_system_option,
    add_table_option,
    open_command_session,
)


@click.command(name="list")
@click.argument("kind", type=click.Choice(["metrics", "events", "grains", "columns", "filters", "series", "reports"]))
@add_system_option
@add_table_option
@add_cache_option
def list_(kind: str, system: str | None, form: str) -> None:
    """List metrics, events, grains, columns, filters, series or reports.

    The column `--by` says which columns `--by` takes: dimensions split metrics, of others it prints the values.
    """

    with open_command_session() as session:
        header, rows = list_definitions(session, kind, session.list_systems(system))
    output.print_rows(header, rows, form)
