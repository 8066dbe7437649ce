"""Define `assay verify`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.audit.verify import verify_build
from assay.cli.options import (
    add_cache_option,
    complete_folders,
    open_command_session,
)
from assay.cli.printing import print_verification
from assay.provenance.read import get_build_folder


@click.command()
@click.argument("folder", metavar="BUILD_FOLDER", shell_complete=complete_folders)
@click.option(
    "--run",
    "runs",
    metavar="NAME=DIR",
    multiple=True,
    help="New directory or address of a run that moved (repeatable).",
)
@add_cache_option
@click.pass_context
def verify(context: click.Context, folder: str, runs: tuple[str, ...]) -> int:
    """Rebuild a report from its provenance and compare every byte."""

    with open_command_session(context) as session:
        verification = verify_build(session, get_build_folder(Path(folder)), runs)
    return print_verification(verification)
