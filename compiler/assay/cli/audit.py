"""Define the commands that explain numbers: `assay explain`, `lineage`, `trace`, `catalogue`."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_filter_options,
    add_one_run_option,
    add_out_option,
    add_system_option,
    complete_folders,
    complete_names,
    open_command_session,
)

MIN_WIDTH = 80  # columns; also used without a terminal


def get_terminal_width() -> int:
    """Return the width of the terminal in columns."""
    return max(MIN_WIDTH, shutil.get_terminal_size((MIN_WIDTH, 24)).columns)


@click.command()
@click.argument("name", metavar="METRIC|REPORT", shell_complete=complete_names("metrics", "series", "reports"))
@add_filter_options
@add_system_option
@click.option("--format", "form", type=click.Choice(["tree", "dot", "json"]), default="tree", help="Output format.")
@add_cache_option
@click.pass_context
def lineage(
    context: click.Context, name: str, filters: tuple[str, ...], no_filters: bool, system: str | None, form: str
) -> None:
    """Show the column lineage of a metric, or of everything that a report prints.

    \b
    assay lineage METRIC
    assay lineage METRIC --format dot | dot -Tsvg > lineage.svg
    assay lineage SYSTEM/REPORT --format json
    """
    from assay.app.audit.lineage import find_lineage
    from assay.lineage.graph import to_dot
    from assay.lineage.tree import render_tree

    with open_command_session(context) as session:
        lineage_result = find_lineage(session, name, system, filters, no_filters)
    if form == "json":
        output.print_data(lineage_result.to_dict())
    elif form == "dot":
        output.print_text(to_dot(lineage_result.graph, lineage_result.name).removesuffix("\n"))
    else:
        lines = render_tree(
            lineage_result.column_lineage,
            lineage_result.checked.package,
            lineage_result.titles,
            lineage_result.filterable,
            get_terminal_width(),
        )
        output.print_text("\n".join([*lines, "", f"Filters: {', '.join(lineage_result.filters) or 'none'}"]))


@click.command()
@click.argument("metric", shell_complete=complete_names("metrics", "series"))
@add_one_run_option("[NAME=]DIR", "Also show the result in this run, with log lines.")
@click.option("--report", metavar="SYSTEM/REPORT", shell_complete=complete_names("reports"),
              help="Use the filters and summary of this report.")  # fmt: skip
@add_filter_options
@add_system_option
@click.option("--full", is_flag=True, help="Show the full explanation instead of one screen.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@add_cache_option
@click.pass_context
def explain(
    context: click.Context, metric: str, run: str | None, report: str | None, filters: tuple[str, ...],
    no_filters: bool, system: str | None, full: bool, form: str,
) -> None:  # fmt: skip
    """Explain what a metric or series means, where it comes from, and where it appears.

    \b
    assay explain METRIC
    assay explain METRIC --run runs/candidate
    assay explain METRIC --system SYSTEM --format json
    """
    from assay.app.audit.explain import explain_subject
    from assay.app.audit.explain_view import export_explanation, format_explanation
    from assay.app.session.runs import parse_runs

    with open_command_session(context) as session:
        explanation = explain_subject(
            session, metric, system, parse_runs([run])[0] if run else None, report, filters, no_filters
        )
    if form == "json":
        output.print_data(export_explanation(explanation))
    else:
        output.print_text(format_explanation(explanation, get_terminal_width(), output.get_encoding(), full=full))


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
@click.pass_context
def trace(context: click.Context, folder: str, cell: str, listed: bool, runs: tuple[str, ...], form: str) -> None:
    """Trace a cell of a built report to its samples and their log lines.

    \b
    assay trace build/cmp --list
    assay trace build/cmp 'SECTION/ROW/COLUMN'
    assay trace build/cmp 'SECTION/ROW/COLUMN' --format json
    """
    from assay.app.audit import trace as trace_module
    from assay.app.audit import trace_view
    from assay.provenance.read import get_build_folder

    if listed and cell:
        raise click.UsageError("Pass either a cell SECTION/ROW/COLUMN or --list.", context)
    listed = not cell
    build_folder = get_build_folder(Path(folder))
    with open_command_session(context) as session:
        traced_cell = None if listed else trace_module.trace_cell(session, build_folder, cell, runs)
        cells = trace_module.list_cells(session, build_folder) if listed else ()
    output.print_warnings(trace_module.list_provenance_warnings(build_folder))
    if traced_cell is None:
        data: object = trace_view.export_listing(cells)
        text = "\n".join(trace_view.format_listing(cells))
    else:
        data = trace_view.export_trace(traced_cell)
        text = trace_view.format_trace(traced_cell, get_terminal_width(), output.get_encoding())
    output.print_data(data) if form == "json" else output.print_text(text)


COMMANDS = (explain, lineage, trace)


@click.command()
@add_out_option("Folder for the pages.")
@add_system_option
@add_cache_option
@click.pass_context
def catalogue(context: click.Context, out: str, system: str | None) -> None:
    """Write all definitions as linked, searchable web pages."""
    from assay.app.audit.catalogue import write_catalogue

    with open_command_session(context) as session:
        place = write_catalogue(session, Path(out), system)
    output.print_line(place)
