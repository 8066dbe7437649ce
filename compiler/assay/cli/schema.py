"""Define `assay schema`."""

from __future__ import annotations

import click

from assay.app.author.run_schema import create_run_schemas
from assay.cli import output
from assay.cli.options import (
    add_system_option,
    open_command_session,
)
from assay.util.diagnostics import USAGE, fail, suggest_nearest


@click.command()
@click.argument("file", required=False)
@add_system_option
def schema(file: str | None, system: str | None) -> None:
    """Print the JSON Schema of a document of a run.

    Without FILE, print the schemas of all documents, by system and file.
    """

    with open_command_session() as session:
        schemas_by_system = {
            item: create_run_schemas(session.load_package(item).package) for item in session.list_systems(system)
        }
    if file is None:
        output.print_data(schemas_by_system)
        return
    matches = [(item, schemas[file]) for item, schemas in schemas_by_system.items() if file in schemas]
    if not matches:
        files = sorted({name for schemas in schemas_by_system.values() for name in schemas})
        raise fail("unknown-file", f"no constant is read from a file `{file}`", expected=", ".join(files),
                   hint=suggest_nearest(file, files), status=USAGE)  # fmt: skip
    if len(matches) > 1:
        names = ", ".join(item for item, _ in matches)
        raise fail("systems", f"several systems read a file `{file}`: {names}", hint="pass --system NAME",
                   status=USAGE)  # fmt: skip
    output.print_data(matches[0][1])
