"""`assay`: the commands and their options.  Heavy modules are imported by the command that needs them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli import audit, output
from assay.cli.audit import catalogue
from assay.cli.author import init, lsp, schema, watch
from assay.cli.cache import cache
from assay.cli.diff import diff
from assay.cli.groups import Grouped
from assay.cli.log import FORMS
from assay.cli.options import (
    RUN_HELP,
    cache_option,
    completion,
    filter_options,
    folders,
    forms_option,
    names,
    one_run_option,
    out_option,
    phase_options,
    run_option,
    summary_option,
    system_option,
    table_option,
    working,
)
from assay.cli.raw_data import fetch
from assay.cli.raw_data import inspect as inspect_command
from assay.cli.test import examples

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=Grouped, context_settings=CONTEXT)
@click.version_option(package_name="assay", message="assay %(version)s")
@click.option(
    "--cache",
    metavar="DIR",
    help="Cache folder  [default: `assay` in the user's cache folder]",
)
@click.option("--errors", "errors", type=click.Choice(["text", "json"]), default="text", help="Format of errors.")
@click.option("-v", "--verbose", is_flag=True, help="Print each stage on stderr, with its time and memory.")
@click.option("--log-format", type=click.Choice(FORMS), help="Format of these lines; implies --verbose.")
@click.pass_context
def cli(context: click.Context, cache: str | None, errors: str, verbose: bool, log_format: str | None) -> None:
    """Compile metric definitions into reports."""
    context.obj = {"cache": cache, "errors": errors, "verbose": verbose, "log_format": log_format}


@cli.command()
@click.argument("report", shell_complete=names("reports"))
@click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True,
              help=RUN_HELP)  # fmt: skip
@click.option("--publication", "publications", metavar="FILE|DIR", multiple=True, type=click.Path(path_type=Path),
              help="For a history: a publication, or a folder of publications (repeatable).")  # fmt: skip
@out_option("Folder for the report.")
@forms_option
@filter_options
@summary_option
@click.option("--style", default="", metavar="NAME", shell_complete=names("styles"), help="Number style of the tables.")
@click.option("--title", default="", help="Title of the report.")
@click.option("--author", default="", help="Author of the report.")
@click.option(
    "--date", default="", metavar="YYYY-MM-DD", help="Date of the report  [default: the last day of the logs]"
)
@phase_options
@cache_option
@click.pass_context
def build(
    context: click.Context, /, report: str, runs: tuple[str, ...], publications: tuple[Path, ...], out: str,
    forms: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Build a report over runs."""
    with working(context, runs) as session:
        from assay.app import build  # while files are hashed
        from assay.app.options import Options
        from assay.report.output_forms import ordered

        if not runs and not publications and session.is_of_runs(report):
            raise click.UsageError("Missing option '--run'.", context)
        said = Options(**options, forms=ordered(forms))
        if publications or not runs:
            from assay.app.build import build_shown

            built = build_shown(session, report, runs, publications, Path(out), said)
        else:
            built = build.build_report(session, report, runs, Path(out), said)
    output.warnings(built.warnings)
    for place in built.reports:
        output.line(place)


@cli.command()
@click.argument("publication", type=click.Path(path_type=Path))
@out_option("Folder for the report.")
@forms_option
@click.option(
    "--report",
    metavar="SYSTEM/REPORT",
    shell_complete=names("reports"),
    help="The published report  [default: the report with editions]",
)
@click.option("--edition", metavar="NAME", help="Edition of the publication  [default: that of its day]")
@cache_option
@click.pass_context
def regenerate(
    context: click.Context, publication: Path, out: str, forms: tuple[str, ...], report: str | None, edition: str | None
) -> None:
    """Rebuild a published report from its printed values."""
    from assay.app.regenerate import regenerate as make_again
    from assay.report.output_forms import ordered

    with working(context) as session:
        made = make_again(session, publication, Path(out), report, edition, ordered(forms))
    output.warnings(made.warnings)
    for place in made.reports:
        output.line(place)


@cli.command()
@click.argument("folder", metavar="BUILD_FOLDER", shell_complete=folders)
@click.option("--run", "runs", metavar="NAME=DIR", multiple=True, help="New place of a run that moved (repeatable).")
@cache_option
@click.pass_context
def verify(context: click.Context, folder: str, runs: tuple[str, ...]) -> int:
    """Rebuild a report from its provenance and compare every byte."""
    from assay.app.verify import verify as verify_build
    from assay.cli.printing import print_verified
    from assay.provenance.read import folder_of

    with working(context) as session:
        found = verify_build(session, folder_of(Path(folder)), runs)
    return print_verified(found)


