"""`assay explain`, `lineage`, `trace`, `catalogue`: what a number means and where it comes from."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from assay.cli import output
from assay.cli import output as echo
from assay.cli.options import (
    cache_option,
    filter_options,
    folders,
    names,
    one_run_option,
    out_option,
    system_option,
    working,
)

LEAST = 80  # columns of a terminal that is narrower, or of none


def width() -> int:
    """How many columns a line may take."""
    return max(LEAST, shutil.get_terminal_size((LEAST, 24)).columns)


@click.command()
@click.argument("name", metavar="METRIC|REPORT", shell_complete=names("metrics", "series", "reports"))
@filter_options
@system_option
@click.option("--format", "form", type=click.Choice(["tree", "dot", "json"]), default="tree", help="Output format.")
@cache_option
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
    from assay.app.lineage import lineage_of
    from assay.lineage.graph import as_dot
    from assay.lineage.tree import tree

    with working(context) as session:
        found = lineage_of(session, name, system, filters, no_filters)
    if form == "json":
        echo.data(found.data())
    elif form == "dot":
        echo.text(as_dot(found.graph, found.name).removesuffix("\n"))
    else:
        lines = tree(found.found, found.checked.package, found.titles, found.filterable, width())
        echo.text("\n".join([*lines, "", f"Filters: {', '.join(found.filters) or 'none'}"]))


@click.command()
@click.argument("metric", shell_complete=names("metrics", "series"))
@one_run_option("[NAME=]DIR", "Also show the result in this run, with log lines.")
@click.option("--report", metavar="SYSTEM/REPORT", shell_complete=names("reports"),
              help="Use the filters and summary of this report.")  # fmt: skip
@filter_options
@system_option
@click.option("--full", is_flag=True, help="Show everything, not only one screen.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@cache_option
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
    from assay.app.explain import explain as explained
    from assay.app.explain_view import as_data, as_text
    from assay.app.runs import named_runs

    with working(context) as session:
        found = explained(session, metric, system, named_runs([run])[0] if run else None, report, filters, no_filters)
    if form == "json":
        echo.data(as_data(found))
    else:
        echo.text(as_text(found, width(), echo.encoding(), full=full))


@click.command()
@click.argument("folder", metavar="BUILD_FOLDER", shell_complete=folders)
@click.argument("cell", metavar="[SECTION/ROW/COLUMN]", default="")
@click.option("--list", "listed", is_flag=True, help="List the cells of the report; the default without a cell.")
@click.option("--run", "runs", metavar="NAME=DIR", multiple=True, help="New place of a run that moved (repeatable).")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@cache_option
@click.pass_context
def trace(context: click.Context, folder: str, cell: str, listed: bool, runs: tuple[str, ...], form: str) -> None:
    """Trace a cell of a built report to its samples and their log lines.

    \b
    assay trace build/cmp --list
    assay trace build/cmp 'SECTION/ROW/COLUMN'
    assay trace build/cmp 'SECTION/ROW/COLUMN' --format json
    """
    from assay.app import trace as tracing
    from assay.app import trace_view as output
    from assay.provenance.read import folder_of

    if listed and cell:
        raise click.UsageError("Name a cell, SECTION/ROW/COLUMN as printed, or ask for a --list of them.", context)
    listed = not cell
    place = folder_of(Path(folder))
    with working(context) as session:
        found = None if listed else tracing.trace(session, place, cell, runs)
        cells = tracing.cells_of(session, place) if listed else ()
    echo.warnings(tracing.distrusted(place))
    if found is None:
        data: object = output.listing_data(cells)
        text = "\n".join(output.listing(cells))
    else:
        data, text = output.as_data(found), output.as_text(found, width(), echo.encoding())
    echo.data(data) if form == "json" else echo.text(text)


COMMANDS = (explain, lineage, trace)


@click.command()
@out_option("Folder for the pages.")
@system_option
@cache_option
@click.pass_context
def catalogue(context: click.Context, out: str, system: str | None) -> None:
    """Write all definitions as linked web pages with search."""
    from assay.app.catalogue import catalogue as made

    with working(context) as session:
        place = made(session, Path(out), system)
    output.line(place)
