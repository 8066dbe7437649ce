"""Define the commands that draft observations on built reports and check edited ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from assay.app.build.draft import check_prose as check_texts
from assay.app.build.draft import draft_observations, draft_texts
from assay.cli import output
from assay.cli.options import add_cache_option, complete_folders, open_command_session
from assay.report.observations.unquoted import describe_unquoted
from assay.util.diagnostics import DIFFERENCE, raise_all, render


@click.command()
@click.argument("builds", metavar="[NAME=]BUILD_FOLDER...", nargs=-1, required=True, shell_complete=complete_folders)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write a text for each part into this new folder, for `assay build --texts`.",
)
@add_cache_option
def draft(builds: tuple[str, ...], out: Path | None) -> None:
    """Draft what is said of the tables of a report.

    Prints a text in Markdown whose numbers are quotes of printed cells. Edit it, and pass it to `assay build` as
    --observations. The rules are the `observations` of the report. A BUILD_FOLDER may be a publication file.

    Several reports of one definition, such as those of several workloads, have names and share one text.

    With -o, each sentence goes into the file of the part that shows its metric, the conclusion into observations.md.
    """

    with open_command_session() as session:
        if out is not None:
            for file in draft_texts(session, builds, out):
                output.print_line(str(file))
            return
        text = draft_observations(session, builds)
    output.print_text(text.removesuffix("\n"))


@click.command("check-prose")
@click.argument("prose", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("builds", metavar="[NAME=]BUILD_FOLDER...", nargs=-1, required=True, shell_complete=complete_folders)
@click.option("--require-quotes", is_flag=True, help="Fail if a number or a comparison quotes no cell.")
@add_cache_option
def check_prose(prose: Path, builds: tuple[str, ...], require_quotes: bool) -> None:
    """Tell whether edited observations agree with the tables.

    FILE may also be a folder of texts on parts, as `assay build --texts` takes it.

    Exits with status 3 if a sentence disagrees with a cell that it quotes: in direction, in size, or because the tables
    print a change where the sentence says that there is none. Takes the same reports as `assay draft`.

    Lists numbers and comparisons that quote no cell: nothing checks them, and a report marks them as the author's own.
    """

    with open_command_session() as session:
        count, unquoted = check_texts(session, prose, builds)
    if require_quotes:
        raise_all([replace(item, severity="error") for item in unquoted], DIFFERENCE)
    for item in unquoted:
        output.print_problems(render(item))
    agree = "1 quote agrees with its cells" if count == 1 else f"{count} quotes agree with their cells"
    verb = "quotes" if len(unquoted) == 1 else "quote"
    claims = f"; {describe_unquoted(len(unquoted))} {verb} no cell" if unquoted else ""
    output.print_line(f"{prose}: {agree}{claims}")
