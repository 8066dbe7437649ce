"""`assay init`, `assay schema`, `assay watch`: what authors of specs use."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import output
from assay.cli.completion import names
from assay.cli.options import RUN_HELP, cache_option, out_option, system_option


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--update-schema", is_flag=True, help="Update schema and Prelude of the workspace DIR to this version.")
@click.pass_context
def init(context: click.Context, folder: Path, update_schema: bool) -> None:
    """Create a small workspace that builds at once.

    It contains trace events, three metrics with an example, two sample runs, a report, and the schema and the Prelude
    that its specs import.
    """
    from assay.app import init as starter
    from assay.cli.options import working

    with working(context):
        lines = starter.update_schema(folder) if update_schema else starter.init(folder)
    if not update_schema:
        output.line("Try it:")
    for line in lines:
        output.line(f"  {line}" if not update_schema else line)


@click.command()
@click.argument("file", required=False)
@system_option
@click.pass_context
def schema(context: click.Context, file: str | None, system: str | None) -> None:
    """Print the JSON Schema of the documents of a run.

    Without FILE, print the schemas of all documents, by system and file.
    """
    from assay.app.check_and_query import all_systems
    from assay.app.run_schema import run_schemas
    from assay.cli.options import working
    from assay.util.diagnostics import USAGE, fail, meant

    with working(context) as session:
        found = {item: run_schemas(session.package(item).package) for item in all_systems(session, system)}
    if file is None:
        output.data(found)
        return
    having = [(item, schemas[file]) for item, schemas in found.items() if file in schemas]
    if not having:
        known = sorted({name for schemas in found.values() for name in schemas})
        raise fail("unknown-file", f"no constant is read from a file `{file}`", expected=", ".join(known),
                   hint=meant(file, known), status=USAGE)  # fmt: skip
    if len(having) > 1:
        names = ", ".join(item for item, _ in having)
        raise fail("systems", f"several systems read a file `{file}`: {names}", hint="name one with --system",
                   status=USAGE)  # fmt: skip
    output.data(having[0][1])


@click.command()
@click.argument("report", shell_complete=names("reports"))
@click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True, required=True,
              help=RUN_HELP)  # fmt: skip
@out_option("Folder for the report.")
@cache_option
@click.pass_context
def watch(context: click.Context, report: str, runs: tuple[str, ...], out: str) -> None:
    """Rebuild a report whenever specs, queries, templates or runs change.

    After an error, the last good report stays in place. Ctrl-C ends the command.
    """
    from assay.cli.watching import watch_report

    watch_report(context, report, runs, Path(out))
