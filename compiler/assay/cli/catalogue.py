"""`assay catalogue`: a site of all definitions."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import output
from assay.cli.options import cache_option, out_option, system_option, working


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
