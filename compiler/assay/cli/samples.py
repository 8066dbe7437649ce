"""Define `assay samples`: the samples of a metric as data."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.compute.samples import write_samples
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_filter_options,
    add_run_option,
    add_system_option,
    complete_names,
    open_command_workspace,
    pass_selection,
)


@click.command()
@click.argument("metric", shell_complete=complete_names("metrics", "series"))
@add_run_option
@click.option("-o", "--out", "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Write to this file instead of stdout.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["csv", "json", "parquet"]), default="csv",
              help="Output format; `json` in a file is an object a line, `parquet` needs a file.")  # fmt: skip
@add_filter_options
@add_system_option
@add_cache_option
@pass_selection
def samples(metric: str, runs: tuple[str, ...], file: Path | None, form: str, selection: Selection) -> None:
    """Export the samples of a metric, or the values of a series, with the keys that identify them.

    Values are in the unit of the metric, unrounded; instants are in UTC. Rows are in the order of runs and keys.
    """
    if form == "parquet" and file is None:
        raise click.UsageError("The format parquet needs a file: pass -o FILE.", click.get_current_context())
    with open_command_workspace(runs) as workspace:
        relation = workspace.samples(metric, runs, **selection.to_options())
        if file is not None:
            write_samples(relation, file, form)
            return
        # Instants have nanoseconds, which the types of Python lack.
        columns = [f'CAST("{name}" AS VARCHAR)' if form == "csv" or str(kind) == "TIMESTAMP_NS" else f'"{name}"'
                   for name, kind in zip(relation.columns, relation.types, strict=True)]  # fmt: skip
        rows = relation.project(", ".join(columns)).fetchall()
    if form == "json":
        output.print_data([dict(zip(relation.columns, row, strict=True)) for row in rows])
    else:
        output.print_rows(relation.columns, [["" if cell is None else cell for cell in row] for row in rows], form)
