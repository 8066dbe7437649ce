"""Define `assay catalogue`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.audit.catalogue import write_catalogue
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_out_option,
    add_system_option,
    open_command_session,
)


@click.command()
@add_out_option("Folder for the pages.")
@add_system_option
@add_cache_option
def catalogue(out: str, system: str | None) -> None:
    """Write all definitions as linked, searchable web pages."""

    with open_command_session() as session:
        place = write_catalogue(session, Path(out), system)
    output.print_line(place)
