"""`assay explain`, `lineage`, `trace`: what a number means, and where it comes from."""

from __future__ import annotations

import shutil
import sys

import click

from assay.cli.options import cache_option, filter_options, system_option, working

LEAST = 80  # columns of a terminal that is narrower, or of none


def width() -> int:
    """How many columns a line may take."""
    return max(LEAST, shutil.get_terminal_size((LEAST, 24)).columns)


def echo(text: str) -> None:
    """Print text as the terminal's encoding can write it."""
    from assay.audit.visible import written

    click.echo(written(text, encoding()))


def encoding() -> str:
    """The encoding of what is printed."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"


@click.command()
@click.argument("name", metavar="METRIC|REPORT")
@filter_options
@system_option
@click.option(
    "--format", "form", type=click.Choice(["tree", "dot", "json"]), default="tree", help="Form of the output."
)
@cache_option
@click.pass_context
def lineage(
    context: click.Context, name: str, filters: tuple[str, ...], no_filters: bool, system: str | None, form: str
) -> None:
    """Show where a metric, or all that a report prints, comes from, column by column.

    \b
    assay lineage METRIC
    assay lineage METRIC --format dot | dot -Tsvg > lineage.svg
    assay lineage SYSTEM/REPORT --format json
    """
    from assay.audit.lineage_graph import as_dot
    from assay.audit.lineage_tree import tree
    from assay.audit.visible import visible_json
    from assay.build.lineage import lineage_of

    with working(context) as session:
        found = lineage_of(session, name, system, filters, no_filters)
    if form == "json":
        click.echo(visible_json(found.data()))
    elif form == "dot":
        click.echo(as_dot(found.graph, found.name), nl=False)
    else:
        lines = tree(found.found, found.checked.package, found.titles, width())
        echo("\n".join([*lines, "", f"Filters: {', '.join(found.filters) or 'none'}"]))


@click.command()
@click.argument("metric")
@click.option("--run", "run", metavar="[NAME=]DIR", help="Also what it came to in this run, with its log lines.")
@click.option("--report", metavar="SYSTEM/REPORT", help="Take filters and summary of this report.")
@filter_options
@system_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Form of the output.")
@cache_option
@click.pass_context
def explain(
    context: click.Context, metric: str, run: str | None, report: str | None, filters: tuple[str, ...],
    no_filters: bool, system: str | None, form: str,
) -> None:  # fmt: skip
    """Say what a metric (or a series) means, where it comes from, and where it is shown.

    \b
    assay explain METRIC
    assay explain METRIC --run runs/candidate
    assay explain METRIC --system SYSTEM --format json
    """
    from assay.audit.visible import visible_json
    from assay.build.explain import explain as explained
    from assay.build.explain_output import as_data, as_text
    from assay.build.runs import named_runs

    with working(context) as session:
        found = explained(session, metric, system, named_runs([run])[0] if run else None, report, filters, no_filters)
    if form == "json":
        click.echo(visible_json(as_data(found)))
    else:
        echo(as_text(found, width(), encoding()))


COMMANDS = (explain, lineage)
