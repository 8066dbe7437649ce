"""Define `assay query`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.app.compute.query_memory import QueryRows
from assay.app.session.selection import Selection
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
    pass_selection,
)
from assay.number_styles.exact_decimal import format_six_digits

if TYPE_CHECKING:
    from assay.app.compute.query import Answer

#: Formats of the rows of `assay query` that are tables of results.
FILE_FORMS = ("openmetrics", "parquet")
SHOWN = ("size", "average", "median", "stddev", "min", "max")


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
@pass_selection
def query(runs: tuple[str, ...], selection: Selection, form: str, file: Path | None) -> None:
    """Compute metrics and print their distributions: in JSON with all percentiles.

    `assay list metrics` lists the metrics, and `assay list columns` what --by takes.

    OpenMetrics text and Parquet have the statistics of `assay results export`.
    """
    if form == "parquet" and file is None:
        raise click.UsageError("The format parquet needs a file: pass -o FILE.", click.get_current_context())
    if file is not None and form not in FILE_FORMS:
        raise click.UsageError(f"-o goes with --format {' or '.join(FILE_FORMS)}: redirect other output.",
                               click.get_current_context())  # fmt: skip

    with open_command_workspace() as workspace:
        compute = workspace.compute if form in FILE_FORMS else workspace.answer
        answer = compute(selection.metrics, runs, **selection.to_options())
    output.print_warnings(answer.warnings)
    if isinstance(answer, QueryRows):
        _print_rows(answer, form)
    else:
        _write_results(answer, form, file)


def _write_results(answer: Answer, form: str, file: Path | None) -> None:
    """Write the columns of recorded results to a file, or print them."""
    from assay.app.compute.query import build_answer_rows
    from assay.registry.tables import format_table, write_table_file

    rows = build_answer_rows(answer)
    if file is not None:
        write_table_file(rows, form, file)
    else:
        output.print_text(format_table(rows, form).removesuffix("\n"))


def _print_rows(answer: QueryRows, form: str) -> None:
    """Print the distributions of metrics, and the averages of formulas; those by a column if it is chosen."""

    data = answer.rows
    if form == "json":
        output.print_data(data)
        return
    groups = (answer.by,) if answer.by else ()
    statistics = (*SHOWN, "outlier") if answer.by else SHOWN
    rows = []
    for item in data:
        labels = (str(item[name]) for name in ("metric", "run", *groups, "unit"))
        is_empty = not item.get("size", 1)
        values = (None if is_empty and name != "size" else item.get(name) for name in statistics)
        rows.append((*labels, *(_format_number(value, form) for value in values)))
    output.print_rows(("metric", "run", *groups, "unit", *statistics), rows, form)
    if form == "table":
        average = "" if answer.by else f"; average: {answer.summary}"
        # Only an even number of samples has two in the middle, between which other tools take the mean.
        has_two_middles = any(item.get("size") and item["size"] % 2 == 0 for item in data)
        median = "; median: the greater of two in the middle" if has_two_middles else ""
        output.print_line(f"filters: {', '.join(answer.filters) or 'none'}{average}{median}", err=True)


def _format_number(value: object, form: str) -> str:
    if value is None:
        return "—" if form == "table" else ""
    if form == "table" and isinstance(value, float):
        return format_six_digits(value)
    return repr(value) if isinstance(value, float) else str(value)
