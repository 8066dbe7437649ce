"""Define `assay query`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.compute.query import build_answer_rows
from assay.cli import output
from assay.cli.options import (
    add_by_option,
    add_cache_option,
    add_filter_options,
    add_phase_options,
    add_run_option,
    add_summary_option,
    add_system_option,
    complete_names,
    open_command_workspace,
)
from assay.cli.printing import print_answer
from assay.registry.tables import format_table, write_table_file

#: Formats of the rows of `assay query` that are tables of results.
FILE_FORMS = ("openmetrics", "parquet")


@click.command()
@click.argument("metrics", nargs=-1, required=True, shell_complete=complete_names("metrics"))
@add_run_option
@add_by_option(
    "Print a row for each value of a dimension, or of two (kind,region), or of another column of text, such as host"
)
@add_filter_options
@add_phase_options
@add_system_option
@add_summary_option
@click.option("--format", "form", type=click.Choice(["table", "json", "csv", *FILE_FORMS]), default="table",
              help="Output format; `parquet` needs a file.")  # fmt: skip
@click.option("-o", "--out", "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Write OpenMetrics text or Parquet to this file.")  # fmt: skip
@add_cache_option
@click.pass_context
def query(
    context: click.Context, metrics: tuple[str, ...], runs: tuple[str, ...], filters: tuple[str, ...],
    no_filters: bool, phases: tuple[str, ...], at: tuple[str, ...], system: str | None, summary: str, form: str,
    by: str, file: Path | None,
) -> None:  # fmt: skip
    """Compute metrics and print their distributions: in JSON with all percentiles.

    `assay list metrics` lists the metrics, and `assay list columns` what --by takes.

    OpenMetrics text and Parquet have the statistics of `assay results export`.
    """
    if form == "parquet" and file is None:
        raise click.UsageError("The format parquet needs a file: pass -o FILE.", context)
    if file is not None and form not in FILE_FORMS:
        raise click.UsageError(f"-o goes with --format {' or '.join(FILE_FORMS)}: redirect other output.", context)

    with open_command_workspace(context) as workspace:
        answer = workspace.compute(metrics, runs, by=by, filters=filters, no_filters=no_filters, phases=phases, at=at,
                                   system=system, summary=summary)  # fmt: skip
    output.print_warnings(answer.warnings)
    if form in FILE_FORMS:
        rows = build_answer_rows(answer)
        if file is not None:
            write_table_file(rows, form, file)
        else:
            output.print_text(format_table(rows, form).removesuffix("\n"))
    else:
        print_answer(answer, form)
