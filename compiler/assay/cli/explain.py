"""Define `assay explain`."""

from __future__ import annotations

import click

from assay.app.audit.explain import explain_subject
from assay.app.audit.explain_view import export_explanation, format_explanation
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
@click.argument("metric", shell_complete=complete_names("metrics", "series"))
@add_one_run_option("[NAME=]DIR", "Also show the result in this run, with log lines.")
@click.option("--report", metavar="SYSTEM/REPORT", shell_complete=complete_names("reports"),
              help="Use the filters and summary of this report.")  # fmt: skip
@add_filter_options
@add_system_option
@click.option("--full", is_flag=True, help="Show the full explanation instead of one screen.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@add_cache_option
@pass_selection
def explain(metric: str, run: str | None, selection: Selection, full: bool, form: str) -> None:
    """Explain what a metric or series means, where it comes from, and where it appears.

    \b
    assay explain METRIC
    assay explain METRIC --run runs/candidate
    assay explain METRIC --system SYSTEM --format json
    """

    with open_command_session() as session:
        explanation = explain_subject(session, metric, selection, parse_runs([run])[0] if run else None)
    if form == "json":
        output.print_data(export_explanation(explanation))
    else:
        output.print_text(
            format_explanation(explanation, output.get_terminal_width(), output.get_encoding(), full=full)
        )
