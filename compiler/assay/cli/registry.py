"""Define `assay runs` and `assay results`: registered runs and recorded results."""

from __future__ import annotations

from pathlib import Path

import click

from assay.app.compare.metric_overview import list_shift_members, list_states
from assay.app.compare.recorded_breaks import find_breaks
from assay.app.compare.register_run import describe_unknown_day, list_known_runs, register_run
from assay.cli import output
from assay.cli.groups import StrictGroup
from assay.cli.options import (
    add_results_option,
    add_table_option,
    complete_folders,
    open_command_session,
    require_results_folder,
)
from assay.provenance.read import get_build_folder
from assay.registry import store
from assay.registry.model import Registration, RegistrationFile, ResultsFile, build_json_schema
from assay.registry.store import Registry, append_results, read_build, read_registry
from assay.registry.tables import build_rows, format_table, write_table_file

EXPORTS = ("csv", "parquet", "json", "openmetrics")


@click.group(cls=StrictGroup)
def runs() -> None:
    """Register runs by name, tags, commit and day.

    A registered name can be used wherever a run can be named, and `last:TAG` is the latest run with a tag.
    """


@runs.command(name="add")
@click.argument("places", nargs=-1, required=True, metavar="DIR...")
@click.option("--name", default="", metavar="NAME", help="Name of the run  [default: that of its directory]")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Tag of the run, such as release (repeatable).")
@click.option("--commit", default="", metavar="SHA", help="Commit of the software under test.")
@click.option("--date", "day", default="", metavar="YYYY-MM-DD",
              help="Day of the run  [default: that of its last record, once it has results]")  # fmt: skip
@add_results_option
@click.pass_context
def add_run(
    context: click.Context, places: tuple[str, ...], name: str, tags: tuple[str, ...], commit: str, day: str,
    results: Path | None,
) -> None:  # fmt: skip
    """Register a run, or add tags, commit or day to it, and print its file. Several directories are repeats.

    DIR may be an archive or an s3:// address, too, or the name of a run that is registered, has recorded results, or is
    in assay.toml. What a registered run has already changes nothing; only missing directories, a missing commit or a
    missing day can be added.
    """

    config = context.obj["config"]
    find_places = config.find_places if config else lambda _name: ()
    folder = require_results_folder(results)
    run = register_run(folder, Registration(places, name, tags, commit, day), find_places)
    output.print_line(run.path)
    output.print_warnings(list(filter(None, [describe_unknown_day(folder, run)])))


@runs.command(name="list")
@click.option("--tag", default="", metavar="TAG", help="List only runs with this tag.")
@add_results_option
@add_table_option
def list_runs(results: Path | None, tag: str, form: str) -> None:
    """List registered runs, and those that only have results, in their order.

    That is the order of days, and of first records within a day: histories, last:TAG and median:N have it, too.
    """

    header = ("run", "day", "start", "tags", "commit", "results", "place")
    known_runs = list_known_runs(require_results_folder(results), tag)
    rows = [(item.run.name, item.run.day, item.start, ", ".join(item.run.tags), item.run.commit, str(item.results),
             ", ".join(item.run.places)) for item in known_runs]  # fmt: skip
    output.print_rows(header, rows, form)


@runs.command(name="remove")
@click.argument("name")
@add_results_option
def remove_run(results: Path | None, name: str) -> None:
    """Remove a registered run, and print its file. Its results and its logs stay."""

    output.print_line(store.remove_run(require_results_folder(results), name))


@click.group(cls=StrictGroup)
def results() -> None:
    """Record the results of builds, and export them.

    `assay build` records them by itself if there is a results folder.
    """


@results.command(name="add")
@click.argument("builds", nargs=-1, required=True, metavar="BUILD_FOLDER...", shell_complete=complete_folders)
@add_results_option
def add_results(results: Path | None, builds: tuple[str, ...]) -> None:
    """Record the results of builds, and print the new files. Results that are recorded already add none."""

    folder = require_results_folder(results)
    for build in builds:
        for path in append_results(folder, Path(build)):
            output.print_line(path)


@results.command(name="export")
@click.argument("build", required=False, metavar="[BUILD_FOLDER]", shell_complete=complete_folders)
@click.option("--to", "form", type=click.Choice(EXPORTS), default="csv", help="Output format; `parquet` needs a file.")
@click.option("-o", "--out", "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Write to this file instead of stdout.")  # fmt: skip
@add_results_option
@click.pass_context
def export_results(
    context: click.Context, build: str | None, form: str, file: Path | None, results: Path | None
) -> None:
    """Export recorded results, or those of one build: a row for each metric and run or phase.

    Numbers are unrounded and in the unit of the metric. OpenMetrics text has a gauge for each statistic.
    """

    if form == "parquet" and file is None:
        raise click.UsageError("The format parquet needs a file: pass -o FILE.", context)
    if build:
        runs = store.list_runs(results) if results else ()
        registry = Registry(read_build(get_build_folder(Path(build)), may_have_phases=True), runs)
    else:
        registry = read_registry(require_results_folder(results, "pass a BUILD_FOLDER"))
    with open_command_session() as session:
        breaks, warnings = find_breaks(session, registry.recorded)
        shifts = {} if build else list_shift_members(list_states(session, registry))
    output.print_warnings(list(warnings))
    rows = build_rows(registry.recorded, registry.runs, breaks, shifts)
    if file is not None:
        write_table_file(rows, form, file)
    else:
        output.print_text(format_table(rows, form).removesuffix("\n"))


@results.command(name="schema")
@click.argument("kind", type=click.Choice(["results", "runs"]), default="results")
def print_schema(kind: str) -> None:
    """Print the JSON Schema of recorded results, or of registered runs."""

    output.print_data(build_json_schema(RegistrationFile if kind == "runs" else ResultsFile))