@cli.command()
@system_option
@click.option("--accept", is_flag=True, help="Write normal forms and compiled SQL below golden/.")
@cache_option
@click.pass_context
def check(context: click.Context, system: str | None, accept: bool) -> None:
    """Check all specs: types, names, units, cycles, SQL."""
    from assay.app import check_and_query
    from assay.util.diagnostics import render

    with working(context) as session:
        found = [
            check_and_query.check_system(session, item, accept) for item in check_and_query.all_systems(session, system)
        ]
        whose, warnings = session.elsewhere(), session.warn_of_schema()
    for note in whose:  # all is well, but not with what the user may think of
        output.line(note, err=True)
    for item in found:
        counts = ", ".join(_counted(number, name) for name, number in item.counts.items())
        output.line(f"{item.system}: {counts}: no problem")
        if not item.current:
            state = "is not what these specs come to" if item.committed else "is not there"
            said = f"{item.system}: its normal form under golden/specs {state}; `assay check --accept` writes it"
            output.line(said, err=True)
    for warning in warnings:
        output.text(render(warning), err=True)


def _counted(number: int, plural: str) -> str:
    """`1 source`, `23 events`."""
    singular = plural if plural == "series" else plural[:-3] + "y" if plural.endswith("ies") else plural[:-1]
    return f"{number} {singular if number == 1 else plural}"


@cli.command(name="list")
@click.argument("kind", type=click.Choice(["metrics", "events", "grains", "filters", "series", "reports"]))
@system_option
@table_option
@cache_option
@click.pass_context
def list_(context: click.Context, kind: str, system: str | None, form: str) -> None:
    """List metrics, events, grains, filters, series or reports."""
    from assay.app import check_and_query

    with working(context) as session:
        header, rows = check_and_query.catalogue(session, kind, check_and_query.all_systems(session, system))
    output.rows(header, rows, form)


@cli.command()
@click.argument("metrics", nargs=-1, required=True, shell_complete=names("metrics"))
@run_option
@filter_options
@phase_options
@system_option
@summary_option
@table_option
@cache_option
@click.pass_context
def query(
    context: click.Context, metrics: tuple[str, ...], runs: tuple[str, ...], filters: tuple[str, ...],
    no_filters: bool, phases: tuple[str, ...], at: tuple[str, ...], system: str | None, summary: str, form: str,
) -> None:  # fmt: skip
    """Compute metrics and print their distributions."""
    from assay.app import check_and_query
    from assay.app.runs import named_runs
    from assay.cli.printing import print_answer

    with working(context) as session:
        answer = check_and_query.query(
            session, metrics, named_runs(runs), filters, no_filters, system, summary, at, phases
        )
    output.warnings(answer.warnings)
    print_answer(answer, form)


@cli.command()
@click.argument("metric", shell_complete=names("metrics"))
@one_run_option("DIR", "Ingest this run, and read its Parquet files where they are.")
@filter_options
@click.option("--phase", metavar="NAME[=FROM..TO]", default="", help="Print the SQL for this phase of the run.")
@click.option("--at", metavar="NAME=TIME", multiple=True, help="Time of an instant at which the phase begins or ends.")
@system_option
@cache_option
@click.pass_context
def sql(
    context: click.Context,
    metric: str,
    run: str | None,
    filters: tuple[str, ...],
    no_filters: bool,
    phase: str,
    at: tuple[str, ...],
    system: str | None,
) -> None:
    """Print the SQL of a metric as one statement.

    With --run it names the run's files by absolute path, and runs in any duckdb shell. Without --run it runs in the
    folder of the metric's source, which `assay ingest` prints, if the metric reads a single source.
    """
    from assay.app import check_and_query
    from assay.app.runs import named_runs

    with working(context) as session:
        of = named_runs([run])[0] if run else None
        text = check_and_query.metric_sql(session, metric, filters, no_filters, system, of, phase, at)
    output.text(text)


@cli.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@system_option
@click.option("--all", "everything", is_flag=True, help="Ingest all events, not only those that metrics need.")
@cache_option
@click.pass_context
def ingest(context: click.Context, runs: tuple[str, ...], system: str | None, everything: bool) -> None:
    """Ingest runs to Parquet, and print a folder for each source of each run.

    If there are several folders, stderr says which run and source each one is. The column `host` of their tables
    identifies the host.
    """
    with working(context, runs) as session:
        from assay.app.ingest import ingest_runs  # while files are hashed
        from assay.app.runs import named_runs

        found = ingest_runs(session, named_runs(runs), system, everything)
    for item in found:
        if len(found) > 1:
            output.line(f"run {item.run}, source {item.source}:", err=True)
        output.line(item.folder)


for command in (
    init,
    schema,
    watch,
    examples,
    diff,
    fetch,
    inspect_command,
    lsp,
    catalogue,
    completion,
    cache,
    *audit.COMMANDS,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors become messages on stderr and an exit status, never a traceback."""
    from assay.cli.errors import run
    from assay.cli.output import opened

    opened()
    sys.exit(run(cli, arguments))


if __name__ == "__main__":
    main()
