"""Define `assay slice`: write the lines behind a sample as an example."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from assay.app.author.slice import SampleChoice, SliceResult, slice_run
from assay.app.session.runs import parse_runs
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_filter_options,
    add_one_run_option,
    add_system_option,
    complete_names,
    open_command_session,
    pass_selection,
)
from assay.util.escape import escape_text
from assay.util.numbers import format_count

SHOWN = 12  # numbers of lines, and added lines, printed


@click.command(name="slice")
@click.argument("metric", shell_complete=complete_names("metrics"))
@add_one_run_option("[NAME=]DIR", "Run that the sample is from. [required]")
@click.option("--around", metavar="COLUMN=VALUE", multiple=True,
              help="Column that identifies the sample, as `assay explain` prints it (repeatable).")  # fmt: skip
@click.option("-o", "--out", metavar="DIR", help="New or empty folder  [default: examples/METRIC-VALUE]")
@add_filter_options
@add_system_option
@add_cache_option
@pass_selection
def write_slice(metric: str, run: str | None, around: tuple[str, ...], out: str | None, selection: Selection) -> None:
    """Write the log lines behind one sample as an example that `assay test` runs.

    The lines give the sample the value that it has in the whole run, or nothing is written.

    \b
    assay slice METRIC --run runs/candidate --around block=33
    assay slice METRIC --run runs/candidate --around request=r7 --around host=web-1 -o examples/slow
    """
    if not run:
        raise click.UsageError("Missing option '--run'.", click.get_current_context())
    with open_command_session((run,)) as session:
        sample = SampleChoice(metric, parse_runs([run])[0], around)
        slice_result = slice_run(session, sample, selection, Path(out) if out else None)
    for line in _format_lines(slice_result):
        output.print_line(line)


def _format_lines(slice_result: SliceResult) -> Iterator[str]:
    """Yield the sample, the lines of each file, and those that the value alone does not name."""
    place = f" of {slice_result.row}" if slice_result.row else ""
    yield f"{slice_result.folder}: {slice_result.label} is {slice_result.value}{place}"
    width = max(len(escape_text(item.path)) for item in slice_result.files)
    for item in slice_result.files:
        numbers = ", ".join(map(str, item.lines[:SHOWN])) + (", …" if len(item.lines) > SHOWN else "")
        content = f"{format_count(len(item.lines), 'line')}: {numbers}" if item.lines else "whole"
        yield f"  {escape_text(item.path):{width}}  {content}"
    if slice_result.added:
        yield "needed besides the records behind the value:"
        yield from (f"  {escape_text(location)}" for location in slice_result.added[:SHOWN])
        if len(slice_result.added) > SHOWN:
            yield f"  and {len(slice_result.added) - SHOWN} more"
    if slice_result.is_tested:
        yield "run `assay test` to test it"
    else:
        yield "`assay test` reads examples below examples/ of the workspace: move the folder there to test it"
