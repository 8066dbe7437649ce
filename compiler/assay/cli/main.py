"""Define the command line. Commands are in modules of their own, which are imported when a command is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from assay.cli.errors import run
from assay.cli.groups import ERROR_FORMS, SectionedGroup
from assay.cli.log import FORMS
from assay.cli.options import apply_config
from assay.cli.output import open_standard_streams

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=SectionedGroup, context_settings=CONTEXT)
@click.version_option(package_name="assay", message="assay %(version)s")
@click.option(
    "--cache",
    metavar="DIR",
    help="Cache folder  [default: that of assay.toml, else `assay` in the user's cache folder]",
)
@click.option("--errors", type=click.Choice(ERROR_FORMS), expose_value=False, help="Format of error messages.")
@click.option("-v", "--verbose", is_flag=True, help="Print each stage with its time and memory on stderr.")
@click.option("--log-format", type=click.Choice(FORMS), help="Format of the --verbose output; implies --verbose.")
@click.pass_context
def cli(context: click.Context, cache: str | None, verbose: bool, log_format: str | None) -> None:
    """Compile metric definitions into reports."""
    context.obj = {"cache": cache, "verbose": verbose, "log_format": log_format, "config": None}
    apply_config(context)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors become messages on stderr and an exit status, never a traceback."""
    open_standard_streams()
    sys.exit(run(cli, arguments))


if __name__ == "__main__":
    main()
