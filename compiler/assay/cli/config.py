"""Define `assay config`: the effective settings, and where they come from."""

from __future__ import annotations

import click

from assay.app.session.config import build_json_schema, list_effective_settings
from assay.cli import output
from assay.cli.options import add_table_option
from assay.engine.result_cache import get_default_folder
from assay.report.output_forms import DEFAULT_FORMS


@click.command()
@click.option("--schema", "prints_schema", is_flag=True, help="Print the JSON Schema of assay.toml, for editors.")
@add_table_option
@click.pass_context
def config(context: click.Context, prints_schema: bool, form: str) -> None:
    """Print the settings of assay.toml: effective values, where each comes from, the option that overrides it."""

    if prints_schema:
        output.print_data(build_json_schema())
        return
    defaults = {"to": ", ".join(DEFAULT_FORMS), "cache": context.obj["cache"] or str(get_default_folder())}
    header = ("setting", "value", "from", "overridden by")
    output.print_rows(header, list_effective_settings(context.obj["config"], defaults), form)
