"""Define `assay regenerate`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.build.regenerate import EditionChoice, regenerate_report
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_forms_option,
    add_out_option,
    complete_names,
    open_command_session,
)
from assay.report.output_forms import order_forms


@click.command()
@click.argument("publication", type=click.Path(path_type=Path))
@add_out_option("Folder for the report.")
@add_forms_option
@click.option(
    "--report",
    metavar="SYSTEM/REPORT",
    shell_complete=complete_names("reports"),
    help="Published report  [default: the only report with editions]",
)
@click.option("--edition", metavar="NAME", help="Edition of the publication  [default: by its date]")
@add_cache_option
def regenerate(publication: Path, out: str, forms: tuple[str, ...], report: str | None, edition: str | None) -> None:
    """Rebuild a published report from its printed values."""

    with open_command_session() as session:
        result = regenerate_report(session, publication, Path(out), EditionChoice(report, edition), order_forms(forms))
    output.print_warnings(result.warnings)
    for place in result.reports:
        output.print_line(place)
