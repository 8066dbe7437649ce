"""Define `assay verify`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.audit.verify import Verification, verify_build
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    complete_folders,
    open_command_session,
)
from assay.provenance.read import get_build_folder
from assay.util.diagnostics import DIFFERENCE
from assay.util.numbers import format_count


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
def verify(folder: str, runs: tuple[str, ...]) -> int:
    """Rebuild a report from its provenance and compare every byte."""

    with open_command_session() as session:
        verification = verify_build(session, get_build_folder(Path(folder)), runs)
    return _print_verification(verification)


def _print_verification(verification: Verification) -> int:
    """Print each difference and the number of files; return the exit status."""

    for line in verification.differences:
        output.print_line(line)
    if verification.files:
        summary = (
            f"{verification.differing_count} with other bytes" if verification.differing_count else "all the same bytes"
        )
        output.print_line(f"{format_count(verification.files, 'file')}: {summary}")
    return DIFFERENCE if verification.differences else 0
