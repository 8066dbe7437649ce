"""Define `assay site`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_out_option,
    add_results_option,
    open_command_session,
    require_results_folder,
)
from assay.server.static_site import write_history_site


@click.command()
@add_out_option("Folder for the pages.")
@add_results_option
@add_cache_option
@click.pass_context
def site(context: click.Context, out: str, results: Path | None) -> None:
    """Write the metrics over time as web pages that need no server.

    The first page has all recorded metrics, those that became worse first.
    """
    folder = require_results_folder(results)
    with open_command_session() as session:
        place = write_history_site(session, context.obj["config"], folder, Path(out))
    output.print_line(place)
