"""Define `assay sql`."""

from __future__ import annotations

import click

from assay.app.compute.metric_sql import compile_metric_sql
from assay.app.session.runs import parse_runs
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_filter_options,
    add_one_run_option,
    add_system_option,
    complete_names,
    open_command_session,
    pass_selection,
)


@click.command()
@click.argument("metric", shell_complete=complete_names("metrics"))
@add_one_run_option("DIR", "Ingest this run, and read its Parquet files where they are.")
@add_filter_options
@click.option("--phase", metavar="NAME[=FROM..TO]", default="", help="Print the SQL for this phase of the run.")
@click.option("--at", metavar="NAME=TIME", multiple=True, help="Time of an instant at which the phase begins or ends.")
@add_system_option
@add_cache_option
@pass_selection
def sql(metric: str, run: str | None, phase: str, selection: Selection) -> None:
    """Print the SQL of a metric as one statement.

    With --run, the statement has absolute paths of the run's files and works in any DuckDB shell. Without --run, it
    works in the folder that `assay ingest` prints, for metrics of a single source.
    """

    with open_command_session() as session:
        named_run = parse_runs([run])[0] if run else None
        text = compile_metric_sql(session, metric, selection, named_run, phase)
    output.print_text(text)
