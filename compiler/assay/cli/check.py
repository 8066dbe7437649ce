"""Define `assay check`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.author.check import check_system
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_system_option,
    open_command_session,
)
from assay.cli.sarif import add_sarif_option, record_problems
from assay.quality.finding import list_names
from assay.util.diagnostics import render


@click.command()
@add_system_option
@click.option("--accept", is_flag=True, help="Write normal forms and compiled SQL to golden/.")
@add_sarif_option
@add_cache_option
def check(system: str | None, accept: bool, sarif: Path | None) -> None:
    """Check all specs: types, names, units, cycles, SQL."""

    with (
        open_command_session() as session,
        record_problems(sarif, session.workspace.root, session.localize_error),
    ):
        results = [check_system(session, item, accept) for item in session.list_systems(system)]
        notes, warnings = session.list_workspace_notes(), session.warn_of_schema()
    for note in notes:  # the checked specs may not be those that the user means
        output.print_line(note, err=True)
    for item in results:
        counts = ", ".join(_format_count(number, name) for name, number in item.counts.items())
        output.print_line(f"{item.system}: {counts}: no problem")
        if item.unshown_metrics:
            names = list_names([f"`{name}`" for name in item.unshown_metrics])
            output.print_line(f"{item.system}: no report shows {names}, so no build, comparison or gate does", err=True)
        if not item.is_current and item.has_normal_forms:
            state = "is outdated" if item.is_committed else "is missing"
            message = f"{item.system}: the normal form in golden/specs {state}; run `assay check --accept` to write it"
            output.print_line(message, err=True)
    for warning in warnings:
        output.print_text(render(warning), err=True)


def _format_count(number: int, plural: str) -> str:
    """Return a number with its noun: `1 source`, `23 events`."""
    singular = plural if plural == "series" else plural[:-3] + "y" if plural.endswith("ies") else plural[:-1]
    return f"{number} {singular if number == 1 else plural}"
