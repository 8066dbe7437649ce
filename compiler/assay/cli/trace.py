"""Define `assay trace`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.audit import trace as trace_module
from assay.app.audit import trace_view
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    complete_folders,
    open_command_session,
)
from assay.provenance.read import get_build_folder


@click.command()
@click.argument("folder", metavar="BUILD_FOLDER", shell_complete=complete_folders)
@click.argument("cell", metavar="[SECTION/ROW/COLUMN]", default="")
@click.option("--list", "listed", is_flag=True, help="List the cells of the report (default without a cell).")
@click.option(
    "--run",
    "runs",
    metavar="NAME=DIR",
    multiple=True,
    help="New directory or address of a run that moved (repeatable).",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@add_cache_option
def trace(folder: str, cell: str, listed: bool, runs: tuple[str, ...], form: str) -> None:
    """Trace a cell of a built report to its samples and their log lines.

    \b
    assay trace build/cmp --list
    assay trace build/cmp 'SECTION/ROW/COLUMN'
    assay trace build/cmp 'SECTION/ROW/COLUMN' --format json
    """

    if listed and cell:
        raise click.UsageError("Pass either a cell SECTION/ROW/COLUMN or --list.", click.get_current_context())
    listed = not cell
    build_folder = get_build_folder(Path(folder))
    with open_command_session() as session:
        traced_cell = None if listed else trace_module.trace_cell(session, build_folder, cell, runs)
        cells = trace_module.list_cells(session, build_folder) if listed else ()
    output.print_warnings(trace_module.list_provenance_warnings(build_folder))
    if traced_cell is None:
        data: object = trace_view.export_listing(cells)
        text = "\n".join(trace_view.format_listing(cells))
    else:
        data = trace_view.export_trace(traced_cell)
        text = trace_view.format_trace(traced_cell, output.get_terminal_width(), output.get_encoding())
    output.print_data(data) if form == "json" else output.print_text(text)
