"""Define `assay ingest`."""

from __future__ import annotations

import click

from assay.app.session.runs import parse_runs
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_system_option,
    open_command_session,
    replace_run_names,
)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", callback=replace_run_names)
@add_system_option
@click.option("--all", "everything", is_flag=True, help="Ingest all events instead of only those that metrics need.")
@add_cache_option
def ingest(runs: tuple[str, ...], system: str | None, everything: bool) -> None:
    """Ingest runs to Parquet, and print the folder of each source of each run.

    If there are several folders, their runs and sources are printed on stderr.
    """
    with open_command_session(runs) as session:
        from assay.app.compute.ingest import ingest_runs  # imported while files are hashed

        ingested_sources = ingest_runs(session, parse_runs(runs), system, everything)
    for item in ingested_sources:
        if len(ingested_sources) > 1:
            output.print_line(f"run {item.run}, source {item.source}:", err=True)
        output.print_line(item.folder)
