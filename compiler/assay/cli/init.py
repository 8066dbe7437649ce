"""Define `assay init`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from assay.app.author import init as init_module
from assay.app.session.entry_points import load_proposer
from assay.cli import output
from assay.cli.options import (
    open_command_session,
)
from assay.util.diagnostics import USAGE, fail


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("more_logs", metavar="[LOG]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--from",
    "logs",
    metavar="LOG",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Propose specs for this log, or the logs in this folder (repeatable; further ones may follow it).",
)
@click.option("--example", metavar="NAME", default="",
              help="Write the example for this system or tool, such as k6, instead of the small one.")  # fmt: skip
@click.option("--each", type=click.Choice(["run", "host", "part"]),
              help="Read each log of --from as a run, a host of one run, or a part of the log of one host  "
                   "[default: names and folders decide]")  # fmt: skip
@click.option("--update-schema", is_flag=True, help="Only update the schema and Prelude in the workspace DIR.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format of the proposal."
)
def init(
    folder: Path,
    more_logs: tuple[Path, ...],
    logs: tuple[Path, ...],
    example: str,
    each: str | None,
    update_schema: bool,
    form: str,
) -> None:
    """Create a workspace with a small example that builds at once.

    The example has events, three metrics, two runs and a report. With --example, it is a larger one, for the logs of
    etcd, k6, Kafka, nginx, Redis or another system that has one. With --from, the workspace reads your own logs
    instead: its specs are a proposal, with comments that say why, and its run is a copy of the logs. The workspace also
    has the schema and the Prelude that specs import.
    """
    if example and (logs or update_schema):
        option = "--from" if logs else "--update-schema"
        raise fail("options", f"`--example` does not go with `{option}`", status=USAGE)
    _check_init_options(logs, more_logs, update_schema, each or "", form)
    if logs:
        _init_from_logs(folder, (*logs, *more_logs), each or "", form)
        return

    with open_command_session():
        if update_schema:
            lines = init_module.update_schema(folder)
        else:
            lines = init_module.create_example(example, folder) if example else init_module.create_workspace(folder)
    if not update_schema:
        output.print_line("Try it:")
    for line in lines:
        output.print_line(f"  {line}" if not update_schema else line)


def _check_init_options(
    logs: Sequence[Path], more_logs: Sequence[Path], update_schema: bool, each: str, form: str
) -> None:
    """Raise AssayError (usage) for options that only go with --from, or do not go with it."""
    if logs and update_schema:
        raise fail("options", "`--update-schema` does not go with `--from`", status=USAGE)
    if not logs and more_logs:
        raise fail("options", f"unexpected argument `{more_logs[0]}`", hint="name logs after `--from`", status=USAGE)
    if not logs and each:
        raise fail("options", "`--each` needs `--from`, since there are no other logs", status=USAGE)
    if not logs and form != "text":
        raise fail("options", "`--format` needs `--from`, since there is no other proposal", status=USAGE)


def _init_from_logs(folder: Path, logs: Sequence[Path], each: str, form: str) -> None:

    with open_command_session():
        workspace = load_proposer()(folder, logs, each)
    if form == "json":
        output.print_data(workspace.to_json())
        return
    for line in workspace.describe():
        output.print_line(line)
    output.print_line("Try it:")
    for command in workspace.commands:
        output.print_line(f"  {command}")
    if workspace.has_percentiles:
        output.print_line("Percentiles: add `--columns median,p95,p99` to `assay build`.")
