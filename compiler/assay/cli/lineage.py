"""Define `assay lineage`."""

from __future__ import annotations

import click

from assay.app.audit.lineage import find_lineage
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_filter_options,
    add_system_option,
    complete_names,
    open_command_session,
    pass_selection,
)
from assay.lineage.graph import to_dot
from assay.lineage.tree import render_tree


@click.command()
@click.argument("name", metavar="METRIC|REPORT", shell_complete=complete_names("metrics", "series", "reports"))
@add_filter_options
@add_system_option
@click.option("--format", "form", type=click.Choice(["tree", "dot", "json"]), default="tree", help="Output format.")
@add_cache_option
@pass_selection
def lineage(name: str, selection: Selection, form: str) -> None:
    """Show the column lineage of a metric, or of everything that a report prints.

    \b
    assay lineage METRIC
    assay lineage METRIC --format dot | dot -Tsvg > lineage.svg
    assay lineage SYSTEM/REPORT --format json
    """

    with open_command_session() as session:
        lineage_result = find_lineage(session, name, selection)
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
            output.get_terminal_width(),
        )
        output.print_text("\n".join([*lines, "", f"Filters: {', '.join(lineage_result.filters) or 'none'}"]))
